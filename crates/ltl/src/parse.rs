//! SPIN's syntax of formulas.
//!
//! **Implements** the priorities that SPIN gives to formulas in models (its grammar of Promela): from loose to
//! tight `->` `<->`, then `||`, then `&&`, then `U` `W` `V`, then `!` `X` `[]` `<>`; binary operators group to
//! the left. `spin -f` has priorities of its own (all of `->`, `<->`, `||`, `&&` alike); formulas with
//! parentheses mean the same in both.
//!
//! **Propositions** are identifiers and expressions of the model's language (`x < 2`, `len(q) > 0`,
//! `P[0]@critical`, `q?[red]`, `(a + b) * 2 == c`), kept as text. An expression with a binary operator that is
//! not in parentheses may not stand right after `!`, `X`, `[]` or `<>`, since it would be read differently by
//! different readers. `(c -> a : b)` is a conditional expression.
//!
//! **Differs from SPIN**: `R` is the release operator where an operator is due and a name elsewhere, since the
//! textbooks have the first and SPIN's examples the second; `&&` and `||` are taken apart also where SPIN
//! would keep a whole parenthesis as one proposition.
//!
//! Bad input gives a [`ParseError`] with its place. Parentheses are limited by [`MAX_DEPTH`] and operators by
//! [`MAX_OPERATORS`], so that no later stage has to fear for its stack.

use crate::lexer::{Kind, Token, tokens};
use crate::{Formula, Propositions};
use std::ops::Range;
use thiserror::Error;

/// Parentheses may be nested this deep.
pub const MAX_DEPTH: usize = 250;

/// A formula may have this many operators besides `&&` and `||`.
pub const MAX_OPERATORS: usize = 1000;

/// What is wrong with a formula's text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong: lower case, no final stop.
    pub message: String,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What to write instead, if that is known.
    pub help: Option<String>,
}

impl ParseError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), span, help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Reads a formula. New propositions get the next numbers of `propositions`.
pub fn parse(text: &str, propositions: &mut Propositions) -> Result<Formula, ParseError> {
    let tokens = tokens(text)?;
    let pairs = pairs(&tokens, text)?;
    let mut parser = Parser { text, tokens, pairs, at: 0, n_operators: 0, propositions };
    let formula = parser.formula()?;
    match parser.kind() {
        Kind::End => {}
        _ => return Err(parser.unexpected("an operator or the end")),
    }
    Ok(formula)
}

