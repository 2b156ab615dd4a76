//! Beginnings that are repeated: the program takes their turns without asking, and nothing else is different. A
//! binary of its own, because `programs.rs` looks at what everybody leaves behind.

use std::path::{Path, PathBuf};
use std::process::Command;
use stubborn_programs::{HEADER, Run, compile};
use stubborn_schedule::Algorithm;
use stubborn_schedule::report::Report;

/// Compiles a program of `tests/c`.
fn compiled(name: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(format!("{name}.c"));
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("repeated");
    std::fs::create_dir_all(&directory).expect("the test's own directory");
    let program = directory.join(name);
    let mut gcc = Command::new("gcc");
    std::fs::write(directory.join("stubborn.h"), HEADER).expect("the test's own directory");
    gcc.args(["-g", "-O1", "-pthread", "-I"]).arg(&directory).arg("-o").arg(&program).arg(source);
    assert!(gcc.status().expect("gcc").success(), "{name}");
    program.to_string_lossy().into_owned()
}

/// What a report says, but for times.
fn said(report: &Report) -> String {
    let text = report.to_string();
    let timeless = |line: &str| match line.split_once(" s; ") {
        Some((counts, _)) => counts.rsplit_once(", ").map_or(String::new(), |halves| halves.0.to_owned()),
        None => line.to_owned(),
    };
    let lines = text.lines().map(timeless);
    format!("{:?}\n{}", report.stats, lines.collect::<Vec<_>>().join("\n"))
}

fn compare(words: &[&str], most: u64) {
    for algorithm in [Algorithm::Source, Algorithm::Optimal, Algorithm::Dfs] {
        for keeps_going in [false, true] {
            let run = |is_stepwise: bool| {
                let run = Run::new(words.iter().copied()).is_stepwise(is_stepwise).options(|options| {
                    options.algorithm = algorithm;
                    options.keep_going = keeps_going;
                    options.max_runs = Some(most);
                });
                run.explore().expect("it can be explored")
            };
            let (one, two) = (said(&run(false)), said(&run(true)));
            assert_eq!(one, two, "{} {words:?}", algorithm.word());
        }
    }
}

/// Programs of the tests, and parts of them.
type Programs<'a> = &'a [(&'a str, &'a [&'a str])];

/// Compares every part that is explored to the end or is long enough.
fn compare_parts(programs: Programs<'_>) {
    for (name, parts) in programs {
        let program = compiled(name);
        for part in *parts {
            let words: Vec<&str> = std::iter::once(&*program).chain(part.split_whitespace()).collect();
            compare(&words, 40);
        }
    }
}

// Every program of the tests, in two halves for two processors.

#[test]
fn repeated_beginnings_make_no_difference() {
    compare_parts(&[
        ("phil", &["2", "3", "4"]),
        ("pphil", &["3", "3 ordered", "4 ordered"]),
        ("pcond", &["", "right", "once"]),
        ("msgq", &["", "types"]),
        ("pipes", &["", "both", "open"]),
        ("c11", &["", "crossed", "late"]),
        ("streams", &["sockets", "stream two", "redirected", "program", "spawn"]),
    ]);
}

#[test]
fn repeated_beginnings_of_programs_with_signals_and_names_make_no_difference() {
    compare_parts(&[
        ("signals", &["children all", "children one", "told plain", "told late", "calls", "turns", "sleeps"]),
        ("listening", &["poll", "poll ordered", "select", "timed", "room"]),
        ("objects", &["locks", "meeting", "counting", "waiting", "pairs"]),
        ("named", &["counting", "counting open", "creating", "locking again", "copying", "copying safe"]),
        (
            "odd",
            &[
                "status",
                "child-number",
                "child-look",
                "child-gone",
                "child-lets",
                "child-all",
                "polls",
                "gives-up",
                "left",
                "end-never",
                "end-early",
                "end-joined",
                "end-last",
                "end-main",
                "clock",
            ],
        ),
        ("toss", &[""]),
    ]);
}

#[test]
fn repeated_accesses_to_memory_make_no_difference() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/racy.c").to_string_lossy().into_owned();
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("racy-repeated");
    let program = program.to_string_lossy().into_owned();
    let arguments = [&source, "-O1", "-pthread", "-o", &program].map(str::to_owned);
    assert_eq!(compile(&arguments, |_| {}).expect("gcc"), 0);
    for what in ["count", "copy", "broken", "atomic", "peterson", "spin", "compare", "handed"] {
        compare(&[&program, what], 40);
    }
}
