//! What is wrong with a text, where, and what to do about it: plain data, no rendering.

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text is accepted, with the meaning that the message states.
    Warning,
    /// The text is refused.
    Error,
}

/// A span and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub message: String,
}

/// One finding. The first label is the place of the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, e.g. `P0107`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong: lower case, no final stop, names in backquotes.
    pub message: String,
    /// Where.
    pub labels: Vec<Label>,
    /// What else helps to understand it.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, message: String::new() }];
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels,
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Says something about the place of the mistake.
    pub fn here(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = message.into();
        }
        self
    }

    /// Points to another place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Where the mistake is.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }

    /// Whether the text is refused because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