/// For every opening parenthesis or bracket the number of its partner.
fn pairs(tokens: &[Token], text: &str) -> Result<Vec<usize>, ParseError> {
    let mut pairs = vec![0; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let sign = &text[token.span.clone()];
        match token.kind {
            Kind::Open | Kind::OpenBracket => {
                if open.len() >= MAX_DEPTH {
                    let message = format!("more than {MAX_DEPTH} parentheses within each other");
                    return Err(ParseError::new(token.span.clone(), message));
                }
                open.push(i);
            }
            Kind::Close | Kind::CloseBracket => {
                let wanted = if token.kind == Kind::Close { Kind::Open } else { Kind::OpenBracket };
                match open.pop() {
                    Some(start) if tokens[start].kind == wanted => pairs[start] = i,
                    Some(start) => {
                        let opened = &text[tokens[start].span.clone()];
                        let message = format!("`{opened}` is closed by `{sign}`");
                        return Err(ParseError::new(token.span.clone(), message));
                    }
                    None => {
                        let message = format!("`{sign}` closes nothing");
                        return Err(ParseError::new(token.span.clone(), message));
                    }
                }
            }
            _ => {}
        }
    }
    match open.pop() {
        Some(start) => {
            let sign = &text[tokens[start].span.clone()];
            Err(ParseError::new(tokens[start].span.clone(), format!("`{sign}` is never closed")))
        }
        None => Ok(pairs),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    pairs: Vec<usize>,
    at: usize,
    n_operators: usize,
    propositions: &'a mut Propositions,
}

type Parsed = Result<Formula, ParseError>;

impl Parser<'_> {
    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The token after the one at hand; the last token is of kind `End`.
    fn kind_at(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |token| token.kind)
    }

    fn source(&self, at: usize) -> &str {
        &self.text[self.tokens[at].span.clone()]
    }

    fn unexpected(&self, wanted: &str) -> ParseError {
        let span = self.tokens[self.at].span.clone();
        match self.kind() {
            Kind::End => ParseError::new(span, format!("the formula ends where {wanted} is due")),
            _ => ParseError::new(span, format!("`{}` where {wanted} is due", self.source(self.at))),
        }
    }

    /// Steps over an operator and counts it.
    fn operator(&mut self) -> Result<(), ParseError> {
        self.n_operators += 1;
        if self.n_operators > MAX_OPERATORS {
            let message = format!("more than {MAX_OPERATORS} operators");
            return Err(ParseError::new(self.tokens[self.at].span.clone(), message));
        }
        self.at += 1;
        Ok(())
    }

    fn formula(&mut self) -> Parsed {
        let mut left = self.disjunction()?;
        loop {
            let make = match self.kind() {
                Kind::Implies => Formula::Implies,
                Kind::Equivalent => Formula::Equivalent,
                _ => break,
            };
            self.operator()?;
            left = make(Box::new(left), Box::new(self.disjunction()?));
        }
        Ok(left)
    }

    fn disjunction(&mut self) -> Parsed {
        let mut parts = vec![self.conjunction()?];
        while self.kind() == Kind::Or {
            self.at += 1;
            parts.push(self.conjunction()?);
        }
        Ok(Formula::or(parts))
    }

    fn conjunction(&mut self) -> Parsed {
        let mut parts = vec![self.until()?];
        while self.kind() == Kind::And {
            self.at += 1;
            parts.push(self.until()?);
        }
        Ok(Formula::and(parts))
    }

    fn until(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let make = match self.kind() {
                Kind::Until => Formula::Until,
                Kind::WeakUntil => Formula::WeakUntil,
                Kind::Release => Formula::Release,
                Kind::Name if self.source(self.at) == "R" => Formula::Release,
                _ => return Ok(left),
            };
            self.operator()?;
            left = make(Box::new(left), Box::new(self.unary()?));
        }
    }

    /// Any number of unary operators (without recursion: they are innermost last) and an operand.
    fn unary(&mut self) -> Parsed {
        let mut operators = Vec::new();
        while let Kind::Not | Kind::Next | Kind::Always | Kind::Eventually = self.kind() {
            operators.push(self.at);
            self.operator()?;
        }
        let mut formula = self.operand(operators.last().copied())?;
        for at in operators.into_iter().rev() {
            formula = match self.tokens[at].kind {
                Kind::Next => Formula::Next(Box::new(formula)),
                Kind::Always => Formula::Always(Box::new(formula)),
                Kind::Eventually => Formula::Eventually(Box::new(formula)),
                _ => Formula::Not(Box::new(formula)),
            };
        }
        Ok(formula)
    }

    fn operand(&mut self, after: Option<usize>) -> Parsed {
        let start = self.at;
        let constant = match (self.kind(), self.source(start)) {
            (Kind::True, _) | (Kind::Number, "1") => Some(Formula::True),
            (Kind::False, _) | (Kind::Number, "0") => Some(Formula::False),
            _ => None,
        };
        if let Some(constant) = constant
            && !self.goes_on(start + 1)
        {
            self.at += 1;
            return Ok(constant);
        }
        if self.kind() == Kind::Open {
            let close = self.pairs[start];
            if !self.goes_on(close + 1) && !self.is_conditional(start, close) {
                self.at += 1;
                let inside = self.formula()?;
                if self.at != close {
                    return Err(self.unexpected("an operator or `)`"));
                }
                self.at += 1;
                return Ok(inside);
            }
        }
        self.expression(after)
    }

    /// Whether the token at `at` makes what stands before it a part of an expression.
    fn goes_on(&self, at: usize) -> bool {
        matches!(self.kind_at(at), Kind::Binary | Kind::Member | Kind::Poll)
    }

    /// Whether the parentheses hold `condition -> value : value`. A colon right after a bracket belongs to a
    /// reference into a process: `P[0]:x`.
    fn is_conditional(&self, open: usize, close: usize) -> bool {
        let mut at = open + 1;
        let mut has_arrow = false;
        while at < close {
            match self.kind_at(at) {
                Kind::Open | Kind::OpenBracket => at = self.pairs[at],
                Kind::Implies => has_arrow = true,
                Kind::Member if has_arrow && self.source(at) == ":" => {
                    let touches = self.tokens[at - 1].span.end == self.tokens[at].span.start;
                    if !(touches && self.kind_at(at - 1) == Kind::CloseBracket) {
                        return true;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// An expression of the model's language: values, and operators between them. Kept as text.
    fn expression(&mut self, after: Option<usize>) -> Parsed {
        let start = self.at;
        self.value()?;
        let mut binary = None;
        while self.kind() == Kind::Binary {
            binary = Some(self.at);
            self.at += 1;
            while self.kind() == Kind::Not {
                self.at += 1;
            }
            self.value()?;
        }
        let span = self.tokens[start].span.start..self.tokens[self.at - 1].span.end;
        let text = self.text[span.clone()].trim();
        if let (Some(unary), Some(binary)) = (after, binary) {
            let (unary, binary) = (self.source(unary), self.source(binary));
            let message = format!("`{unary}` before an expression with `{binary}` can be read in two ways");
            return Err(ParseError::new(span, message).help(format!("write `{unary} ({text})`")));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = self.propositions.number(&words.join(" "), span.clone());
        number.map(Formula::Atom).map_err(|error| ParseError::new(span, error.to_string()))
    }

    /// A name, a number or a parenthesis, with signs before it and indices, labels and polls behind.
    fn value(&mut self) -> Result<(), ParseError> {
        while self.kind() == Kind::Tilde || (self.kind() == Kind::Binary && self.source(self.at) == "-") {
            self.at += 1;
        }
        match self.kind() {
            Kind::Name | Kind::Number | Kind::True | Kind::False => self.at += 1,
            Kind::Open => self.at = self.pairs[self.at] + 1,
            Kind::Until | Kind::WeakUntil | Kind::Release => {
                return Err(self.unexpected("a proposition").help("this word is an operator"));
            }
            _ => return Err(self.unexpected("a proposition")),
        }
        loop {
            match self.kind() {
                // `len(q)` and `x[i]`, but not `a (b)`: what stands before must be a name.
                Kind::Open if self.kind_at(self.at - 1) == Kind::Name => self.at = self.pairs[self.at] + 1,
                Kind::OpenBracket => self.at = self.pairs[self.at] + 1,
                Kind::Member => {
                    self.at += 1;
                    match self.kind() {
                        Kind::Name => self.at += 1,
                        _ => return Err(self.unexpected("a name")),
                    }
                }
                Kind::Poll => {
                    self.at += 1;
                    match self.kind() {
                        Kind::OpenBracket => self.at = self.pairs[self.at] + 1,
                        _ => return Err(self.unexpected("`[` of a poll")),
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Formula, Propositions), ParseError> {
        let mut propositions = Propositions::new();
        parse(text, &mut propositions).map(|formula| (formula, propositions))
    }

    fn shown(text: &str) -> String {
        let (formula, propositions) = read(text).unwrap_or_else(|e| panic!("{text}: {e} at {:?}", e.span));
        formula.show(&propositions)
    }

    fn complaint(text: &str) -> (String, Range<usize>) {
        let error = read(text).expect_err(text);
        (error.message, error.span)
    }

    #[test]
    fn priorities_are_those_of_formulas_in_models() {
        assert_eq!(shown("[] p -> <> q"), "(([] p) -> (<> q))");
        assert_eq!(shown("a || b && c"), "(a || (b && c))");
        assert_eq!(shown("a && b U c"), "(a && (b U c))");
        assert_eq!(shown("a U b U c"), "((a U b) U c)");
        assert_eq!(shown("a -> b -> c"), "((a -> b) -> c)");
        assert_eq!(shown("!a U X b"), "((!a) U (X b))");
        assert_eq!(shown("always a implies eventually b"), "(([] a) -> (<> b))");
        assert_eq!(shown("a weakuntil b"), "(([] a) || (a U b))");
        assert_eq!(shown("a stronguntil b release c"), "((a U b) V c)");
        assert_eq!(shown("a /\\ b \\/ not c"), "((a && b) || (!c))");
        assert_eq!(shown("1 U 0"), "(true U false)");
    }

    #[test]
    fn the_letter_r_is_an_operator_only_where_one_is_due() {
        assert_eq!(shown("P R Q"), "(P V Q)");
        assert_eq!(shown("<>R -> (!P U R)"), "((<> (R)) -> ((!P) U (R)))");
    }

    #[test]
    fn expressions_are_propositions_by_their_text() {
        let (_, names) = read("[] ((len(q) < 2) -> P[0]@critical U (a  + b) * 2 == c)").unwrap();
        let texts: Vec<&str> = names.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(texts, ["len(q) < 2", "P[0]@critical", "(a + b) * 2 == c"]);
        assert_eq!(names.iter().next().unwrap().span, 5..15);
        assert_eq!(shown("inp?[red] -> <> out??[red, 1]"), "((inp?[red]) -> (<> (out??[red, 1])))");
        assert_eq!(shown("[] (nr == 0 U nr == 1)"), "([] ((nr == 0) U (nr == 1)))");
        assert_eq!(shown("<> ((c -> a : b) == 1)"), "(<> ((c -> a : b) == 1))");
        assert_eq!(shown("(p -> P[0]:x)"), "(p -> (P[0]:x))");
        assert_eq!(shown("x == -1 && x != !y"), "((x == -1) && (x != !y))");
    }

    #[test]
    fn what_is_shown_reads_back_the_same() {
        let mut random = crate::random::Random::new(7);
        let names = Propositions::from_texts(["a", "x == 1", "R", "P[0]@cs"]).unwrap();
        for _ in 0..1000 {
            let formula = random.formula(8, 4, true);
            let text = formula.show(&names);
            let mut again = names.clone();
            let read = parse(&text, &mut again).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(again.len(), 4, "{text}");
            for word in (0..10).map(|_| random.lasso(4, 4, 4)) {
                assert_eq!(word.satisfies(&read), word.satisfies(&formula), "{text} {word:?}");
            }
        }
    }

    #[test]
    fn mistakes_have_places() {
        assert_eq!(complaint("[] (p -> q"), ("`(` is never closed".into(), 3..4));
        assert_eq!(complaint("p q"), ("`q` where an operator or the end is due".into(), 2..3));
        assert_eq!(complaint("p U"), ("the formula ends where a proposition is due".into(), 3..3));
        assert_eq!(complaint("U p"), ("`U` where a proposition is due".into(), 0..1));
        assert_eq!(complaint("p)"), ("`)` closes nothing".into(), 1..2));
        assert_eq!(complaint("(p]"), ("`(` is closed by `]`".into(), 2..3));
        assert_eq!(complaint("p # q"), ("`#` has no meaning in a formula".into(), 2..3));
        assert_eq!(complaint("").0, "the formula ends where a proposition is due");
        assert!(complaint("! x == 1").0.contains("two ways"));
        assert_eq!(complaint("p \u{e4}").1, 2..4);
        let many: Vec<String> = (0..65).map(|i| format!("p{i}")).collect();
        assert_eq!(complaint(&many.join(" && ")).0, "more than 64 propositions");
    }

    #[test]
    fn a_million_of_anything_is_refused_or_read_at_once() {
        let n = 1_000_000;
        assert!(complaint(&"(".repeat(n)).0.contains("within each other"));
        assert!(complaint(&format!("{}p{}", "(".repeat(n), ")".repeat(n))).0.contains("within each other"));
        assert!(complaint(&format!("{}p", "!".repeat(n))).0.contains("1000 operators"));
        assert!(complaint(&format!("{}p", "p -> ".repeat(n))).0.contains("1000 operators"));
        assert!(complaint(&format!("{}p", "p U ".repeat(n))).0.contains("1000 operators"));
        assert!(complaint(&")".repeat(n)).0.contains("closes nothing"));
        assert!(read(&format!("{}p", "p && ".repeat(n))).is_ok());
        assert!(read(&format!("{}p", "x + ".repeat(n))).is_ok());
    }
}
