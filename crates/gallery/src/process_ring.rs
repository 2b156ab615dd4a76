//! The token ring of HVV section 6 as files: clients, servers and rules.
//!
//! A demand-driven token ring for mutual exclusion: servers pass one token in one direction and demands for it in the
//! other, each server serves one client. The client is Figure 1 of the paper. Of the server (Figure 3) the text gives
//! the states 1, 2, 9, 10 and 11; the others are the design that fits everything that the text says. The three faults
//! are those of Figure 4.

use std::fmt::Write;

/// A ring as files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessRing {
    /// How many servers, and as many clients.
    pub size: usize,
    /// Which fault, from 1 to 3; 0 for none.
    pub fault: u8,
    /// The faulty pair, from 1.
    pub position: usize,
    /// Whether requests, grants and releases of the first client can be seen; everything else is tau.
    pub visible: bool,
    /// Whether it can be seen where the token is.
    pub token: bool,
    /// Whether the rules ask for rejections: two clients with access, a client that waits for ever or in a
    /// deadlock.
    pub rejections: bool,
}

impl ProcessRing {
    /// A correct ring with its rejections.
    pub fn new(size: usize) -> Self {
        Self { size, fault: 0, position: 1, visible: false, token: true, rejections: true }
    }

    /// The same with a fault.
    pub fn with_fault(self, fault: u8) -> Self {
        Self { fault, ..self }
    }

    /// The files by name; the first are the rules, in the extended format.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = vec![("ring.ext".to_owned(), self.rules())];
        files.push(("client.lsts".to_owned(), client(false)));
        files.push(("first.lsts".to_owned(), server(1, 0)));
        files.push(("server.lsts".to_owned(), server(2, 0)));
        match self.fault {
            0 => {}
            3 => files.push(("faulty.lsts".to_owned(), client(true))),
            fault => {
                files.push(("faulty.lsts".to_owned(), server(if self.position == 1 { 1 } else { 2 }, fault)))
            }
        }
        if self.fault == 0 {
            files.push(("ring.build".to_owned(), self.steps()));
        }
        files
    }

    /// The same ring step by step, seen from its first client.
    fn steps(&self) -> String {
        let n = self.size;
        let mut out = format!(
            "# A token ring with {n} servers and their clients, seen from its first client, step by step.\n\
             first = minimize hide bye in forget \"/T\" in \"first.lsts\" | \"client.lsts\"\n\
             pair = minimize hide rq, gra, rel, bye in forget \"/T\" in \"server.lsts\" | \"client.lsts\"\n\
             ring = rename tl to t1, dl to d1, tr to t0, dr to d0, rq to rq1, gra to gra1, rel to rel1 in first\n"
        );
        for i in 2..=n {
            let (left, right) = (i % n, i - 1);
            let inside =
                if i < n { format!("t{right}, d{right}") } else { format!("t{right}, d{right}, t0, d0") };
            let _ = writeln!(
                out,
                "ring = minimize hide {inside} in ring | (rename tl to t{left}, dl to d{left}, tr to t{right}, dr to d{right} in pair)"
            );
        }
        out
    }

    fn rules(&self) -> String {
        let n = self.size;
        let mut out =
            format!("# A token ring with {n} servers (odd numbers) and their clients (even numbers).\n");
        for i in 1..=n {
            let is_faulty = |fault: &[u8]| fault.contains(&self.fault) && i == self.position;
            let server = if is_faulty(&[1, 2]) {
                "faulty.lsts"
            } else if i == 1 {
                "first.lsts"
            } else {
                "server.lsts"
            };
            let client = if is_faulty(&[3]) { "faulty.lsts" } else { "client.lsts" };
            let _ = writeln!(out, "{} = <\"{i}.\"> \"{server}\"\n{} = \"{client}\"", 2 * i - 1, 2 * i);
        }
        for i in 1..=n {
            let (server, client) = (2 * i - 1, 2 * i);
            let next = 2 * (i % n + 1) - 1;
            let _ = writeln!(out, "({client},\"bye\") -> 0");
            for action in ["rq", "gra", "rel"] {
                let result = if self.visible && i == 1 { format!("\"{action}1\"") } else { "0".to_owned() };
                let _ = writeln!(out, "({server},\"{action}\") ({client},\"{action}\") -> {result}");
            }
            let _ = writeln!(out, "({server},\"tl\") ({next},\"tr\") -> 0");
            let _ = writeln!(out, "({server},\"dl\") ({next},\"dr\") -> 0");
        }
        if !self.token {
            out.push_str("Begin State_prop_rules hide \"/T\"; End State_prop_rules\n");
        }
        if self.rejections {
            out.push_str("Begin State_prop_rules\n");
            for i in 1..=n {
                for j in i + 1..=n {
                    let _ = writeln!(out, "{}.\"A\" & {}.\"A\" -> rej;", 2 * i, 2 * j);
                }
            }
            for i in 1..=n {
                let _ = writeln!(out, "{0}.\"W\" -> ll_rej; {0}.\"W\" -> dl_rej;", 2 * i);
            }
            out.push_str("End State_prop_rules\n");
        }
        out
    }
}

