//! Properties of runs from the command line. The answers are known by hand.

use crate::common::{Files, Run, stubborn_with};

/// Two toggles, one of them with a counter that stops.
const MODEL: &str = "
bool p, q;
byte n;
active proctype A() { do :: p = 1; p = 0 :: n < 3 -> n++ od }
active proctype B() { do :: q = 1; q = 0 od }
";

/// Stops with x = 2.
const ENDS: &str = "byte x; active proctype P() { x = 1; x = 2 }";

fn check(text: &str, arguments: &[&str]) -> Run {
    let files = Files::new(&format!("linear-{:?}", std::thread::current().id()));
    let model = files.write("model.pml", text);
    stubborn_with(["check", model.as_str()].into_iter().chain(arguments.iter().copied()))
}

/// With and without reduction and optimisation.
#[track_caller]
fn assert_code(text: &str, arguments: &[&str], code: i32) {
    for more in [&[][..], &["--reduction", "none"], &["--optimise", "none"], &["--tester"]] {
        let all: Vec<&str> = arguments.iter().chain(more).copied().collect();
        let run = check(text, &all);
        assert_eq!(run.code, code, "{all:?}: {}{}", run.out, run.err);
    }
}

#[test]
fn formulas_hold_or_are_violated() {
    for (formula, code) in [
        ("[] (n <= 3)", 0),
        ("[] (n < 3)", 1),
        ("<> (n == 3)", 1),
        ("[]<> p", 1),
        ("[] (p -> <> !p)", 1),
        ("(n == 0) U (n == 1 || q || p) || [] (n == 0)", 0),
        ("(n == 0) W (n == 1)", 0),
        ("X X p", 1),
        ("X (p || q || n == 0)", 0),
        ("always (n == 3 implies always (n == 3))", 0),
    ] {
        assert_code(MODEL, &["--ltl", formula], code);
    }
}

#[test]
fn other_searches_and_stores_agree() {
    for (formula, code) in
        [("[] (n <= 3)", 0), ("[] (n < 3)", 1), ("[]<> p", 1), ("X X p", 1), ("<>[] (n < 4)", 0)]
    {
        for more in [&["--search", "dfs"][..], &["--store", "compact64"], &["--store", "bitstate"]] {
            let all: Vec<&str> =
                ["--question", "linear", "--ltl", formula].iter().chain(more).copied().collect();
            let run = check(MODEL, &all);
            // What was not found may have been missed.
            let expected = if code == 0 && more[0] == "--store" { 3 } else { code };
            assert_eq!(run.code, expected, "{all:?}: {}{}", run.out, run.err);
        }
    }
}

#[test]
fn a_run_that_ends_stays_in_its_last_state() {
    for (formula, code) in
        [("<> (x == 2)", 0), ("<>[] (x == 2)", 0), ("[]<> (x == 1)", 1), ("<> (x == 3)", 1)]
    {
        assert_code(ENDS, &["--ltl", formula], code);
    }
}

#[test]
fn weak_fairness_leaves_out_runs_in_which_a_process_is_overtaken_for_ever() {
    for (formula, code) in [("[]<> q", 0), ("[]<> (p || n == 3)", 0), ("<> (n == 3)", 1), ("[]<> p", 1)] {
        assert_code(MODEL, &["--ltl", formula, "--fair"], if formula == "[]<> p" { 0 } else { code });
    }
    assert_code(MODEL, &["--ltl", "[]<> q"], 1);
}

/// The closure of the claim accepts everything; the claim accepts runs in which `b` stays 0 for ever, which are not fair.
#[test]
fn what_only_the_closure_of_a_claim_accepts_whatever_comes_need_not_go_on_fairly() {
    let claim = "never {
        accept_0: if :: b -> goto accept_1 :: else -> goto accept_0 fi;
        accept_1: if :: b -> goto two :: b -> goto accept_1 fi;
        two: if :: b -> goto accept_0 :: b -> goto two :: !b -> goto two fi;
        over: skip }";
    let processes = "bit b; active proctype P() { do :: b = 0 od } active proctype Q() { b = 1 - b }";
    let text = format!("{processes} {claim}");
    for more in [&[][..], &["--reduction", "none"], &["--optimise", "none"]] {
        let all: Vec<&str> = ["--question", "linear", "--fair"].iter().chain(more).copied().collect();
        let run = check(&text, &all);
        assert_eq!(run.code, 0, "{all:?}: {}{}", run.out, run.err);
    }
}

