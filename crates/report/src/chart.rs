//! A run as a sequence chart: one column per process, one line per message that is sent or received.
//!
//! A rendezvous is one arrow from the sender to the receiver. A message that waits in its channel has a
//! number, `#1` for the first of the run: `#1 q!data -->` where it is sent, `--> #1 q?data` where it is
//! received. Steps without messages are left out. What does not fit is cut, with `…`; processes that do not
//! fit share the last column. **Checked by** the tests below and those of the command line.

use crate::clean;
use std::fmt::Write;
use stubborn_system::{Message, MessageKind};
use stubborn_verdict::Trace;

/// Most columns of text.
const WIDTH: usize = 110;
/// Columns of text before the first lifeline.
const MARGIN: usize = 6;
/// Columns of text of a process, at least and at most.
const NARROW: usize = 14;
const WIDE: usize = 36;
/// Of a longer chart, so many lines are shown at its beginning and at its end.
const SHOWN_LINES: usize = 500;

/// A line of the chart.
struct Line {
    /// The step, from one.
    step: usize,
    /// Who sends or receives: a place in the list of processes.
    process: usize,
    /// The receiver, if it is a rendezvous.
    partner: Option<usize>,
    label: String,
}

/// The chart of a run.
pub fn chart_text(trace: &Trace) -> String {
    let (processes, lines) = lines(trace);
    if lines.is_empty() {
        return "chart: no message is sent or received in this run\n".to_owned();
    }
    let columns = Columns::new(&processes, &lines);
    let mut out = String::from("chart:\n");
    let _ = writeln!(out, "{}", columns.header(&processes));
    let is_left_out = |i: usize| i >= SHOWN_LINES && i + SHOWN_LINES < lines.len();
    let mut before = 0;
    for (i, line) in lines.iter().enumerate() {
        if is_left_out(i) && !is_left_out(i - 1) {
            let _ = writeln!(out, "  ... {} more messages ...", lines.len() - 2 * SHOWN_LINES);
        }
        let passes = |place: Option<usize>| place.is_some_and(|place| before <= place && place < line.step);
        if passes(trace.no_return) {
            let _ = writeln!(out, "  ========== no return from here on");
        }
        if passes(trace.cycle_start) {
            let _ = writeln!(out, "  ---------- from here on the run repeats");
        }
        before = line.step;
        if !is_left_out(i) {
            let _ = writeln!(out, "{}", columns.line(line, &processes));
        }
    }
    out
}

/// The processes that send or receive, in the order of their numbers, and what they do.
fn lines(trace: &Trace) -> (Vec<String>, Vec<Line>) {
    let mut events: Vec<(usize, String, &Message)> = Vec::new();
    for (i, step) in trace.steps.iter().enumerate() {
        for part in &step.parts {
            let process = part.process.clone().unwrap_or_default();
            events.extend(part.messages.iter().map(|message| (i + 1, process.clone(), message)));
        }
    }
    let mut processes: Vec<String> = Vec::new();
    for (_, process, _) in &events {
        if !processes.contains(process) {
            processes.push(process.clone());
        }
    }
    processes.sort_by_key(|name| (number(name), name.clone()));
    let place = |name: &String| processes.iter().position(|p| p == name).unwrap_or(0);
    let mut lines = Vec::new();
    let mut events = events.iter().peekable();
    while let Some((step, process, message)) = events.next() {
        let is_offer = message.is_rendezvous && message.kind == MessageKind::Send;
        let partner = events.next_if(|(_, _, next)| is_offer && next.is_rendezvous).map(|(_, p, _)| place(p));
        let label = if partner.is_some() { plain(message) } else { numbered(message) };
        lines.push(Line { step: *step, process: place(process), partner, label });
    }
    (processes, lines)
}

/// The number of a process: `P[2]` has 2.
fn number(name: &str) -> usize {
    let digits = name.rsplit('[').next().and_then(|rest| rest.strip_suffix(']'));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX)
}

