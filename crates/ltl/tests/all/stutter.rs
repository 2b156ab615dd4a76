//! Stuttering: the closure and the decision, against words.

use stubborn_ltl::random::Random;
use stubborn_ltl::{
    Automaton, Cube, Formula, Guard, Lasso, Propositions, Stuttering, closure, is_closed, parse, product,
    stuttering, translate,
};

fn names(n: usize) -> Propositions {
    Propositions::from_texts(["a", "b", "c"].into_iter().take(n)).unwrap()
}

/// The automaton of all words that are equivalent to `word` under stuttering: every letter of its shortest
/// form may be repeated; acceptance is on going on, so that no letter is repeated for ever unless it is last.
/// Only the propositions in `support` count.
fn equivalents(word: &Lasso, support: u64, names: &Propositions) -> Automaton {
    let seen = |letters: &[u64]| letters.iter().map(|l| l & support).collect::<Vec<u64>>();
    let short = Lasso { stem: seen(&word.stem), cycle: seen(&word.cycle) }.without_stuttering();
    let mut out = Automaton::new(names.clone(), 1);
    (0..short.len()).for_each(|_| {
        out.add_state(0);
    });
    out.add_initial(0);
    for position in 0..short.len() {
        let guard = Guard::from(Cube::minterm(short.letter(position), support));
        let target = short.next(position) as u32;
        if target != position as u32 {
            out.add_edge(position as u32, guard.clone(), position as u32, 0);
        }
        out.add_edge(position as u32, guard, target, 1);
    }
    out
}

/// A random word with the same shortest form.
fn stretched(word: &Lasso, random: &mut Random) -> Lasso {
    let stretch = |letters: &[u64], random: &mut Random| {
        letters.iter().flat_map(|&l| vec![l; 1 + random.below(3)]).collect::<Vec<u64>>()
    };
    let short = word.without_stuttering();
    // The cycle twice, so that its rounds may differ.
    let twice = [short.cycle.clone(), short.cycle.clone()].concat();
    Lasso { stem: stretch(&short.stem, random), cycle: stretch(&twice, random) }
}

/// A random Büchi automaton, with the shapes that no formula gives.
fn random_automaton(random: &mut Random, names: &Propositions) -> Automaton {
    let n = 1 + random.below(4);
    let mut out = Automaton::new(names.clone(), 1);
    (0..n).for_each(|_| {
        out.add_state(u64::from(random.below(3) == 0));
    });
    out.add_initial(0);
    for _ in 0..random.below(3 * n) + n {
        let (source, target) = (random.below(n) as u32, random.below(n) as u32);
        let cube = Cube::minterm(random.next(), random.next() & ((1 << names.len()) - 1));
        out.add_edge(source, Guard::from(cube), target, 0);
    }
    out
}

fn assert_closure(automaton: &Automaton, random: &mut Random, names: &Propositions, what: &str) {
    let closed = closure(automaton).unwrap();
    assert!(closed.is_buchi());
    for _ in 0..15 {
        let word = random.lasso(4, 4, names.len());
        let is_in = closed.accepts(&word);
        let has_equivalent =
            !product(automaton, &equivalents(&word, automaton.support(), names)).unwrap().is_empty();
        assert_eq!(is_in, has_equivalent, "{what}\n{word:?}\n{automaton:?}\n{closed:?}");
        // N is within N' (Theorem 3.1, 1), and N' is closed (Theorem 3.1, 2).
        assert!(is_in || !automaton.accepts(&word));
        let other = stretched(&word, random);
        assert_eq!(closed.accepts(&other), is_in, "{what}\n{word:?}\n{other:?}");
    }
}

#[test]
fn the_closure_has_the_words_with_an_equivalent_word_in_the_language() {
    let mut random = Random::new(31);
    let names = names(2);
    for round in 0..300 {
        let automaton = random_automaton(&mut random, &names);
        assert_closure(&automaton, &mut random, &names, "random automaton");
        let formula = random.formula(1 + round % 6, 2, true);
        let automaton = translate(&formula, &names).unwrap().buchi;
        assert_closure(&automaton, &mut random, &names, &formula.show(&names));
    }
}

