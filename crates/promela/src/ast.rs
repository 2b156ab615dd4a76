//! What was written: the syntax tree, before names mean anything.
//!
//! Macros and inlines are gone (an inline call is the block that it stands for); everything else is kept
//! as written. Claims, formulas and event traces are part of the tree; lowering leaves them alone.

use std::sync::Arc;
pub use stubborn_network::ChannelTest;
use stubborn_text::Span;

/// A name and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Arc<str>,
    /// Where it is.
    pub span: Span,
}

/// A whole model, in textual order.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Declarations, processes, claims.
    pub items: Vec<Item>,
}

/// One unit of a model.
#[derive(Clone, Debug)]
pub enum Item {
    /// `mtype = { a, b }` and `mtype:sub = { a, b }`.
    Mtype {
        /// The subtype, if one is named.
        subtype: Option<Ident>,
        /// The names, as written.
        names: Vec<Ident>,
    },
    /// `typedef T { ... }`.
    Typedef {
        /// Name of the type.
        name: Ident,
        /// Its fields.
        fields: Vec<Declaration>,
    },
    /// Global variables.
    Declaration(Declaration),
    /// `proctype` and `init`.
    Proctype(Box<Proctype>),
    /// `never { ... }`.
    Never {
        /// Its name, if it has one.
        name: Option<Ident>,
        /// Its body.
        body: Block,
    },
    /// `ltl name { formula }`.
    Ltl {
        /// Its name, if it has one.
        name: Option<Ident>,
        /// The formula.
        formula: Expr,
    },
    /// An expression from outside the text that must hold in every state.
    Invariant(Expr),
    /// `trace { ... }` and `notrace { ... }`.
    Trace {
        /// `notrace`: the sequence of events must not occur.
        is_negated: bool,
        /// The events.
        body: Block,
        /// Where it is.
        span: Span,
    },
}

/// A process type, or `init`.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name; `init` is called `:init:`, as in SPIN.
    pub name: Ident,
    /// How many exist from the beginning.
    pub active: Option<Expr>,
    /// Whether it is `init`.
    pub is_init: bool,
    /// Whether it is a `D_proctype`.
    pub is_deterministic: bool,
    /// Its parameters.
    pub parameters: Vec<Declaration>,
    /// `priority n`.
    pub priority: Option<Expr>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// What it does.
    pub body: Block,
}

/// A named basic type, or a typedef.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// `bit` and `bool`.
    Bit,
    /// `byte`.
    Byte,
    /// `pid`.
    Pid,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `unsigned`.
    Unsigned,
    /// `chan`.
    Chan,
    /// `mtype`, with its subtype if one is named.
    Mtype(Option<Ident>),
    /// A typedef.
    Named(Ident),
}

/// `hidden`, `show` or `local`. They change nothing here: every variable is part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// `hidden`.
    Hidden,
    /// `show`.
    Show,
    /// `local`.
    Local,
}

/// A declaration of variables of one type.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// `hidden`, `show` or `local`.
    pub visibility: Option<Visibility>,
    /// The type.
    pub type_name: TypeName,
    /// The variables.
    pub variables: Vec<Declarator>,
    /// Where it is.
    pub span: Span,
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name.
    pub name: Ident,
    /// `: n`, the width of an `unsigned`.
    pub width: Option<Expr>,
    /// `[n]`, the length of an array.
    pub length: Option<Expr>,
    /// How it begins.
    pub initial: Initial,
}

/// How a variable begins.
#[derive(Clone, Debug)]
pub enum Initial {
    /// With zero.
    Zero,
    /// With the value of an expression.
    Value(Expr),
    /// With a list of values.
    List(Vec<Expr>),
    /// With a new channel.
    Channel(ChannelType),
}

/// `[n] of { t, ... }`.
#[derive(Clone, Debug)]
pub struct ChannelType {
    /// How many messages it holds.
    pub capacity: Expr,
    /// The types of the fields of a message.
    pub fields: Vec<TypeName>,
    /// Where it is.
    pub span: Span,
}

/// `{ ... }`, a scope.
#[derive(Clone, Debug)]
pub struct Block {
    /// What is in it.
    pub statements: Vec<Statement>,
    /// Where it is.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it is.
    pub span: Span,
}

/// How a send inserts its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOrder {
    /// `!`: behind all others.
    Last,
    /// `!!`: before the first that is larger.
    Sorted,
}

/// Which message a receive takes, and whether it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMode {
    /// `??`: the first that matches, not only the oldest.
    pub is_random: bool,
    /// `?<...>`: the message stays in the channel.
    pub is_copy: bool,
}

