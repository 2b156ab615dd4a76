//! Statements and sequences of them.

use super::{Parsed, Parser, Reported, is_reserved};
use crate::ast::{
    BinaryOp, Block, Expr, ExprKind, ReceiveMode, Reference, SendOrder, Statement, StatementKind,
};
use crate::token::Kind;
use stubborn_network::BinaryOp as Plain;
use stubborn_text::{Diagnostic, Span};

impl Parser<'_> {
    /// `{ ... }`.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let open = self.expect("{")?.span;
        let n_errors = self.diagnostics.len();
        let outer = std::mem::take(&mut self.parentheses);
        let statements = self.nested(|parser| Ok(parser.sequence()))?;
        self.parentheses = outer;
        if !self.at("}") {
            if self.is_end() {
                return self.error("P0005", open, "`{` without `}`");
            }
            return self.unexpected("`}`");
        }
        let close = self.next().span;
        if statements.is_empty() && self.diagnostics.len() == n_errors {
            return self.error("P0009", open.to(close), "a sequence needs at least one statement");
        }
        Ok(Block { statements, span: open.to(close) })
    }

    fn is_sequence_end(&self) -> bool {
        let token = self.peek();
        token.is_mark("}")
            || token.is_mark("::")
            || token.is_word("fi")
            || token.is_word("od")
            || token.kind == Kind::End
    }

    /// Statements up to a `}`, `::`, `fi` or `od`. Errors are reported and skipped.
    pub(super) fn sequence(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            while self.eat(";") || self.eat("->") {}
            if self.is_sequence_end() || self.diagnostics.len() >= self.limits.errors {
                return statements;
            }
            let before = self.rest.len();
            match self.step() {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.skip_statement(before),
            }
            let is_separated = self.at(";")
                || self.at("->")
                || self.peek().starts_line
                || self.last.is_mark("}")
                || self.last.is_word("else")
                || self.is_sequence_end();
            if !is_separated {
                let span = self.peek().span;
                let message = format!("expected `;` before `{}`", self.peek().kind);
                let error = Diagnostic::error("P0008", span, message);
                let help = self.habit(&self.last, self.peek());
                self.report(help.into_iter().fold(error, Diagnostic::help));
                self.skip_statement(before);
            }
        }
    }

    /// Goes on after an error: to the next separator at this level.
    fn skip_statement(&mut self, before: usize) {
        self.parentheses = 0;
        if self.rest.len() == before {
            self.next();
        }
        let mut nesting = 0usize;
        while !self.is_end() {
            let token = self.peek();
            if nesting == 0 && (token.is_mark(";") || token.is_mark("->") || self.is_sequence_end()) {
                return;
            }
            nesting += usize::from(token.is_mark("{") || token.is_word("if") || token.is_word("do"));
            if token.is_mark("}") || token.is_word("fi") || token.is_word("od") {
                nesting = nesting.saturating_sub(1);
            }
            self.next();
        }
    }

    /// A declaration, or a statement perhaps with its escape.
    fn step(&mut self) -> Parsed<Statement> {
        let span = self.peek().span;
        if self.is_declaration() {
            let declaration = self.declaration()?;
            return Ok(Statement { span: declaration.span, kind: StatementKind::Declaration(declaration) });
        }
        if self.at_word("xr") || self.at_word("xs") {
            let is_send = self.next().is_word("xs");
            let mut channels = vec![self.reference()?];
            while self.eat(",") {
                channels.push(self.reference()?);
            }
            return Ok(Statement { kind: StatementKind::Exclusive { is_send, channels }, span });
        }
        let statement = self.statement()?;
        if !self.eat_word("unless") {
            return Ok(statement);
        }
        let escape = self.statement()?;
        let span = span.to(escape.span);
        let kind = StatementKind::Unless(Box::new(statement), Box::new(escape));
        Ok(Statement { kind, span })
    }

    /// A statement.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let span = parser.peek().span;
            if parser.is_inline_call(0) {
                return parser.inline_call(None);
            }
            if parser.at_word("return") {
                return parser.return_statement();
            }
            let kind = parser.statement_kind(span)?;
            Ok(Statement { kind, span: span.to(parser.last.span) })
        })
    }

    fn statement_kind(&mut self, span: Span) -> Parsed<StatementKind> {
        let token = self.peek().clone();
        if token.is_mark("{") {
            return Ok(StatementKind::Block(self.block()?));
        }
        let Some(word) = token.word().cloned() else {
            return Ok(StatementKind::Guard(self.expr()?));
        };
        match &*word {
            "if" => Ok(StatementKind::If(self.options("fi")?)),
            "do" => Ok(StatementKind::Do(self.options("od")?)),
            "for" => self.for_statement(),
            "select" => self.select_statement(span),
            "break" => {
                self.next();
                Ok(StatementKind::Break)
            }
            "goto" => {
                self.next();
                Ok(StatementKind::Goto(self.ident("a label")?))
            }
            "else" => {
                self.next();
                Ok(StatementKind::Else)
            }
            "atomic" => {
                self.next();
                Ok(StatementKind::Atomic(self.block()?))
            }
            "d_step" => {
                self.next();
                Ok(StatementKind::DStep(self.block()?))
            }
            "assert" => {
                self.next();
                Ok(StatementKind::Assert(self.expr()?))
            }
            "printf" | "printm" => self.print_statement(),
            "set_priority" => {
                self.next();
                self.open()?;
                let process = self.expr()?;
                self.expect(",")?;
                let priority = self.expr()?;
                self.close()?;
                Ok(StatementKind::SetPriority(process, priority))
            }
            "c_code" | "c_expr" | "c_decl" | "c_state" | "c_track" => self.unexpected("a statement"),
            _ if !is_reserved(&word) && self.peek_at(1).is_mark(":") && !self.is_remote(&word) => {
                self.labelled()
            }
            _ if !is_reserved(&word) => self.reference_statement(),
            _ => Ok(StatementKind::Guard(self.expr()?)),
        }
    }

    fn labelled(&mut self) -> Parsed<StatementKind> {
        let label = self.ident("a label")?;
        let colon = self.expect(":")?.span;
        let is_alone = self.is_sequence_end() || self.at(";") || self.at("->");
        if self.is_declaration() {
            return self.error("P0010", label.span, "a label cannot stand before a declaration");
        }
        let statement = if is_alone {
            let one = Expr { kind: ExprKind::Number(1), span: colon };
            Statement { kind: StatementKind::Guard(one), span: colon }
        } else {
            self.statement()?
        };
        Ok(StatementKind::Labelled(label, Box::new(statement)))
    }

    /// The options of an `if` or `do`, up to its end.
    fn options(&mut self, end: &'static str) -> Parsed<Vec<Block>> {
        let open = self.next().span;
        let outer = std::mem::take(&mut self.parentheses);
        let mut options = Vec::new();
        self.eat(";");
        while self.at("::") {
            let start = self.next().span;
            let n_errors = self.diagnostics.len();
            let statements = self.nested(|parser| Ok(parser.sequence()))?;
            let span = start.to(self.last.span);
            if statements.is_empty() && self.diagnostics.len() == n_errors {
                return self.error("P0009", start, "an option needs at least one statement");
            }
            options.push(Block { statements, span });
        }
        self.parentheses = outer;
        if !self.at_word(end) {
            let diagnostic = Diagnostic::error("P0005", open, format!("`{end}` is missing"));
            let found = self.peek().clone();
            let diagnostic = diagnostic.label(found.span, format!("found `{}` instead", found.kind));
            let help = self.habit(&self.last, &found);
            return Err(self.report(help.into_iter().fold(diagnostic, Diagnostic::help)));
        }
        self.next();
        if options.is_empty() {
            return self.error("P0009", open, "there is no option");
        }
        Ok(options)
    }

    fn for_statement(&mut self) -> Parsed<StatementKind> {
        self.next();
        self.open()?;
        let variable = self.reference()?;
        if self.eat_word("in") {
            let array = self.reference()?;
            self.close()?;
            self.eat(";");
            return Ok(StatementKind::ForIn(variable, array, self.block()?));
        }
        if self.at("=") {
            let error = Diagnostic::error("P0004", self.peek().span, "expected `:`, found `=`");
            return Err(self.report(error.help("`for (i : 0 .. 9) { ... }`, or a `do` loop")));
        }
        self.expect(":")?;
        let from = self.expr()?;
        self.expect("..")?;
        let to = self.expr()?;
        self.close()?;
        self.eat(";");
        Ok(StatementKind::For(variable, from, to, self.block()?))
    }

    /// `select (v : a .. b)`. Within SPIN's rules (constant bounds, a plain name, a short range, not in an
    /// inline) it is one step with many outcomes; otherwise it is a loop.
    fn select_statement(&mut self, span: Span) -> Parsed<StatementKind> {
        self.next();
        self.open()?;
        let variable = self.reference()?;
        self.expect(":")?;
        let is_literal = |parser: &Self, end: &str| {
            matches!(parser.peek().kind, Kind::Number(_)) && parser.peek_at(1).is_mark(end)
        };
        let mut is_choice = self.active.is_empty() && is_literal(self, "..");
        let from = self.expr()?;
        self.expect("..")?;
        is_choice &= is_literal(self, ")");
        let to = self.expr()?;
        self.close()?;
        let [part] = variable.parts.as_slice() else {
            return self.error("P0011", variable.span, "`select` needs a plain variable");
        };
        is_choice &= part.index.is_none() && part.name.name.chars().all(|c| c.is_ascii_alphanumeric());
        match (&from.kind, &to.kind) {
            (&ExprKind::Number(a), &ExprKind::Number(b)) if is_choice && a > b => {
                self.error("P0011", span.to(self.last.span), "`select` from an empty range")
            }
            (&ExprKind::Number(a), &ExprKind::Number(b)) if is_choice && b - a <= 32 => {
                let span = variable.span;
                let option = |value: i32| {
                    let value = Expr { kind: ExprKind::Number(value), span };
                    let kind = StatementKind::Assign(variable.clone(), value);
                    Block { statements: vec![Statement { kind, span }], span }
                };
                Ok(StatementKind::If((a..=b).map(option).collect()))
            }
            _ => Ok(StatementKind::Select(variable, from, to)),
        }
    }

    fn print_statement(&mut self) -> Parsed<StatementKind> {
        let is_format = self.next().is_word("printf");
        self.open()?;
        let mut format = "".into();
        let mut arguments = Vec::new();
        if is_format {
            match self.peek().kind.clone() {
                Kind::Text(text) => format = text,
                _ => return self.unexpected("a format"),
            }
            self.next();
            if self.eat(",") {
                arguments = self.expressions()?;
            }
        } else {
            arguments.push(self.expr()?);
        }
        self.close()?;
        Ok(StatementKind::Print { format, arguments })
    }

    /// How many tokens ahead the reference that comes next ends.
    fn reference_length(&self) -> usize {
        let mut n = 0;
        loop {
            n += 1;
            if self.peek_at(n).is_mark("[") {
                let mut nesting = 0usize;
                loop {
                    let token = self.peek_at(n);
                    if token.kind == Kind::End {
                        return n;
                    }
                    nesting += usize::from(token.is_mark("["));
                    nesting -= usize::from(token.is_mark("]"));
                    n += 1;
                    if nesting == 0 {
                        break;
                    }
                }
            }
            if !self.peek_at(n).is_mark(".") || self.peek_at(n + 1).word().is_none() {
                return n;
            }
            n += 1;
        }
    }

    /// A statement that begins with a variable: assignment, send, receive, or a condition.
    fn reference_statement(&mut self) -> Parsed<StatementKind> {
        let length = self.reference_length();
        let operator = self.peek_at(length).clone();
        let is_poll = self.peek_at(length + 1).is_mark("[");
        let Kind::Mark(mark) = operator.kind else {
            return Ok(StatementKind::Guard(self.expr()?));
        };
        match mark {
            _ if operator.starts_line => Ok(StatementKind::Guard(self.expr()?)),
            "=" if self.is_inline_call(length + 1) => {
                let result: Vec<_> = (0..length).map(|_| self.next()).collect();
                self.next();
                let call = self.inline_call(Some(result))?;
                Ok(call.kind)
            }
            "=" => {
                let target = self.reference()?;
                self.next();
                Ok(StatementKind::Assign(target, self.expr()?))
            }
            "++" | "--" => {
                let target = self.reference()?;
                let span = target.span.to(self.next().span);
                let op = BinaryOp::Plain(if mark == "++" { Plain::Add } else { Plain::Subtract });
                let one = Expr { kind: ExprKind::Number(1), span };
                let value = Expr { kind: ExprKind::Reference(target.clone()), span };
                let kind = ExprKind::Binary(op, Box::new(value), Box::new(one));
                Ok(StatementKind::Increment(target, Expr { kind, span }))
            }
            "!" | "!!" => self.send_statement(),
            "?" | "??" if !is_poll => self.receive_statement(),
            _ => Ok(StatementKind::Guard(self.expr()?)),
        }
    }

    fn send_statement(&mut self) -> Parsed<StatementKind> {
        let channel: Reference = self.reference()?;
        let order = if self.next().is_mark("!!") { SendOrder::Sorted } else { SendOrder::Last };
        let mut arguments = self.expressions()?;
        if self.at("(") && !self.is_line_end() {
            self.open()?;
            if !self.at(")") {
                arguments.extend(self.expressions()?);
            }
            self.close()?;
        }
        Ok(StatementKind::Send { channel, order, arguments })
    }

    fn receive_statement(&mut self) -> Parsed<StatementKind> {
        let channel = self.reference()?;
        let is_random = self.next().is_mark("??");
        let is_copy = self.eat("<");
        let arguments = self.receive_arguments()?;
        if is_copy {
            self.expect(">")?;
        }
        Ok(StatementKind::Receive { channel, mode: ReceiveMode { is_random, is_copy }, arguments })
    }
}
