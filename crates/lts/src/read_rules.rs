//! Reads rules: the numeric format and the extended one, which people write.
//!
//! **Implements** TVT's `Parallel_composition_rules_file` (components, result alphabet, proposition rules, numbered
//! rules) and its extended rules: `1 = <prefix> "file"`, aliases, `(1,"a") (2,"b") -> "c"`, names that are put
//! together from strings and aliases, wild cards (`$k` behind a `<` stands for what comes up to the next `>`, the
//! same text everywhere in a rule), `0` for tau, proposition rules with `&`, `|`, `!`, and `hide`.
//! **Differs from the text** in that there may be any number of rules for `ll_rej` and `inf_rej`, about any
//! components, and that a rule with an action that its component does not have is refused; with `lenient` it is dropped.
//! **Checked by** `tests/all/rules.rs` and by writing and reading the rules of token rings in both formats.

use crate::expr::Expr;
use crate::lexer::{Lexer, Token};
use crate::lsts::{Action, Lsts, Mark, Special, TAU};
use crate::plan::{Component, Plan, PlanError};
use crate::read_lsts::ReadOptions;
use crate::source::{Files, Refusal, cannot_load};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use stubborn_text::{Diagnostic, LoadError, Span, resolve};

/// Why a component did not arrive.
#[derive(Debug)]
pub enum NoComponent {
    /// There is no such file, or it cannot be read.
    Load(LoadError),
    /// Its text is refused.
    Refused(Box<Refusal>),
    /// For another reason.
    Other(String),
}

/// Makes a component of the file with this path.
pub type Components<'a> = dyn FnMut(&str) -> Result<Lsts, NoComponent> + 'a;

/// Most rules that wild cards may make.
const MAX_RULES: usize = 1_000_000;

/// Reads rules. `components` makes the components; paths are relative to the text that is read.
pub fn read_rules(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    components: &mut Components<'_>,
    options: ReadOptions,
) -> Result<Plan, Box<Refusal>> {
    let mut reader = Reader {
        lexer: Lexer::new(name, bytes, files, options.lenient),
        name,
        plan: Plan::new(),
        components,
        numbers: FxHashMap::default(),
        known: FxHashMap::default(),
        aliases: FxHashMap::default(),
        lenient: options.lenient,
        wanted: Default::default(),
    };
    match reader.file() {
        Ok(()) => {
            reader.plan.finish();
            reader.plan.want(reader.wanted.take());
            Ok(reader.plan)
        }
        Err(Wrong::Here(diagnostic)) => Err(reader.lexer.refuse(*diagnostic)),
        Err(Wrong::Elsewhere(refusal)) => Err(refusal),
    }
}

enum Wrong {
    Here(Box<Diagnostic>),
    Elsewhere(Box<Refusal>),
}

impl From<Diagnostic> for Wrong {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Here(Box::new(diagnostic))
    }
}

type Result<T, E = Wrong> = std::result::Result<T, E>;

struct Reader<'a, 'c> {
    lexer: Lexer<'a>,
    name: &'a str,
    plan: Plan,
    components: &'c mut Components<'c>,
    /// The place of each component in the plan, by its number.
    numbers: FxHashMap<u64, usize>,
    /// Components that were read, by path.
    known: FxHashMap<String, Arc<Lsts>>,
    aliases: FxHashMap<String, String>,
    lenient: bool,
    /// What is mentioned of open components that they do not have: see [`Plan::wanted`].
    wanted: std::cell::RefCell<Vec<(usize, Option<String>)>>,
}

/// One part of the left side of an extended rule.
struct Pattern {
    component: usize,
    name: Name,
    span: Span,
}

/// The name of an action in an extended rule.
#[derive(Clone)]
enum Name {
    Number(u64),
    Text(String),
}

