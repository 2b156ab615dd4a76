//! Progress as an expression, labels that must not be reached, and `compare` for Promela. The answers are known
//! by hand.

use crate::common::{Files, Run, stubborn, stubborn_with};

/// Checks a model with these arguments.
fn check(text: &str, arguments: &[&str]) -> Run {
    let files = Files::new(&format!("progress-{:?}", std::thread::current().id()));
    let model = files.write("model.pml", text);
    stubborn_with(["check", model.as_str()].into_iter().chain(arguments.iter().copied()))
}

fn assert_code(text: &str, arguments: &[&str], code: i32) -> Run {
    let run = check(text, arguments);
    assert_eq!(run.code, code, "{arguments:?}: {}{}", run.out, run.err);
    run
}

/// Goes round for ever, or stops.
const TOGGLE: &str = "byte x; active proctype P() { do :: x = 1 - x :: break od }";
/// Comes to two and stays there.
const RISE: &str =
    "byte x; active proctype P() { byte y; on: do :: x < 2 -> x++; y = x :: x == 2 -> skip od }";
const QUEUE: &str = "
chan q = [2] of { byte };
active proctype A() { do :: q!1 od }
active proctype B() { do :: q?_ od }
";

#[test]
fn may_progress_is_whether_it_can_always_become_true_again() {
    for (text, goal, code) in [
        (RISE, "x == 2", 0),
        (RISE, "x == 0", 1),
        (RISE, "x == 1", 1),
        (RISE, "P[0]:y == 2", 0),
        (RISE, "P[0]:y == 1", 1),
        (RISE, "P@on", 0),
        (QUEUE, "len(q) == 0", 0),
        (QUEUE, "full(q)", 0),
        (QUEUE, "len(q) == 3", 1),
    ] {
        assert_code(text, &["--question", "may-progress", "--may-progress", goal], code);
    }
}

#[test]
fn must_progress_is_whether_every_run_makes_it_true_again_and_again() {
    for (text, goal, code) in [
        (RISE, "x == 2", 0),
        (RISE, "x == 1", 1),
        (QUEUE, "len(q) >= 1", 0),
        (QUEUE, "len(q) == 2", 1),
        (QUEUE, "len(q) == 0", 1),
    ] {
        assert_code(text, &["--question", "must-progress", "--must-progress", goal], code);
    }
}

#[test]
fn a_terminal_state_is_excused_unless_progress_is_strict() {
    for flag in ["--may-progress", "--must-progress"] {
        assert_code(TOGGLE, &[flag, "x == 1"], 0);
        assert_code(TOGGLE, &[flag, "x == 1", "--strict-progress"], 1);
    }
}

#[test]
fn counterexamples_say_what_progress_is_and_where_it_is_lost() {
    let run = assert_code(RISE, &["--may-progress", "x == 0"], 1);
    for words in [
        "violated      may-progress: from every state one with `x == 0` or a terminal state can be reached",
        "because: progress is no longer possible",
        "x: 0 -> 1",
        "========== no return from here on",
    ] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
    // The other questions are asked, too.
    assert!(run.out.contains("holds         safety"), "{}", run.out);
    let run = assert_code(QUEUE, &["--must-progress", "len(q) == 2", "--chart"], 1);
    for words in [
        "violated      must-progress: every run comes to `len(q) == 2` again and again, or ends",
        "---------- from here on the run repeats",
        "#1 q!1 -->",
        "--> #1 q?1",
    ] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
}

#[test]
fn may_and_must_can_be_asked_together_and_replayed() {
    let files = Files::new("progress-replay");
    let model = files.write("model.pml", RISE);
    let expressions = ["--may-progress", "x == 2", "--must-progress", "x == 1"];
    let run = stubborn_with(["check", &model, "--json"].into_iter().chain(expressions));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let results = &run.json()["results"];
    let words = |i: usize| (results[i]["question"].clone(), results[i]["verdict"].clone());
    assert_eq!(words(2), ("may-progress".into(), "holds".into()));
    assert_eq!(words(3), ("must-progress".into(), "violated".into()));
    let witness = files.write("witness.json", &run.out);
    let replayed = stubborn_with(["replay", &model, &witness].into_iter().chain(expressions));
    assert_eq!(replayed.code, 1, "{}{}", replayed.out, replayed.err);
    // With another idea of progress it is no counterexample.
    let other = stubborn_with(["replay", &model, &witness, "--must-progress", "x == 2"]);
    assert_eq!(other.code, 2, "{}{}", other.out, other.err);
}

#[test]
fn an_expression_takes_the_place_of_progress_labels() {
    let text = "byte x; active proctype P() { do :: progress: x = 1 - x od }";
    assert_code(text, &["--question", "must-progress"], 0);
    assert_code(text, &["--must-progress", "x == 2"], 1);
}

