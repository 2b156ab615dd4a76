//! `stubborn ltl`: a formula and its automaton.

use crate::args::{AutomatonWord, LtlArgs};
use crate::entry::{print, say};
use crate::run::Failure;
use stubborn_ltl::{
    Automaton, Formula, ParseError, Propositions, Stuttering, closure, dot, never_claim, parse, rewritten,
    stuttering, to_hoa, translate,
};
use stubborn_report::{LtlReport, clean, error_json, ltl_json, ltl_text};
use stubborn_text::{Diagnostic, SourceMap, Span, render};

/// Formulas that are longer are not shown with a caret below.
const LONG: usize = 400;

/// Prints the automaton of a formula and what is known of it.
pub(crate) fn ltl(args: &LtlArgs) -> Result<u8, Failure> {
    let report = match report(args) {
        Ok(report) => report,
        Err(complaint) => {
            if args.json {
                print(error_json("ltl", &complaint.message) + "\n");
            }
            say(complaint.shown.trim_end());
            return Ok(2);
        }
    };
    if args.json {
        print(ltl_json(&report) + "\n");
    } else if args.format == AutomatonWord::Text {
        print(clean_lines(&(ltl_text(&report) + &report.automaton)));
    } else {
        // The automaton alone goes to standard output, so that other tools can read it there.
        say(clean_lines(&ltl_text(&report)).trim_end());
        print(&report.automaton);
    }
    Ok(0)
}

/// What is wrong, in one line and at length.
struct Complaint {
    message: String,
    shown: String,
}

impl Complaint {
    fn plain(message: String) -> Self {
        Self { shown: format!("error: {}", clean(&message)), message }
    }

    fn at(text: &str, error: &ParseError) -> Self {
        let column = text.get(..error.span.start).unwrap_or("").chars().count() + 1;
        let message = format!("column {column}: {error}");
        if text.len() > LONG {
            return Self::plain(message);
        }
        let mut map = SourceMap::new();
        let file = map.add("formula", text.to_owned(), None);
        let span = Span { file, start: error.span.start as u32, end: error.span.end as u32 };
        let mut diagnostic = Diagnostic::error("L0001", span, error.message.clone());
        diagnostic.help = error.help.clone();
        Self { message, shown: render(&diagnostic, &map) }
    }
}

fn report(args: &LtlArgs) -> Result<LtlReport, Complaint> {
    let mut names = Propositions::new();
    let mut formula =
        parse(&args.formula, &mut names).map_err(|error| Complaint::at(&args.formula, &error))?;
    if args.negate {
        formula = formula.negated();
    }
    let translation = translate(&formula, &names).map_err(|error| Complaint::plain(error.to_string()))?;
    let automaton = match args.closure {
        true => closure(&translation.buchi).map_err(|error| Complaint::plain(error.to_string()))?,
        false => translation.buchi.clone(),
    };
    let (is_stutter_invariant, decided_by) = match stuttering(&formula, &names) {
        Stuttering::Invariant => (Some(true), "automata"),
        Stuttering::Sensitive => (Some(false), "automata"),
        Stuttering::InvariantBySyntax => (Some(true), "syntax"),
        Stuttering::Unknown => (None, "syntax"),
    };
    let size = |a: &Automaton| (a.n_states(), a.n_edges());
    let (states, edges) = size(&translation.generalised);
    let shown = formula.show(&names);
    let title = if args.closure { format!("closure under stuttering of {shown}") } else { shown.clone() };
    let (format, text) = match args.format {
        AutomatonWord::Text => ("text", state_list(&automaton)),
        AutomatonWord::Hoa => ("hoa", to_hoa(&automaton, &title)),
        AutomatonWord::Never => ("never", never_claim(&automaton, &title)),
        AutomatonWord::Dot => ("dot", dot(&automaton, &title)),
    };
    Ok(LtlReport {
        rewritten: rewritten(&formula, &names).ok().map(|f: Formula| f.show(&names)),
        formula: shown,
        propositions: names.iter().map(|p| p.text.clone()).collect(),
        size: size(&automaton),
        generalised: (states, edges, translation.generalised.n_sets()),
        is_closure: args.closure,
        is_stutter_invariant,
        decided_by,
        format,
        automaton: text,
    })
}

/// The automaton for reading: one line per state, one per edge.
fn state_list(automaton: &Automaton) -> String {
    let mut out = String::new();
    for state in automaton.states() {
        let initial = if automaton.initial().contains(&state) { ", initial" } else { "" };
        let accepting = if automaton.is_accepting(state) { ", accepting" } else { "" };
        out += &format!("state {state}{initial}{accepting}\n");
        for edge in automaton.edges(state) {
            out += &format!("  {} -> {}\n", edge.guard.show_with(automaton.propositions()), edge.target);
        }
    }
    out
}

/// Every line cleaned of what could command the terminal.
fn clean_lines(text: &str) -> String {
    text.lines().map(|line| clean(line) + "\n").collect()
}
