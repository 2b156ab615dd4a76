//! Expressions, formulas and references.

use super::{Parsed, Parser};
use crate::ast::{
    BinaryOp, ChannelTest, Expr, ExprKind, Ident, ReceiveArgument, Reference, ReferencePart, UnaryOp,
};
use crate::token::Kind;
use stubborn_network::{BinaryOp as Plain, UnaryOp as PlainUnary};
use stubborn_text::Span;

/// Binary operators of Promela with their precedence, as in SPIN's grammar.
const BINARY: [(&str, u8, Plain); 18] = [
    ("||", 2, Plain::Or),
    ("&&", 3, Plain::And),
    ("|", 6, Plain::BitOr),
    ("^", 7, Plain::BitXor),
    ("&", 8, Plain::BitAnd),
    ("==", 9, Plain::Equal),
    ("!=", 9, Plain::NotEqual),
    ("<", 10, Plain::Less),
    ("<=", 10, Plain::LessEqual),
    (">", 10, Plain::Greater),
    (">=", 10, Plain::GreaterEqual),
    ("<<", 11, Plain::ShiftLeft),
    (">>", 11, Plain::ShiftRight),
    ("+", 12, Plain::Add),
    ("-", 12, Plain::Subtract),
    ("*", 13, Plain::Multiply),
    ("/", 13, Plain::Divide),
    ("%", 13, Plain::Modulo),
];

