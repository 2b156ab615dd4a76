//! `stubborn run` as a user meets it: exit codes, texts, and that nothing is left behind.
#![cfg(target_os = "linux")]

use crate::common::{stubborn, stubborn_with};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Compiles a program of the crate `programs`; the name of the file is the test's own.
fn compiled(name: &str, own: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/tests/c").join(format!("{name}.c"));
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(own);
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source);
    assert!(gcc.status().expect("gcc").success(), "{name}");
    program.to_string_lossy().into_owned()
}

#[test]
fn verdicts_have_exit_codes_and_runs_can_be_made_again() {
    let program = compiled("pphil", "run-philosophers");
    let found = stubborn_with(["run", "--json", "--", &program, "3"]);
    assert_eq!(found.code, 1, "{}", found.err);
    let json = found.json();
    assert_eq!(json["format"], "stubborn-run-1");
    assert_eq!(json["kind"], "deadlock");
    assert_eq!(json["witness"]["cycle"].as_array().map(Vec::len), Some(3));
    let schedule = json["witness"]["replay"].as_str().expect("a schedule").to_owned();
    let again = stubborn_with(["run", "--replay", &schedule, "--chart", "--", &program, "3"]);
    assert_eq!(again.code, 1);
    assert!(again.out.contains("wait cycle") && again.out.contains("chart:"), "{}", again.out);
    assert_eq!(stubborn_with(["run", "-q", "--", &program, "3", "ordered"]).code, 0);
    let cut = stubborn_with(["run", "--max-runs", "2", "--", &program, "3", "ordered"]);
    assert_eq!(cut.code, 3, "{}", cut.out);
    let random = stubborn_with(["run", "--random", "1", "--max-runs", "500", "--", &program, "3"]);
    assert_eq!(random.code, 1, "{}", random.out);
}

#[test]
fn mistakes_are_explained() {
    for (arguments, words) in [
        ("run", "PROGRAM"),
        ("run -- ./not-there", "there is no program"),
        ("run -- not-there-either", "search path"),
        ("run --algorithm best -- ./x", "persistent-2"),
    ] {
        let run = stubborn(arguments);
        assert_eq!(run.code, 2, "{arguments}");
        assert!(run.err.contains(words), "{arguments}: {}", run.err);
    }
    let header = stubborn("run --header");
    assert!(header.code == 0 && header.out.contains("VS_toss"));
}

/// Processes of a program that are there.
fn alive(program: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("the processes").flatten();
    let runs = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == Path::new(program))
    };
    processes.filter(runs).count()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Objects of the system by which processes communicate.
fn ipc_objects() -> String {
    let files = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let kinds = ["sem", "msg", "shm"]
        .map(|kind| std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default());
    kinds.concat() + &names.filter(|name| name.contains("stubborn")).collect::<String>()
}

#[test]
fn nothing_is_left_behind() {
    let objects = ipc_objects();
    for (name, own, what) in [
        ("phil", "run-left-phil", "3"),
        ("msgq", "run-left-msgq", "3"),
        ("pphil", "run-left-pphil", "3"),
        ("named", "run-left-named", "counting"),
        ("streams", "run-left-streams", "program"),
    ] {
        let program = compiled(name, own);
        stubborn_with(["run", "-q", "--", &program, what]);
        wait_until("processes are left after the end", || alive(&program) == 0);
    }
    // In the middle of a long exploration: by Ctrl-C, and by force.
    for (signal, own) in [("INT", "run-left-int"), ("KILL", "run-left-kill")] {
        let program = compiled("phil", own);
        let mut child = Command::new(env!("CARGO_BIN_EXE_stubborn"))
            .args(["run", "--algorithm", "dfs", "--", &program, "8"])
            .args(["and", "on"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        wait_until("it does not begin", || alive(&program) > 2);
        let kill = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(kill.expect("kill").success());
        let status = child.wait().expect("it ends");
        if signal == "INT" {
            assert_eq!(status.code().map(|code| code == 3 || code == 1), Some(true), "a report");
        }
        wait_until("processes are left after a signal", || alive(&program) == 0);
    }
    assert_eq!(ipc_objects(), objects);
}
