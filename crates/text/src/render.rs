//! Diagnostics as plain text: file, line, column, excerpt, caret, help.
//!
//! Control characters of the model are shown escaped, so that a text cannot command the terminal.

use crate::{Diagnostic, Label, Severity, SourceMap};
use std::fmt::Write;

/// The diagnostic as text, with a final newline.
pub fn render(diagnostic: &Diagnostic, map: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{severity}[{}]: {}\n", diagnostic.code, escape(&diagnostic.message));
    for label in &diagnostic.labels {
        excerpt(label, map, &mut out);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  = note: {}", escape(note));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  = help: {}", escape(help));
    }
    out
}

/// Characters of a line that are shown at most.
const WINDOW: usize = 240;

fn excerpt(label: &Label, map: &SourceMap, out: &mut String) {
    let at = map.position(label.span);
    let _ = writeln!(out, "  --> {}:{}:{}", escape(map.name(label.span.file)), at.line, at.column);
    let line = map.line(label.span.file, at.line);
    // Of a long line the part around the place is shown.
    let left = (at.column - 1).saturating_sub(WINDOW / 2);
    let part: String = line.chars().skip(left).take(WINDOW).collect();
    let column = at.column - 1 - left;
    let before: String = part.chars().take(column).collect();
    let rest = part.chars().count().saturating_sub(column);
    let width = map.snippet(label.span).lines().next().unwrap_or("").chars().count();
    let shown_before = escape(&before).chars().count();
    let marked: String = part.chars().skip(column).take(width.min(rest)).collect();
    let carets = "^".repeat(escape(&marked).chars().count().max(1));
    let margin = at.line.to_string().len();
    let _ = writeln!(out, "{:margin$} |", "");
    let _ = writeln!(out, "{} | {}", at.line, escape(&part));
    let caret_line = format!("{:margin$} | {:shown_before$}{carets} {}", "", "", escape(&label.message));
    let _ = writeln!(out, "{}", caret_line.trim_end());
    if let Some(included) = map.included_at(label.span.file) {
        let at = map.position(included);
        let _ = writeln!(out, "  = note: included at {}:{}", escape(map.name(included.file)), at.line);
    }
}

/// Tabs become one blank, other control characters their escapes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn shows_place_excerpt_caret_and_help() {
        let mut map = SourceMap::new();
        let file = map.add("lift.pml", "init {\n\tc_code { x }\n}\n".into(), None);
        let diagnostic = Diagnostic::error("P0107", Span::new(file, 8, 14), "`c_code` is not accepted")
            .here("embedded C starts here")
            .help("assign in Promela instead");
        let expected = "error[P0107]: `c_code` is not accepted
  --> lift.pml:2:2
  |
2 |  c_code { x }
  |  ^^^^^^ embedded C starts here
  = help: assign in Promela instead
";
        assert_eq!(render(&diagnostic, &map), expected);
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut map = SourceMap::new();
        let file = map.add("m\u{1b}.pml", "a\u{1b}[2Jb".into(), None);
        let text = render(&Diagnostic::error("P0001", Span::new(file, 0, 1), "bad"), &map);
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
