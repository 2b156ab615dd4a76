//! The rules that go without saying: components with an action of one name do it together.
//!
//! **Implements** the traditional parallel composition (end of HVV section 3) with hiding and multiple renaming of the
//! results, as TVT's `createrules` has it.
//! **Checked by** `tests/all/rules.rs`.

use crate::lexer::{Lexer, Token};
use crate::lsts::{Action, TAU};
use crate::plan::{Component, Plan};
use crate::read_lsts::ReadOptions;
use crate::source::{Files, Refusal};
use rustc_hash::FxHashMap;

/// What becomes of the names.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// For a name, what it becomes: nothing hides it, several names make a rule for each.
    pub renamed: FxHashMap<String, Vec<String>>,
    /// If there, all results but these are hidden.
    pub visible: Option<Vec<String>>,
}

/// Reads groups `"old" "new" ... ;`.
pub fn read_renaming(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    options: ReadOptions,
) -> Result<FxHashMap<String, Vec<String>>, Box<Refusal>> {
    let mut lexer = Lexer::new(name, bytes, files, options.lenient);
    let mut read = || {
        let mut renamed: FxHashMap<String, Vec<String>> = FxHashMap::default();
        lexer.advance()?;
        while *lexer.token() != Token::End {
            let old = lexer.text()?;
            let new = renamed.entry(old).or_default();
            while !lexer.pass(";")? {
                new.push(lexer.text()?);
            }
        }
        Ok(renamed)
    };
    read().map_err(|diagnostic| lexer.refuse(diagnostic))
}

/// Reads a list of names, with or without semicolons.
pub fn read_visible(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    options: ReadOptions,
) -> Result<Vec<String>, Box<Refusal>> {
    let mut lexer = Lexer::new(name, bytes, files, options.lenient);
    let mut read = || {
        let mut names = Vec::new();
        lexer.advance()?;
        while *lexer.token() != Token::End {
            names.push(lexer.text()?);
            lexer.pass(";")?;
        }
        Ok(names)
    };
    read().map_err(|diagnostic| lexer.refuse(diagnostic))
}

/// The plan in which actions of one name happen together. Names of `renaming` that nobody has are returned, too.
pub fn default_plan(components: Vec<Component>, renaming: &Renaming) -> (Plan, Vec<String>) {
    let mut plan = Plan::new();
    let mut names: Vec<String> = Vec::new();
    let mut parts: FxHashMap<String, Vec<(usize, Action)>> = FxHashMap::default();
    for component in components {
        let lsts = component.lsts.clone();
        let place = plan.add_component(component);
        for (i, name) in lsts.action_names().iter().enumerate() {
            let of = parts.entry(name.clone()).or_default();
            if of.is_empty() {
                names.push(name.clone());
            }
            of.push((place, i as Action + 1));
        }
    }
    let visible = |result: &String| renaming.visible.as_ref().is_none_or(|list| list.contains(result));
    for name in &names {
        let results = renaming.renamed.get(name).cloned().unwrap_or_else(|| vec![name.clone()]);
        let shown: Vec<String> = results.into_iter().filter(visible).collect();
        let numbers: Vec<Action> = if shown.is_empty() {
            vec![TAU]
        } else {
            shown.iter().map(|result| plan.result(result)).collect()
        };
        for result in numbers {
            plan.add_rule(parts[name].clone(), result).expect("the parts are actions of components");
        }
    }
    plan.finish();
    let mut unknown: Vec<String> =
        renaming.renamed.keys().filter(|old| !parts.contains_key(*old)).cloned().collect();
    let listed = renaming.visible.iter().flatten();
    unknown.extend(listed.filter(|name| !plan.alphabet().contains(name)).cloned());
    unknown.sort();
    (plan, unknown)
}
