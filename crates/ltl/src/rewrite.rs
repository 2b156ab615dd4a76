//! Rewriting of formulas: shorter, with fewer `U`, of the same meaning.
//!
//! **Implements** a table of laws. A law looks at one formula whose parts are rewritten already and gives an
//! equivalent one, or nothing. Laws are written for `X`, `U` and `&&`; for `V` and `||` the same laws are
//! used on the negation. The laws are from Somenzi and Bloem (2000), Etessami and Holzmann (2000), and the
//! textbooks.
//!
//! **Checked by** `every_law_keeps_the_meaning`: each law is applied wherever it fits in random formulas, and
//! before and after are evaluated on words; a law that never fits fails the test, too.

use crate::implication::Facts;
use crate::term::{FALSE, Id, Node, TRUE, Terms};
use rustc_hash::FxHashMap;

/// An equivalent formula, or nothing if the law does not fit.
type Law = fn(&mut Terms, &mut Facts, Id) -> Option<Id>;

/// The laws, in the order in which they are tried.
const LAWS: &[(&str, Law)] = &[
    ("X a = a, if a is timeless", next_timeless),
    ("a U b = b, if a implies b", until_implied),
    ("a U b = b, if b is a pure eventuality", until_eventual),
    ("a U b = <> b, if !b implies a", until_unconstrained),
    ("a U (b U c) = b U c, if a implies b", until_nested),
    ("<> (a U b) = <> b", eventually_until),
    ("<> (a && b) = <> a && b, if b is timeless", eventually_timeless),
    ("(X a) U (X b) = X (a U b)", until_next),
    ("a && b = a, if a implies b", and_implied),
    ("a && b = false, if a implies !b", and_contradiction),
    ("X a && X b = X (a && b)", and_next),
    ("(a U c) && (b U c) = (a && b) U c", and_until),
    ("(a V b) && (a V c) = a V (b && c)", and_release),
    ("<> [] a && <> [] b = <> [] (a && b)", and_eventually_always),
    ("a && b = a && b', if a is a literal and b' is b with a true", and_literal),
];

/// The formula after rewriting.
pub(crate) fn rewrite(terms: &mut Terms, facts: &mut Facts, id: Id) -> Id {
    let mut done = FxHashMap::default();
    visit(terms, facts, id, &mut done)
}

fn visit(terms: &mut Terms, facts: &mut Facts, id: Id, done: &mut FxHashMap<Id, Id>) -> Id {
    if let Some(&result) = done.get(&id) {
        return result;
    }
    let rebuilt = match terms.node(id).clone() {
        Node::True | Node::False | Node::Literal { .. } => id,
        Node::Next(a) => {
            let a = visit(terms, facts, a, done);
            terms.next(a)
        }
        Node::Until(a, b) => {
            let (a, b) = (visit(terms, facts, a, done), visit(terms, facts, b, done));
            terms.until(a, b)
        }
        Node::Release(a, b) => {
            let (a, b) = (visit(terms, facts, a, done), visit(terms, facts, b, done));
            terms.release(a, b)
        }
        Node::And(parts) => {
            let parts: Vec<Id> = parts.into_iter().map(|part| visit(terms, facts, part, done)).collect();
            terms.and(parts)
        }
        Node::Or(parts) => {
            let parts: Vec<Id> = parts.into_iter().map(|part| visit(terms, facts, part, done)).collect();
            terms.or(parts)
        }
    };
    let mut result = rebuilt;
    if let Some(better) = LAWS.iter().find_map(|(_, law)| apply(terms, facts, *law, rebuilt)) {
        // Every law makes the formula smaller in some order, so this ends.
        result = if better == rebuilt { rebuilt } else { visit(terms, facts, better, done) };
    }
    done.insert(id, result);
    done.insert(result, result);
    result
}

