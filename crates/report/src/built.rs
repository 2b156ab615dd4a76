//! What was built step by step: a table of sizes, and the largest.

use crate::json::pretty;
use crate::table::align_right;
use crate::{clean, with_commas};
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use serde_json::{Map, Value, json};
use stubborn_semantics::{Built, Row};

/// A row for all that was made, then the largest and what the result has in common with the whole.
pub fn built_text(built: &Built) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["line", "name", "made by", "states", "transitions"]);
    for row in &built.rows {
        table.add_row([
            row.line.to_string(),
            clean(&row.name).into_owned(),
            clean(&row.operation).into_owned(),
            with_commas(row.states as u64),
            with_commas(row.transitions as u64),
        ]);
    }
    align_right(&mut table, 3..=4);
    let mut out = format!("{table}\n");
    if let Some(peak) = built.peak() {
        let (states, transitions) = (with_commas(peak.states as u64), with_commas(peak.transitions as u64));
        out += &format!("peak: {states} states, {transitions} transitions, in line {}\n", peak.line);
    }
    let (states, transitions) = (built.lsts.n_states() as u64, built.lsts.n_transitions() as u64);
    out += &format!(
        "result: {} states, {} transitions; equivalent to the whole under {}\n",
        with_commas(states),
        with_commas(transitions),
        built.same_under
    );
    out
}

/// The same for machines.
pub fn built_json(file: &str, built: &Built) -> String {
    let row = |row: &Row| {
        json!({
            "line": row.line,
            "name": row.name,
            "operation": row.operation,
            "states": row.states,
            "transitions": row.transitions,
        })
    };
    let mut top = Map::new();
    let mut put = |key: &str, value: Value| top.insert(key.to_owned(), value);
    put("format", json!("stubborn-lts-build-1"));
    put("file", json!(file));
    put("steps", Value::Array(built.rows.iter().map(row).collect()));
    put("peak", built.peak().map_or(Value::Null, row));
    put("states", json!(built.lsts.n_states()));
    put("transitions", json!(built.lsts.n_transitions()));
    put("equivalent_under", json!(built.same_under.to_string()));
    put("exit_code", json!(0));
    pretty(top)
}
