//! A report for machines: one object, versioned by its `format` key.
//!
//! The keys are a contract: they may grow, they do not change.

use crate::Report;
use serde_json::{Map, Value, json};
use stubborn_explore::End;
use stubborn_store::Guarantee;
use stubborn_system::TransitionId;
use stubborn_verdict::{Answer, Broken, PhaseReport, Region, Row, Trace, Verdict, Witness};
use thiserror::Error;

/// The whole report. The top level is the worst answer, with the numbers of the first search (the one that
/// was asked for); `results` has all answers, `phases` all searches.
pub fn report_json(report: &Report) -> String {
    let mut top = Map::new();
    top.insert("format".into(), json!("stubborn-report-1"));
    top.insert("model".into(), json!(report.model));
    let worst = report.worst();
    if let Some(answer) = report.analysis.answers.get(worst) {
        extend(&mut top, answer_json(report, answer));
    }
    if let Some(phase) = report.analysis.phases.first() {
        extend(&mut top, phase_json(phase));
    }
    extend(
        &mut top,
        json!({
            "seconds": report.seconds,
            "peak_rss_bytes": report.peak_rss,
            "n_transitions": report.n_transitions,
            "state_bits": report.state_bits,
            "rules": report.rules,
            "exit_code": report.exit_code(),
            "results": report.analysis.answers.iter().map(|a| result_json(report, a)).collect::<Vec<_>>(),
            "phases": report.analysis.phases.iter().map(phase_json).collect::<Vec<_>>(),
        }),
    );
    pretty(top)
}

/// A model that broke.
pub fn broken_json(model: &str, broken: &Broken) -> String {
    let mut top = Map::new();
    extend(
        &mut top,
        json!({
            "format": "stubborn-report-1",
            "model": model,
            "error": broken.fault.to_string(),
            "states": broken.stats.states,
            "transitions": broken.stats.edges,
            "witness": broken.trace.as_ref().map(trace_json),
            "exit_code": 2,
        }),
    );
    pretty(top)
}

fn pretty(top: Map<String, Value>) -> String {
    serde_json::to_string_pretty(&Value::Object(top)).unwrap_or_default()
}

fn extend(map: &mut Map<String, Value>, with: Value) {
    if let Value::Object(with) = with {
        map.extend(with);
    }
}

/// An answer with the numbers of its own search.
fn result_json(report: &Report, answer: &Answer) -> Value {
    let mut map = Map::new();
    map.insert("model".into(), json!(report.model));
    extend(&mut map, answer_json(report, answer));
    if let Some(phase) = report.analysis.phases.get(answer.phase) {
        extend(&mut map, phase_json(phase));
    }
    map.insert("seconds".into(), json!(report.seconds));
    Value::Object(map)
}

fn answer_json(report: &Report, answer: &Answer) -> Value {
    let (kind, rests_on, reason, witness, region) = match &answer.verdict {
        Verdict::Holds(holds) => (None, Some(holds.row()), None, None, None),
        Verdict::Inconclusive(why) => (None, None, Some(why.to_string()), None, None),
        Verdict::Contradiction(what) => (None, None, Some(what.to_string()), None, None),
        Verdict::Violated(violated) => (
            Some(answer.question.word()),
            Some(Row::Replay),
            Some(violated.message().to_owned()),
            Some(trace_json(violated.trace())),
            violated.region().map(region_json),
        ),
    };
    json!({
        "question": answer.question.word(),
        "question_text": answer.text,
        "verdict": answer.verdict.word(),
        "kind": kind,
        "reason": reason,
        "rests_on": rests_on.map(Row::word),
        "rests_on_text": rests_on.map(|row| row.to_string()),
        "witness": witness,
        "no_return": region,
        "phase": answer.phase.min(report.analysis.phases.len()),
    })
}

fn region_json(region: &Region) -> Value {
    json!({
        "states": region.states,
        "complete": region.complete,
        "transitions": region.transitions.iter().map(|t| t.0).collect::<Vec<_>>(),
    })
}

fn phase_json(phase: &PhaseReport) -> Value {
    let stats = &phase.stats;
    json!({
        "states": stats.states,
        "transitions": stats.edges,
        "terminal_states": stats.terminal_states,
        "depth": stats.depth,
        "queue": stats.queue,
        "reduction": phase.reduction,
        "symmetry": phase.symmetry,
        "search": phase.search.word(),
        "store": phase.store.word(),
        "guarantee": guarantee_json(&phase.guarantee),
        "finished": phase.end == End::Complete,
        "stopped": match &phase.end {
            End::Stopped(stop) => Some(stop.to_string()),
            End::Sighted => Some("at the first violation".to_owned()),
            _ => None,
        },
        "always_may_terminate": phase.always_may_terminate,
        "cannot_terminate": phase.cannot_terminate.as_ref().map(|stuck| json!({
            "witness": trace_json(stuck.trace()),
            "no_return": stuck.region().map(region_json),
        })),
        "peak_bytes": stats.peak_bytes,
        "bytes_per_state": stats.peak_bytes as f64 / stats.states.max(1) as f64,
    })
}

fn guarantee_json(guarantee: &Guarantee) -> Value {
    match guarantee {
        Guarantee::Exact => json!({ "kind": "exact" }),
        Guarantee::Compact { bits, omission } => {
            json!({ "kind": "compact", "bits": bits, "omission_probability": omission })
        }
        Guarantee::Bitstate { bits, functions, hash_factor, overlooked } => json!({
            "kind": "bitstate", "bits": bits, "functions": functions,
            "hash_factor": hash_factor, "states_overlooked": overlooked,
        }),
    }
}

fn trace_json(trace: &Trace) -> Value {
    let steps = trace.steps.iter().map(|step| {
        json!({
            "transition": step.transition,
            "process": null,
            "line": null,
            "text": step.name,
            "changes": step.changes.iter().map(|c| {
                json!({ "variable": c.variable, "old": c.old, "new": c.new })
            }).collect::<Vec<_>>(),
            "state": step.state,
        })
    });
    json!({
        "initial": trace.initial,
        "steps": steps.collect::<Vec<_>>(),
        "no_return": trace.no_return,
        "cycle_start": trace.cycle_start,
    })
}

/// Why a witness cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    /// JSON, but not a report with a witness.
    #[error("no witness in it: {0}")]
    Shape(&'static str),
}

/// The question and the witness of a report in JSON: of the result with the given number, or else of the
/// first with a witness.
pub fn witness_from_json(text: &str) -> Result<(String, Witness), JsonError> {
    let report: Value = serde_json::from_str(text)?;
    let results = report.get("results").and_then(Value::as_array);
    let violated = results.and_then(|all| all.iter().find(|r| r["witness"].is_object())).unwrap_or(&report);
    let question = violated["question"].as_str().ok_or(JsonError::Shape("`question` is missing"))?;
    let witness = &violated["witness"];
    let steps = witness["steps"].as_array().ok_or(JsonError::Shape("`witness.steps` is missing"))?;
    let number = |step: &Value| step["transition"].as_u64().and_then(|t| u32::try_from(t).ok());
    let steps: Option<Vec<TransitionId>> = steps.iter().map(|s| number(s).map(TransitionId)).collect();
    let place = |key: &str| witness[key].as_u64().map(|n| n as usize);
    Ok((
        question.to_owned(),
        Witness {
            steps: steps.ok_or(JsonError::Shape("a step has no number under `transition`"))?,
            no_return: place("no_return"),
            cycle_start: place("cycle_start"),
        },
    ))
}