/// An argument of a receive or of a poll.
#[derive(Clone, Debug)]
pub enum ReceiveArgument {
    /// A variable to fill; in SPIN a name of an `mtype` constant matches instead.
    Variable(Reference),
    /// `eval(e)`: must match.
    Eval(Expr),
    /// A constant: must match.
    Constant(Expr),
}

/// What statements do.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// A declaration within a body.
    Declaration(Declaration),
    /// `xr` and `xs`: promises about who uses a channel.
    Exclusive {
        /// `xs`: who sends. Otherwise who receives.
        is_send: bool,
        /// The channels.
        channels: Vec<Reference>,
    },
    /// `label: statement`; a label before nothing labels a `skip`.
    Labelled(Ident, Box<Statement>),
    /// `v = e`.
    Assign(Reference, Expr),
    /// `v++` and `v--`: the value is `v + 1` or `v - 1`.
    Increment(Reference, Expr),
    /// An expression as a statement.
    Guard(Expr),
    /// `else`.
    Else,
    /// `c!e,...` and `c!!e,...`.
    Send {
        /// The channel.
        channel: Reference,
        /// Where the message goes.
        order: SendOrder,
        /// Its fields.
        arguments: Vec<Expr>,
    },
    /// `c?v,...`, `c??v,...`, `c?<v,...>`, `c??<v,...>`.
    Receive {
        /// The channel.
        channel: Reference,
        /// Which message.
        mode: ReceiveMode,
        /// Its fields.
        arguments: Vec<ReceiveArgument>,
    },
    /// `printf` and `printm`.
    Print {
        /// The format; empty for `printm`.
        format: Arc<str>,
        /// What is printed.
        arguments: Vec<Expr>,
    },
    /// `assert`.
    Assert(Expr),
    /// `set_priority(p, n)`.
    SetPriority(Expr, Expr),
    /// `if`.
    If(Vec<Block>),
    /// `do`.
    Do(Vec<Block>),
    /// `for (v : a .. b) { ... }`.
    For(Reference, Expr, Expr, Block),
    /// `for (v in a) { ... }`.
    ForIn(Reference, Reference, Block),
    /// `select (v : a .. b)` where SPIN makes a loop of it.
    Select(Reference, Expr, Expr),
    /// `break`.
    Break,
    /// `goto label`.
    Goto(Ident),
    /// `atomic { ... }`.
    Atomic(Block),
    /// `d_step { ... }`.
    DStep(Block),
    /// `{ ... }`, and a call of an inline.
    Block(Block),
    /// `statement unless statement`.
    Unless(Box<Statement>, Box<Statement>),
}

/// A variable, an element, a field: `a[i].b.c[j]`.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The parts, in the order of writing.
    pub parts: Vec<ReferencePart>,
    /// Where it is.
    pub span: Span,
}

/// One name of a [`Reference`], perhaps with an index.
#[derive(Clone, Debug)]
pub struct ReferencePart {
    /// The variable or field.
    pub name: Ident,
    /// Which element.
    pub index: Option<Box<Expr>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is.
    pub span: Span,
}

/// Operators with one operand; the last three only in formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Plain(stubborn_network::UnaryOp),
    Always,
    Eventually,
    Next,
}

/// Operators with two operands; from `Until` on only in formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Plain(stubborn_network::BinaryOp),
    Until,
    WeakUntil,
    Release,
    Implies,
    Equivalent,
}

/// What expressions are.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number.
    Number(i32),
    /// A variable, an mtype constant or a predefined name.
    Reference(Reference),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(a -> b : c)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `len(c)` and its kin.
    Channel(ChannelTest, Reference),
    /// `c?[...]` and `c??[...]`.
    Poll {
        /// The channel.
        channel: Reference,
        /// `??`.
        is_random: bool,
        /// What must match.
        arguments: Vec<ReceiveArgument>,
    },
    /// `run P(e, ...)`.
    Run {
        /// The process type.
        name: Ident,
        /// The arguments.
        arguments: Vec<Expr>,
        /// `priority n`.
        priority: Option<Box<Expr>>,
    },
    /// `timeout`.
    Timeout,
    /// `np_`.
    NonProgress,
    /// `enabled(p)`.
    Enabled(Box<Expr>),
    /// `pc_value(p)`.
    PcValue(Box<Expr>),
    /// `get_priority(p)`.
    GetPriority(Box<Expr>),
    /// `P[i]@label`.
    RemoteLabel {
        /// The process type.
        process: Ident,
        /// Which process; the oldest of the type if none is named.
        index: Option<Box<Expr>>,
        /// The label.
        label: Ident,
    },
    /// `P[i]:v`.
    RemoteVariable {
        /// The process type.
        process: Ident,
        /// Which process.
        index: Option<Box<Expr>>,
        /// The variable.
        variable: ReferencePart,
    },
}