fn plain(message: &Message) -> String {
    let values = message.values.join(",");
    clean(&match message.kind {
        MessageKind::Send => format!("{}!{values}", message.channel),
        MessageKind::Receive => format!("{}?{values}", message.channel),
        MessageKind::Copy => format!("{}?<{values}>", message.channel),
    })
    .into_owned()
}

fn numbered(message: &Message) -> String {
    let number = message.number.map_or_else(String::new, |n| format!("#{n} "));
    match message.kind {
        MessageKind::Send => format!("{number}{} -->", plain(message)),
        MessageKind::Receive | MessageKind::Copy => format!("--> {number}{}", plain(message)),
    }
}

/// How the processes are laid out.
struct Columns {
    width: usize,
    /// How many processes have columns of their own.
    own: usize,
    /// Whether others share one more.
    is_shared: bool,
}

impl Columns {
    fn new(processes: &[String], lines: &[Line]) -> Self {
        let names = processes.iter().map(|name| name.chars().count() + 2);
        let labels = lines.iter().map(|line| {
            let extra = if line.partner.is_some() { 6 } else { 2 };
            line.label.chars().count() + extra
        });
        let wanted = names.chain(labels).max().unwrap_or(NARROW).clamp(NARROW, WIDE);
        let width = wanted.min((WIDTH - MARGIN) / processes.len().max(1)).max(NARROW);
        let fitting = (WIDTH - MARGIN) / width;
        if processes.len() <= fitting {
            return Self { width, own: processes.len(), is_shared: false };
        }
        // The shared column may be wide: it names processes.
        Self { width, own: (WIDTH - MARGIN - WIDE) / width, is_shared: true }
    }

    fn n_columns(&self) -> usize {
        self.own + usize::from(self.is_shared)
    }

    /// Where the lifeline of a column is.
    fn position(&self, column: usize) -> usize {
        MARGIN + column * self.width
    }

    fn header(&self, processes: &[String]) -> String {
        let mut row = Row::new();
        row.put(0, "step");
        for (i, name) in processes.iter().take(self.own).enumerate() {
            row.put(self.position(i), &cut(&clean(name), self.width - 1));
        }
        if self.is_shared {
            row.put(self.position(self.own), &format!("{} others", processes.len() - self.own));
        }
        row.text()
    }

    fn line(&self, line: &Line, processes: &[String]) -> String {
        let mut row = Row::new();
        row.put(0, &format!("{:>4}", line.step));
        for column in 0..self.n_columns() {
            row.put(self.position(column), "|");
        }
        let column = line.process.min(self.own);
        match line.partner.map(|partner| (partner, partner.min(self.own))) {
            Some((partner, to)) if to != column => {
                // Who it is must be said if it shares its column.
                let label = match (column == self.own, to == self.own) {
                    (true, _) => format!("{}: {}", clean(&processes[line.process]), line.label),
                    (_, true) => format!("to {}: {}", clean(&processes[partner]), line.label),
                    _ => line.label.clone(),
                };
                self.arrow(&mut row, column, to, &label);
            }
            Some((partner, _)) => {
                let (from, to) = (clean(&processes[line.process]), clean(&processes[partner]));
                row.put(self.position(column), &cut(&format!("{from} -> {to}: {}", line.label), WIDE));
            }
            None if column < self.own => {
                row.put(self.position(column), &cut(&line.label, self.width - 1));
            }
            None => {
                let label = format!("{}: {}", clean(&processes[line.process]), line.label);
                row.put(self.position(column), &cut(&label, WIDE));
            }
        }
        row.text()
    }

