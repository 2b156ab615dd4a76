//! A report for machines: one object, versioned by its `format` key.
//!
//! The keys are a contract: they may grow, they do not change.

use crate::{Comparison, Report};
use serde_json::{Map, Value, json};
use stubborn_explore::End;
use stubborn_store::Guarantee;
use stubborn_system::{Message, Question, TransitionId};
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
            "optimise": report.optimise.as_ref().map(|o| json!({
                "word": o.word,
                "hidden": o.hidden,
                "reset": o.reset,
                "merged": o.merged,
            })),
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

pub(crate) fn pretty(top: Map<String, Value>) -> String {
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
        "name": match &answer.question {
            Question::Linear { name } => Some(name),
            _ => None,
        },
        "question_text": answer.text,
        "question_parameters": parameters_json(&answer.question),
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

/// What a question says besides its word, so that it can be asked again.
fn parameters_json(question: &Question) -> Value {
    match question {
        Question::MayProgress { terminal_counts } | Question::MustProgress { terminal_counts } => {
            json!({ "terminal_counts": terminal_counts })
        }
        Question::Fair { often, rarely } => {
            json!({ "often": often.0, "rarely": rarely.iter().map(|t| t.0).collect::<Vec<_>>() })
        }
        Question::Linear { name } => json!({ "name": name }),
        _ => json!({}),
    }
}

/// The question that was asked, from its word and parameters.
fn question_from(word: &str, parameters: &Value) -> Option<Question> {
    let terminal_counts = parameters["terminal_counts"].as_bool();
    let number = |value: &Value| value.as_u64().and_then(|t| u32::try_from(t).ok()).map(TransitionId);
    Some(match word {
        "safety" => Question::Safety,
        "deadlock" => Question::Deadlock,
        "may-terminate" => Question::MayTerminate,
        "may-progress" => Question::MayProgress { terminal_counts: terminal_counts? },
        "must-progress" => Question::MustProgress { terminal_counts: terminal_counts? },
        "fair" => Question::Fair {
            often: number(&parameters["often"])?,
            rarely: parameters["rarely"].as_array()?.iter().map(number).collect::<Option<_>>()?,
        },
        "linear" => Question::Linear { name: parameters["name"].as_str()?.to_owned() },
        _ => return None,
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
        "overtaken": phase.overtaken.as_ref().map(|overtaken| json!({
            "reduction": overtaken.reduction,
            "states": overtaken.states,
        })),
        "symmetry": phase.symmetry,
        "search": phase.search.word(),
        "store": phase.store.word(),
        "engine": if phase.key_words.is_some() { "packed" } else { "interpreter" },
        "key_words": phase.key_words,
        "threads": phase.threads,
        "one_thread": phase.one_thread.map(|why| why.to_string()),
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
        "product": phase.product.as_ref().map(|product| json!({
            "system_states": product.system_states,
            "automaton_states": product.automaton_states,
            "closure": product.is_closure,
            "notices_stuttering": product.is_sensitive,
            "only_unfair": product.is_unfair,
            "repairs": product.repairs,
            "fair": product.fair,
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

fn message_json(message: &Message) -> Value {
    json!({
        "kind": message.kind.word(),
        "rendezvous": message.is_rendezvous,
        "channel": message.channel,
        "values": message.values,
        "number": message.number,
    })
}

fn trace_json(trace: &Trace) -> Value {
    let steps = trace.steps.iter().map(|step| {
        json!({
            "transition": step.transition,
            "process": step.parts.first().and_then(|part| part.process.clone()),
            "line": step.parts.first().and_then(|part| part.line),
            "text": step.text(),
            "parts": step.parts.iter().map(|part| {
                json!({
                    "process": part.process, "line": part.line, "text": part.text,
                    "messages": part.messages.iter().map(message_json).collect::<Vec<_>>(),
                })
            }).collect::<Vec<_>>(),
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
        "propositions": trace.beside,
        "automaton": trace.automaton,
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

/// A counterexample from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedWitness {
    /// The model's name.
    pub model: String,
    /// What it violates.
    pub question: Question,
    /// The run.
    pub witness: Witness,
}

/// The counterexamples of a report in JSON.
pub fn witnesses_from_json(text: &str) -> Result<Vec<RecordedWitness>, JsonError> {
    let report: Value = serde_json::from_str(text)?;
    let single = [report.clone()];
    let results = report["results"].as_array().map_or(&single[..], Vec::as_slice);
    let violated: Vec<&Value> = results.iter().filter(|r| r["witness"].is_object()).collect();
    if violated.is_empty() {
        return Err(JsonError::Shape("no result has a `witness`"));
    }
    violated.into_iter().map(recorded_witness).collect()
}

fn recorded_witness(result: &Value) -> Result<RecordedWitness, JsonError> {
    let word = result["question"].as_str().ok_or(JsonError::Shape("`question` is missing"))?;
    let question = question_from(word, &result["question_parameters"])
        .ok_or(JsonError::Shape("`question` and `question_parameters` are not those of a question"))?;
    let witness = &result["witness"];
    let steps = witness["steps"].as_array().ok_or(JsonError::Shape("`witness.steps` is missing"))?;
    let number = |step: &Value| step["transition"].as_u64().and_then(|t| u32::try_from(t).ok());
    let steps: Option<Vec<TransitionId>> = steps.iter().map(|s| number(s).map(TransitionId)).collect();
    let place = |key: &str| match &witness[key] {
        Value::Null => Ok(None),
        value => value
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .map(Some)
            .ok_or(JsonError::Shape("`no_return` or `cycle_start` is not the number of a state")),
    };
    Ok(RecordedWitness {
        model: result["model"].as_str().unwrap_or_default().to_owned(),
        question,
        witness: Witness {
            steps: steps.ok_or(JsonError::Shape("a step has no number under `transition`"))?,
            no_return: place("no_return")?,
            cycle_start: place("cycle_start")?,
        },
    })
}

/// A mistake that kept a model from being looked at.
pub fn error_json(model: &str, error: &str) -> String {
    let mut top = Map::new();
    extend(
        &mut top,
        json!({ "format": "stubborn-report-1", "model": model, "error": error, "exit_code": 2 }),
    );
    pretty(top)
}

/// The rows of `compare`.
pub fn comparison_json(model: &str, rows: &[Comparison], exit_code: u8) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "method": row.method, "states": row.states.0, "transitions": row.states.1,
                "seconds": row.seconds, "peak_bytes": row.bytes,
                "bytes_per_state": row.bytes as f64 / row.states.0.max(1) as f64,
                "verdict": row.verdict,
            })
        })
        .collect();
    let mut top = Map::new();
    extend(
        &mut top,
        json!({ "format": "stubborn-compare-1", "model": model, "rows": rows, "exit_code": exit_code }),
    );
    pretty(top)
}

/// A statement that was never executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreached {
    /// The process type.
    pub proctype: String,
    /// The line where it was written.
    pub line: usize,
    /// Only for the order of statements on one line.
    pub column: u32,
    /// As written.
    pub text: String,
}

/// `report`, a report in JSON, with the list under the key `unreached`.
pub fn with_unreached(report: String, list: &[Unreached]) -> String {
    let Ok(Value::Object(mut top)) = serde_json::from_str(&report) else { return report };
    let list = list.iter().map(|u| json!({ "proctype": u.proctype, "line": u.line, "text": u.text }));
    top.insert("unreached".to_owned(), list.collect());
    pretty(top)
}
