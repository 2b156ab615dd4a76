//! The command line as a user meets it.

use crate::common::{example, stubborn};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn help_teaches() {
    let help = stubborn("--help");
    assert_eq!(help.code, 0);
    for word in ["Examples:", "stubborn demo peterson", "Exit codes:", "papers", "compare"] {
        assert!(help.out.contains(word), "{word}");
    }
    let demo = stubborn("demo --help").out;
    for flag in [
        "--size",
        "--variant",
        "--question",
        "--reduction",
        "--rules",
        "--symmetry",
        "--check-reduction",
        "--search",
        "--store",
        "--memory",
        "--time",
        "--max-states",
        "--all-errors",
        "--json",
        "--quiet",
        "--verbose",
    ] {
        assert!(demo.contains(flag), "{flag}");
    }
}

#[test]
fn the_gallery_lists_itself() {
    let list = stubborn("demo").out;
    for name in ["peterson", "token-ring", "philosophers", "alternating-bit", "river", "two-phase-commit"] {
        assert!(list.contains(name), "{name}");
        assert!(stubborn(&format!("demo {name} -q")).code <= 1, "{name}");
    }
}

#[test]
fn json_has_the_promised_keys() {
    let json = stubborn("demo peterson --size 2 --variant revealing --json").json();
    for key in [
        "model",
        "question",
        "verdict",
        "kind",
        "states",
        "transitions",
        "terminal_states",
        "depth",
        "reduction",
        "search",
        "store",
        "rests_on",
        "seconds",
        "peak_bytes",
        "bytes_per_state",
        "witness",
        "results",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!((json["verdict"].as_str(), json["kind"].as_str()), (Some("violated"), Some("may-progress")));
    let step = &json["witness"]["steps"][0];
    for key in ["text", "changes", "transition", "process", "line"] {
        assert!(step.get(key).is_some(), "{key}");
    }
    assert_eq!(json["witness"]["cycle_start"], 6);
}

#[test]
fn compare_has_a_row_for_every_reduction() {
    let run = stubborn("compare token-ring --size 3");
    assert_eq!(run.code, 0, "{}", run.err);
    for row in
        ["| none ", "| none, symmetry", "| closure", "| scc, hand", "| deletion", "| scc+deletion", "derived"]
    {
        assert!(run.out.contains(row), "{row} is not in\n{}", run.out);
    }
    assert!(
        run.out.contains(" 468 ") && run.out.contains(" 219 ") && run.out.contains(" 73 "),
        "{}",
        run.out
    );
}

#[test]
fn a_seed_repeats_a_simulation() {
    let one = stubborn("simulate philosophers --seed 5 --steps 30");
    assert_eq!(one.out, stubborn("simulate philosophers --seed 5 --steps 30").out);
    assert_ne!(one.out, stubborn("simulate philosophers --seed 6 --steps 30").out);
    assert!(one.out.contains("--seed 5"));
}

#[test]
fn a_model_of_ones_own_has_the_same_command_line() {
    let careful = example("lift", "--json");
    assert_eq!(careful.code, 0, "{}", careful.out);
    let json = careful.json();
    assert!(json["results"].as_array().unwrap().iter().all(|r| r["verdict"] == "holds"), "{json}");
    let hasty = example("lift", "check --variant hasty --size 3");
    assert_eq!(hasty.code, 1);
    assert!(hasty.out.contains("the lift moves with its door open"), "{}", hasty.out);
    assert_eq!(example("lift", "compare --size 3").code, 0);
    assert_eq!(example("lift", "simulate --seed 1").code, 0);
    assert_eq!(example("lift", "check --check-reduction --size 3").code, 0);
    assert!(example("lift", "--help").out.contains("simulate"));
}

#[test]
fn counterexamples_under_symmetry_are_real_runs() {
    let plain =
        stubborn("demo philosophers --size 5 --variant deadlocking --question deadlock --json").json();
    let symmetric =
        stubborn("demo philosophers --size 5 --variant deadlocking --question deadlock --symmetry --json")
            .json();
    let steps = |json: &serde_json::Value| json["witness"]["steps"].as_array().unwrap().len();
    assert_eq!(
        (plain["verdict"].as_str(), symmetric["verdict"].as_str()),
        (Some("violated"), Some("violated"))
    );
    assert_eq!(steps(&plain), steps(&symmetric));
    assert!(symmetric["states"].as_u64() < plain["states"].as_u64());
}

#[test]
fn a_model_that_is_not_always_may_terminating_is_called_so_and_answered_all_the_same() {
    let text = stubborn("demo peterson --size 2 --variant naive").out;
    for words in ["not always may-terminating", "no return from here on", "no return: ", "holds"] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let json = stubborn("demo peterson --size 2 --variant naive --json").json();
    assert_eq!(json["always_may_terminate"], false);
    assert!(json["cannot_terminate"]["no_return"]["states"].as_u64().unwrap() > 1, "{json}");
    let why = stubborn("demo peterson --size 2 --variant naive --question may-terminate");
    assert_eq!(why.code, 1);
    assert!(why.out.contains("no return") && why.out.contains("for ever"), "{}", why.out);
}

#[test]
fn strict_progress_does_not_excuse_terminal_states() {
    // Philosophers who leave stop eating for good.
    let flags = "demo philosophers --size 3 --variant leaving --question may-progress -q";
    assert_eq!(stubborn(flags).code, 0);
    assert_eq!(stubborn(&format!("{flags} --strict-progress")).code, 1);
}

/// Ctrl-C ends a search with a report of what was done.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_in_a_report() {
    let child = Command::new(env!("CARGO_BIN_EXE_stubborn"))
        .args(["demo", "peterson", "--size", "5", "--reduction", "none", "--json", "--question", "safety"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    let kill = format!("kill -INT {}", child.id());
    let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["reason"], "interrupted");
    assert!(json["states"].as_u64().unwrap() > 1000);
    // It took more than two seconds, so there was a line of progress.
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(progress.contains(" states (") && progress.contains(" waiting"), "{progress}");
}