/// The law, or its dual on the negation.
fn apply(terms: &mut Terms, facts: &mut Facts, law: Law, id: Id) -> Option<Id> {
    match terms.node(id) {
        Node::Release(..) | Node::Or(_) => {
            let negation = terms.negate(id);
            let better = law(terms, facts, negation)?;
            Some(terms.negate(better))
        }
        Node::Next(_) | Node::Until(..) | Node::And(_) => law(terms, facts, id),
        _ => None,
    }
}

fn next_timeless(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Next(a) = *terms.node(id) else { return None };
    facts.kind(terms, a).is_timeless().then_some(a)
}

fn until_implied(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(a, b) = *terms.node(id) else { return None };
    facts.implies(terms, a, b).then_some(b)
}

fn until_eventual(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(_, b) = *terms.node(id) else { return None };
    facts.kind(terms, b).is_eventual.then_some(b)
}

fn until_unconstrained(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(a, b) = *terms.node(id) else { return None };
    let not_b = terms.negate(b);
    (a != TRUE && facts.implies(terms, not_b, a)).then(|| terms.until(TRUE, b))
}

fn until_nested(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(a, inner) = *terms.node(id) else { return None };
    let Node::Until(b, _) = *terms.node(inner) else { return None };
    facts.implies(terms, a, b).then_some(inner)
}

fn eventually_until(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(TRUE, inner) = *terms.node(id) else { return None };
    let Node::Until(_, b) = *terms.node(inner) else { return None };
    Some(terms.until(TRUE, b))
}

fn eventually_timeless(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(TRUE, inner) = *terms.node(id) else { return None };
    let Node::And(parts) = terms.node(inner).clone() else { return None };
    let (timeless, others): (Vec<Id>, Vec<Id>) =
        parts.into_iter().partition(|&part| facts.kind(terms, part).is_timeless());
    if timeless.is_empty() {
        return None;
    }
    let rest = terms.and(others);
    let eventually = terms.until(TRUE, rest);
    Some(terms.and(timeless.into_iter().chain([eventually])))
}

fn until_next(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    let Node::Until(a, b) = *terms.node(id) else { return None };
    let Node::Next(y) = *terms.node(b) else { return None };
    let x = match *terms.node(a) {
        Node::Next(x) => x,
        Node::True => TRUE,
        _ => return None,
    };
    let until = terms.until(x, y);
    Some(terms.next(until))
}

fn and_implied(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::And(parts) = terms.node(id).clone() else { return None };
    for (i, &b) in parts.iter().enumerate() {
        let others = parts.iter().enumerate().filter(|(j, _)| *j != i);
        // Of two that imply each other the first stays.
        let mut is_implied =
            |j: usize, a: Id| facts.implies(terms, a, b) && (j < i || !facts.implies(terms, b, a));
        if others.clone().any(|(j, &a)| is_implied(j, a)) {
            return Some(terms.and(others.map(|(_, &a)| a).collect::<Vec<_>>()));
        }
    }
    None
}

fn and_contradiction(terms: &mut Terms, facts: &mut Facts, id: Id) -> Option<Id> {
    let Node::And(parts) = terms.node(id).clone() else { return None };
    for (i, &a) in parts.iter().enumerate() {
        for &b in &parts[..i] {
            let (not_a, not_b) = (terms.negate(a), terms.negate(b));
            if facts.implies(terms, a, not_b) || facts.implies(terms, b, not_a) {
                return Some(FALSE);
            }
        }
    }
    None
}

fn and_next(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    let Node::And(parts) = terms.node(id).clone() else { return None };
    let (mut inner, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        match terms.node(part) {
            Node::Next(a) => inner.push(*a),
            _ => others.push(part),
        }
    }
    if inner.len() < 2 {
        return None;
    }
    let all = terms.and(inner);
    others.push(terms.next(all));
    Some(terms.and(others))
}

/// Replaces the first two parts that `merge` can make one.
fn and_merged(
    terms: &mut Terms,
    id: Id,
    mut merge: impl FnMut(&mut Terms, Id, Id) -> Option<Id>,
) -> Option<Id> {
    let Node::And(parts) = terms.node(id).clone() else { return None };
    for i in 0..parts.len() {
        for j in 0..i {
            if let Some(merged) = merge(terms, parts[i], parts[j]) {
                let others = (0..parts.len()).filter(|k| *k != i && *k != j).map(|k| parts[k]);
                return Some(terms.and(others.chain([merged]).collect::<Vec<_>>()));
            }
        }
    }
    None
}

