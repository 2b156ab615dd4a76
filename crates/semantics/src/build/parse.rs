//! Steps of a text that builds.
//!
//! ```text
//! text  := ( NAME '=' expr ';'? )+
//! expr  := ( 'hide' | 'keep' | 'forget' ) names 'in' expr
//!        | 'rename' name 'to' name ( ',' name 'to' name )* 'in' expr
//!        | 'minimize' ( 'cffd' | 'branching' | 'strong' | 'tau' | 'reachable' )? expr
//!        | 'reduce' ( 'cffd' | 'failures' | 'traces' ) expr
//!        | 'determinise' expr
//!        | part ( '|' part )*
//! part  := NAME | STRING | '(' expr ')'
//! names := name ( ',' name )*      name := NAME | STRING
//! ```

use super::lexer::{Token, tokens};
use super::{Change, Expr, Named, Smaller, Step};
use crate::Minimization;
use stubborn_reduce::Semantics;
use stubborn_text::{Diagnostic, FileId, Span};

/// Words that are no names.
const KEYWORDS: [&str; 16] = [
    "hide",
    "keep",
    "forget",
    "rename",
    "to",
    "in",
    "minimize",
    "reduce",
    "determinise",
    "cffd",
    "branching",
    "strong",
    "reachable",
    "tau",
    "failures",
    "traces",
];

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 200;

/// The steps of a text.
pub(super) fn parse(text: &str, file: FileId) -> Result<Vec<Step>, Diagnostic> {
    let mut parser = Parser { tokens: tokens(text, file)?, next: 0, depth: 0 };
    let mut steps = Vec::new();
    while *parser.token() != Token::End {
        let (name, span) = parser.name()?;
        parser.expect('=')?;
        steps.push(Step { name, made: parser.expr()?, span });
        parser.pass(';');
    }
    if steps.is_empty() {
        let help = "write for example: pair = minimize \"a.lsts\" | \"b.lsts\"";
        return Err(Diagnostic::error("T0403", parser.span(), "nothing is built").help(help));
    }
    Ok(steps)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(found) if found == word)
    }

    fn pass_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn pass(&mut self, sign: char) -> bool {
        let is_there = *self.token() == Token::Sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn wrong(&self, wanted: &str) -> Diagnostic {
        let found = match self.token() {
            Token::Word(word) => format!("`{word}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".to_owned(),
        };
        Diagnostic::error("T0404", self.span(), format!("{wanted} is expected here, not {found}"))
    }

    fn expect(&mut self, sign: char) -> Result<(), Diagnostic> {
        if self.pass(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.pass_word(word) { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    /// A word that is no keyword.
    fn name(&mut self) -> Result<Named, Diagnostic> {
        match self.token() {
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                let name = (word.clone(), self.span());
                self.advance();
                Ok(name)
            }
            _ => Err(self.wrong("a name")),
        }
    }

    /// The name of an action or a proposition: keywords and the rest in quotes.
    fn any_name(&mut self) -> Result<Named, Diagnostic> {
        if let Token::Text(text) = self.token() {
            let name = (text.clone(), self.span());
            self.advance();
            return Ok(name);
        }
        self.name()
    }

    fn names(&mut self) -> Result<Vec<Named>, Diagnostic> {
        let mut names = vec![self.any_name()?];
        while self.pass(',') {
            names.push(self.any_name()?);
        }
        self.expect_word("in")?;
        Ok(names)
    }

    fn expr(&mut self) -> Result<Expr, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("this is nested deeper than {MAX_DEPTH}");
            return Err(Diagnostic::error("T0405", self.span(), message).help("give a name to a part of it"));
        }
        let expr = self.expr_inside();
        self.depth -= 1;
        expr
    }

    fn expr_inside(&mut self) -> Result<Expr, Diagnostic> {
        let span = self.span();
        if self.pass_word("hide") {
            let names = self.names()?;
            return Ok(Expr::Change(Change::Hide(names), Box::new(self.expr()?)));
        }
        if self.pass_word("keep") {
            let names = self.names()?;
            return Ok(Expr::Change(Change::Keep(names), Box::new(self.expr()?)));
        }
        if self.pass_word("forget") {
            let names = self.names()?;
            return Ok(Expr::Change(Change::Forget(names), Box::new(self.expr()?)));
        }
        if self.pass_word("rename") {
            let renamed = self.renamed()?;
            return Ok(Expr::Change(Change::Rename(renamed), Box::new(self.expr()?)));
        }
        if let Some(how) = self.smaller()? {
            return Ok(Expr::Small(how, Box::new(self.expr()?), span));
        }
        let first = self.part()?;
        let mut parts = vec![first];
        while self.pass('|') {
            parts.push(self.part()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Beside(parts, span) })
    }

    fn renamed(&mut self) -> Result<Vec<(Named, String)>, Diagnostic> {
        let mut pairs = Vec::new();
        loop {
            let old = self.any_name()?;
            self.expect_word("to")?;
            pairs.push((old, self.any_name()?.0));
            if !self.pass(',') {
                self.expect_word("in")?;
                return Ok(pairs);
            }
        }
    }

    fn smaller(&mut self) -> Result<Option<Smaller>, Diagnostic> {
        if self.pass_word("determinise") {
            return Ok(Some(Smaller::Deterministic));
        }
        if self.pass_word("minimize") {
            let words = [
                ("reachable", Minimization::Reachable),
                ("tau", Minimization::Tau),
                ("strong", Minimization::Strong),
                ("branching", Minimization::Branching),
                ("cffd", Minimization::Cffd { initial_stability: false }),
            ];
            let how = words.into_iter().find(|(word, _)| self.pass_word(word));
            let how = how.map_or(Minimization::Cffd { initial_stability: false }, |(_, how)| how);
            return Ok(Some(Smaller::Minimal(how)));
        }
        if self.pass_word("reduce") {
            let words =
                [("cffd", Semantics::Cffd), ("failures", Semantics::Failures), ("traces", Semantics::Traces)];
            let how = words.into_iter().find(|(word, _)| self.pass_word(word));
            let (_, how) = how.ok_or_else(|| self.wrong("`cffd`, `failures` or `traces`"))?;
            return Ok(Some(Smaller::Reduced(how)));
        }
        Ok(None)
    }

    fn part(&mut self) -> Result<Expr, Diagnostic> {
        if self.pass('(') {
            let inside = self.expr()?;
            self.expect(')')?;
            return Ok(inside);
        }
        match self.token() {
            Token::Text(_) => Ok(Expr::File(self.any_name()?)),
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => Ok(Expr::Name(self.name()?)),
            _ => Err(self
                .wrong("a name, a file in quotes or `(`")
                .help("behind `|`, put in parentheses what begins with a word such as `hide`")),
        }
    }
}
