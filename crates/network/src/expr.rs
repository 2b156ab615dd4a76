//! Expressions and places: trees over the variables of a state.

use crate::{LocationId, Pattern, Width};

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Among the globals.
    Global,
    /// In the process that evaluates.
    Local,
}

/// A scalar, perhaps in arrays and records: an offset, and what indices add to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Global or local.
    pub scope: Scope,
    /// Offset within the globals, or within the locals of the process.
    pub offset: usize,
    /// Type of the scalar.
    pub width: Width,
    /// Indices that are not constant.
    pub indices: Vec<Index>,
    /// As written, for people.
    pub text: String,
}

/// An index into an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Which element.
    pub value: Expr,
    /// How many there are.
    pub length: usize,
    /// Bytes from one to the next.
    pub stride: usize,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Not,
    Minus,
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitXor,
    BitOr,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// What can be asked of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ChannelTest {
    Len,
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

/// An expression. Channels are numbers: one more than their place in the order of creation; zero is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Constant(i32),
    /// The value of a variable.
    Load(Place),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands; `And` and `Or` evaluate the second only if they must.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// If the first is not zero the second, else the third.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A question about a channel.
    Channel(ChannelTest, Box<Expr>),
    /// Whether a receive would find a message.
    Poll {
        /// The channel.
        channel: Box<Expr>,
        /// Whether any message may match, or only the oldest.
        is_random: bool,
        /// What must match.
        fields: Vec<Pattern>,
    },
    /// The number of the process that evaluates.
    Pid,
    /// How many processes exist.
    ProcessCount,
    /// Whether nothing else can happen.
    Timeout,
    /// Whether no process is at a progress location.
    NonProgress,
    /// Whether a process is at an accepting location.
    Accepting,
    /// Whether a process has an executable step.
    Enabled(Box<Expr>),
    /// The number of the location of a process.
    PcValue(Box<Expr>),
    /// The priority of a process.
    Priority(Box<Expr>),
    /// Whether a process is at a location. Without an index: the oldest process of the kind.
    RemoteLocation {
        /// Kind of the process.
        kind: usize,
        /// Which process.
        process: Option<Box<Expr>>,
        /// Where.
        location: LocationId,
    },
    /// The value of a local variable of another process. Without an index: the oldest of the kind.
    RemoteLoad {
        /// Kind of the process.
        kind: usize,
        /// Which process.
        process: Option<Box<Expr>>,
        /// A local place; its indices are evaluated by the process that asks.
        place: Place,
    },
    /// The number of the process that the step has just started.
    Started,
}

impl Expr {
    /// Whether it asks whether nothing else can happen.
    pub fn has_timeout(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= *expr == Self::Timeout);
        found
    }

    /// Calls `visit` with this expression and all within it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        let of_place = |place: &Place, visit: &mut dyn FnMut(&Expr)| {
            place.indices.iter().for_each(|index| index.value.walk(visit));
        };
        match self {
            Self::Constant(_)
            | Self::Pid
            | Self::ProcessCount
            | Self::Timeout
            | Self::NonProgress
            | Self::Accepting
            | Self::Started => {}
            Self::Load(place) => of_place(place, visit),
            Self::Unary(_, a)
            | Self::Channel(_, a)
            | Self::Enabled(a)
            | Self::PcValue(a)
            | Self::Priority(a) => a.walk(visit),
            Self::Binary(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            Self::Conditional(a, b, c) => [a, b, c].iter().for_each(|e| e.walk(visit)),
            Self::Poll { channel, fields, .. } => {
                channel.walk(visit);
                for field in fields {
                    match field {
                        Pattern::Match(e) => e.walk(visit),
                        Pattern::Bind(place) => of_place(place, visit),
                        Pattern::Ignore => {}
                    }
                }
            }
            Self::RemoteLocation { process, .. } => process.iter().for_each(|p| p.walk(visit)),
            Self::RemoteLoad { process, place, .. } => {
                process.iter().for_each(|p| p.walk(visit));
                of_place(place, visit);
            }
        }
    }

    /// Whether evaluating it may go wrong: an index, a division, a channel, a process that asks about itself.
    pub fn may_fail(&self) -> bool {
        self.may_fail_if(&Self::is_fallible)
    }

    /// The same if `is_fallible` says what may go wrong by itself.
    fn may_fail_if(&self, is_fallible: &dyn Fn(&Self) -> bool) -> bool {
        let mut may_fail = false;
        self.walk(&mut |expr| may_fail |= is_fallible(expr));
        may_fail
    }

    /// Whether evaluating it may go wrong although evaluating its parts did not.
    fn is_fallible(&self) -> bool {
        match self {
            Self::Load(place) | Self::RemoteLoad { place, .. } => !place.indices.is_empty(),
            Self::Binary(BinaryOp::Divide | BinaryOp::Modulo, _, by) => !is_not_zero(by),
            Self::Channel(..) | Self::Poll { .. } | Self::Enabled(_) => true,
            _ => false,
        }
    }

    /// The parts whose values decide whether evaluating it goes wrong, and how.
    pub fn risks(&self) -> Vec<&Self> {
        self.find_risks(false, &Self::is_fallible)
    }

    /// Whether it holds only where nothing else can be done.
    fn awaits_timeout(&self) -> bool {
        match self {
            Self::Timeout => true,
            Self::Binary(BinaryOp::And, a, b) => a.awaits_timeout() || b.awaits_timeout(),
            _ => false,
        }
    }

    /// The same for someone who knows better what may go wrong by itself, and for whom states in which nothing can be
    /// done but what waits for a timeout do not matter: what comes behind `timeout &&` is left out.
    pub fn risks_if(&self, is_fallible: &dyn Fn(&Self) -> bool) -> Vec<&Self> {
        self.find_risks(true, is_fallible)
    }

    fn find_risks(&self, can_wait: bool, is_fallible: &dyn Fn(&Self) -> bool) -> Vec<&Self> {
        let mut risks = Vec::new();
        let mut work = vec![self];
        while let Some(expr) = work.pop() {
            match expr {
                _ if !expr.may_fail_if(is_fallible) => {}
                Self::Load(place) => {
                    let indices = || place.indices.iter().map(|index| &index.value);
                    risks.extend(indices());
                    work.extend(indices());
                }
                Self::Unary(_, a) => work.push(a),
                Self::Binary(op, a, b) => {
                    match op {
                        BinaryOp::And if can_wait && a.awaits_timeout() => {
                            work.push(a);
                            continue;
                        }
                        BinaryOp::Divide | BinaryOp::Modulo if is_fallible(expr) => risks.push(b),
                        // The first says whether the second is evaluated.
                        BinaryOp::And | BinaryOp::Or if b.may_fail_if(is_fallible) => risks.push(a),
                        _ => {}
                    }
                    work.extend([&**a, &**b]);
                }
                Self::Conditional(a, b, c) => {
                    if b.may_fail_if(is_fallible) || c.may_fail_if(is_fallible) {
                        risks.push(a);
                    }
                    work.extend([&**a, &**b, &**c]);
                }
                Self::Channel(_, channel) => risks.push(channel),
                _ => risks.push(expr),
            }
        }
        risks
    }
}

fn is_not_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(value) if *value != 0)
}
