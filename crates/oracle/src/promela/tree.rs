//! A Promela model as a tree of texts: enough structure to take parts away, no more.

use std::fmt;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A basic statement or a declaration.
    Basic(String),
    /// A label and what it labels.
    Labelled(String, Box<Statement>),
    /// `if ... fi`: the options.
    Select(Vec<Vec<Statement>>),
    /// `do ... od`: the options.
    Repeat(Vec<Vec<Statement>>),
    /// A block with what stands before it: `atomic`, `d_step`, `for (...)`, nothing.
    Block(String, Vec<Statement>),
    /// `{ ... } unless { ... }`.
    Unless(Vec<Statement>, Vec<Statement>),
}

/// A process type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// All before the body.
    pub head: String,
    /// The body, which begins with the local variables.
    pub body: Vec<Statement>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Model {
    /// Types, variables, channels and inlines.
    pub declarations: Vec<String>,
    /// The process types, in their order.
    pub processes: Vec<Process>,
    /// Conditions over its globals, none of which need be true.
    pub invariants: Vec<String>,
    /// Conditions over globals, channels and labels that formulas can be made of. Nothing in the text is there
    /// for their sake.
    pub propositions: Vec<String>,
}

impl Statement {
    /// A basic statement.
    pub(super) fn basic(text: impl Into<String>) -> Self {
        Self::Basic(text.into())
    }

    /// Whether who comes here is in a `d_step`. An inline may begin with one.
    pub(super) fn begins_with_dstep(&self) -> bool {
        match self {
            Self::Block(head, _) if head == "d_step" => true,
            Self::Block(_, body) | Self::Unless(body, _) => body.first().is_some_and(Self::begins_with_dstep),
            Self::Basic(text) => text.starts_with("change("),
            Self::Labelled(_, inner) => inner.begins_with_dstep(),
            _ => false,
        }
    }

    /// Whether who comes here goes elsewhere at once.
    pub(super) fn begins_with_jump(&self) -> bool {
        match self {
            Self::Block(_, body) | Self::Unless(body, _) => body.first().is_some_and(Self::begins_with_jump),
            Self::Basic(text) => text.starts_with("goto") || text == "break",
            Self::Labelled(_, inner) => inner.begins_with_jump(),
            _ => false,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        match self {
            Self::Basic(text) => write!(f, "{text}"),
            Self::Labelled(label, inner) => {
                write!(f, "{label}: ")?;
                inner.write(f, indent)
            }
            Self::Select(options) => write_options(f, "if", options, "fi", indent),
            Self::Repeat(options) => write_options(f, "do", options, "od", indent),
            Self::Block(head, body) => {
                write!(f, "{head}{}", if head.is_empty() { "" } else { " " })?;
                write_block(f, body, indent)
            }
            Self::Unless(main, escape) => {
                write_block(f, main, indent)?;
                write!(f, " unless ")?;
                write_block(f, escape, indent)
            }
        }
    }
}

fn new_line(f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
    write!(f, "\n{:1$}", "", 4 * indent)
}

fn write_block(f: &mut fmt::Formatter<'_>, body: &[Statement], indent: usize) -> fmt::Result {
    write!(f, "{{")?;
    for (i, statement) in body.iter().enumerate() {
        new_line(f, indent + 1)?;
        statement.write(f, indent + 1)?;
        write!(f, "{}", if i + 1 < body.len() { ";" } else { "" })?;
    }
    new_line(f, indent)?;
    write!(f, "}}")
}

fn write_options(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    options: &[Vec<Statement>],
    close: &str,
    indent: usize,
) -> fmt::Result {
    write!(f, "{open}")?;
    for option in options {
        new_line(f, indent)?;
        write!(f, ":: ")?;
        for (i, statement) in option.iter().enumerate() {
            match i {
                0 => {}
                1 => write!(f, " -> ")?,
                _ => write!(f, "; ")?,
            }
            statement.write(f, indent + 1)?;
        }
    }
    new_line(f, indent)?;
    write!(f, "{close}")
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for declaration in &self.declarations {
            writeln!(f, "{declaration}")?;
        }
        for process in &self.processes {
            write!(f, "\n{} ", process.head)?;
            write_block(f, &process.body, 0)?;
            writeln!(f)?;
        }
        Ok(())
    }
}