impl Reader<'_, '_> {
    fn file(&mut self) -> Result<()> {
        self.lexer.advance()?;
        if self.lexer.pass_word("PARALLEL_COMPOSITION_RULES_FILE")? {
            return self.numeric();
        }
        if self.lexer.is_word("BEGIN") {
            let begin = self.lexer.span();
            self.lexer.advance()?;
            if self.lexer.pass_word("PARALLEL_COMPOSITION_RULES")? {
                return self.numeric();
            }
            let message = "rules begin with their components, as `1 = \"file\"`";
            return Err(Diagnostic::error("T0301", begin, message).into());
        }
        self.extended()
    }

    // ---- the numeric format ----

    fn numeric(&mut self) -> Result<()> {
        let mut n_actions = None;
        loop {
            if self.lexer.pass_word("END_PARALLEL_COMPOSITION_RULES")? {
                break;
            }
            if self.lexer.pass_word("END")? {
                self.lexer.expect_word("PARALLEL_COMPOSITION_RULES")?;
                break;
            }
            let is_canonical = self.lexer.pass_word("BEGIN")?;
            let span = self.lexer.span();
            let section = self.lexer.word()?;
            match section.as_str() {
                "HEADER" => n_actions = self.header()?,
                "ACTION_NAMES" => self.action_names(n_actions)?,
                "PARCOMPONENTS" => self.parcomponents()?,
                "STATE_PROP_RULES" => self.proposition_rules()?,
                "RULES" => self.rules()?,
                _ => {
                    let message = format!("unknown section `{section}`");
                    let help = "sections are Header, Action_names, Parcomponents, State_prop_rules, Rules";
                    return Err(Diagnostic::error("T0102", span, message).help(help).into());
                }
            }
            if is_canonical || self.lexer.is_word("END") {
                self.lexer.expect_word("END")?;
                self.lexer.expect_word(&section)?;
            } else {
                self.lexer.word()?;
            }
        }
        if *self.lexer.token() != Token::End {
            return Err(self.lexer.unexpected("the end of the text").into());
        }
        Ok(())
    }

    fn header(&mut self) -> Result<Option<u64>> {
        let mut n_actions = None;
        while let Token::Word(word) = self.lexer.token() {
            if word.starts_with("END") {
                break;
            }
            let span = self.lexer.span();
            let attribute = self.lexer.word()?;
            self.lexer.expect("=")?;
            let n = self.lexer.number()?;
            if attribute != "ACTION_CNT" {
                let message = format!("unknown attribute `{attribute}` of the header");
                return Err(Diagnostic::error("T0110", span, message).into());
            }
            n_actions = Some(n);
        }
        Ok(n_actions)
    }

    fn action_names(&mut self, n_actions: Option<u64>) -> Result<()> {
        let mut names: Vec<(u64, String, Span)> = Vec::new();
        while matches!(self.lexer.token(), Token::Number(_)) {
            let span = self.lexer.span();
            let number = self.lexer.number()?;
            self.lexer.expect("=")?;
            names.push((number, self.lexer.text()?, span));
        }
        names.sort_by_key(|name| name.0);
        for (i, (number, name, span)) in names.iter().enumerate() {
            if *number != i as u64 + 1 || self.plan.result(name) != *number as Action {
                let message = "actions must be numbered from 1 without gaps, and no two have one name";
                return Err(Diagnostic::error("T0113", *span, message).into());
            }
        }
        if n_actions.is_some_and(|n| n != names.len() as u64) {
            let message =
                format!("`Action_cnt` is {}, but {} actions have names", n_actions.unwrap_or(0), names.len());
            return Err(self.lexer.error("T0113", message).into());
        }
        Ok(())
    }

    fn parcomponents(&mut self) -> Result<()> {
        while matches!(self.lexer.token(), Token::Number(_)) {
            self.component()?;
        }
        Ok(())
    }

