//! Automata as texts.

use stubborn_ltl::random::Random;
use stubborn_ltl::{Propositions, dot, from_hoa, never_claim, parse, to_hoa, translate};

#[test]
fn what_is_written_reads_back_the_same() {
    let mut random = Random::new(21);
    let names = Propositions::from_texts(["a", "x == \"1\\2\"", "c"]).unwrap();
    for round in 0..300 {
        let formula = random.formula(1 + round % 8, 3, true);
        let translation = translate(&formula, &names).unwrap();
        for automaton in [&translation.generalised, &translation.buchi] {
            let text = to_hoa(automaton, &formula.show(&names));
            let read = from_hoa(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(read.propositions(), automaton.propositions());
            assert_eq!((read.n_sets(), read.n_states()), (automaton.n_sets(), automaton.n_states()));
            for word in (0..20).map(|_| random.lasso(4, 4, 3)) {
                assert_eq!(read.accepts(&word), word.satisfies(&formula), "{text}");
            }
        }
    }
}

const HEAD: &str = "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"p\" \"q\"\n";

#[test]
fn the_forms_that_others_write_are_read() {
    // Acceptance on edges, aliases, comments, names of states, unknown headers.
    let text = format!(
        "{HEAD}acc-name: generalized-Buchi 2\nAlias: @p 0 Alias: @r !@p&(1|f)\nfoo: bar 1 \"x\"\n\
         Acceptance: 2 (Inf(1))&Inf(0)\n/* a /* nested */ comment */\n--BODY--\n\
         State: 0 \"start\"\n[@p] 1 {{0 1}}\n[@r] 0\nState: 1\n[t] 0 {{1}}\n--END--\n"
    );
    let automaton = from_hoa(&text).unwrap();
    assert_eq!((automaton.n_states(), automaton.n_edges(), automaton.n_sets()), (2, 3, 2));
    assert!(automaton.edges(0)[0].guard.holds(0b10) && !automaton.edges(0)[0].guard.holds(0b11));
    // Implicit labels: p is the lowest bit.
    let text =
        format!("{HEAD}Acceptance: 1 Inf(0)\n--BODY--\nState: 0 {{0}} 0 1 0 1\nState: 1 1 1 1 1\n--END--");
    let automaton = from_hoa(&text).unwrap();
    let to_one: Vec<u64> =
        (0..4).filter(|l| automaton.edges(0).iter().any(|e| e.target == 1 && e.guard.holds(*l))).collect();
    assert_eq!(to_one, [1, 3]);
    assert!(automaton.is_accepting(0) && !automaton.is_accepting(1));
    // Labels on states.
    let text =
        format!("{HEAD}Start: 1\nAcceptance: 0 t\n--BODY--\nState: [0] 0 0 1\nState: [!0] 1 0 1\n--END--");
    let automaton = from_hoa(&text).unwrap();
    assert_eq!(automaton.initial(), [0, 1]);
    assert!(!automaton.edges(1)[0].guard.holds(1));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let complaint = |text: &str| from_hoa(text).expect_err(text);
    let body = "--BODY--\nState: 0 {0}\n[t] 0\n--END--\n";
    let with = |acceptance: &str| format!("{HEAD}Acceptance: {acceptance}\n{body}");
    for acceptance in
        ["2 Fin(0) & Inf(1)", "2 Inf(0) | Inf(1)", "1 Fin(0)", "1 Inf(!0)", "2 Inf(0)", "1 t", "1 f"]
    {
        let error = complaint(&with(acceptance));
        assert!(error.message.contains("only Büchi") && error.line >= 5, "{acceptance}: {error}");
    }
    assert_eq!(complaint(&with("1 Inf(1)")).message, "set 1 is not among the 1 announced");
    let placed = complaint("HOA: v1 /* two\nlines */ é");
    assert_eq!((placed.line, placed.column), (2, 10), "{placed}");
    assert_eq!(complaint(&with("1 (Inf(0)")).message, "`)` is due");
    assert!(complaint(&with("65 t")).message.contains("64"));
    assert!(complaint("").message.contains("HOA: v1"));
    assert!(complaint("HOA: v2").message.contains("HOA: v1"));
    assert!(complaint("HOA: v1 Foo: 1").message.contains("`Foo:`"));
    let in_body = |body: &str| complaint(&format!("{HEAD}Acceptance: 1 Inf(0)\n--BODY--\n{body}"));
    assert_eq!(in_body("State: 2\n--END--").message, "state 2 is not among the 2 announced");
    assert_eq!(in_body("State: 0\n[2] 0\n--END--").message, "proposition 2 is not in `AP:`");
    assert_eq!(in_body("State: 0\n[@x] 0\n--END--").message, "alias `@x` is not defined");
    assert_eq!(in_body("State: 0\n[t] 0&1\n--END--").message, "alternating automata are not read");
    assert!(in_body("State: 0\n0 1\n--END--").message.contains("2 edges without labels"));
    assert_eq!(in_body("State: 0\nState: 0\n--END--").message, "state 0 is described twice");
    assert_eq!(in_body("State: 0\n[t] 0\n--ABORT--").message, "the text was aborted");
    assert!(in_body("State: 0\n[t] 0").message.contains("--END--"));
    assert!(in_body("State: 99999999999999999999999\n").message.contains("too large"));
    let deep = format!("State: 0\n[{}0{}] 0\n--END--", "(".repeat(100_000), ")".repeat(100_000));
    assert!(in_body(&deep).message.contains("nested deeper"));
    assert!(in_body("/* no end").message.contains("comment"));
    assert!(in_body("\u{e4}").message.contains("no meaning"));
}

#[test]
fn labels_that_would_explode_are_refused_at_once() {
    let names: Vec<String> = (0..64).map(|i| format!("\"p{i}\"")).collect();
    let pairs: Vec<String> = (0..32).map(|i| format!("{}&{}", 2 * i, 2 * i + 1)).collect();
    let text = format!(
        "HOA: v1\nStart: 0\nAP: 64 {}\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {{0}}\n[!({})] 0\n--END--",
        names.join(" "),
        pairs.join(" | ")
    );
    assert_eq!(from_hoa(&text).unwrap_err().message, "a label is too large");
    assert!(from_hoa(&text.replace("!(", "(")).is_ok());
}

#[test]
fn truncated_and_mangled_texts_never_panic() {
    let mut random = Random::new(22);
    let mut names = Propositions::new();
    let formula = parse("[] (p -> X <> (q && (x == 1))) && []<> r", &mut names).unwrap();
    let text = to_hoa(&translate(&formula, &names).unwrap().generalised, "f");
    for length in 0..text.len() {
        assert!(from_hoa(&text[..length]).is_err() || length + 1 >= text.len());
    }
    let signs = b"0123 {}[]()!&|@\"-ft:\n";
    for _ in 0..3000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = signs[random.below(signs.len())];
        }
        let _ = from_hoa(&String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn claims_and_graphs_have_a_known_form() {
    let mut names = Propositions::new();
    let formula = parse("[] (p -> <> (x == \"1\"))", &mut names);
    assert!(formula.is_err(), "strings are no part of Promela expressions");
    let formula = parse("!([] (p -> <> (x == 1)))", &mut names).unwrap();
    let automaton = translate(&formula, &names).unwrap().buchi;
    assert_eq!(
        never_claim(&automaton, "*/ hello"),
        "never {    /* * / hello */\nT0_init:\n\tdo\n\t:: (true) -> goto T0_init\n\
         \t:: (p && !(x == 1)) -> goto accept_S1\n\tod;\naccept_S1:\n\tdo\n\t:: (!(x == 1)) -> goto accept_S1\n\tod;\n}\n"
    );
    let graph = dot(&automaton, "a \"title\"");
    assert!(graph.starts_with("digraph \"a \\\"title\\\"\" {"));
    assert!(
        graph.contains("1 [shape=doublecircle];") && graph.contains("0 -> 1 [label=\"p && !(x == 1)\"];")
    );
}