fn and_until(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    and_merged(terms, id, |terms, one, other| match (terms.node(one), terms.node(other)) {
        (&Node::Until(a, c), &Node::Until(b, d)) if c == d => {
            let both = terms.and([a, b]);
            Some(terms.until(both, c))
        }
        _ => None,
    })
}

fn and_release(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    and_merged(terms, id, |terms, one, other| match (terms.node(one), terms.node(other)) {
        (&Node::Release(a, b), &Node::Release(c, d)) if a == c => {
            let both = terms.and([b, d]);
            Some(terms.release(a, both))
        }
        _ => None,
    })
}

fn and_eventually_always(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    let inner = |terms: &Terms, id: Id| match *terms.node(id) {
        Node::Until(TRUE, always) => match *terms.node(always) {
            Node::Release(FALSE, a) => Some(a),
            _ => None,
        },
        _ => None,
    };
    and_merged(terms, id, |terms, one, other| {
        let (a, b) = (inner(terms, one)?, inner(terms, other)?);
        let both = terms.and([a, b]);
        let always = terms.release(FALSE, both);
        Some(terms.until(TRUE, always))
    })
}

fn and_literal(terms: &mut Terms, _: &mut Facts, id: Id) -> Option<Id> {
    let Node::And(parts) = terms.node(id).clone() else { return None };
    for (i, &literal) in parts.iter().enumerate() {
        if !matches!(terms.node(literal), Node::Literal { .. }) {
            continue;
        }
        for (j, &part) in parts.iter().enumerate() {
            if i == j || matches!(terms.node(part), Node::Literal { .. }) {
                continue;
            }
            let with = with_literal(terms, part, literal);
            if with != part {
                let others = (0..parts.len()).filter(|k| *k != j).map(|k| parts[k]);
                return Some(terms.and(others.chain([with]).collect::<Vec<_>>()));
            }
        }
    }
    None
}