    /// A rendezvous: an arrow from lifeline to lifeline with its label in the middle.
    fn arrow(&self, row: &mut Row, from: usize, to: usize, label: &str) {
        let (left, right) = (self.position(from.min(to)), self.position(from.max(to)));
        let space = right - left - 1;
        let label = cut(label, space.saturating_sub(4));
        let n_dashes = space.saturating_sub(label.chars().count() + 3);
        let (first, second) = ("-".repeat(n_dashes / 2), "-".repeat(n_dashes - n_dashes / 2));
        let text = if from < to {
            format!("{first} {label} {second}>")
        } else {
            format!("<{first} {label} {second}")
        };
        row.put(left + 1, &text);
    }
}

/// A line of text that is filled from several sides.
struct Row(Vec<char>);

impl Row {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn put(&mut self, at: usize, text: &str) {
        for (i, c) in text.chars().enumerate() {
            if self.0.len() <= at + i {
                self.0.resize(at + i + 1, ' ');
            }
            self.0[at + i] = c;
        }
    }

    fn text(&self) -> String {
        self.0.iter().collect::<String>().trim_end().to_owned()
    }
}

/// At most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use MessageKind::{Receive, Send};
    use stubborn_system::Part;
    use stubborn_verdict::Step;

    fn message(kind: MessageKind, is_rendezvous: bool, value: &str, number: usize) -> Message {
        let (channel, values) = ("q".to_owned(), vec![value.to_owned()]);
        Message { kind, is_rendezvous, channel, values, slot: 0, waiting: 0, number: Some(number) }
    }

    fn trace(steps: Vec<Vec<(&str, Message)>>) -> Trace {
        let part = |(process, message): (&str, Message)| Part {
            process: Some(process.to_owned()),
            line: None,
            text: String::new(),
            messages: vec![message],
        };
        let step = |parts: Vec<(&str, Message)>| Step {
            transition: 0,
            parts: parts.into_iter().map(part).collect(),
            changes: Vec::new(),
            state: None,
        };
        Trace {
            initial: String::new(),
            initial_values: Vec::new(),
            steps: steps.into_iter().map(step).collect(),
            no_return: None,
            cycle_start: None,
            beside: Vec::new(),
            automaton: Vec::new(),
        }
    }

    #[test]
    fn buffered_messages_have_numbers_and_a_rendezvous_is_one_arrow() {
        let run = trace(vec![
            vec![("B[1]", message(Send, false, "data", 1))],
            vec![],
            vec![("A[0]", message(Receive, false, "data", 1))],
            vec![("A[0]", message(Send, true, "ack", 2)), ("B[1]", message(Receive, true, "ack", 2))],
            vec![("B[1]", message(Send, true, "no", 3)), ("A[0]", message(Receive, true, "no", 3))],
        ]);
        let expected = "\
chart:
step  A[0]           B[1]
   1  |              #1 q!data -->
   3  --> #1 q?data  |
   4  |--- q!ack --->|
   5  |<--- q!no ----|
";
        assert_eq!(chart_text(&run), expected);
    }

    #[test]
    fn without_messages_there_is_no_chart() {
        assert_eq!(chart_text(&trace(vec![vec![]])), "chart: no message is sent or received in this run\n");
    }

    #[test]
    fn many_processes_and_long_messages_stay_within_the_page() {
        let long = "x".repeat(300);
        let names: Vec<String> = (0..40).map(|i| format!("Process[{i}]")).collect();
        let steps = (0..40).map(|i| {
            vec![
                (names[i].as_str(), message(Send, true, &long, i)),
                (names[(i + 7) % 40].as_str(), message(Receive, true, &long, i)),
            ]
        });
        let text = chart_text(&trace(steps.collect()));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("36 others"), "{text}");
        assert!(text.contains("Process[20] -> Process[27]: q!xxx"), "{text}");
    }

    #[test]
    fn a_run_for_ever_says_where_it_repeats() {
        let mut run = trace(vec![
            vec![("A[0]", message(Send, false, "1", 1))],
            vec![("A[0]", message(Send, false, "2", 2))],
        ]);
        run.cycle_start = Some(1);
        let text = chart_text(&run);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[3], "  ---------- from here on the run repeats", "{text}");
    }
}