/// What A writes nobody reads, so its step changes nothing that is looked at, as B's does.
#[test]
fn a_run_that_is_shown_with_fairness_leaves_no_process_out() {
    let text = "byte b, x;
        active proctype A() { do :: b = 1 od }
        active proctype B() { do :: skip od }";
    let json = check(text, &["--question", "linear", "--ltl", "<> (x == 1)", "--fair", "--json"]).json();
    let result = &json["results"][0];
    assert_eq!(result["verdict"], "violated");
    let steps = result["witness"]["steps"].as_array().expect("steps");
    let cycle = result["witness"]["cycle_start"].as_u64().expect("a cycle") as usize;
    for process in ["A[0]", "B[1]"] {
        let moves = |step: &serde_json::Value| step["process"] == process;
        assert!(steps[cycle..].iter().any(moves), "{process}: {steps:?}");
    }
}

/// The automaton of each is in more than one state where the model is in one, and in which of them it must be is only seen later.
#[test]
fn what_waits_goes_on_where_it_may_be_accepted() {
    let text = "byte x; active proctype P() { x = 1; x = 2; x = 3; x = 4 }";
    for formula in [
        "[] ((x == 1) -> [] <> (x != 4))",
        "!(([] (x < 2)) || <> [] (x == 4))",
        "!(<> [] (x == 4) || ([] (x < 2)))",
        "!(((x < 2) U [] (x == 7)) || ((x < 3) U [] (x > 2)))",
        "!(((x < 3) U [] (x > 2)) || ((x < 2) U [] (x == 7)))",
    ] {
        assert_code(text, &["--ltl", formula, "--question", "linear"], 1);
        assert_code(text, &["--ltl", formula, "--question", "linear", "--guided", "never"], 1);
    }
    for formula in ["[] ((x == 1) -> <> (x == 4))", "!(([] (x < 2)) || <> [] (x == 3))"] {
        assert_code(text, &["--ltl", formula, "--question", "linear"], 0);
    }
}

#[test]
fn claims_forbid_runs() {
    let never = |body: &str| format!("{MODEL} never {{ {body} }}");
    let avoids_p = never("do :: skip :: !p -> goto accept od; accept: do :: !p od");
    assert_code(&avoids_p, &[], 1);
    assert_code(&avoids_p, &["--fair"], 0);
    // A claim that ends.
    assert_code(&never("do :: n == 2 -> break :: else od"), &[], 1);
    assert_code(&never("do :: n == 4 -> break :: else od"), &[], 0);
    // One that comes to an end label has ended, too.
    assert_code(&never("do :: n == 2 -> goto end1 :: else od; end1: do :: n == 9 od"), &[], 1);
    // An assertion within one.
    assert_code(&never("do :: assert(n < 4) od"), &[], 0);
    assert_code(&never("do :: atomic { n == 2 -> assert(n != 2) } :: else od"), &[], 1);
    // Nobody can move where q is full.
    let fills = |claim: &str| {
        format!("chan q = [2] of {{ bit }}; active proctype P() {{ end: do :: q!0 od }} never {{ {claim} }}")
    };
    assert_code(&fills("do :: timeout -> break :: else od"), &["--question", "linear"], 1);
    assert_code(&fills("do :: timeout && nfull(q) -> break :: else od"), &["--question", "linear"], 0);
    // One that cannot go on forbids nothing.
    assert_code(&never("n == 0; n == 9; accept: do :: skip od"), &[], 0);
}

