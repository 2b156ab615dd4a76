//! Bad input: each mistake has its own message and exit code, and nothing panics.

use crate::common::{Run, example, stubborn};

/// Exit code 2 and a message with these words; no panic of ours, no escape sequences.
fn refused(run: &Run, words: &[&str]) {
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    for word in words {
        assert!(run.err.contains(word), "`{word}` is not in: {}", run.err);
    }
    assert!(!run.err.contains("RUST_BACKTRACE") && !run.err.contains('\u{1b}'), "{}", run.err);
}

#[test]
fn mistakes_of_a_model_are_named() {
    let mistakes: [(&str, &[&str]); 15] = [
        ("too-narrow", &["transition `t0`", "`x` holds 0..=2, but was assigned 3", "x: 1 -> 2"]),
        ("below-zero", &["`x` holds 0..=2, but was assigned -1"]),
        ("initial", &["initial state", "was assigned 9"]),
        ("index", &["index out of range: `cells` has 2 elements"]),
        ("check-index", &["index out of range: `cells` has 2 elements"]),
        ("changes", &["said that the transition is disabled, but changed `y`"]),
        ("gives-up", &["the model says: x should never be two"]),
        ("panics", &["the model's code panicked", "broken.rs", "a mistake in the model"]),
        ("bad-range", &["variable `x`", "not a range of 32-bit numbers"]),
        ("twice", &["variable `x` is declared twice"]),
        ("too-large", &["8192 words"]),
        ("no-questions", &["no questions"]),
        ("no-such-transition", &["no transition number 7", "the model has 2"]),
        ("rule-names-none", &["no transition number 17"]),
        ("footprint", &["footprint", "read `x`"]),
    ];
    for (mistake, words) in mistakes {
        refused(&example("broken", &format!("--variant {mistake}")), words);
    }
}

#[test]
fn rules_that_violate_the_definition_are_reported() {
    for flag in ["", "--check-reduction"] {
        let run = example("broken", &format!("--variant dependent {flag}"));
        refused(&run, &["the stubborn rules are wrong", "D1 fails", "`t0`", "`t1`", "do not commute"]);
    }
    // Without the rules the model is fine.
    assert_eq!(example("broken", "--variant dependent --reduction none").code, 0);
}

#[test]
fn a_symmetry_that_is_none_is_reported() {
    let run = example("broken", "--variant symmetry --symmetry --question deadlock --reduction none");
    refused(&run, &["the symmetry is wrong", "same orbits"]);
}

#[test]
fn names_of_a_model_do_not_reach_the_terminal_raw() {
    let run = example("broken", "--variant escape --reduction none");
    assert_eq!(run.code, 0);
    assert!(run.out.contains("\\u{1b}[31mred\\n") && !run.out.contains('\u{1b}'), "{}", run.out);
}

#[test]
fn a_model_without_transitions_is_a_model() {
    assert_eq!(example("broken", "--variant no-transitions --reduction none").code, 0);
    assert_eq!(example("broken", "--variant no-transitions").code, 0);
}

#[test]
fn wrong_words_on_the_command_line_are_named() {
    refused(&stubborn("demo petersen"), &["petersen", "peterson"]);
    refused(&stubborn("demo peterson --variant wrong"), &["wrong", "correct", "violating"]);
    refused(&stubborn("demo peterson --size 99"), &["99"]);
    refused(&stubborn("demo peterson --reduction magic"), &["magic", "scc"]);
    refused(&stubborn("demo peterson --memory lots"), &["512M or 4G"]);
    refused(&stubborn("demo peterson --time soon"), &["10m"]);
    refused(&stubborn("demo peterson --symmetry"), &["no symmetry"]);
    refused(&stubborn("demo peterson --question fair"), &["safety", "may-progress"]);
    refused(&stubborn("demo river --rules hand"), &["no hand-written rules"]);
    refused(&stubborn("conjure"), &["conjure"]);
    refused(&example("broken", ""), &["--variant"]);
    refused(&example("lift", "--size 1"), &["2 to 16"]);
}

#[test]
fn limits_end_in_inconclusive_with_what_was_done() {
    let limits = [
        ("--max-states 1000", "the limit of 1000 states is reached", Some(1000)),
        ("--memory 64M", "the memory limit of 67108864 bytes is reached", None),
        ("--time 300ms", "the time limit", None),
    ];
    for (flags, words, states) in limits {
        let run = stubborn(&format!("demo peterson --size 4 --reduction none --json {flags}"));
        assert_eq!(run.code, 3, "{flags}: {}", run.err);
        let json = run.json();
        assert_eq!(json["verdict"], "inconclusive", "{flags}");
        assert!(json["reason"].as_str().unwrap().contains(words), "{flags}: {}", json["reason"]);
        let found = json["states"].as_u64().unwrap();
        assert!(found >= 100 && states.is_none_or(|n| n == found), "{flags}: {found} states");
        assert_eq!(json["finished"], false);
        if flags.starts_with("--memory") {
            assert!(json["peak_bytes"].as_u64().unwrap() <= 64 << 20);
            assert!(json["peak_rss_bytes"].as_u64().unwrap() <= 96 << 20, "{}", json["peak_rss_bytes"]);
        }
        let text = stubborn(&format!("demo peterson --size 4 --reduction none {flags}"));
        assert_eq!(text.code, 3);
        assert!(text.out.contains("inconclusive") && text.out.contains("not finished"), "{}", text.out);
    }
}