    fn rules(&mut self) -> Result<()> {
        self.lexer.expect_word("AMOUNT")?;
        self.lexer.expect("=")?;
        let (at, amount) = (self.lexer.span(), self.lexer.number()?);
        let mut n_found = 0u64;
        while self.lexer.is_mark("(") {
            let span = self.lexer.span();
            let mut parts = Vec::new();
            while self.lexer.pass("(")? {
                let component = self.component_number()?;
                self.lexer.expect(",")?;
                let at = self.lexer.span();
                let number = self.lexer.number()?;
                parts.push((component, self.action_by_number(component, number, at)?));
                self.lexer.expect(")")?;
            }
            self.lexer.expect("->")?;
            let at = self.lexer.span();
            let result = self.lexer.number()?;
            if result > self.plan.alphabet().len() as u64 {
                let message = format!("there is no action {result} in the result");
                return Err(Diagnostic::error("T0307", at, message).into());
            }
            self.add_rule(parts, result as Action, span)?;
            n_found += 1;
        }
        if amount != n_found {
            let message = format!("`Amount` is {amount}, but there are {n_found} rules");
            return Err(Diagnostic::error("T0302", at, message).into());
        }
        Ok(())
    }

    // ---- the extended format ----

    fn extended(&mut self) -> Result<()> {
        while matches!(self.lexer.token(), Token::Number(_)) {
            self.component()?;
        }
        if self.numbers.is_empty() {
            return Err(self
                .lexer
                .error("T0301", "rules begin with their components, as `1 = \"file\"`")
                .into());
        }
        loop {
            match self.lexer.token() {
                Token::End => return Ok(()),
                Token::Mark("(") => self.extended_rule()?,
                Token::Word(word) if word == "BEGIN" => {
                    self.lexer.advance()?;
                    self.lexer.expect_word("STATE_PROP_RULES")?;
                    self.proposition_rules()?;
                    self.lexer.expect_word("END")?;
                    self.lexer.expect_word("STATE_PROP_RULES")?;
                }
                Token::Word(_) => {
                    let alias = self.lexer.word()?;
                    self.lexer.expect("=")?;
                    let text = self.lexer.text()?;
                    self.aliases.insert(alias, text);
                }
                _ => {
                    return Err(self.lexer.unexpected("an alias, a rule or `Begin State_prop_rules`").into());
                }
            }
        }
    }

    fn extended_rule(&mut self) -> Result<()> {
        let span = self.lexer.span();
        let mut patterns = Vec::new();
        while self.lexer.pass("(")? {
            let component = self.component_number()?;
            self.lexer.expect(",")?;
            let span = self.lexer.span();
            let name = self.name()?;
            self.lexer.expect(")")?;
            patterns.push(Pattern { component, name, span });
        }
        self.lexer.expect("->")?;
        let result_span = self.lexer.span();
        let result = self.name()?;
        let mut found = Vec::new();
        self.expand(&patterns, &mut Vec::new(), &Bindings::default(), &mut found)?;
        for (parts, bindings) in found {
            let result = match &result {
                Name::Number(0) => TAU,
                Name::Number(_) => {
                    let message = "the result is a name, or 0 for tau";
                    return Err(Diagnostic::error("T0308", result_span, message).into());
                }
                Name::Text(text) => {
                    let text = bindings.replaced(text).map_err(|wild| {
                        let message = format!("`${wild}` is not bound on the left side");
                        Diagnostic::error("T0309", result_span, message)
                    })?;
                    self.plan.result(&text)
                }
            };
            self.add_rule(parts, result, span)?;
        }
        Ok(())
    }

