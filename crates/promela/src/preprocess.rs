//! The preprocessor: `#define`, `#undef`, `#if` and its kin, `#include`, and definitions from outside.
//!
//! Ours and not C's, because SPIN starts a compiler for it and models are data. It works on tokens:
//! macros with and without parameters, `#` and `##`, names not expanded within themselves. A macro that
//! a directive separates from its arguments is not expanded. Every token that a macro produces carries
//! the place where the macro was used. Budgets: tokens and depth of includes ([`Limits`]).

use crate::condition;
use crate::lexer::lex;
use crate::token::{Kind, Token};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use stubborn_text::{Diagnostic, FileId, Limits, LoadError, Loader, SourceMap, Span, resolve};

/// What preprocessing gives. Each list of tokens ends with an end token.
pub(crate) struct Preprocessed {
    /// The model.
    pub(crate) tokens: Vec<Token>,
    /// The expressions from outside.
    pub(crate) expressions: Vec<Vec<Token>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Preprocesses the model `file` and all that it includes, and then `expressions` with the macros that are
/// defined at the end of it. `definitions` are names with their texts.
pub(crate) fn preprocess(
    file: FileId,
    map: &mut SourceMap,
    loader: &dyn Loader,
    definitions: &[(String, String)],
    expressions: &[(&str, &str)],
    limits: &Limits,
) -> Preprocessed {
    let macros = HashMap::new();
    let out = Vec::new();
    let mut work = Preprocessor { map, loader, limits, macros, out, produced: 0, diagnostics: Vec::new() };
    for (name, text) in definitions {
        work.define_outside(name, text);
    }
    work.file(file);
    let end = work.end(file);
    work.out.push(end);
    let expressions = expressions.iter().map(|(name, text)| work.expression(name, text)).collect();
    Preprocessed { tokens: work.out, expressions, diagnostics: work.diagnostics }
}

/// A macro: its parameters, if it takes any, and what stands for it.
#[derive(Clone, Debug)]
struct Macro {
    parameters: Option<Vec<Arc<str>>>,
    body: Vec<Token>,
}

/// The macros that a token came from; they are not expanded in it again.
struct Hidden {
    name: Arc<str>,
    outer: Option<Rc<Hidden>>,
}

/// A token that still has to be looked at.
#[derive(Clone)]
struct Pending {
    token: Token,
    hidden: Option<Rc<Hidden>>,
}

impl Pending {
    fn hides(&self, name: &str) -> bool {
        std::iter::successors(self.hidden.as_ref(), |h| h.outer.as_ref()).any(|h| *h.name == *name)
    }
}

/// One `#if` whose `#endif` has not come yet.
struct Conditional {
    span: Span,
    /// Whether the part around it is kept.
    outer: bool,
    /// Whether the current branch is kept.
    active: bool,
    /// Whether some branch was kept already.
    taken: bool,
    seen_else: bool,
}

struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    loader: &'a dyn Loader,
    limits: &'a Limits,
    macros: HashMap<Arc<str>, Macro>,
    out: Vec<Token>,
    /// Tokens that macros produced, including those that vanished again.
    produced: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Preprocessor<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    /// Whether the budget of tokens is used up; the first time this is reported.
    fn is_exhausted(&mut self, span: Span) -> bool {
        let exhausted = self.produced.max(self.out.len()) > self.limits.tokens;
        if exhausted && self.diagnostics.iter().all(|d| d.code != "P0007") {
            let message = format!("more than {} tokens after preprocessing", self.limits.tokens);
            self.error("P0007", span, message);
        }
        exhausted
    }

    fn define_outside(&mut self, name: &str, text: &str) {
        let file = self.map.add(&format!("<definition of {name}>"), text.to_owned(), None);
        let body = lex(file, text, &mut self.diagnostics);
        self.macros.insert(Arc::from(name), Macro { parameters: None, body });
    }

