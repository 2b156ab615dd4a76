//! Names and contents of all texts of a model, and who included whom.

use crate::{FileId, Span};

/// A place in a text, for people: lines and columns count from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
    /// The directive that included this text.
    included_at: Option<Span>,
    /// Byte offset of the beginning of each line.
    lines: Vec<usize>,
}

/// All texts of a model.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
}

impl SourceMap {
    /// No texts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    pub fn add(&mut self, name: &str, text: String, included_at: Option<Span>) -> FileId {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        self.files.push(File { name: name.to_owned(), text, included_at, lines });
        FileId((self.files.len() - 1) as u32)
    }

    /// The name under which a text was added.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The contents of a text.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The directive that included the text, if it is not the model itself.
    pub fn included_at(&self, file: FileId) -> Option<Span> {
        self.files[file.0 as usize].included_at
    }

    /// How many includes lead to this text.
    pub fn include_depth(&self, file: FileId) -> usize {
        std::iter::successors(self.included_at(file), |at| self.included_at(at.file)).count()
    }

    /// Where a span begins.
    pub fn position(&self, span: Span) -> Position {
        let file = &self.files[span.file.0 as usize];
        let start = (span.start as usize).min(file.text.len());
        let line = file.lines.partition_point(|&l| l <= start) - 1;
        let before = file.text.get(file.lines[line]..start).unwrap_or("");
        Position { line: line + 1, column: before.chars().count() + 1 }
    }

    /// A line of a text, without its end; `line` counts from one.
    pub fn line(&self, file: FileId, line: usize) -> &str {
        let file = &self.files[file.0 as usize];
        let start = file.lines.get(line.wrapping_sub(1)).copied().unwrap_or(file.text.len());
        let end = file.lines.get(line).map_or(file.text.len(), |&next| next - 1);
        file.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }

    /// The text of a span.
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut map = SourceMap::new();
        let file = map.add("m.pml", "byte x;\n  é = 1\n".into(), None);
        assert_eq!(map.position(Span::new(file, 0, 4)), Position { line: 1, column: 1 });
        assert_eq!(map.position(Span::new(file, 13, 14)), Position { line: 2, column: 5 });
        assert_eq!(map.line(file, 2), "  é = 1");
        assert_eq!(map.line(file, 9), "");
        assert_eq!(map.snippet(Span::new(file, 0, 4)), "byte");
    }

    #[test]
    fn depth_counts_the_includes_on_the_way() {
        let mut map = SourceMap::new();
        let a = map.add("a", String::new(), None);
        let b = map.add("b", String::new(), Some(Span::new(a, 0, 0)));
        let c = map.add("c", String::new(), Some(Span::new(b, 0, 0)));
        assert_eq!([a, b, c].map(|f| map.include_depth(f)), [0, 1, 2]);
    }
}