#[test]
fn mistakes_in_questions_are_explained() {
    for (arguments, words) in [
        (&["--may-progress", "y == 1"][..], "`y` is not declared"),
        (&["--may-progress", "x =="], "error"),
        (&["--must-progress", "P@nowhere"], "has no label `nowhere`"),
        (&["--may-progress", "x", "--may-progress", "!x"], "cannot be used multiple times"),
        (&["--question", "must-progress", "--may-progress", "x == 1"], "does not say what `must-progress`"),
        (&["--unreachable", "x == 1"], "--invariant '!(x == 1)'"),
        (&["--unreachable", "P[0]@here"], "--invariant '!P[0]@here'"),
        (&["--unreachable", "P@nowhere"], "has no label `nowhere`"),
        (&["--unreachable", "P@inside"], "within a d_step"),
        (&["--unreachable", "P@here", "--question", "deadlock"], "part of safety"),
        (&["--unreachable", "P@here", "--reduction", "up-sets"], "knows nothing of --unreachable"),
    ] {
        let text = "byte x; active proctype P() { here: x = 1; d_step { x = 0; inside: x = 2 } }";
        let run = assert_code(text, arguments, 2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
    let run = stubborn("simulate peterson --may-progress x");
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
}

const LABELS: &str = "
byte x;
active [2] proctype P() {
    if
    :: _pid == 1 -> younger: x = 1
    :: x == 9 -> never_here: x = 2
    :: else
    fi;
    atomic { x = 3; passed: x = 4; x == 0 -> not_passed: x = 5 };
    x = 7
}
";

#[test]
fn a_label_that_any_process_of_the_type_comes_to_is_reached() {
    let run = assert_code(LABELS, &["--question", "safety", "--unreachable", "P@younger"], 1);
    assert!(run.out.contains("label reached: P@younger by P[1]"), "{}", run.out);
    // The same as an invariant speaks of the oldest only.
    assert_code(LABELS, &["--question", "safety", "--invariant", "!P@younger"], 0);
    assert_code(LABELS, &["--question", "safety", "--unreachable", "P@never_here"], 0);
}

#[test]
fn a_label_that_is_passed_within_an_atomic_sequence_is_reached() {
    let run = assert_code(LABELS, &["--question", "safety", "--unreachable", "P@passed"], 1);
    assert!(run.out.contains("label passed: P@passed in P["), "{}", run.out);
    assert_code(LABELS, &["--question", "safety", "--invariant", "!(P[0]@passed || P[1]@passed)"], 0);
    assert_code(LABELS, &["--question", "safety", "--unreachable", "P@not_passed"], 0);
    let both = ["--question", "safety", "--unreachable", "P@not_passed", "--unreachable", "P@passed"];
    assert_code(LABELS, &both, 1);
}

#[test]
fn a_label_on_the_first_statement_of_an_option_is_reached_when_it_is_taken() {
    let text = "byte x; active proctype P() { do :: first: x == 0 -> x = 1 :: second: x == 2 -> x = 3 :: x == 1 -> break od }";
    assert_code(text, &["--question", "safety", "--unreachable", "P@first"], 1);
    assert_code(text, &["--question", "safety", "--unreachable", "P@second"], 0);
}

#[test]
fn a_label_on_the_first_statement_of_an_option_may_be_jumped_to_as_well() {
    let text = |start: u8| {
        format!(
            "byte x = {start}; active proctype P() {{
                if :: x == 5 -> goto here :: else fi;
                do :: here: x == 0 -> x = 1 :: x == 1 -> break :: x == 7 -> goto inner
                   :: outer: if :: x == 6 -> break :: inner: x == 7 -> break fi od
            }}"
        )
    };
    for (start, here, outer) in [(0, 1, 0), (1, 0, 0), (5, 1, 0), (6, 0, 1)] {
        let text = text(start);
        assert_code(&text, &["--question", "safety", "--unreachable", "P@here"], here);
        assert_code(&text, &["--question", "safety", "--unreachable", "P@outer"], outer);
    }
}

#[test]
fn a_label_that_is_passed_in_the_atomic_sequence_of_another_process_is_reached() {
    for receive in ["r?x", "d_step { r?x; x = 0 }"] {
        let text = format!(
            "chan q = [0] of {{ byte }}; chan r = [0] of {{ byte }}; byte x, y;
            active proctype P() {{ q!1; between: {receive} }}
            active proctype Q() {{ atomic {{ q?y; r!2 }} }}"
        );
        assert_code(&text, &["--question", "safety", "--invariant", "!P@between"], 0);
        assert_code(&text, &["--question", "safety", "--unreachable", "P@between"], 1);
    }
}