/// The formula where `literal` holds now: what stands outside of temporal operators is evaluated, and the
/// first step of `U` and `V` where that decides them.
fn with_literal(terms: &mut Terms, id: Id, literal: Id) -> Id {
    let opposite = terms.negate(literal);
    match terms.node(id).clone() {
        _ if id == literal => TRUE,
        _ if id == opposite => FALSE,
        Node::And(parts) => {
            let parts: Vec<Id> = parts.into_iter().map(|part| with_literal(terms, part, literal)).collect();
            terms.and(parts)
        }
        Node::Or(parts) => {
            let parts: Vec<Id> = parts.into_iter().map(|part| with_literal(terms, part, literal)).collect();
            terms.or(parts)
        }
        // b now: a U b holds. Neither a nor b now: it does not.
        Node::Until(a, b) => {
            let (now_a, now_b) = (with_literal(terms, a, literal), with_literal(terms, b, literal));
            match (now_a, now_b) {
                (_, TRUE) => TRUE,
                (FALSE, _) => now_b,
                _ => id,
            }
        }
        Node::Release(a, b) => {
            let (now_a, now_b) = (with_literal(terms, a, literal), with_literal(terms, b, literal));
            match (now_a, now_b) {
                (_, FALSE) => FALSE,
                (TRUE, _) => now_b,
                _ => id,
            }
        }
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::{Formula, Lasso};

    const LIMIT: usize = 100_000;

    fn words(random: &mut Random, n: usize) -> Vec<Lasso> {
        let mut words: Vec<Lasso> = (0..n).map(|_| random.lasso(4, 4, 2)).collect();
        // And a third of all words with two letters in the stem and two in the cycle.
        for code in (0..256u64).step_by(3) {
            let at = |i: u64| code >> (2 * i) & 3;
            words.push(Lasso { stem: vec![at(0), at(1)], cycle: vec![at(2), at(3)] });
        }
        words
    }

    fn assert_equal(a: &Formula, b: &Formula, words: &[Lasso], law: &str) {
        for word in words {
            assert_eq!(word.satisfies(a), word.satisfies(b), "{law}\n{a:?}\n{b:?}\n{word:?}");
        }
    }

    #[test]
    fn every_law_keeps_the_meaning() {
        let mut random = Random::new(3);
        let words = words(&mut random, 50);
        let mut fitted = vec![0; LAWS.len()];
        let names = || crate::Propositions::from_texts(["a", "b"]).unwrap();
        // Shapes that are rare by chance.
        let shapes = [
            "<> [] a && <> [] b",
            "<> [] (a U b) && <> [] X b",
            "[] <> a || [] <> (b && X a)",
            "<> (a && [] <> b)",
            "<> (X a && b && <> [] b)",
            "[] ((a U b) || <> [] a)",
            "(X a) U (X b)",
            "<> X a",
            "(X a) V (X (a && b))",
        ];
        let shapes = shapes.map(|text| crate::parse(text, &mut names()).unwrap());
        let chance = (0..3000).map(|round| random.formula(2 + round % 6, 2, true));
        for formula in shapes.into_iter().chain(chance) {
            let (mut terms, mut facts) = (Terms::new(), Facts::default());
            terms.add(&formula);
            for id in 0..terms.len() as Id {
                for (number, (name, law)) in LAWS.iter().enumerate() {
                    let Some(better) = apply(&mut terms, &mut facts, *law, id) else { continue };
                    fitted[number] += 1;
                    let (before, after) = (terms.formula(id, LIMIT).unwrap(), terms.formula(better, LIMIT));
                    assert_equal(&before, &after.unwrap(), &words, name);
                }
            }
        }
        for ((name, _), n) in LAWS.iter().zip(&fitted) {
            assert!(*n >= 2, "`{name}` fitted {n} times only");
        }
    }

    #[test]
    fn what_is_seen_is_so() {
        let mut random = Random::new(4);
        let words = words(&mut random, 50);
        let (mut implications, mut eventual, mut universal) = (0, 0, 0);
        for round in 0..1500 {
            let (mut terms, mut facts) = (Terms::new(), Facts::default());
            terms.add(&random.formula(1 + round % 5, 2, true));
            terms.add(&random.formula(1 + round % 5, 2, true));
            for a in 2..terms.len() as Id {
                let formula = terms.formula(a, LIMIT).unwrap();
                let next = Formula::Next(Box::new(formula.clone()));
                let kind = facts.kind(&terms, a);
                eventual += usize::from(kind.is_eventual);
                universal += usize::from(kind.is_universal);
                for word in &words {
                    let (now, then) = (word.satisfies(&formula), word.satisfies(&next));
                    assert!(!kind.is_eventual || !then || now, "{formula:?} {word:?}");
                    assert!(!kind.is_universal || !now || then, "{formula:?} {word:?}");
                }
                for b in 2..terms.len() as Id {
                    if a != b && facts.implies(&terms, a, b) {
                        implications += 1;
                        let other = terms.formula(b, LIMIT).unwrap();
                        let broken = words.iter().find(|w| w.satisfies(&formula) && !w.satisfies(&other));
                        assert!(broken.is_none(), "{formula:?}\n{other:?}\n{broken:?}");
                    }
                }
            }
        }
        assert!(implications > 300 && eventual > 300 && universal > 300);
    }

    #[test]
    fn rewriting_keeps_the_meaning_and_ends() {
        let mut random = Random::new(5);
        let words = words(&mut random, 100);
        for round in 0..3000 {
            let formula = random.formula(1 + round % 12, 2, true);
            let (mut terms, mut facts) = (Terms::new(), Facts::default());
            let id = terms.add(&formula);
            let better = rewrite(&mut terms, &mut facts, id);
            assert_equal(&formula, &terms.formula(better, LIMIT).unwrap(), &words, "rewrite");
        }
    }
}