    /// An expression that is not part of the model's text. Lines mean nothing in it.
    fn expression(&mut self, name: &str, text: &str) -> Vec<Token> {
        let file = self.map.add(name, text.to_owned(), None);
        let tokens = lex(file, text, &mut self.diagnostics);
        let mut tokens = self.expand(tokens, 0);
        tokens.iter_mut().for_each(|token| token.starts_line = false);
        tokens.push(self.end(file));
        tokens
    }

    /// The end token of a text.
    fn end(&self, file: FileId) -> Token {
        let end = self.map.text(file).len();
        Token { kind: Kind::End, span: Span::new(file, end, end), starts_line: true, spaced: true }
    }

    fn file(&mut self, file: FileId) {
        let text = self.map.text(file).to_owned();
        let tokens = lex(file, &text, &mut self.diagnostics);
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let is_directive = |t: &Token| t.starts_line && t.is_mark("#");
            if is_directive(&tokens[at]) {
                let length = tokens[at + 1..].iter().take_while(|t| !t.starts_line).count();
                self.directive(&tokens[at..=at + length], file, &mut conditionals);
                at += length + 1;
            } else {
                let length = tokens[at..].iter().take_while(|t| !is_directive(t)).count();
                if conditionals.last().is_none_or(|c| c.active) {
                    let chunk = self.expand(tokens[at..at + length].to_vec(), 0);
                    self.out.extend(chunk);
                }
                at += length;
            }
            if self.is_exhausted(tokens[at.min(tokens.len() - 1)].span) {
                return;
            }
        }
        for open in conditionals {
            self.error("P0101", open.span, "`#if` without `#endif`");
        }
    }

    /// One directive: `line` begins with the `#`.
    fn directive(&mut self, line: &[Token], file: FileId, conditionals: &mut Vec<Conditional>) {
        let Some(name) = line.get(1) else { return };
        let span = line[0].span.to(name.span);
        let arguments = &line[2..];
        let active = conditionals.last().is_none_or(|c| c.active);
        match name.word().map_or("", |w| w) {
            "if" | "ifdef" | "ifndef" => {
                let holds = active && self.condition(name, arguments);
                conditionals.push(Conditional {
                    span,
                    outer: active,
                    active: holds,
                    taken: holds,
                    seen_else: false,
                });
            }
            "elif" | "else" | "endif" => self.branch(name, arguments, span, conditionals),
            _ if !active => {}
            "define" => self.define(arguments, span),
            "undef" => {
                if let Some(name) = arguments.first().and_then(Token::word) {
                    self.macros.remove(name);
                }
            }
            "include" => self.include(arguments, span, file),
            "error" => {
                let words: Vec<String> = arguments.iter().map(|t| t.kind.to_string()).collect();
                self.error("P0108", span, format!("the model says: {}", words.join(" ")));
            }
            "pragma" | "line" | "ident" | "warning" => {}
            other if matches!(name.kind, Kind::Word(_)) => {
                let message = format!("there is no directive `#{other}`");
                self.diagnostics.push(
                    Diagnostic::error("P0102", span, message)
                        .help("directives: define, undef, if, ifdef, ifndef, elif, else, endif, include"),
                );
            }
            // `# 12 "file"`: left behind by another preprocessor.
            _ => {}
        }
    }

    fn branch(&mut self, name: &Token, arguments: &[Token], span: Span, open: &mut Vec<Conditional>) {
        let wants_condition = match open.last() {
            None => {
                return self.error("P0101", span, format!("`#{}` without `#if`", name.kind));
            }
            Some(_) if name.is_word("endif") => {
                open.pop();
                return;
            }
            Some(c) if c.seen_else => {
                return self.error("P0101", span, format!("`#{}` after `#else`", name.kind));
            }
            Some(c) => name.is_word("elif") && c.outer && !c.taken,
        };
        let holds = name.is_word("else") || (wants_condition && self.condition(name, arguments));
        if let Some(c) = open.last_mut() {
            c.active = c.outer && !c.taken && holds;
            c.taken |= c.active;
            c.seen_else = name.is_word("else");
        }
    }

    fn condition(&mut self, directive: &Token, arguments: &[Token]) -> bool {
        let is_defined =
            |macros: &HashMap<Arc<str>, Macro>, t: &Token| t.word().is_some_and(|w| macros.contains_key(w));
        if !directive.is_word("if") && !directive.is_word("elif") {
            let Some(name) = arguments.first() else {
                self.error("P0103", directive.span, format!("`#{}` of nothing", directive.kind));
                return false;
            };
            return is_defined(&self.macros, name) == directive.is_word("ifdef");
        }
        // `defined` is answered before macros are expanded.
        let mut line: Vec<Token> = Vec::new();
        let mut rest = arguments.iter();
        while let Some(token) = rest.next() {
            let mut token = token.clone();
            if token.is_word("defined") {
                let mut name = rest.next();
                if name.is_some_and(|t| t.is_mark("(")) {
                    name = rest.next();
                    rest.next();
                }
                let holds = name.is_some_and(|t| is_defined(&self.macros, t));
                token.kind = Kind::Number(i32::from(holds));
            }
            line.push(token);
        }
        let line = self.expand(line, 0);
        condition::evaluate(&line, self.limits.nesting).unwrap_or_else(|message| {
            self.error("P0103", directive.span, format!("bad condition: {message}"));
            false
        })
    }

    fn define(&mut self, arguments: &[Token], span: Span) {
        let Some((name, rest)) = arguments.split_first().and_then(|(n, r)| Some((n.word()?, r))) else {
            return self.error("P0109", span, "`#define` needs a name");
        };
        let mut rest = rest;
        let mut parameters = None;
        if rest.first().is_some_and(|t| t.is_mark("(") && !t.spaced) {
            let Some(close) = rest.iter().position(|t| t.is_mark(")")) else {
                return self.error("P0109", span, "the parameters of a macro need a `)`");
            };
            parameters = Some(rest[1..close].iter().filter_map(Token::word).cloned().collect());
            rest = &rest[close + 1..];
        }
        self.macros.insert(name.clone(), Macro { parameters, body: rest.to_vec() });
    }

    fn include(&mut self, arguments: &[Token], span: Span, file: FileId) {
        let Some(Token { kind: Kind::Text(name), .. }) = arguments.first() else {
            self.diagnostics.push(
                Diagnostic::error("P0104", span, "only `#include \"file\"` is possible")
                    .help("put the file beside the model and its name in double quotes"),
            );
            return;
        };
        if self.map.include_depth(file) >= self.limits.includes {
            let message = format!("includes are nested deeper than {}", self.limits.includes);
            return self.error("P0105", span, message);
        }
        let path = resolve(self.map.name(file), name);
        match path.and_then(|path| Ok((self.loader.load(&path)?, path))) {
            Ok((text, path)) => {
                let included = self.map.add(&path, text, Some(span));
                self.file(included);
            }
            Err(error) => {
                let reason = match error {
                    LoadError::Outside => "it is outside the directory of the model".to_owned(),
                    LoadError::Missing => "there is no such file".to_owned(),
                    LoadError::Unreadable(reason) => reason,
                };
                self.error("P0106", span, format!("cannot include `{name}`: {reason}"));
            }
        }
    }

    fn expand(&mut self, tokens: Vec<Token>, depth: usize) -> Vec<Token> {
        let mut stack: Vec<Pending> =
            tokens.into_iter().rev().map(|token| Pending { token, hidden: None }).collect();
        let mut out = Vec::new();
        while let Some(pending) = stack.pop() {
            let found = pending.token.word().and_then(|w| self.macros.get(w).cloned());
            let name = pending.token.word().cloned();
            let (Some(found), Some(name)) = (found, name) else {
                out.push(pending.token);
                continue;
            };
            let is_call = stack.last().is_some_and(|p| p.token.is_mark("("));
            if pending.hides(&name) || (found.parameters.is_some() && !is_call) {
                out.push(pending.token);
                continue;
            }
            let body = match &found.parameters {
                None => found.body,
                Some(parameters) => match self.arguments(&name, parameters.len(), &pending, &mut stack) {
                    Some(arguments) => self.substitute(parameters, &found.body, arguments, depth),
                    None => continue,
                },
            };
            self.produced += body.len() + 1;
            if self.is_exhausted(pending.token.span) {
                return out;
            }
            let hidden = Some(Rc::new(Hidden { name, outer: pending.hidden.clone() }));
            for (i, mut token) in body.into_iter().enumerate().rev() {
                token.span = pending.token.span;
                token.starts_line = i == 0 && pending.token.starts_line;
                stack.push(Pending { token, hidden: hidden.clone() });
            }
        }
        out
    }

    /// Takes the arguments of a macro call from the input.
    fn arguments(
        &mut self,
        name: &str,
        n_parameters: usize,
        call: &Pending,
        stack: &mut Vec<Pending>,
    ) -> Option<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut nesting = 0;
        while let Some(pending) = stack.pop() {
            let token = pending.token;
            if token.is_mark(")") && nesting == 1 {
                if arguments.len() == 1 && arguments[0].is_empty() {
                    arguments.truncate(n_parameters);
                }
                if arguments.len() != n_parameters {
                    let message =
                        format!("macro `{name}` takes {n_parameters} arguments, not {}", arguments.len());
                    self.error("P0110", call.token.span, message);
                    return None;
                }
                return Some(arguments);
            }
            nesting += usize::from(token.is_mark("("));
            nesting -= usize::from(token.is_mark(")"));
            if nesting == 1 && token.is_mark("(") && arguments == [[]] {
                continue;
            }
            if nesting == 1 && token.is_mark(",") {
                arguments.push(Vec::new());
            } else if let Some(last) = arguments.last_mut() {
                last.push(Token { starts_line: false, ..token });
            }
        }
        self.error("P0110", call.token.span, format!("the arguments of macro `{name}` have no `)`"));
        None
    }

    fn substitute(
        &mut self,
        parameters: &[Arc<str>],
        body: &[Token],
        arguments: Vec<Vec<Token>>,
        depth: usize,
    ) -> Vec<Token> {
        let index = |t: &Token| t.word().and_then(|w| parameters.iter().position(|p| p == w));
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < body.len() {
            let token = &body[at];
            let pastes = out.len() > 1 && at > 0 && body[at - 1].is_mark("##");
            let before_paste = body.get(at + 1).is_some_and(|t| t.is_mark("##"));
            if token.is_mark("#") && body.get(at + 1).is_some_and(|t| index(t).is_some()) {
                let argument = &arguments[index(&body[at + 1]).expect("just seen")];
                let words: Vec<String> = argument.iter().map(|t| t.kind.to_string()).collect();
                let kind = Kind::Text(Arc::from(words.join(" ").replace('"', "\\\"")));
                out.push(Token { kind, ..token.clone() });
                at += 2;
                continue;
            }
            match index(token) {
                Some(i) if pastes || before_paste => out.extend(arguments[i].iter().cloned()),
                Some(i) if depth < self.limits.nesting => {
                    let expanded = self.expand(arguments[i].clone(), depth + 1);
                    out.extend(expanded);
                }
                Some(_) => self.error("P0006", token.span, "macros are nested too deeply"),
                None => out.push(token.clone()),
            }
            if pastes {
                paste(&mut out, token.span);
            }
            at += 1;
        }
        out.retain(|t| !t.is_mark("##"));
        out
    }
}

/// Joins the tokens around the last `##` in `out`.
fn paste(out: &mut Vec<Token>, span: Span) {
    let Some(at) = out.iter().rposition(|t| t.is_mark("##")) else { return };
    if at == 0 || at + 1 >= out.len() {
        return;
    }
    let text = format!("{}{}", out[at - 1].kind, out[at + 1].kind);
    let mut joined = lex(span.file, &text, &mut Vec::new());
    for token in &mut joined {
        token.span = span;
        token.starts_line = false;
    }
    out.splice(at - 1..=at + 1, joined);
}

#[cfg(test)]
#[path = "preprocess_tests.rs"]
mod tests;