#[test]
fn a_limit_that_is_just_enough_is_no_limit() {
    assert_eq!(stubborn("demo peterson --size 2 --reduction none --max-states 574").code, 0);
    assert_eq!(stubborn("demo peterson --size 2 --reduction none --max-states 573").code, 3);
}

#[test]
fn witnesses_are_replayed_and_forgeries_are_refused() {
    let directory = std::env::temp_dir().join(format!("stubborn-test-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("witness.json");
    let replay = |text: &str| {
        std::fs::write(&file, text).unwrap();
        stubborn(&format!("replay peterson {} --size 2 --variant violating", file.display()))
    };
    let good = stubborn("demo peterson --size 2 --variant violating --json").out;
    let run = replay(&good);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("replayed: violates safety"), "{}", run.out);
    refused(&replay(&good.replace("\"transition\": 1", "\"transition\": 0")), &["not a counterexample"]);
    refused(&replay(&good.replace("\"transition\": 1", "\"transition\": 77")), &["cannot be taken"]);
    refused(&replay(&good.replace("\"transition\": 1", "\"transition\": -1")), &["no number"]);
    refused(&replay("{}"), &["no witness"]);
    refused(&replay("[1, 2"), &["not JSON"]);
    refused(&replay(&"[".repeat(100_000)), &["not JSON"]);
    refused(&stubborn("replay peterson nowhere.json"), &["nowhere.json"]);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Whoever is asked twice answers the same.
#[test]
fn a_question_asked_twice_is_answered_once() {
    let flags =
        "demo peterson --size 2 --variant violating --reduction none --question safety --question safety";
    let run = stubborn(&format!("{flags} --all-errors -q"));
    assert_eq!((run.code, run.out.as_str()), (1, "safety: violated\n"));
}

/// A flag before the subcommand would be for another command; it is not dropped silently.
#[test]
fn flags_before_a_subcommand_are_refused() {
    assert_eq!(example("lift", "--variant hasty check -q").code, 2);
    assert_eq!(example("lift", "--variant hasty -q").code, 1);
}

#[test]
fn footprints_that_hide_something_are_found_wherever_it_shows() {
    refused(&example("broken", "--variant late-check"), &["the check", "footprint", "`y`"]);
    for reduction in ["closure", "scc", "deletion"] {
        let run = example("broken", &format!("--variant late-read --reduction {reduction}"));
        refused(&run, &["footprint", "read `y`"]);
    }
    refused(&example("broken", "--variant raises"), &["`fails_by` is for checks"]);
    refused(&example("broken", "--variant missing-element"), &["footprint", "does not have"]);
}

#[test]
fn a_time_limit_binds_slow_models_too() {
    let started = std::time::Instant::now();
    let run = example("broken", "--variant slow --reduction none --time 1s");
    assert_eq!(run.code, 3, "{}", run.out);
    // The model would take minutes; this is no measurement.
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn many_transitions_that_require_all_others_need_no_square_of_memory() {
    let run = example("broken", "--variant wide --max-states 50 --json");
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(run.json()["peak_rss_bytes"].as_u64().unwrap() < 200 << 20, "{}", run.json()["peak_rss_bytes"]);
    refused(&example("broken", "--variant wide-wrong"), &["the stubborn rules are wrong"]);
}

#[test]
fn a_fault_is_shown_where_it_is() {
    // The check breaks in the state with x = 2, two steps from the initial one.
    let json = example("broken", "--variant late-index --reduction none --json").json();
    assert_eq!(json["witness"]["steps"].as_array().unwrap().len(), 2, "{json}");
    assert!(json["error"].as_str().unwrap().contains("`cells`"));
}

#[test]
fn a_witness_of_another_model_or_of_no_question_is_refused() {
    let directory = std::env::temp_dir().join(format!("stubborn-test-other-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("witness.json");
    let path = file.display();
    std::fs::write(&file, stubborn("demo turns --strict-progress --json").out).unwrap();
    let run = stubborn(&format!("replay turns {path}"));
    assert_eq!(run.code, 1, "{}", run.err);
    refused(&stubborn(&format!("replay turns {path} --variant unfair")), &["turns 2 fair", "turns 2 unfair"]);
    std::fs::write(&file, r#"{"question": "beauty", "witness": {"steps": []}}"#).unwrap();
    refused(&stubborn(&format!("replay turns {path}")), &["not those of a question"]);
    std::fs::write(&file, r#"{"question": "safety", "witness": {"steps": [], "no_return": -1}}"#).unwrap();
    refused(&stubborn(&format!("replay turns {path}")), &["number of a state"]);
    refused(&stubborn(&format!("replay turns {}", directory.display())), &["not a file"]);
    std::fs::remove_dir_all(&directory).unwrap();
}
