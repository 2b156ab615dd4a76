//! A report for reading.

use super::{Counterexample, Report, Verdict};
use crate::explore::Stats;
use std::fmt::Write;

/// Of a longer run, so many steps are shown at its beginning and at its end.
const SHOWN_STEPS: usize = 500;

/// The whole report.
pub(super) fn report_text(report: &Report) -> String {
    let mut out = String::new();
    match &report.verdict {
        Verdict::Holds => {
            let _ = writeln!(out, "holds: no run fails");
        }
        Verdict::Inconclusive(why) => {
            let _ = writeln!(out, "inconclusive: {why}; no run that was made fails");
        }
        Verdict::Violated(story) => story_text(&mut out, story),
    }
    let counts = counts_text(&report.stats);
    let _ = writeln!(
        out,
        "  {}: {counts}, {:.3} s; memory is sequentially consistent",
        report.algorithm.word(),
        report.seconds
    );
    if let Some(super::Spurious { most, stats }) = &report.spurious {
        let how = match most {
            None => "with one wake-up for nothing in a run".to_owned(),
            Some(1) => "with wake-ups for nothing, one of every thread".to_owned(),
            Some(most) => format!("with wake-ups for nothing, {most} of every thread"),
        };
        let _ = writeln!(out, "  {how}: {} more", counts_text(stats));
    }
    if report.spins > 0 {
        let _ =
            writeln!(out, "  {} times a loop was assumed to wait until what it reads changes", report.spins);
    }
    out
}

fn counts_text(stats: &Stats) -> String {
    let mut out = format!("{} runs", stats.runs);
    for (n, what) in [(stats.blocked, "repetitions"), (stats.cut, "cut"), (stats.restarts, "restarts")] {
        if n > 0 {
            let _ = write!(out, ", {n} {what}");
        }
    }
    let _ = write!(out, ", {} steps", stats.steps);
    out
}

fn story_text(out: &mut String, story: &Counterexample) {
    let thread = story.thread.as_ref().map_or(String::new(), |thread| format!(" in {thread}"));
    let _ = writeln!(out, "violated: {}{thread}: {}", story.kind.word(), story.message);
    if !story.steps.is_empty() {
        steps_text(out, story);
    }
    if !story.waiting.is_empty() {
        let _ = writeln!(out, "  waiting:");
    }
    for waiting in &story.waiting {
        let value = if waiting.value.is_empty() { String::new() } else { format!(", {}", waiting.value) };
        let since = waiting.held_by.iter().filter_map(|(_, since)| *since).max();
        let since = since.map_or(String::new(), |step| format!(" (since step {step})"));
        let _ = writeln!(
            out,
            "    {} at {}:{} wants {} {}{value}{since}",
            waiting.thread, waiting.file, waiting.line, waiting.operation, waiting.object
        );
    }
    if let Some(first) = story.cycle.first() {
        let _ = writeln!(out, "  wait cycle: {} -> {first}", story.cycle.join(" -> "));
    }
    if !story.replay.is_empty() {
        let _ = writeln!(out, "  replay = \"{}\"", story.replay);
    }
}

fn steps_text(out: &mut String, story: &Counterexample) {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let _ = writeln!(
        out,
        "  run: {} step{}, {} preemption{}",
        story.steps.len(),
        plural(story.steps.len()),
        story.preemptions,
        plural(story.preemptions as usize)
    );
    let width = |length: fn(&super::Step) -> usize| story.steps.iter().map(length).max().unwrap_or(0).min(48);
    let threads = width(|step| step.thread.chars().count());
    let operations = width(|step| step.operation.chars().count());
    let objects = width(|step| step.object.chars().count());
    for (i, step) in story.steps.iter().enumerate() {
        if i >= SHOWN_STEPS && i + SHOWN_STEPS < story.steps.len() {
            if i == SHOWN_STEPS {
                let _ = writeln!(out, "  ... {} more steps ...", story.steps.len() - 2 * SHOWN_STEPS);
            }
            continue;
        }
        let value = if step.value.is_empty() { String::new() } else { format!("  {}", step.value) };
        let _ = writeln!(
            out,
            "  {:>4}  {:<threads$}  {:<operations$}  {:<objects$}  {}:{}{value}",
            step.number, step.thread, step.operation, step.object, step.file, step.line
        );
    }
}