#[test]
fn properties_have_names() {
    let text = format!("{MODEL} ltl low {{ [] (n < 3) }} ltl high {{ [] (n <= 3) }}");
    assert_code(&text, &["-N", "low"], 1);
    assert_code(&text, &["--property", "high"], 0);
    assert_code(&text, &[], 1);
    let json = check(&text, &["--json"]).json();
    let verdict = |name: &str| {
        let results = json["results"].as_array().expect("results").clone();
        results.into_iter().find(|r| r["name"] == name).expect("it was checked")["verdict"].clone()
    };
    assert_eq!((verdict("low"), verdict("high")), ("violated".into(), "holds".into()));
    let run = check(&text, &["-N", "none"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("the model has low, high"), "{}", run.err);
}

#[test]
fn cycles_of_labels_are_found() {
    let accepts = "byte x; active proctype P() { do :: x < 2 -> accept: x++ :: x == 2 -> x = 1 od }";
    assert_code(accepts, &["--question", "acceptance"], 1);
    let leaves = "byte x; active proctype P() { do :: x < 2 -> accept: x++ :: x == 2 -> skip od }";
    assert_code(leaves, &["--question", "acceptance"], 0);
    let progress = "byte x; active proctype P() { do :: x < 2 -> progress: x++ :: x == 2 -> x = 0 od }";
    assert_code(progress, &["--question", "non-progress"], 0);
    let stops = "byte x; active proctype P() { do :: x < 2 -> progress: x++ :: x == 2 -> skip od }";
    assert_code(stops, &["--question", "non-progress"], 1);
    // A run that ends makes no cycle without progress; but it stays for ever where it accepts.
    assert_code(ENDS, &["--question", "non-progress"], 0);
    assert_code(ENDS, &["--question", "acceptance"], 0);
    let stuck = "byte x; active proctype P() { x = 1; accept: x == 5 }";
    assert_code(stuck, &["--question", "acceptance"], 1);
    assert_code(stuck, &["--question", "acceptance", "--fair"], 1);
}

#[test]
fn automata_from_files_forbid_runs() {
    let files = Files::new("linear-hoa");
    let model = files.write("model.pml", MODEL);
    let text = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"n == 3\"\nAcceptance: 1 Inf(0)\n--BODY--\n\
        State: 0\n[!0] 0\n[0] 1\nState: 1 {0}\n[t] 1\n--END--\n";
    let hoa = files.write("reaches.hoa", text);
    let run = stubborn_with(["check", &model, "--automaton", &hoa]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let rabin = files.write("rabin.hoa", text.replace("1 Inf(0)", "2 Fin(0) & Inf(1)"));
    let run = stubborn_with(["check", &model, "--automaton", &rabin]);
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    assert!(run.err.contains("rabin.hoa"), "{}", run.err);
}

#[test]
fn what_is_wrong_with_a_property_is_said() {
    let deep = "(".repeat(1_000_000);
    for (formula, words) in [
        ("[] (m < 3)", "m"),
        ("[] (n < 3", "<formula>"),
        ("<> timeout", "timeout"),
        (deep.as_str(), "nested"),
        ("[] n U", "<formula>"),
    ] {
        let files = Files::new(&format!("linear-bad-{}", formula.len()));
        // A command line has a limit of its own: long formulas come in the model.
        let run = if formula.len() > 1000 {
            let model = files.write("model.pml", format!("{MODEL} ltl {{ {formula} }}"));
            stubborn_with(["check", &model])
        } else {
            let model = files.write("model.pml", MODEL);
            stubborn_with(["check", &model, "--ltl", formula])
        };
        assert_eq!(run.code, 2, "{}{}", run.out, run.err);
        assert!(run.err.contains(words), "{words}: {}", &run.err[..run.err.len().min(2000)]);
    }
    let run = check(&format!("{MODEL} never {{ n = 2 }}"), &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("a claim cannot change the state"), "{}", run.err);
}

#[test]
fn a_lasso_is_shown_with_what_holds_in_its_states() {
    let run = check(MODEL, &["--ltl", "[]<> p"]);
    assert!(run.out.contains("from here on the run repeats"), "{}", run.out);
    assert!(run.out.contains("[!p]"), "{}", run.out);
    let json = check(MODEL, &["--ltl", "[]<> p", "--json"]).json();
    let witness = &json["results"][2]["witness"];
    assert_eq!(witness["propositions"][0], "!p");
    let n_steps = witness["steps"].as_array().expect("steps").len();
    assert_eq!(witness["automaton"].as_array().expect("states of the automaton").len(), n_steps + 1);
    assert!(run.out.contains("(automaton in "), "{}", run.out);
}

/// The three programs of Holzmann and Kupferman, *Not checking for closure under stuttering*, section 5, as the text
/// describes them (its figure is not at hand): N forbids that p holds in exactly two states and never again.
#[test]
fn closure_under_stuttering_is_not_asked_for() {
    const N: &str = "never { p; p; accept: do :: !p od }";
    let programs = [
        // Never leaves p: no run of the closure of N.
        ("bool p = 1; active proctype P() { do :: skip od }", 0, 1),
        // Leaves p at once: a run of the closure, but none of N. N is not closed, and a full search decides.
        ("bool p = 1; active proctype P() { p = 0; do :: skip od }", 0, 2),
        // A run of N.
        ("bool p = 1; active proctype P() { skip; p = 0; do :: skip od }", 1, 1),
    ];
    for (program, code, n_searches) in programs {
        let run = check(&format!("{program} {N}"), &["--question", "linear", "--json"]);
        assert_eq!(run.code, code, "{program}: {}", run.out);
        let phases = run.json()["phases"].as_array().expect("phases").clone();
        assert_eq!(phases.len(), n_searches, "{program}");
        assert_eq!(phases[0]["product"]["closure"], true, "{program}");
        assert_eq!(phases[0]["product"]["notices_stuttering"], n_searches == 2, "{program}");
    }
}

#[test]
fn a_saved_run_is_replayed_and_judged_again() {
    let files = Files::new("linear-replay");
    let model =
        files.write("model.pml", format!("{MODEL} ltl low {{ []<> p }} never {{ accept: do :: !p od }}"));
    for name in ["low", "never"] {
        let saved = stubborn_with(["check", &model, "-N", name, "--json"]);
        let report = files.write("report.json", &saved.out);
        let run = stubborn_with(["replay", &model, &report]);
        assert_eq!(run.code, 1, "{}{}", run.out, run.err);
        assert!(run.out.contains(&format!("replayed: violates {name}")), "{}", run.out);
    }
    let saved = stubborn_with(["check", &model, "-N", "low", "--json"]).out;
    let report = files.write("report.json", saved.replace("\"low\"", "\"high\""));
    let run = stubborn_with(["replay", &model, &report]);
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
}

/// A process that is started when another has ended may have its number, but is not it.
#[test]
fn sets_hold_no_steps_of_processes_that_are_past_them() {
    let text = "byte g; init { run P(); _nr_pr == 2; run P() } proctype P() { g = 1; g = 0 }
        active proctype B() { byte t; do :: t = 1 - t od }";
    assert_code(text, &["--ltl", "[]<> (g == 0)", "--question", "linear", "--check-reduction"], 1);
}

#[test]
fn pairs_are_called_pairs_and_memory_is_that_of_the_search() {
    let text = "byte x, y; active proctype A() { do :: x++ od } active proctype B() { do :: y++ od }";
    let ask = |more: &str| {
        let common = ["--question", "linear", "--ltl", "<> (x == 300)"].into_iter();
        check(text, &common.chain(more.split(' ')).collect::<Vec<_>>())
    };
    let nested = ask("--search dfs --json").json();
    assert!(nested["results"][0]["product"]["system_states"].is_null(), "{nested}");
    let shown = ask("--search dfs").out;
    assert!(shown.contains(" pairs, ") && shown.contains("product of the model with"), "{shown}");
    let wide = ask("--reduction none --first-look 1000000 --json").json();
    let (all, of_search) = (&wide["peak_rss_bytes"], &wide["results"][0]["peak_bytes"]);
    assert!(all.as_u64().unwrap() > of_search.as_u64().unwrap(), "{all} in all, {of_search} for the search");
}
