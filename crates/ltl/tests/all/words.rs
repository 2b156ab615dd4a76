//! Automata against direct evaluation: random formulas, random words.

use stubborn_ltl::random::Random;
use stubborn_ltl::{Automaton, Formula, Lasso, Propositions, product, translate, word_automaton};

fn names() -> Propositions {
    Propositions::from_texts(["a", "b", "c"]).unwrap()
}

fn assert_accepts(automaton: &Automaton, formula: &Formula, words: &[Lasso]) {
    for word in words {
        let shown = || formula.show(automaton.propositions());
        assert_eq!(automaton.accepts(word), word.satisfies(formula), "{}\n{word:?}\n{automaton:?}", shown());
    }
}

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let mut random = Random::new(11);
    let names = names();
    for round in 0..1500 {
        let formula = random.formula(1 + round % 10, 3, round % 2 == 0);
        let words: Vec<Lasso> = (0..60).map(|_| random.lasso(5, 5, 3)).collect();
        let translation = translate(&formula, &names).unwrap();
        assert!(translation.buchi.is_buchi() && translation.buchi.initial().len() == 1);
        assert_accepts(&translation.generalised, &formula, &words);
        assert_accepts(&translation.buchi, &formula, &words);
    }
}

/// A formula said in another way: by absorption, or by De Morgan.
fn said_otherwise(formula: &Formula, other: Formula, round: usize) -> Formula {
    let not = |formula: Formula| Formula::Not(Box::new(formula));
    let same = formula.clone();
    match round % 3 {
        0 => Formula::Or(vec![same.clone(), Formula::And(vec![same, other])]),
        1 => not(Formula::Or(vec![not(same.clone()), not(Formula::Or(vec![same, other]))])),
        _ => not(same.negated()),
    }
}

#[test]
fn automata_of_equivalent_formulas_agree_on_a_thousand_words() {
    let mut random = Random::new(14);
    let names = names();
    let words: Vec<Lasso> = (0..1000).map(|_| random.lasso(5, 5, 3)).collect();
    for round in 0..500 {
        let formula = random.formula(1 + round % 6, 3, round % 2 == 0);
        let other = random.formula(1 + round % 4, 3, round % 2 == 0);
        let same = said_otherwise(&formula, other, round);
        for said in [&formula, &same] {
            let translation = translate(said, &names).unwrap();
            assert_accepts(&translation.buchi, &formula, &words);
        }
    }
}

#[test]
fn a_formula_and_its_negation_share_no_word() {
    let mut random = Random::new(12);
    let names = names();
    for round in 0..500 {
        let formula = random.formula(1 + round % 9, 3, true);
        let positive = translate(&formula, &names).unwrap();
        let negative = translate(&formula.clone().negated(), &names).unwrap();
        let shown = formula.show(&names);
        assert!(product(&positive.buchi, &negative.buchi).unwrap().is_empty(), "{shown}");
        assert!(product(&positive.generalised, &negative.generalised).unwrap().is_empty(), "{shown}");
        assert!(!positive.buchi.is_empty() || !negative.buchi.is_empty(), "{shown}");
    }
}

#[test]
fn an_accepting_run_is_one() {
    let mut random = Random::new(13);
    let names = names();
    let mut found = 0;
    for round in 0..800 {
        let formula = random.formula(1 + round % 9, 3, true);
        let translation = translate(&formula, &names).unwrap();
        for automaton in [&translation.generalised, &translation.buchi] {
            let run = automaton.accepting_run();
            assert_eq!(run.is_none(), automaton.is_empty());
            let Some(run) = run else { continue };
            found += 1;
            assert!(run.word.satisfies(&formula), "{} {:?}", formula.show(&names), run.word);
            assert!(automaton.accepts(&run.word));
            assert_eq!(run.states.len(), run.word.len());
            assert!(automaton.initial().contains(&run.states[0]));
            for position in 0..run.word.len() {
                let target = run.states[run.word.next(position)];
                let letter = run.word.letter(position);
                let mut edges = automaton.edges(run.states[position]).iter();
                assert!(edges.any(|e| e.target == target && e.guard.holds(letter)));
            }
            let alone = word_automaton(&run.word, &names);
            assert!(!product(automaton, &alone).unwrap().is_empty());
        }
    }
    assert!(found > 1000);
}

#[test]
fn an_automaton_meets_the_automaton_of_a_word_if_it_accepts_the_word() {
    let mut random = Random::new(14);
    let names = names();
    for round in 0..1000 {
        let formula = random.formula(1 + round % 8, 3, true);
        let word = random.lasso(5, 5, 3);
        let automaton = translate(&formula, &names).unwrap().buchi;
        let meets = !product(&automaton, &word_automaton(&word, &names)).unwrap().is_empty();
        assert_eq!(meets, word.satisfies(&formula));
    }
}
