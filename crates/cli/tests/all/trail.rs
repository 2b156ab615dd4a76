//! Trails, against SPIN: `spin -t` replays ours, and we follow those of SPIN's verifier.
//!
//! Needs `spin` and `gcc`, and fails without them unless `STUBBORN_WITHOUT_SPIN` is set. What `spin -t` cannot
//! replay is listed in [`EXCEPTIONS`].

use crate::common::{Files, Run, stubborn};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const GUARD: &str = "the last step is a guard that goes wrong: SPIN says so, too, but cannot take it either";

/// Models whose counterexamples SPIN's simulator does not replay to the same end, and why.
const EXCEPTIONS: [(&str, &str); 9] = [
    (
        "d16_rendezvous",
        "the last step receives from an element that the array does not have, which SPIN cannot do either",
    ),
    ("e29_div0", "SPIN dies of the division by zero"),
    ("e35_runlimit", "the last step starts a process too many, which SPIN cannot do either"),
    ("e49_msgtrunc", "SPIN's simulator cuts the message to one bit, its verifier does not"),
    ("e60_enabled", "SPIN's simulator judges `enabled` differently: its verifier's trail fails, too"),
    ("e67_guards_exclude", GUARD),
    ("e69_option_index", GUARD),
    ("e70_receive_index", GUARD),
    ("wordcount", "reads from standard input"),
];

/// The same for runs that violate properties of runs.
const EXCEPTIONS_OF_RUNS: [(&str, &str); 0] = [];