    /// All ways to match the patterns from the left to the right.
    fn expand(
        &self,
        patterns: &[Pattern],
        parts: &mut Vec<(usize, Action)>,
        bindings: &Bindings,
        out: &mut Vec<(Vec<(usize, Action)>, Bindings)>,
    ) -> Result<()> {
        let Some((pattern, rest)) = patterns.split_first() else {
            if out.len() + self.plan.rules().len() >= MAX_RULES {
                let message = format!("wild cards make more than {MAX_RULES} rules");
                return Err(self.lexer.error("T0310", message).into());
            }
            out.push((parts.clone(), bindings.clone()));
            return Ok(());
        };
        let lsts = self.plan.components()[pattern.component].lsts.clone();
        let text = match &pattern.name {
            Name::Number(number) => {
                let action = self.action_by_number(pattern.component, *number, pattern.span)?;
                parts.push((pattern.component, action));
                self.expand(rest, parts, bindings, out)?;
                parts.pop();
                return Ok(());
            }
            Name::Text(text) => text,
        };
        let has_wild_card = pieces(text).any(|piece| matches!(piece, Piece::Wild(_)));
        if has_wild_card && lsts.is_open() {
            self.wanted.borrow_mut().push((pattern.component, None));
            return Ok(());
        }
        if !has_wild_card {
            let Some(action) = lsts.action(text) else { return self.unknown_action(pattern, text) };
            parts.push((pattern.component, action));
            self.expand(rest, parts, bindings, out)?;
            parts.pop();
            return Ok(());
        }
        for (i, name) in lsts.action_names().iter().enumerate() {
            if let Some(bindings) = bindings.matched(text, name) {
                parts.push((pattern.component, i as Action + 1));
                self.expand(rest, parts, &bindings, out)?;
                parts.pop();
            }
        }
        Ok(())
    }

    fn unknown_action(&self, pattern: &Pattern, name: &str) -> Result<()> {
        let component = &self.plan.components()[pattern.component];
        if component.lsts.is_open() {
            self.wanted.borrow_mut().push((pattern.component, Some(name.to_owned())));
            return Ok(());
        }
        if self.lenient {
            return Ok(());
        }
        let message = format!("component {} (`{}`) has no action `{name}`", component.number, component.name);
        let names: Vec<String> =
            component.lsts.action_names().iter().take(8).map(|n| format!("`{n}`")).collect();
        let help = format!("it has {}; --lenient drops such rules", names.join(", "));
        Err(Diagnostic::error("T0307", pattern.span, message).help(help).into())
    }

    /// A number, or strings and aliases behind each other.
    fn name(&mut self) -> Result<Name> {
        if let Token::Number(number) = *self.lexer.token() {
            self.lexer.advance()?;
            return Ok(Name::Number(number));
        }
        let mut text = String::new();
        let mut is_empty = true;
        loop {
            match self.lexer.token() {
                Token::Text(part) => text.push_str(part),
                Token::Word(word) if word == "BEGIN" => break,
                Token::Word(word) => match self.aliases.get(word) {
                    Some(part) => text.push_str(part),
                    // On the right side the next line may begin with a new alias.
                    None if !is_empty => break,
                    None => {
                        return Err(self.lexer.error("T0311", format!("there is no alias `{word}`")).into());
                    }
                },
                _ => break,
            }
            is_empty = false;
            self.lexer.advance()?;
            if self.lexer.is_mark("=") {
                let message = "an alias that is there already cannot be behind a name";
                return Err(self.lexer.error("T0312", message).help("put aliases before the rules").into());
            }
        }
        if is_empty {
            return Err(self.lexer.unexpected("the name of an action").into());
        }
        Ok(Name::Text(text))
    }

    // ---- what both formats have ----

    /// `1 = <"prefix"> "file"`.
    fn component(&mut self) -> Result<()> {
        let at = self.lexer.span();
        let number = self.lexer.number()?;
        self.lexer.expect("=")?;
        let mut prefix = String::new();
        if self.lexer.pass("<")? {
            prefix = self.lexer.text()?;
            self.lexer.expect(">")?;
        }
        let span = self.lexer.span();
        let name = self.lexer.text()?;
        let lsts = self.load(&name, span)?;
        let place = self.plan.add_component(Component { number, prefix, name, lsts });
        if self.numbers.insert(number, place).is_some() {
            return Err(Diagnostic::error("T0303", at, format!("there are two components {number}")).into());
        }
        Ok(())
    }