#[test]
fn a_label_before_a_jump_can_be_asked_about() {
    let text = "byte x; active proctype P() { x = 1; before: goto after; dead: x = 2; after: skip }";
    assert_code(text, &["--question", "safety", "--unreachable", "P@before"], 1);
    assert_code(text, &["--question", "safety", "--unreachable", "P@dead"], 0);
}

/// Labels everywhere: in loops, atomic sequences, rendezvous, escapes, and where nobody comes.
const MANY_LABELS: &str = "
chan q = [0] of { byte }; chan r = [1] of { byte }; byte x, n;
active proctype A() {
    a1: do
    :: n < 2 -> a2: n++; a3: q!n
    :: n == 2 -> a4: break
    :: a5: n == 7 -> a6: skip
    od;
    a7: atomic { r!1; a8: r!2; a9: x = 9 }
}
active proctype B() {
    byte k;
    b1: do
    :: atomic { q?k; b2: if :: k == 1 -> b3: x = k :: k == 2 -> b4: x = k :: else -> b5: x = 0 fi; b6: skip }
    :: b7: r?k -> b8: skip
    :: k == 2 && n == 2 -> b9: goto bb
    od;
    bb: skip
}
active proctype C() {
    c1: { c2: x < 9 -> c3: x == 2 -> c4: x = 3 } unless { x == 9 -> c5: x = 8 };
    c6: if :: x == 8 -> c7: skip :: x == 3 -> c8: skip fi
}
active [2] proctype D() { d1: do :: d2: x = 1 - x :: d3: x == 1 -> d4: break od }
";

/// All that looks like a label after something that looks like the name of a process type.
fn labels(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let (mut process, mut is_name, mut found) = (String::new(), false, Vec::new());
    for word in words.filter(|word| !word.is_empty()) {
        if is_name {
            process = word.to_owned();
        } else if let Some(label) = word.strip_suffix(':').filter(|label| !label.contains(':')) {
            found.push(format!("{process}@{label}"));
        }
        is_name = word == "proctype";
    }
    found.retain(|label| !label.starts_with('@') && !label.ends_with('@'));
    found
}

#[test]
fn every_reduction_finds_the_labels_that_are_reached() {
    let files = Files::new("labels");
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
    let mut paths: Vec<_> = std::fs::read_dir(models).expect("models").flatten().map(|e| e.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pml"));
    paths.push(files.write("model.pml", MANY_LABELS).into());
    let (mut n_reached, mut n_unreached) = (0, 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a model");
        for label in labels(&text) {
            let path = path.to_string_lossy();
            let run =
                stubborn_with(["compare", &path, "-q", "--question", "safety", "--unreachable", &label]);
            assert_ne!(run.code, 4, "{path} {label}: {}{}", run.out, run.err);
            // What is no label, is in a claim or in a d_step, or goes wrong in another way, says nothing here.
            n_reached += usize::from(run.code == 1);
            n_unreached += usize::from(run.code == 0);
        }
    }
    println!("{n_reached} labels are reached, {n_unreached} are not");
    assert!(n_reached >= 40 && n_unreached >= 5, "{n_reached} {n_unreached}");
}

#[test]
fn promela_models_can_be_compared() {
    let files = Files::new("compare");
    let model = files.write("model.pml", "byte x; active [2] proctype P() { x++; assert(x <= N) }");
    let run = stubborn(&format!("compare {model} -D N=2"));
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    for reduction in ["| none ", "| ample ", "| scc+deletion "] {
        assert!(run.out.contains(reduction), "{}", run.out);
    }
    assert!(run.out.contains("safety holds; deadlock holds"), "{}", run.out);
    let json = stubborn(&format!("compare {model} -D N=1 --all-errors --json"));
    assert_eq!(json.code, 1, "{}{}", json.out, json.err);
    assert_eq!(json.json()["rows"][0]["method"], "none");
    assert!(json.json()["rows"][0]["verdict"].as_str().unwrap().starts_with("safety violated"));
    let refused = stubborn(&format!("compare {model} -D N=1 --symmetry"));
    assert_eq!(refused.code, 2, "{}{}", refused.out, refused.err);
    assert_eq!(stubborn("compare not-there.pml").code, 2);
    assert_eq!(stubborn("compare peterson --invariant x").code, 2);
}

/// A process that has ended may stay below one that waits for ever, or be buried before. Who counts processes sees that.
#[test]
fn progress_that_counts_processes_keeps_them_from_being_buried_at_once() {
    let text = "proctype W() { skip } proctype X() { end: false }
        init { byte n; do :: n < 1 -> n++; run W() :: else -> break od; run X() }";
    let goal = |way: &'static str| {
        [
            "--may-progress",
            "_nr_pr == 2",
            "--strict-progress",
            "--question",
            "may-progress",
            "--reduction",
            way,
        ]
    };
    for way in ["none", "scc+deletion", "persistent-3", "ample"] {
        assert_code(text, &goal(way), 1);
    }
}
