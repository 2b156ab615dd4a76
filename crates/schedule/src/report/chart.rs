//! A run as a chart: one column per thread, one line per step.

use super::Counterexample;
use std::fmt::Write;

/// Most columns of text of a thread.
const WIDE: usize = 36;

/// The chart of a run.
pub(super) fn chart_text(story: &Counterexample) -> String {
    let mut threads: Vec<&str> = Vec::new();
    for step in &story.steps {
        if !threads.contains(&step.thread.as_str()) {
            threads.push(&step.thread);
        }
    }
    let label = |step: &super::Step| {
        let object = step.object.split(" (").next().unwrap_or_default();
        let value = if step.value.is_empty() { String::new() } else { format!(" {}", step.value) };
        cut(&format!("{} {object}{value}", step.operation))
    };
    let widths: Vec<usize> = threads
        .iter()
        .map(|thread| {
            let own =
                story.steps.iter().filter(|step| step.thread == *thread).map(|s| label(s).chars().count());
            own.max().unwrap_or(0).max(thread.chars().count()) + 2
        })
        .collect();
    let mut out = String::from("chart:\n      ");
    for (thread, width) in threads.iter().zip(&widths) {
        let _ = write!(out, "{thread:<width$}");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    for step in &story.steps {
        let _ = write!(out, "{:>4}  ", step.number);
        for (thread, width) in threads.iter().zip(&widths) {
            let text = if *thread == step.thread { label(step) } else { "|".to_owned() };
            let _ = write!(out, "{text:<width$}");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDE {
        return text.to_owned();
    }
    text.chars().take(WIDE - 1).chain(['…']).collect()
}
