//! Tables: one row per reduction, and ours beside the published.

use crate::{human_bytes, with_commas};
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

/// A row of `compare`.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was used.
    pub method: String,
    /// States and transitions of the first search.
    pub states: (u64, u64),
    /// Seconds.
    pub seconds: f64,
    /// Memory in bytes, as accounted.
    pub bytes: usize,
    /// The verdicts, in words.
    pub verdict: String,
}

/// One row per method, with the share of the first row's states.
pub fn comparison_table(rows: &[Comparison]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["reduction", "states", "%", "transitions", "seconds", "memory", "B/state", "verdict"]);
    let all = rows.first().map_or(1, |row| row.states.0.max(1));
    for row in rows {
        let (states, edges) = row.states;
        table.add_row([
            row.method.clone(),
            with_commas(states),
            format!("{:.1}", 100.0 * states as f64 / all as f64),
            with_commas(edges),
            format!("{:.3}", row.seconds),
            human_bytes(row.bytes),
            format!("{:.1}", row.bytes as f64 / states.max(1) as f64),
            row.verdict.clone(),
        ]);
    }
    align_right(&mut table, 1..=6);
    format!("{table}\n")
}

/// A row of `papers`.
#[derive(Clone, Debug)]
pub struct PaperRow {
    /// What was run.
    pub what: String,
    /// Published states and transitions.
    pub published: (u64, u64),
    /// Ours.
    pub ours: (u64, u64),
    /// Seconds.
    pub seconds: f64,
    /// Memory in bytes, as accounted.
    pub bytes: usize,
    /// The verdicts, in words.
    pub verdict: String,
    /// Whether the search ended by itself.
    pub finished: bool,
}

impl PaperRow {
    /// Whether ours equals the published.
    pub fn agrees(&self) -> bool {
        self.published == self.ours
    }
}

/// Ours beside the published.
pub fn paper_table(rows: &[PaperRow]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "model",
        "published states",
        "edges",
        "our states",
        "edges",
        "",
        "seconds",
        "memory",
        "verdict",
    ]);
    for row in rows {
        table.add_row([
            row.what.clone(),
            with_commas(row.published.0),
            with_commas(row.published.1),
            with_commas(row.ours.0),
            with_commas(row.ours.1),
            match (row.finished, row.agrees()) {
                (false, _) => "not finished",
                (true, true) => "=",
                (true, false) => "DIFFERS",
            }
            .to_owned(),
            format!("{:.2}", row.seconds),
            human_bytes(row.bytes),
            row.verdict.clone(),
        ]);
    }
    align_right(&mut table, 1..=7);
    format!("{table}\n")
}

pub(crate) fn align_right(table: &mut Table, columns: std::ops::RangeInclusive<usize>) {
    for i in columns {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