fn has_spin() -> bool {
    let has = |tool: &str| {
        Command::new(tool).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if has("spin") && has("gcc") {
        return true;
    }
    assert!(
        std::env::var_os("STUBBORN_WITHOUT_SPIN").is_some(),
        "spin or gcc is missing: install them, or set STUBBORN_WITHOUT_SPIN=1"
    );
    println!("not compared: there is no spin or no gcc");
    false
}

fn promela_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(promela_files(&path));
        } else if path.extension().is_some_and(|e| e == "pml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Runs a tool in a directory; what it printed.
fn tool(directory: &str, command: &str, arguments: &str) -> String {
    let mut command = Command::new(command);
    command.args(arguments.split_whitespace()).current_dir(directory).stdin(Stdio::null());
    let output = command.output().expect("the tool runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The processes that are not at valid ends, by the last lines of `spin -t`.
fn misplaced(output: &str) -> Vec<usize> {
    let end = output.split("spin: trail ends").nth(1).unwrap_or_default();
    let process = |line: &str| -> Option<usize> {
        let number = line.split("proc ").nth(1)?.trim().split(' ').next()?.parse().ok();
        number.filter(|_| !line.contains("<valid end state>"))
    };
    let mut found: Vec<usize> = end.lines().filter_map(process).collect();
    found.sort_unstable();
    found
}

/// Why the replay does not come to the same end.
fn difference(result: &Value, output: &str) -> Option<String> {
    let complaint = output.lines().find(|line| {
        ["transition failed", "no matching", "stop error", "invalid statement", "(?)"]
            .iter()
            .any(|words| line.contains(words))
    });
    if let Some(complaint) = complaint {
        return Some(complaint.to_owned());
    }
    if !output.contains("spin: trail ends after") {
        return Some("the trail does not end".to_owned());
    }
    let reason = result["reason"].as_str().unwrap_or_default();
    let (is_assertion, has_failed) = (reason.contains("assertion"), output.contains("assertion violated"));
    if is_assertion != has_failed {
        return Some(format!("assertion: ours {is_assertion}, theirs {has_failed}"));
    }
    let ours = reason.split("processes ").nth(1).map(|list| {
        let numbers = list.trim_matches(['[', ']']).split(", ").map(|n| n.parse().expect("a number"));
        numbers.collect::<Vec<usize>>()
    });
    let theirs = misplaced(output);
    ours.filter(|ours| *ours != theirs).map(|ours| format!("misplaced: ours {ours:?}, theirs {theirs:?}"))
}

/// The same for a run that violates a property of runs: it is made step by step, and begins to repeat if ours does.
fn difference_of_runs(result: &Value, output: &str) -> Option<String> {
    let (ours, theirs) = (result["witness"]["cycle_start"].is_u64(), output.contains("START OF CYCLE"));
    let cycle = (ours != theirs).then(|| format!("cycle: ours {ours}, theirs {theirs}"));
    difference(&serde_json::json!({}), output).or(cycle)
}

/// What models are asked, how a replay is compared with what was found, and what cannot be replayed.
struct Asked {
    questions: &'static str,
    difference: fn(&Value, &str) -> Option<String>,
    exceptions: &'static [(&'static str, &'static str)],
}

const ABOUT_STATES: Asked =
    Asked { questions: "--question safety --question deadlock", difference, exceptions: &EXCEPTIONS };

const ABOUT_RUNS: Asked = Asked {
    questions: "--question linear --question acceptance --question non-progress",
    difference: difference_of_runs,
    exceptions: &EXCEPTIONS_OF_RUNS,
};

/// Has SPIN replay the counterexamples of all models of a directory; how many there are.
fn replay_all(directory: &Path, name: &str, asked: &Asked) -> usize {
    let files = Files::new(name);
    let (mut n_equal, mut problems) = (0, Vec::new());
    for path in promela_files(directory) {
        let model = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let copy = files.write(&name, std::fs::read(&path).expect("a model"));
        for include in std::fs::read_dir(path.parent().expect("a directory")).expect("a directory").flatten()
        {
            let is_model = include.path().extension().is_some_and(|e| e == "pml");
            if include.path().is_file() && !is_model {
                files.write(&include.file_name().to_string_lossy(), std::fs::read(include.path()).unwrap());
            }
        }
        let run: Run =
            stubborn(&format!("check {copy} --trail --json --max-states 20000 {}", asked.questions));
        if run.code != 1 {
            continue;
        }
        let report = run.json();
        let results = report["results"].as_array().expect("results");
        let violated = results.iter().find(|r| r["verdict"] == "violated").expect("one is violated");
        let output = tool(&files.path(""), "spin", &format!("-t -p {name}"));
        match (
            (asked.difference)(violated, &output),
            asked.exceptions.iter().find(|(known, _)| *known == model),
        ) {
            (None, None) => n_equal += 1,
            (Some(_), Some((_, reason))) => println!("{model}: not replayed: {reason}"),
            (None, Some(_)) => problems.push(format!("{model}: is replayed after all")),
            (Some(why), None) => problems.push(format!("{model}: {why}\n{output}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    println!("{name}: {n_equal} counterexamples replayed");
    n_equal
}

#[test]
fn live_spin_replays_the_counterexamples_of_our_models() {
    if has_spin() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
        let n = replay_all(&models, "trail-models", &ABOUT_STATES);
        assert!(n >= 25, "only {n}");
    }
}

#[test]
fn live_spin_replays_the_counterexamples_of_its_examples() {
    let examples = Path::new("/usr/share/doc/spin/examples/Examples");
    if !examples.is_dir() {
        println!("not compared: the examples are not there");
    } else if has_spin() {
        let n = replay_all(examples, "trail-examples", &ABOUT_STATES);
        assert!(n >= 15, "only {n}");
    }
}

#[test]
fn live_spin_replays_runs_that_violate_properties() {
    if has_spin() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
        let n = replay_all(&models, "trail-runs", &ABOUT_RUNS);
        assert!(n >= 10, "only {n}");
    }
    let examples = Path::new("/usr/share/doc/spin/examples/Examples");
    if !examples.is_dir() {
        println!("not compared: the examples are not there");
    } else if has_spin() {
        let n = replay_all(examples, "trail-example-runs", &ABOUT_RUNS);
        assert!(n >= 10, "only {n}");
    }
}

const MERGED: &str = "
byte x; bool b;
chan r = [0] of { byte };
chan q = [2] of { byte };
active proctype A() {
    byte i, j;
    atomic { x++; q!x; i = 2; j = 3 }
    d_step { x = 5; b = 1; x++ }
    i = i + 1; j = j + i; i = j;
end: do
    :: r!i -> skip
    :: x > 7 -> break
    od;
L:  goto M;
M:  assert(x < 6)
}
active proctype B() {
    byte y;
    r?y;
    y = 3;
    y = 4;
    q?_;
    x = y + 3;
    assert(x < 7)
}
";

#[test]
fn live_trails_of_the_verifier_are_followed() {
    if !has_spin() {
        return;
    }
    for (options, is_merged) in [("-a", true), ("-a -o3", false)] {
        let files = Files::new(&format!("trail-pan{}", options.len()));
        let model = files.write("model.pml", MERGED);
        tool(&files.path(""), "spin", &format!("{options} model.pml"));
        tool(&files.path(""), "gcc", "-w -o pan pan.c");
        tool(&files.path(""), &files.path("pan"), "");
        let trail = files.path("model.pml.trail");
        let text = std::fs::read_to_string(&trail).expect("pan wrote a trail");
        assert_eq!(text.starts_with("-4"), is_merged, "{text}");
        let run = stubborn(&format!("simulate {model} --trail {trail}"));
        assert_eq!(run.code, 1, "{options}: {}{}", run.out, run.err);
        assert!(run.out.contains("violates safety: assertion violated in B[1]"), "{options}: {}", run.out);
    }
}

/// SPIN numbers what stands in braces before what does not.
const BARE: &str = "
byte g, h;
active proctype P() {
    byte x;
    { x = 1; x = 2 } unless { g == 1 -> skip };
    atomic { x = 3; x = 4 } unless { g == 1 };
    (x > 0) unless g == 1;
    if :: x = 1 :: x = 2; x = 5 fi unless { g == 1; h = 1 };
    d_step { x = 1; x = 2 } unless h == 2;
    x = 7 unless if :: g == 5 -> skip :: g == 6 fi;
end1: { x = 9 } unless { g == 9 };
    do :: x == 9 -> break :: else -> x++ od unless { g == 4; skip };
    assert(x == 1)
}
";

#[test]
fn live_statements_with_escapes_have_the_numbers_of_spin() {
    if !has_spin() {
        return;
    }
    let files = Files::new("trail-unless");
    let model = files.write("model.pml", BARE);
    let run = stubborn(&format!("check {model} --trail --question safety -q"));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let output = tool(&files.path(""), "spin", "-t -p model.pml");
    let result = serde_json::json!({ "reason": "assertion violated" });
    assert_eq!(difference(&result, &output), None, "{output}");
}
