//! Habits from other languages: what is written instead in Promela. Only help; the error is what it is.

use super::Parser;
use crate::token::Token;

impl Parser<'_> {
    /// What to write, if the two tokens at which an error was found look like another language.
    pub(super) fn habit(&self, last: &Token, found: &Token) -> Option<&'static str> {
        let calls = found.is_mark("(");
        let is_proctype = last.word().is_some_and(|word| self.proctypes.contains(&**word));
        Some(match () {
            () if calls && last.is_word("while") => {
                "there is no `while`: `do :: condition -> ... :: else -> break od`"
            }
            () if calls && last.is_word("if") => "`if :: condition -> ... :: else -> ... fi`",
            () if calls && is_proctype => "a process is started with `run`",
            () if found.is_mark("{") && is_proctype => {
                "a process type has parentheses, even if it has no parameters"
            }
            () if found.is_mark("[") && last.is_mark("]") => {
                "arrays have one dimension: make an array of a `typedef` with an array in it"
            }
            () if found.is_mark("=") && ["+", "-", "*", "/", "%"].iter().any(|op| last.is_mark(op)) => {
                "write `x = x + 1`, or `x++`"
            }
            () if found.is_word("and") => "write `&&`",
            () if found.is_word("or") => "write `||`",
            () => return None,
        })
    }
}
