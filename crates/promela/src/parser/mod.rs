//! Tokens to syntax tree: recursive descent, precedence climbing for expressions, a counter against deep
//! nesting, and as many errors as can be found (after one the parser goes on with the next statement or
//! the next unit).
//!
//! SPIN's leniency about semicolons is kept: the end of a line may stand for one outside parentheses,
//! and so may a closing brace or an `else`.

mod expressions;
mod habits;
mod inlines;
mod items;
mod statements;

use crate::ast::{Expr, Ident, Item, Model};
use crate::refuse;
use crate::token::{Kind, Token};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stubborn_text::{Diagnostic, Limits, Span};

/// Parses a preprocessed model, and the invariants and formulas that come from outside.
pub(crate) fn parse(
    tokens: Vec<Token>,
    invariants: Vec<Vec<Token>>,
    formulas: Vec<Vec<Token>>,
    limits: &Limits,
) -> (Model, Vec<Diagnostic>) {
    let mut parser = Parser::new(tokens, limits);
    let mut model = Model::default();
    while !parser.is_end() && parser.diagnostics.len() < limits.errors {
        if let Ok(items) = parser.item() {
            model.items.extend(items);
        } else {
            parser.skip_to_item();
        }
    }
    for tokens in invariants {
        model.items.extend(parser.outside(tokens, false).map(Item::Invariant));
    }
    for tokens in formulas {
        let formula = parser.outside(tokens, true);
        model.items.extend(formula.map(|formula| Item::Ltl { name: None, formula }));
    }
    (model, parser.diagnostics)
}

/// The error was reported already.
pub(crate) struct Reported;

type Parsed<T> = Result<T, Reported>;

/// An `inline`: its parameters and its tokens, braces included.
#[derive(Clone)]
struct Inline {
    parameters: Vec<Arc<str>>,
    body: Vec<Token>,
}

struct Parser<'a> {
    /// What is still to be read, the next token last.
    rest: Vec<Token>,
    limits: &'a Limits,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// Height of the tree of the last expression that was read: a long chain is a high tree, and whoever
    /// walks it later must not run out of stack.
    height: usize,
    /// Open parentheses: within them the end of a line means nothing.
    parentheses: usize,
    /// The last token that was read.
    last: Token,
    /// Tokens that inlines produced.
    inlined: usize,
    inlines: HashMap<Arc<str>, Inline>,
    /// The inlines that are being expanded.
    active: Vec<Arc<str>>,
    /// Where `return` goes in each of them.
    results: Vec<Option<Vec<Token>>>,
    proctypes: HashSet<Arc<str>>,
    typedefs: HashSet<Arc<str>>,
    /// Whether a formula is being read.
    is_formula: bool,
    /// Whether a limit was exceeded: the rest of the text was dropped, and with it all complaints.
    is_cut: bool,
}

impl<'a> Parser<'a> {
    fn new(mut tokens: Vec<Token>, limits: &'a Limits) -> Self {
        tokens.reverse();
        let last = tokens.first().expect("an end token").clone();
        Self {
            rest: tokens,
            limits,
            diagnostics: Vec::new(),
            depth: 0,
            height: 0,
            parentheses: 0,
            last,
            inlined: 0,
            inlines: HashMap::new(),
            active: Vec::new(),
            results: Vec::new(),
            proctypes: HashSet::new(),
            typedefs: HashSet::new(),
            is_formula: false,
            is_cut: false,
        }
    }

    /// An expression that is not part of the model's text.
    fn outside(&mut self, mut tokens: Vec<Token>, is_formula: bool) -> Parsed<Expr> {
        tokens.reverse();
        self.rest = tokens;
        self.parentheses = 0;
        self.is_formula = is_formula;
        self.is_cut = false;
        let expr = self.expr();
        self.is_formula = false;
        let expr = expr?;
        if self.is_end() { Ok(expr) } else { self.unexpected("an operator or the end of the expression") }
    }

    /// The token `n` after the next one; the end token if there are not as many.
    fn peek_at(&self, n: usize) -> &Token {
        let index = self.rest.len().saturating_sub(n + 1);
        &self.rest[index]
    }

    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn is_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    fn next(&mut self) -> Token {
        let token = if self.rest.len() > 1 { self.rest.pop() } else { None };
        let token = token.unwrap_or_else(|| self.peek().clone());
        self.last = token.clone();
        token
    }

    fn at(&self, mark: &str) -> bool {
        self.peek().is_mark(mark)
    }

    fn at_word(&self, word: &str) -> bool {
        self.peek().is_word(word)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.at(mark);
        if found {
            self.next();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    /// Whether the line ended and this ends a statement here.
    fn is_line_end(&self) -> bool {
        self.peek().starts_line && self.parentheses == 0 && !self.is_formula
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.diagnostics.len() < self.limits.errors && !self.is_cut {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Gives up: a limit is exceeded, and what is left would only repeat the complaint.
    fn cut<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Parsed<T> {
        let reported = self.error(code, span, message);
        self.rest.truncate(1);
        self.is_cut = true;
        reported
    }

    fn error<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(self.report(Diagnostic::error(code, span, message)))
    }

    /// The next token is not what the grammar wants.
    fn unexpected<T>(&mut self, wanted: &str) -> Parsed<T> {
        let token = self.peek().clone();
        if let Some(diagnostic) = refuse::embedded_c(&token) {
            return Err(self.report(diagnostic));
        }
        let diagnostic = match &token.kind {
            Kind::Unknown('"') => {
                Diagnostic::error("P0002", token.span, "string without end").help("close it with `\"`")
            }
            Kind::Unknown(c) => {
                let message = format!("`{}` is no character of Promela", c.escape_default());
                Diagnostic::error("P0003", token.span, message)
            }
            kind => {
                let error =
                    Diagnostic::error("P0004", token.span, format!("expected {wanted}, found `{kind}`"));
                self.habit(&self.last, &token).into_iter().fold(error, Diagnostic::help)
            }
        };
        Err(self.report(diagnostic))
    }

    fn expect(&mut self, mark: &'static str) -> Parsed<Token> {
        if self.at(mark) { Ok(self.next()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    fn expect_word(&mut self, word: &'static str) -> Parsed<Token> {
        if self.at_word(word) { Ok(self.next()) } else { self.unexpected(&format!("`{word}`")) }
    }

    /// Opens a parenthesis, within which lines may end.
    fn open(&mut self) -> Parsed<Token> {
        let token = self.expect("(")?;
        self.parentheses += 1;
        Ok(token)
    }

    fn close(&mut self) -> Parsed<Token> {
        let token = self.expect(")");
        self.parentheses = self.parentheses.saturating_sub(1);
        token
    }

    fn ident(&mut self, wanted: &str) -> Parsed<Ident> {
        match self.peek().word() {
            Some(word) if !is_reserved(word) => {
                let name = word.clone();
                let span = self.next().span;
                Ok(Ident { name, span })
            }
            _ => self.unexpected(wanted),
        }
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.limits.nesting {
            let span = self.peek().span;
            let message = format!("nested deeper than {}", self.limits.nesting);
            return self.cut("P0006", span, message);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}

/// Words that cannot be names.
const RESERVED: [&str; 58] = [
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "d_step",
    "D_proctype",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
];

fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || matches!(word, "typedef" | "unless" | "unsigned" | "xr" | "xs" | "ltl")
}