    fn load(&mut self, name: &str, span: Span) -> Result<Arc<Lsts>> {
        let path = resolve(self.name, name).map_err(|error| cannot_load(name, &error, span))?;
        if let Some(known) = self.known.get(&path) {
            return Ok(known.clone());
        }
        let lsts = (self.components)(&path).map_err(|error| match error {
            NoComponent::Load(error) => cannot_load(name, &error, span).into(),
            NoComponent::Refused(refusal) => Wrong::Elsewhere(refusal),
            NoComponent::Other(message) => Diagnostic::error("T0304", span, message).into(),
        })?;
        let lsts = Arc::new(lsts);
        self.known.insert(path, lsts.clone());
        Ok(lsts)
    }

    fn component_number(&mut self) -> Result<usize> {
        let span = self.lexer.span();
        let number = self.lexer.number()?;
        self.numbers
            .get(&number)
            .copied()
            .ok_or_else(|| Diagnostic::error("T0305", span, format!("there is no component {number}")).into())
    }

    fn action_by_number(&self, component: usize, number: u64, span: Span) -> Result<Action> {
        let component = &self.plan.components()[component];
        if number == 0 {
            let message = "tau moves synchronise with nothing, and need no rule";
            return Err(Diagnostic::error("T0306", span, message).into());
        }
        if number >= component.lsts.n_actions() as u64 {
            let message =
                format!("component {} (`{}`) has no action {number}", component.number, component.name);
            return Err(Diagnostic::error("T0307", span, message).into());
        }
        Ok(number as Action)
    }

    fn add_rule(&mut self, parts: Vec<(usize, Action)>, result: Action, span: Span) -> Result<()> {
        self.plan.add_rule(parts, result).map_err(|error| {
            let message = match error {
                PlanError::Twice(component) => {
                    let number = self.plan.components()[component].number;
                    format!("component {number} occurs twice in the rule")
                }
                other => other.to_string(),
            };
            Diagnostic::error("T0313", span, message).into()
        })
    }

    fn proposition_rules(&mut self) -> Result<()> {
        while !self.lexer.is_word("END") && !self.lexer.is_word("END_STATE_PROP_RULES") {
            if self.lexer.pass_word("HIDE")? {
                loop {
                    let name = self.lexer.text()?;
                    self.plan.hide(&name);
                    if !self.lexer.pass(",")? {
                        break;
                    }
                }
                self.lexer.expect(";")?;
                continue;
            }
            let expr = self.or(0)?;
            self.lexer.expect("->")?;
            let result = self.mark()?;
            self.lexer.expect(";")?;
            self.plan.add_proposition(expr, result);
        }
        Ok(())
    }

    fn mark(&mut self) -> Result<Mark> {
        match self.lexer.token() {
            Token::Text(_) => Ok(Mark::Named(self.lexer.text()?)),
            Token::Word(word) => match Special::from_word(word) {
                Some(special) => {
                    self.lexer.advance()?;
                    Ok(Mark::Special(special))
                }
                None => Err(self.lexer.unexpected("a name, `rej`, `dl_rej`, `ll_rej` or `inf_rej`").into()),
            },
            _ => Err(self.lexer.unexpected("a name, `rej`, `dl_rej`, `ll_rej` or `inf_rej`").into()),
        }
    }