/// Operators that exist only in formulas.
const TEMPORAL: [(&str, u8, BinaryOp); 12] = [
    ("->", 1, BinaryOp::Implies),
    ("implies", 1, BinaryOp::Implies),
    ("<->", 1, BinaryOp::Equivalent),
    ("equivalent", 1, BinaryOp::Equivalent),
    ("U", 5, BinaryOp::Until),
    ("until", 5, BinaryOp::Until),
    ("stronguntil", 5, BinaryOp::Until),
    ("W", 5, BinaryOp::WeakUntil),
    ("weakuntil", 5, BinaryOp::WeakUntil),
    ("V", 5, BinaryOp::Release),
    ("R", 5, BinaryOp::Release),
    ("release", 5, BinaryOp::Release),
];

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.binary(1)
    }

    fn operator(&self) -> Option<(u8, BinaryOp)> {
        let token = self.peek();
        if self.is_line_end() {
            return None;
        }
        let is_next = |op: &str| token.is_mark(op) || token.is_word(op);
        let plain = BINARY.iter().find(|(op, ..)| is_next(op));
        let temporal = TEMPORAL.iter().find(|(op, ..)| self.is_formula && is_next(op));
        plain.map(|&(_, p, op)| (p, BinaryOp::Plain(op))).or(temporal.map(|&(_, p, op)| (p, op)))
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expr> {
        self.nested(|parser| {
            let mut left = parser.unary()?;
            while let Some((precedence, op)) = parser.operator().filter(|(p, _)| *p >= weakest) {
                // `q?<a,b>` ends with a `>` that compares nothing.
                if op == BinaryOp::Plain(Plain::Greater) && parser.ends_copy_receive() {
                    break;
                }
                parser.next();
                let height = parser.height;
                let right = parser.binary(precedence + 1)?;
                let span = left.span.to(right.span);
                left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
                parser.grow(height)?;
            }
            Ok(left)
        })
    }

    /// The expression just read is one higher than its highest part; `other` is the height of the others.
    fn grow(&mut self, other: usize) -> Parsed<()> {
        self.height = self.height.max(other) + 1;
        if self.height > self.limits.nesting * 4 {
            return self.cut("P0006", self.last.span, "expression is too long");
        }
        Ok(())
    }

    fn ends_copy_receive(&self) -> bool {
        let next = self.peek_at(1);
        let starts_operand = matches!(next.kind, Kind::Number(_) | Kind::Word(_))
            || ["(", "-", "!", "~"].iter().any(|m| next.is_mark(m));
        !starts_operand || next.starts_line
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let op = match &token.kind {
            Kind::Mark("!") => UnaryOp::Plain(PlainUnary::Not),
            Kind::Mark("-") => UnaryOp::Plain(PlainUnary::Minus),
            Kind::Mark("~") => UnaryOp::Plain(PlainUnary::Complement),
            Kind::Mark("!!") => {
                // Two negations that the lexer took for a sorted send.
                self.next();
                let inner = self.nested(Self::unary)?;
                self.grow(1)?;
                let span = token.span.to(inner.span);
                let not = UnaryOp::Plain(PlainUnary::Not);
                let inner = Expr { kind: ExprKind::Unary(not, Box::new(inner)), span };
                return Ok(Expr { kind: ExprKind::Unary(not, Box::new(inner)), span });
            }
            Kind::Mark("[") if self.is_formula && self.peek_at(1).is_mark("]") => {
                self.next();
                UnaryOp::Always
            }
            Kind::Mark("<") if self.is_formula && self.peek_at(1).is_mark(">") => {
                self.next();
                UnaryOp::Eventually
            }
            Kind::Word(word) if self.is_formula => match &**word {
                "always" => UnaryOp::Always,
                "eventually" => UnaryOp::Eventually,
                "X" | "next" => UnaryOp::Next,
                _ => return self.primary(),
            },
            _ => return self.primary(),
        };
        self.next();
        let inner = self.nested(Self::unary)?;
        self.grow(0)?;
        let span = token.span.to(inner.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(inner)), span })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        self.height = 1;
        match &token.kind {
            Kind::Number(value) => {
                self.next();
                Ok(Expr { kind: ExprKind::Number(*value), span: token.span })
            }
            Kind::Mark("(") => self.parenthesised(),
            Kind::Word(word) => self.word(&word.clone(), token.span),
            _ => self.unexpected("an expression"),
        }
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let open = self.open()?.span;
        let was_formula = self.is_formula;
        let condition = self.expr()?;
        let mut kind = condition.kind;
        if !was_formula && self.eat("->") {
            let condition = Expr { kind, span: condition.span };
            let height = self.height;
            let yes = self.expr()?;
            let height = height.max(self.height);
            self.expect(":")?;
            let no = self.expr()?;
            self.grow(height)?;
            kind = ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        }
        let close = self.close()?.span;
        Ok(Expr { kind, span: open.to(close) })
    }

    fn word(&mut self, word: &str, span: Span) -> Parsed<Expr> {
        let simple = |kind| Ok(Expr { kind, span });
        match word {
            "true" | "skip" | "false" => {
                self.next();
                simple(ExprKind::Number(i32::from(word != "false")))
            }
            "timeout" => {
                self.next();
                simple(ExprKind::Timeout)
            }
            "np_" => {
                self.next();
                simple(ExprKind::NonProgress)
            }
            "len" => self.channel_test(ChannelTest::Len),
            "full" => self.channel_test(ChannelTest::Full),
            "nfull" => self.channel_test(ChannelTest::NotFull),
            "empty" => self.channel_test(ChannelTest::Empty),
            "nempty" => self.channel_test(ChannelTest::NotEmpty),
            "enabled" => self.process_test(ExprKind::Enabled),
            "pc_value" => self.process_test(ExprKind::PcValue),
            "get_priority" => self.process_test(ExprKind::GetPriority),
            "run" => self.run(span),
            _ if self.is_remote(word) => self.remote(span),
            _ => self.reference_or_poll(),
        }
    }

    fn channel_test(&mut self, test: ChannelTest) -> Parsed<Expr> {
        let span = self.next().span;
        self.open()?;
        let channel = self.reference()?;
        let end = self.close()?.span;
        Ok(Expr { kind: ExprKind::Channel(test, channel), span: span.to(end) })
    }

    fn process_test(&mut self, kind: fn(Box<Expr>) -> ExprKind) -> Parsed<Expr> {
        let span = self.next().span;
        self.open()?;
        let process = self.expr()?;
        let end = self.close()?.span;
        Ok(Expr { kind: kind(Box::new(process)), span: span.to(end) })
    }

    fn run(&mut self, span: Span) -> Parsed<Expr> {
        self.next();
        let name = self.ident("the name of a proctype")?;
        self.open()?;
        let arguments = if self.at(")") { Vec::new() } else { self.expressions()? };
        self.close()?;
        let priority = self.priority()?.map(Box::new);
        let span = span.to(self.last.span);
        Ok(Expr { kind: ExprKind::Run { name, arguments, priority }, span })
    }

    /// `priority n`, if it is there.
    pub(super) fn priority(&mut self) -> Parsed<Option<Expr>> {
        if !self.eat_word("priority") {
            return Ok(None);
        }
        let span = self.peek().span;
        match self.next().kind {
            Kind::Number(value) => Ok(Some(Expr { kind: ExprKind::Number(value), span })),
            _ => self.error("P0004", span, "expected a number after `priority`"),
        }
    }

    /// One or more expressions with commas between them.
    pub(super) fn expressions(&mut self) -> Parsed<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat(",") {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    /// Whether `word`, which comes next, begins a remote reference.
    pub(super) fn is_remote(&self, word: &str) -> bool {
        let next = self.peek_at(1);
        self.proctypes.contains(word) && ["@", "[", ":"].iter().any(|m| next.is_mark(m))
    }

    /// `P@label`, `P[i]@label`, `P:v`, `P[i]:v`.
    fn remote(&mut self, span: Span) -> Parsed<Expr> {
        let process = self.ident("a proctype")?;
        let mut index = None;
        if self.eat("[") {
            index = Some(Box::new(self.expr()?));
            self.expect("]")?;
        }
        if self.eat("@") {
            let label = self.ident("a label")?;
            let span = span.to(label.span);
            return Ok(Expr { kind: ExprKind::RemoteLabel { process, index, label }, span });
        }
        if !self.eat(":") {
            return self.unexpected("`@` or `:` after the name of a process type");
        }
        let variable = self.reference_part()?;
        let span = span.to(self.last.span);
        Ok(Expr { kind: ExprKind::RemoteVariable { process, index, variable }, span })
    }

    fn reference_or_poll(&mut self) -> Parsed<Expr> {
        let reference = self.reference()?;
        let span = reference.span;
        let is_poll = (self.at("?") || self.at("??")) && self.peek_at(1).is_mark("[") && !self.is_line_end();
        if !is_poll {
            return Ok(Expr { kind: ExprKind::Reference(reference), span });
        }
        let is_random = self.next().is_mark("??");
        self.expect("[")?;
        let arguments = self.receive_arguments()?;
        let end = self.expect("]")?.span;
        let kind = ExprKind::Poll { channel: reference, is_random, arguments };
        Ok(Expr { kind, span: span.to(end) })
    }

    /// A variable, an element, a field.
    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let first = self.reference_part()?;
        let start = first.name.span;
        let mut parts = vec![first];
        while self.at(".") && !self.is_line_end() {
            self.next();
            parts.push(self.reference_part()?);
        }
        Ok(Reference { parts, span: start.to(self.last.span) })
    }

    fn reference_part(&mut self) -> Parsed<ReferencePart> {
        let name: Ident = self.ident("a variable")?;
        let mut index = None;
        let is_always = self.is_formula && self.peek_at(1).is_mark("]");
        if self.at("[") && !is_always && !self.is_line_end() {
            self.next();
            let value = self.nested(Self::expr)?;
            self.expect("]")?;
            index = Some(Box::new(value));
        }
        Ok(ReferencePart { name, index })
    }

    /// The arguments of a receive: `a,b`, `a(b)` and `(a,b)` are the same.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<ReceiveArgument>> {
        if self.at("(") && !self.is_line_end() {
            self.open()?;
            let list = self.nested(Self::receive_arguments)?;
            self.close()?;
            return Ok(list);
        }
        let mut list = vec![self.receive_argument()?];
        loop {
            if self.eat(",") {
                list.push(self.receive_argument()?);
            } else if self.at("(") && !self.is_line_end() {
                self.open()?;
                list.extend(self.nested(Self::receive_arguments)?);
                self.close()?;
            } else {
                return Ok(list);
            }
        }
    }

    fn receive_argument(&mut self) -> Parsed<ReceiveArgument> {
        let token = self.peek().clone();
        match &token.kind {
            Kind::Word(word) if &**word == "eval" => {
                self.next();
                self.open()?;
                let value = self.expr()?;
                self.close()?;
                Ok(ReceiveArgument::Eval(value))
            }
            Kind::Word(word) if matches!(&**word, "true" | "false" | "skip") => {
                Ok(ReceiveArgument::Constant(self.primary()?))
            }
            Kind::Number(_) => Ok(ReceiveArgument::Constant(self.primary()?)),
            Kind::Mark("-") => Ok(ReceiveArgument::Constant(self.unary()?)),
            _ => Ok(ReceiveArgument::Variable(self.reference()?)),
        }
    }
}
