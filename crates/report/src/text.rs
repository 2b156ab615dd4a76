//! A report for reading.

use crate::{Report, clean, human_bytes, with_commas};
use std::fmt::Write;
use stubborn_explore::End;
use stubborn_store::Guarantee;
use stubborn_system::{Part, Question};
use stubborn_verdict::{Answer, Broken, PhaseReport, Region, Step, Trace, Verdict};

/// The whole report. With `verbose`, states are shown in full beside what changed.
pub fn report_text(report: &Report, verbose: bool) -> String {
    let mut out = String::new();
    let rules = report.rules.map_or(String::new(), |rules| format!(", {rules} rules"));
    let _ = writeln!(
        out,
        "{}: {}, {} per state{rules}",
        clean(&report.model),
        counted(report.n_transitions as u64, "transition"),
        counted(report.state_bits as u64, "bit")
    );
    if let Some(optimised) = &report.optimise {
        optimised_text(&mut out, "hidden, because nobody reads them", &optimised.hidden);
        optimised_text(&mut out, "set to zero when dead", &optimised.reset);
        if optimised.merged > 0 {
            let passed = counted(optimised.merged as u64, "location");
            let _ =
                writeln!(out, "  merged with the step before: {passed} with steps that concern nobody else");
        }
    }
    for answer in &report.analysis.answers {
        answer_text(&mut out, report, answer, verbose);
    }
    for (i, phase) in report.analysis.phases.iter().enumerate() {
        if i > 0 {
            let what = if phase.product.is_some() {
                "search for runs"
            } else {
                "what was left open was answered by another search"
            };
            let _ = writeln!(out, "{what}:");
        }
        phase_text(&mut out, phase);
        termination_text(&mut out, report, phase, verbose);
    }
    let _ = writeln!(out, "  {:.3} s{}", report.seconds, memory(report));
    out
}

/// Of a longer list, so many variables are named.
const NAMED_VARIABLES: usize = 8;

fn optimised_text(out: &mut String, what: &str, variables: &[String]) {
    if !variables.is_empty() {
        let named: Vec<_> = variables.iter().take(NAMED_VARIABLES).map(|v| clean(v)).collect();
        let more = variables.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(out, "  {what}: {}{more}", named.join(", "));
    }
}

fn memory(report: &Report) -> String {
    report.peak_rss.map_or(String::new(), |bytes| format!(", {} of memory in all", human_bytes(bytes)))
}

fn answer_text(out: &mut String, report: &Report, answer: &Answer, verbose: bool) {
    let word = answer.verdict.word();
    let _ = writeln!(out, "  {word:<13} {}: {}", name(&answer.question), clean(&answer.text));
    let indent = "                ";
    match &answer.verdict {
        Verdict::Holds(holds) => {
            let _ = writeln!(out, "{indent}rests on: {}", holds.row());
        }
        Verdict::Inconclusive(why) => {
            let _ = writeln!(out, "{indent}because: {why}");
        }
        Verdict::Contradiction(what) => {
            let _ = writeln!(out, "{indent}{what}");
            let _ = writeln!(out, "{indent}this is a bug in stubborn: please report it with the model");
        }
        Verdict::Violated(violated) => {
            let _ = writeln!(out, "{indent}because: {}", clean(violated.message()));
            trace_text(out, violated.trace(), verbose);
            if let Some(region) = violated.region() {
                region_text(out, report, region);
            }
        }
    }
}

/// The word for a question, with its name if it has one.
fn name(question: &Question) -> String {
    match question {
        Question::Linear { name } => format!("{} {}", question.word(), clean(name)),
        other => other.word().to_owned(),
    }
}

/// Of a longer run, so many steps are shown at its beginning and at its end.
const SHOWN_STEPS: usize = 500;

/// "1 step", "2 steps".
fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", with_commas(n), if n == 1 { "" } else { "s" })
}