    fn or(&mut self, depth: usize) -> Result<Expr> {
        let mut parts = vec![self.and(depth)?];
        while self.lexer.pass("|")? {
            parts.push(self.and(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Or(parts) })
    }

    fn and(&mut self, depth: usize) -> Result<Expr> {
        let mut parts = vec![self.not(depth)?];
        while self.lexer.pass("&")? {
            parts.push(self.not(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::And(parts) })
    }

    fn not(&mut self, depth: usize) -> Result<Expr> {
        if depth > stubborn_text::Limits::default().nesting {
            return Err(self.lexer.error("T0314", "the expression is nested too deeply").into());
        }
        if self.lexer.pass("!")? {
            return Ok(Expr::Not(Box::new(self.not(depth + 1)?)));
        }
        if self.lexer.pass("(")? {
            let inside = self.or(depth + 1)?;
            self.lexer.expect(")")?;
            return Ok(inside);
        }
        if self.lexer.pass_word("TRUE")? {
            return Ok(Expr::Constant(true));
        }
        if self.lexer.pass_word("FALSE")? {
            return Ok(Expr::Constant(false));
        }
        let component = self.component_number()?;
        self.lexer.expect(".")?;
        let span = self.lexer.span();
        let mark = self.mark()?;
        let lsts = &self.plan.components()[component].lsts;
        match lsts.propositions().iter().position(|p| p.mark == mark) {
            Some(proposition) => Ok(Expr::Holds { component, proposition }),
            None => {
                let component = &self.plan.components()[component];
                let message =
                    format!("component {} (`{}`) has no such proposition", component.number, component.name);
                Err(Diagnostic::error("T0315", span, message).into())
            }
        }
    }
}

/// What wild cards stand for.
#[derive(Clone, Default)]
struct Bindings(Vec<(String, String)>);

/// A piece of a name with wild cards.
enum Piece<'a> {
    Text(&'a str),
    /// The digits behind `$`.
    Wild(&'a str),
}

/// The pieces of a name: `$` and digits behind a `<` that is not closed yet are a wild card.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut is_inside = false;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if is_inside && let Some(behind) = rest.strip_prefix('$') {
            let n = behind.bytes().take_while(u8::is_ascii_digit).count();
            if n > 0 {
                rest = &behind[n..];
                return Some(Piece::Wild(&behind[..n]));
            }
        }
        let mut end = rest.len();
        for (i, c) in rest.char_indices() {
            if c == '$' && i > 0 && is_inside {
                end = i;
                break;
            }
            is_inside = (is_inside || c == '<') && c != '>';
        }
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(Piece::Text(piece))
    })
}

impl Bindings {
    fn get(&self, wild: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == wild).map(|(_, text)| text.as_str())
    }

    /// What must be bound so that `pattern` is `name`.
    fn matched(&self, pattern: &str, name: &str) -> Option<Self> {
        let mut bindings = self.clone();
        let mut rest = name;
        for piece in pieces(pattern) {
            rest = match piece {
                Piece::Text(text) => rest.strip_prefix(text)?,
                Piece::Wild(wild) => match bindings.get(wild) {
                    Some(bound) => rest.strip_prefix(bound)?,
                    None => {
                        let (text, behind) = rest.split_at(rest.find('>')?);
                        bindings.0.push((wild.to_owned(), text.to_owned()));
                        behind
                    }
                },
            };
        }
        rest.is_empty().then_some(bindings)
    }

    /// The text with what wild cards stand for; or the one that is not bound.
    fn replaced(&self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Wild(wild) => out.push_str(self.get(wild).ok_or_else(|| wild.to_owned())?),
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wild_cards_match_up_to_the_bracket_and_stand_for_one_text() {
        let none = Bindings::default();
        let bound = none.matched("send<$1>to<$2>", "send<a,b>to<c>").unwrap();
        assert_eq!((bound.get("1"), bound.get("2")), (Some("a,b"), Some("c")));
        assert!(bound.matched("got<$1>", "got<x>").is_none());
        assert!(bound.matched("got<$1>", "got<a,b>").is_some());
        assert_eq!(bound.replaced("x<$2>$1"), Ok("x<c>$1".into()));
        assert_eq!(bound.replaced("x<$3>"), Err("3".into()));
        assert!(none.matched("a<$1>b", "a<x>").is_none());
        assert!(none.matched("$1", "$1").is_some_and(|b| b.0.is_empty()));
    }
}
