//! A report for machines: the keys are those of the other reports where they mean the same.

use super::{Counterexample, Report, Verdict};
use serde_json::{Value, json};

/// The whole report.
pub(super) fn report_json(report: &Report) -> String {
    let (verdict, kind, reason, witness) = match &report.verdict {
        Verdict::Holds => ("holds", None, None, None),
        Verdict::Inconclusive(why) => ("inconclusive", None, Some(why), None),
        Verdict::Violated(story) => {
            ("violated", Some(story.kind.word()), Some(&story.message), Some(witness_json(story)))
        }
    };
    let value = json!({
        "format": report.format,
        "verdict": verdict,
        "kind": kind,
        "reason": reason,
        "algorithm": report.algorithm.word(),
        "memory": "sequentially consistent",
        "runs": report.stats.runs,
        "blocked": report.stats.blocked,
        "cut": report.stats.cut,
        "restarts": report.stats.restarts,
        "steps": report.stats.steps,
        "longest": report.stats.longest,
        "spurious": report.spurious.map(|spurious| json!({
            "most": spurious.most,
            "runs": spurious.stats.runs,
            "blocked": spurious.stats.blocked,
            "cut": spurious.stats.cut,
            "restarts": spurious.stats.restarts,
            "steps": spurious.stats.steps,
            "longest": spurious.stats.longest,
        })),
        "spins": report.spins,
        "seconds": report.seconds,
        "witness": witness,
        "exit_code": report.exit_code(),
    });
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn witness_json(story: &Counterexample) -> Value {
    json!({
        "thread": story.thread,
        "preemptions": story.preemptions,
        "replay": story.replay,
        "steps": story.steps.iter().map(|step| json!({
            "number": step.number,
            "thread": step.thread,
            "operation": step.operation,
            "object": step.object,
            "value": step.value,
            "file": step.file,
            "line": step.line,
        })).collect::<Vec<_>>(),
        "waiting": story.waiting.iter().map(|waiting| json!({
            "thread": waiting.thread,
            "operation": waiting.operation,
            "object": waiting.object,
            "value": waiting.value,
            "file": waiting.file,
            "line": waiting.line,
            "held_by": waiting.held_by.iter().map(|(thread, since)| json!({
                "thread": thread,
                "since_step": since,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "cycle": story.cycle,
    })
}

/// The replay string of a report of this format, if it has one.
pub fn replay_from_json(text: &str, format: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let is_ours = value["format"] == format;
    value["witness"]["replay"].as_str().filter(|_| is_ours).map(str::to_owned)
}
