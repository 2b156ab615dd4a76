//! A token ring with round robin access, as files: stations and rules.
//!
//! **From** the example of S. Graf and B. Steffen, "Compositional minimization of finite state systems" (CAV 1990), by which A.
//! Valmari measured stubborn sets that preserve a semantics. The processes are a reconstruction: of the original only
//! the number of states is used, `9 n 2^(n-2)` for `n` stations, which this ring has, too.
//!
//! The token goes round. A station that gets it lets its customer in, if the customer has asked for it, and then passes it on to
//! the next one, which acknowledges it while it serves its own customer. Until then the station waits. So at any time one
//! station serves or is about to pass on, the one before it may be waiting, and each of the others has been asked or has not.
//!
//! **Expect**: with the actions of one customer visible, stubborn sets leave a number of states that is linear in `n`.

use std::fmt::Write;

/// A ring as files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomerRing {
    /// How many stations.
    pub size: usize,
    /// Whether what the customer of the first station does can be seen; everything else is tau.
    pub visible: bool,
}

impl CustomerRing {
    /// The files by name; the first are the rules, in the extended format.
    pub fn files(&self) -> Vec<(String, String)> {
        vec![
            ("ring.ext".to_owned(), self.rules()),
            ("first.lsts".to_owned(), station(6)),
            ("station.lsts".to_owned(), station(1)),
        ]
    }

    fn rules(&self) -> String {
        let n = self.size;
        let mut out = format!("# A token ring with {n} stations, after Graf and Steffen.\n");
        for i in 1..=n {
            let _ = writeln!(out, "{i} = \"{}\"", if i == 1 { "first.lsts" } else { "station.lsts" });
        }
        for i in 1..=n {
            let next = i % n + 1;
            for action in ["ask", "enter", "leave"] {
                let result = if self.visible && i == 1 { format!("\"{action}\"") } else { "0".to_owned() };
                let _ = writeln!(out, "({i},\"{action}\") -> {result}");
            }
            let _ = writeln!(out, "({i},\"pass\") ({next},\"get\") -> 0");
            let _ = writeln!(out, "({i},\"acknowledged\") ({next},\"acknowledge\") -> 0");
        }
        out
    }
}

/// A station. 1: nothing to do; 2: asked; 3: waits for the acknowledgement. With the token: 4: asked; 5: its customer is
/// inside; 6: must pass on. 7, 8, 9: the same, before it has acknowledged.
fn station(initial: usize) -> String {
    let [ask, enter, leave, pass, get, acknowledge, acknowledged] = [1, 2, 3, 4, 5, 6, 7];
    let names = ["ask", "enter", "leave", "pass", "get", "acknowledge", "acknowledged"];
    let transitions = [
        (1, 2, ask),
        (1, 9, get),
        (2, 7, get),
        (3, 1, acknowledged),
        (4, 5, enter),
        (5, 6, leave),
        (6, 3, pass),
        (7, 8, enter),
        (7, 4, acknowledge),
        (8, 9, leave),
        (8, 5, acknowledge),
        (9, 6, acknowledge),
    ];
    crate::process_ring::file(9, initial, &names, &[], &transitions)
}