const TAU: usize = 0;

/// An LSTS file; transitions are (source, target, action).
pub(crate) fn file(
    n_states: usize,
    initial: usize,
    actions: &[&str],
    propositions: &[(&str, &[usize])],
    transitions: &[(usize, usize, usize)],
) -> String {
    let mut out = format!(
        "Begin Lsts\nBegin Header\n State_cnt = {n_states} Action_cnt = {} Transition_cnt = {} State_prop_cnt = {} Initial_states = {initial};\nEnd Header\nBegin Action_names\n",
        actions.len(),
        transitions.len(),
        propositions.len()
    );
    for (i, action) in actions.iter().enumerate() {
        let _ = writeln!(out, " {} = \"{action}\"", i + 1);
    }
    out.push_str("End Action_names\nBegin State_props\n");
    for (name, states) in propositions {
        let states: Vec<String> = states.iter().map(usize::to_string).collect();
        let _ = writeln!(out, " \"{name}\" : {};", states.join(" "));
    }
    out.push_str("End State_props\nBegin Transitions\n");
    for state in 1..=n_states {
        let edges: Vec<String> = transitions
            .iter()
            .filter(|(source, ..)| *source == state)
            .map(|(_, target, action)| format!("{target},{action}"))
            .collect();
        if !edges.is_empty() {
            let _ = writeln!(out, " {state}: {};", edges.join(" "));
        }
    }
    out.push_str("End Transitions\nEnd Lsts\n");
    out
}

/// Requests again and again, or says goodbye; with the fault also while it has access.
fn client(is_faulty: bool) -> String {
    let [rq, gra, rel, bye] = [1, 2, 3, 4];
    let mut transitions = vec![(1, 2, TAU), (1, 3, TAU), (2, 4, rq), (3, 6, bye), (4, 5, gra), (5, 1, rel)];
    if is_faulty {
        transitions.push((5, 6, bye));
    }
    let propositions: [(&str, &[usize]); 3] = [("B", &[2]), ("W", &[4]), ("A", &[5])];
    file(6, 1, &["rq", "gra", "rel", "bye"], &propositions, &transitions)
}

/// Passes tokens and demands and serves a client.
fn server(initial: usize, fault: u8) -> String {
    let [rq, gra, rel, dr, dl, tr, tl] = [1, 2, 3, 4, 5, 6, 7];
    let mut transitions = vec![
        (1, 10, rq),
        (1, 5, dr),
        (2, 8, rq),
        (2, 3, dr),
        (2, 1, tl),
        (3, 4, dl),
        (3, 5, tl),
        (3, 3, dr),
        (3, 8, rq),
        (4, 5, tl),
        (4, 4, dr),
        (4, 9, rq),
        (5, 2, tr),
        (5, 5, dr),
        (5, 10, rq),
        (6, 2, tr),
        (6, 6, dr),
        (6, 7, rq),
        (7, 8, tr),
        (7, 7, dr),
        (8, 9, dl),
        (8, 10, tl),
        (8, 8, dr),
        (9, 10, tl),
        (9, 9, dr),
        (10, 11, gra),
        (10, 10, dr),
        (11, 6, rel),
        (11, 11, dr),
    ];
    let mut n_states = 11;
    match fault {
        1 => transitions.push((2, 1, TAU)),
        2 => {
            n_states = 12;
            transitions.extend([(10, 12, tr), (12, 9, dl)]);
        }
        _ => {}
    }
    let propositions: [(&str, &[usize]); 1] = [("/T", &[1, 5, 6, 7, 10, 11])];
    file(n_states, initial, &["rq", "gra", "rel", "dr", "dl", "tr", "tl"], &propositions, &transitions)
}