#[test]
fn the_closure_of_what_is_closed_is_the_same_language() {
    // Theorem 3.1, 3, by products with the complement.
    let mut random = Random::new(32);
    let names = names(2);
    let (mut invariant, mut sensitive) = (0, 0);
    for round in 0..250 {
        let formula = random.formula(1 + round % 7, 2, true);
        let automaton = translate(&formula, &names).unwrap().buchi;
        let complement = translate(&formula.clone().negated(), &names).unwrap().buchi;
        let adds_nothing = product(&closure(&automaton).unwrap(), &complement).unwrap().is_empty();
        let is_invariant = is_closed(&automaton, &complement).unwrap();
        assert_eq!(adds_nothing, is_invariant, "{}", formula.show(&names));
        *(if is_invariant { &mut invariant } else { &mut sensitive }) += 1;
        if !formula.has_next() {
            assert!(is_invariant, "{}", formula.show(&names));
        }
    }
    assert!(invariant > 30 && sensitive > 30, "{invariant} {sensitive}");
}

#[test]
fn a_sensitive_formula_tells_two_equivalent_words_apart() {
    // By brute force: all words with at most two letters in the stem and in the cycle, each letter once or twice.
    let mut random = Random::new(33);
    let names = names(1);
    let mut words = Vec::new();
    for code in 0..64u64 {
        let bits: Vec<u64> = (0..6).map(|i| code >> i & 1).collect();
        for stem in 0..=4 {
            words.push(Lasso { stem: bits[..stem].to_vec(), cycle: bits[4..].to_vec() });
        }
    }
    let mut told = 0;
    for round in 0..300 {
        let formula = random.formula(1 + round % 5, 1, true);
        let differs = |w: &Lasso, v: &Lasso| {
            equal_words(&w.without_stuttering(), &v.without_stuttering())
                && w.satisfies(&formula) != v.satisfies(&formula)
        };
        let tells_apart = words.iter().any(|w| words.iter().any(|v| differs(w, v)));
        let answer = stuttering(&formula, &names);
        assert!(answer.is_exact());
        if tells_apart {
            told += 1;
            assert_eq!(answer, Stuttering::Sensitive, "{}", formula.show(&names));
        }
    }
    assert!(told > 30, "{told}");
}

fn equal_words(a: &Lasso, b: &Lasso) -> bool {
    let (mut i, mut j) = (0, 0);
    (0..a.len() * b.len() + a.len() + b.len()).all(|_| {
        let same = a.letter(i) == b.letter(j);
        (i, j) = (a.next(i), b.next(j));
        same
    })
}

#[test]
fn stuttering_is_decided_not_guessed() {
    let decide = |text: &str| {
        let mut names = Propositions::new();
        let formula: Formula = parse(text, &mut names).unwrap();
        stuttering(&formula, &names)
    };
    assert_eq!(decide("[] (p -> <> q)"), Stuttering::Invariant);
    assert_eq!(decide("X p"), Stuttering::Sensitive);
    // Sensitive, but only by words that become longer.
    assert_eq!(decide("p && X !p"), Stuttering::Sensitive);
    assert_eq!(decide("p && X p"), Stuttering::Sensitive);
    assert_eq!(decide("<> (p && X p)"), Stuttering::Sensitive);
    // Each has an X and does not notice stuttering.
    assert_eq!(decide("<> (p && X !p)"), Stuttering::Invariant);
    assert_eq!(decide("[] <> X p"), Stuttering::Invariant);
    assert_eq!(decide("X p || !X p"), Stuttering::Invariant);
    let many: Vec<String> = (0..20).map(|i| format!("<> p{i}")).collect();
    assert_eq!(decide(&many[..16].join(" || ")), Stuttering::InvariantBySyntax);
    assert_eq!(decide(&(many[..16].join(" || ") + " || X q")), Stuttering::Unknown);
}

#[test]
fn the_closure_of_an_invariant_formula_is_about_as_small_as_its_automaton() {
    for text in ["[] (p -> <> q)", "p U q", "[] <> p", "<> [] p", "[] p", "p U (q U r)"] {
        let mut names = Propositions::new();
        let formula = parse(text, &mut names).unwrap();
        let automaton = translate(&formula, &names).unwrap().buchi;
        let closed = closure(&automaton).unwrap();
        assert!(closed.n_states() <= 2 * automaton.n_states(), "{text}: {}", closed.n_states());
    }
}
