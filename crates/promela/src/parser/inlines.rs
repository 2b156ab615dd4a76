//! `inline`: textual, as in SPIN. A call is replaced by the body, a block, in which every occurrence of a
//! parameter is replaced by the text of the argument; names mean what they mean at the call.

use super::{Inline, Parsed, Parser};
use crate::ast::{Ident, Statement};
use crate::token::{Kind, Token};
use std::sync::Arc;

impl Parser<'_> {
    /// `inline name(parameters) { ... }`: remembered, not parsed.
    pub(super) fn inline_definition(&mut self) -> Parsed<()> {
        self.expect_word("inline")?;
        let name = self.ident("the name of the inline")?;
        self.open()?;
        let mut parameters = Vec::new();
        while !self.at(")") && !self.is_end() {
            parameters.push(self.ident("a parameter")?.name);
            self.eat(",");
        }
        self.close()?;
        let body = self.braced()?;
        self.inlines.insert(name.name, Inline { parameters, body });
        Ok(())
    }

    /// The tokens from `{` to the matching `}`.
    pub(super) fn braced(&mut self) -> Parsed<Vec<Token>> {
        let open = self.expect("{")?;
        let mut body = vec![open.clone()];
        let mut nesting = 1;
        while nesting > 0 {
            if self.is_end() {
                return self.error("P0005", open.span, "`{` without `}`");
            }
            let token = self.next();
            nesting += usize::from(token.is_mark("{"));
            nesting -= usize::from(token.is_mark("}"));
            body.push(token);
        }
        Ok(body)
    }

    /// Whether a call of an inline comes next, `n` tokens ahead.
    pub(super) fn is_inline_call(&self, n: usize) -> bool {
        let is_name = self.peek_at(n).word().is_some_and(|w| self.inlines.contains_key(w));
        is_name && self.peek_at(n + 1).is_mark("(")
    }

    /// A call; `result` is the variable that `return` assigns to.
    pub(super) fn inline_call(&mut self, result: Option<Vec<Token>>) -> Parsed<Statement> {
        let name = self.ident("the name of an inline")?;
        let inline = self.inlines[&name.name].clone();
        let arguments = self.inline_arguments()?;
        if self.active.contains(&name.name) {
            let message = format!("inline `{}` calls itself", name.name);
            return self.error("P0201", name.span, message);
        }
        if arguments.len() != inline.parameters.len() {
            let message = format!(
                "inline `{}` takes {} arguments, not {}",
                name.name,
                inline.parameters.len(),
                arguments.len()
            );
            return self.error("P0202", name.span, message);
        }
        self.push_body(&name, &inline, &arguments)?;
        self.active.push(name.name);
        self.results.push(result);
        let block = self.nested(Self::statement);
        self.results.pop();
        self.active.pop();
        block
    }

    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let open = self.expect("(")?;
        let mut arguments = vec![Vec::new()];
        let mut nesting = 1;
        loop {
            if self.is_end() {
                return self.error("P0005", open.span, "`(` without `)`");
            }
            let token = self.next();
            nesting += usize::from(token.is_mark("("));
            nesting -= usize::from(token.is_mark(")"));
            if nesting == 0 {
                break;
            }
            if nesting == 1 && token.is_mark(",") {
                arguments.push(Vec::new());
            } else if let Some(last) = arguments.last_mut() {
                last.push(Token { starts_line: false, ..token });
            }
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        Ok(arguments)
    }

    fn push_body(&mut self, name: &Ident, inline: &Inline, arguments: &[Vec<Token>]) -> Parsed<()> {
        let position = |word: &Arc<str>| inline.parameters.iter().position(|p| p == word);
        for token in inline.body.iter().rev() {
            match token.word().and_then(position) {
                Some(i) => {
                    let first = arguments[i].len();
                    for (at, argument) in arguments[i].iter().enumerate().rev() {
                        let starts_line = at == 0 && first > 0 && token.starts_line;
                        self.rest.push(Token { starts_line, ..argument.clone() });
                    }
                    self.inlined += first;
                }
                None => self.rest.push(token.clone()),
            }
        }
        self.inlined += inline.body.len();
        if self.inlined > self.limits.tokens {
            let message = format!("more than {} tokens after inlining", self.limits.tokens);
            return self.cut("P0007", name.span, message);
        }
        Ok(())
    }

    /// `return e`: becomes an assignment to the variable that the call assigns to.
    pub(super) fn return_statement(&mut self) -> Parsed<Statement> {
        let token = self.expect_word("return")?;
        let Some(Some(result)) = self.results.last().cloned() else {
            return self.error(
                "P0203",
                token.span,
                "`return` outside an inline that is called for its value",
            );
        };
        let kind = Kind::Mark("=");
        self.rest.push(Token { kind, starts_line: false, ..token });
        self.rest.extend(result.into_iter().rev());
        self.statement()
    }
}