/// The run, a line per state: number, transition, what changed; rulers before the point of no return and
/// before the cycle.
fn trace_text(out: &mut String, trace: &Trace, verbose: bool) {
    let cycle = trace.cycle_start.map(|start| trace.steps.len() - start);
    let _ = writeln!(
        out,
        "  run: {}{}",
        counted(trace.steps.len() as u64, "step"),
        cycle.map_or(String::new(), |n| format!(", the last {n} of them for ever"))
    );
    let names: Vec<String> = trace.steps.iter().map(step_name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(7, 60);
    for i in 0..=trace.steps.len() {
        if i == SHOWN_STEPS && trace.steps.len() > 2 * SHOWN_STEPS {
            let left_out = trace.steps.len() - 2 * SHOWN_STEPS;
            let _ = writeln!(
                out,
                "    ... {} more, all of them with --json ...",
                counted(left_out as u64, "step")
            );
        }
        if i >= SHOWN_STEPS && i + SHOWN_STEPS < trace.steps.len() {
            continue;
        }
        if trace.no_return == Some(i) {
            let _ = writeln!(out, "    ========== no return from here on");
        }
        if trace.cycle_start == Some(i) {
            let _ = writeln!(out, "    ---------- from here on the run repeats");
        }
        let (name, state) = match i.checked_sub(1).map(|i| &trace.steps[i]) {
            None => ("initial", trace.initial.as_str()),
            Some(step) => (names[i - 1].as_str(), step.state_text()),
        };
        let changes = match i.checked_sub(1).map(|i| &trace.steps[i]) {
            None => String::new(),
            Some(step) if step.changes.is_empty() => "(nothing changes)".to_owned(),
            Some(step) => step
                .changes
                .iter()
                .map(|c| format!("{}: {} -> {}", clean(&c.variable), clean(&c.old), clean(&c.new)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let shown = if verbose || i == 0 { format!("{}  ", clean(state)) } else { String::new() };
        let beside = beside_text(trace, i);
        let line = format!("    {i:>4}  {name:<width$}  {shown}{changes}{beside}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// What holds in a state, and where the automaton is, if something of it has changed.
fn beside_text(trace: &Trace, i: usize) -> String {
    let is_new = |now: bool| i == 0 || now;
    let holds = trace.beside.get(i).filter(|now| is_new(trace.beside.get(i.wrapping_sub(1)) != Some(now)));
    let at = trace.automaton.get(i).filter(|now| is_new(trace.automaton.get(i.wrapping_sub(1)) != Some(now)));
    let holds = holds.filter(|now| !now.is_empty()).map(|now| format!("  [{}]", clean(now)));
    let at = at.map(|at| format!("  (automaton in {at})"));
    holds.unwrap_or_default() + &at.unwrap_or_default()
}

/// What a step does, with the lines where it was written.
fn step_name(step: &Step) -> String {
    let part = |part: &Part| {
        let process = part.process.as_ref().map_or(String::new(), |p| format!("{p} "));
        let line = part.line.map_or(String::new(), |line| format!("line {line}: "));
        clean(&format!("{process}{line}{}", part.text)).into_owned()
    };
    step.parts.iter().map(part).collect::<Vec<_>>().join("; ")
}

fn region_text(out: &mut String, report: &Report, region: &Region) {
    const SHOWN: usize = 8;
    let more = if region.complete { "" } else { " or more" };
    let mut names: Vec<String> = region.names.iter().take(SHOWN).map(|n| clean(n).into_owned()).collect();
    if region.names.len() > SHOWN {
        names.push(format!("and {} others", region.names.len() - SHOWN));
    }
    let _ = writeln!(
        out,
        "  no return: {}{more}, in which {} of {} occur{}{}",
        counted(region.states as u64, "state"),
        region.transitions.len(),
        counted(report.n_transitions as u64, "transition"),
        if names.is_empty() { "" } else { ": " },
        names.join(", ")
    );
}

fn phase_text(out: &mut String, phase: &PhaseReport) {
    let stats = &phase.stats;
    // What a search for runs visits are states of the model with states of an automaton.
    let unit = if phase.product.is_some() { "pair" } else { "state" };
    let _ = writeln!(
        out,
        "  {}, {} fired, {} terminal, depth {}; {} ({:.1} bytes per {unit})",
        counted(stats.states, unit),
        counted(stats.edges, "transition"),
        with_commas(stats.terminal_states),
        with_commas(stats.depth),
        human_bytes(stats.peak_bytes),
        stats.peak_bytes as f64 / stats.states.max(1) as f64
    );
    if let Some(product) = &phase.product {
        let closure = if product.is_closure { ", its closure under stuttering" } else { "" };
        let fair = if product.fair { ", weakly fair runs only" } else { "" };
        let _ = writeln!(
            out,
            "  product of {} with an automaton of {}{closure}{fair}",
            product.system_states.map_or("the model".to_owned(), |n| counted(n, "state")),
            counted(product.automaton_states as u64, "state")
        );
        if product.is_sensitive {
            let what = "a run of the closure is allowed by the property itself, which notices stuttering";
            let _ = writeln!(out, "  {what}: a full search decides");
        }
        if product.is_unfair {
            let what = "runs violate the property, but no fair one of those that were explored";
            let _ = writeln!(out, "  {what}: a full search decides");
        }
    }
    let symmetry = if phase.symmetry { " with symmetry" } else { "" };
    let packed = phase.key_words.map(|n| format!(", states packed into {}", counted(n as u64, "word")));
    let _ = writeln!(
        out,
        "  reduction {}{symmetry}, search {}, store {}{}{}{}",
        phase.reduction,
        phase.search.word(),
        phase.store.word(),
        if phase.guarantee == Guarantee::Exact { "" } else { " (may miss states)" },
        packed.unwrap_or_default(),
        if phase.threads > 1 { format!(", {} threads", phase.threads) } else { String::new() }
    );
    if let Some(overtaken) = &phase.overtaken {
        let states = counted(overtaken.states, "state");
        let _ = writeln!(
            out,
            "  less work than with reduction {}, which had found {states}",
            overtaken.reduction
        );
    }
    if let Some(why) = phase.one_thread {
        let _ = writeln!(out, "  one thread: {why}");
    }
    if let End::Stopped(stop) = &phase.end {
        let _ = writeln!(out, "  not finished: {stop}; {} waiting", counted(stats.queue, unit));
    }
}

/// Whether termination always remains possible; and if not, where it ends to be.
fn termination_text(out: &mut String, report: &Report, phase: &PhaseReport, verbose: bool) {
    match phase.always_may_terminate {
        None => {}
        Some(true) => {
            let _ = writeln!(out, "  the model is always may-terminating");
        }
        Some(false) => {
            let is_shown = report.analysis.answers.iter().any(|a| a.question == Question::MayTerminate);
            if report.optimise.is_some() && !is_shown {
                let why = "`--question may-terminate` shows why";
                let _ = writeln!(out, "  the model is not always may-terminating; {why}");
                return;
            }
            let _ = writeln!(out, "  the model is not always may-terminating");
            if let Some(stuck) = phase.cannot_terminate.as_ref().filter(|_| !is_shown) {
                trace_text(out, stuck.trace(), verbose);
                if let Some(region) = stuck.region() {
                    region_text(out, report, region);
                }
            }
        }
    }
}

/// A model that broke, with the run that shows it.
pub fn broken_text(model: &str, broken: &Broken) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "error: {}: {}", clean(model), clean(&broken.fault.to_string()));
    if let Some(trace) = &broken.trace {
        let _ = writeln!(out, "  it shows in the last state of this run:");
        trace_text(&mut out, trace, true);
    }
    let _ = writeln!(out, "  after {}", counted(broken.stats.states, "state"));
    out
}
