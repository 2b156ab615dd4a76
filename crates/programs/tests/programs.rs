//! C programs as they are: what is found, in how many runs, and that nothing is left behind. A binary of its
//! own: it looks at what all processes have left in the system, so no other file of tests may explore beside it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use stubborn_programs::{HEADER, Run, compile};
use stubborn_schedule::report::{Report, Verdict};
use stubborn_schedule::{Algorithm, FailureKind};

/// Compiles a program of `tests/c`, once per test process.
fn compiled(name: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(format!("{name}.c"));
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(directory.join("stubborn.h"), HEADER).expect("the test's own directory");
    let program = directory.join(format!("{name}-{:?}", std::thread::current().id()).replace(['(', ')'], ""));
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O1", "-Wall", "-pthread", "-I"]).arg(&directory).arg("-o").arg(&program).arg(source);
    assert!(gcc.status().expect("gcc").success(), "{name}");
    program.to_string_lossy().into_owned()
}

fn run(name: &str, arguments: &[&str]) -> Run {
    let program = compiled(name);
    Run::new(std::iter::once(program.as_str()).chain(arguments.iter().copied()))
}

fn explored(name: &str, arguments: &[&str]) -> Report {
    run(name, arguments).explore().expect("it can be explored")
}

fn all_runs(name: &str, arguments: &[&str], algorithm: Algorithm) -> Report {
    let all = run(name, arguments).options(|options| {
        options.keep_going = true;
        options.algorithm = algorithm;
    });
    all.explore().expect("it can be explored")
}

fn kind(report: &Report) -> Option<FailureKind> {
    report.counterexample().map(|story| story.kind)
}

#[test]
fn philosophers_in_processes() {
    for (n, runs) in [("2", 3), ("3", 7), ("4", 15)] {
        let report = all_runs("phil", &[n], Algorithm::Source);
        assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
        assert!(report.stats.runs <= runs, "{n}: {report}");
    }
    let report = explored("phil", &["3"]);
    let text = report.to_string();
    assert!(text.contains("semaphore 1[2]") && text.contains("phil.c:15"), "{text}");
    assert!(text.contains("wait cycle") || text.contains("waiting:"), "{text}");
}

#[test]
fn philosophers_in_threads() {
    for (n, runs, ordered_runs) in [("2", 3, 2), ("3", 7, 6), ("4", 15, 14)] {
        let report = all_runs("pphil", &[n], Algorithm::Source);
        assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
        assert!(report.stats.runs <= runs, "{n}: {report}");
        let report = explored("pphil", &[n, "ordered"]);
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        assert!(report.stats.runs <= ordered_runs, "{n}: {report}");
    }
    let text = explored("pphil", &["2"]).to_string();
    assert!(text.contains("mutex forks+40") && text.contains("wait cycle: thread 1 -> thread 2"), "{text}");
}

#[test]
fn every_algorithm_finds_the_deadlock() {
    for algorithm in Algorithm::ALL {
        let report = all_runs("pphil", &["2"], algorithm);
        assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    }
}

#[test]
fn a_wake_up_is_lost() {
    let report = explored("pcond", &[]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    assert!(report.stats.runs <= 33, "{report}");
    let report = explored("pcond", &["right"]);
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert!(report.stats.runs <= 60, "{report}");
}

#[test]
fn who_waits_may_wake_up_for_nothing() {
    let report = explored("pcond", &["once"]);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
    assert!(report.to_string().contains("for nothing") && report.spurious.is_some(), "{report}");
    let story = report.counterexample().expect("an assertion");
    let again = run("pcond", &["once"]).replay(&story.replay).expect("a schedule");
    assert_eq!(again.counterexample(), Some(story));
    let limited =
        |how: &str, most: u32| run("pcond", &[how]).spurious(most).explore().expect("it can be explored");
    let report = limited("once", 0);
    assert!(matches!(report.verdict, Verdict::Holds) && report.spurious.is_none(), "{report}");
    // Nobody can rely on it: a wake-up that is lost is lost.
    assert_eq!(kind(&limited("", 1)), Some(FailureKind::Deadlock));
    let report = explored("pcond", &["right"]);
    let mut before = report.spurious.expect("there are waits").stats.runs;
    assert!(matches!(report.verdict, Verdict::Holds) && before > report.stats.runs, "{report}");
    for most in 2..4 {
        let report = limited("right", most);
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        let runs = report.spurious.expect("there are waits").stats.runs;
        assert!(runs > before && report.stats.runs <= 60, "{report}");
        before = runs;
    }
    // Limits hold for both together, and who does not wait does not pay.
    let report = run("pcond", &["right"]).options(|options| options.max_runs = Some(4)).explore();
    let report = report.expect("it can be explored");
    assert_eq!(report.exit_code(), 3, "{report}");
    assert!(report.to_string().contains("without them no run fails"), "{report}");
    assert!(explored("pphil", &["2", "ordered"]).spurious.is_none());
}

#[test]
fn messages_come_in_any_order() {
    let report = explored("msgq", &[]);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
    assert!(report.stats.runs <= 4, "{report}");
    assert!(matches!(explored("msgq", &["types"]).verdict, Verdict::Holds));
}

#[test]
fn pipes_end_when_nobody_can_write() {
    let report = explored("pipes", &[]);
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    let report = explored("pipes", &["both"]);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
    let report = explored("pipes", &["open"]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    assert!(report.to_string().contains("wants read pipe 1"), "{report}");
}

#[test]
fn threads_of_c11_are_threads() {
    let report = explored("c11", &[]);
    assert!(matches!(report.verdict, Verdict::Holds) && report.stats.runs > 1, "{report}");
    assert_eq!(kind(&explored("c11", &["crossed"])), Some(FailureKind::Deadlock));
    assert_eq!(kind(&explored("c11", &["late"])), Some(FailureKind::Assertion));
    let report = explored("c11", &["futex"]);
    assert!(report.exit_code() == 3 && report.to_string().contains("futex"), "{report}");
}

/// Pairs of sockets, streams on pipes, and other programs at their ends.
#[test]
fn streams_are_pipes() {
    for what in ["sockets", "stream", "redirected", "program", "spawn", "pipeline"] {
        let report = explored("streams", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
        assert!(report.stats.steps >= 2, "{what}: {report}");
    }
    // Shells have handlers of SIGCHLD, which come when the system likes, so that not every long exploration of them comes to an end.
    let few = run("streams", &["shell"]).options(|options| options.max_runs = Some(30));
    let report = few.explore().expect("it can be explored");
    assert!(!matches!(report.verdict, Verdict::Violated(_)) && report.stats.steps > 100, "{report}");
    let report = explored("streams", &["sockets", "both"]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    let report = explored("streams", &["pipeline", "lost"]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    let report = explored("streams", &["stream", "two"]);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
    for (what, words) in [
        ("leader", "posix_spawn with attributes"),
        ("clock", "(alarm)"),
        ("behind", "C++ streams"),
        ("event", "eventfd"),
        ("queue", "mq_open"),
        ("listen", "listen"),
        ("robust", "robust"),
        ("value", "sem_getvalue"),
    ] {
        let report = explored("streams", &[what]);
        assert_eq!(report.exit_code(), 3, "{what}: {report}");
        assert!(report.to_string().contains(words), "{what}: {report}");
    }
}

#[test]
fn several_pipes_are_listened_to() {
    for what in ["poll", "select", "timed", "late", "room", "signal"] {
        let report = explored("listening", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
    }
    assert!(explored("listening", &["poll"]).stats.runs > 10);
    // Who looks again and again waits.
    assert!(explored("listening", &["timed"]).spins > 0);
    assert_eq!(kind(&explored("listening", &["poll", "ordered"])), Some(FailureKind::Assertion));
    assert_eq!(kind(&explored("listening", &["signal", "deaf"])), Some(FailureKind::Deadlock));
    let report = explored("listening", &["never"]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    assert!(report.to_string().contains("wants poll pipe 1"), "{report}");
    for (what, words) in [("epoll", "epoll"), ("mask", "ppoll with a mask")] {
        let report = explored("listening", &[what]);
        assert!(report.exit_code() == 3 && report.to_string().contains(words), "{what}: {report}");
    }
}

/// Signals come between any two operations, or end those that wait.
#[test]
fn signals_come_at_any_time() {
    for (what, how) in [
        ("children", "all"),
        ("told", "plain"),
        ("told", "handled"),
        ("calls", ""),
        ("calls", "again"),
        ("turns", ""),
        ("sleeps", ""),
    ] {
        let report = explored("signals", &[what, how]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what} {how}: {report}");
        let all = all_runs("signals", &[what, how], Algorithm::Dfs);
        assert!(matches!(all.verdict, Verdict::Holds), "{what} {how}: {all}");
    }
    for (what, how, failure) in [
        ("children", "one", FailureKind::Deadlock),
        ("children", "early", FailureKind::Deadlock),
        ("told", "between", FailureKind::Deadlock),
        ("told", "late", FailureKind::Assertion),
    ] {
        for algorithm in Algorithm::ALL {
            let report = all_runs("signals", &[what, how], algorithm);
            assert_eq!(kind(&report), Some(failure), "{what} {how} with {}: {report}", algorithm.word());
        }
    }
    for (what, words) in
        [("wait", "sigwait"), ("stop", "SIGSTOP"), ("ignored", "SIGCHLD ignored"), ("group", "groups")]
    {
        let report = explored("signals", &[what]);
        assert!(report.exit_code() == 3 && report.to_string().contains(words), "{what}: {report}");
    }
}

#[test]
fn every_object_is_controlled() {
    for what in ["locks", "meeting", "counting", "waiting", "pairs"] {
        let report = explored("objects", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
        let all = all_runs("objects", &[what], Algorithm::Dfs);
        assert!(matches!(all.verdict, Verdict::Holds), "{what}: {all}");
        assert!(report.stats.runs <= all.stats.runs, "{what}: {report}{all}");
    }
}

#[test]
fn objects_with_names_are_found_by_everybody_and_left_by_nobody() {
    for what in ["counting", "creating", "locking"] {
        let report = explored("named", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
        let all = all_runs("named", &[what], Algorithm::Dfs);
        assert!(matches!(all.verdict, Verdict::Holds), "{what}: {all}");
    }
    assert_eq!(kind(&explored("named", &["counting", "open"])), Some(FailureKind::Assertion));
    assert_eq!(kind(&explored("named", &["creating", "younger"])), Some(FailureKind::Assertion));
    assert_eq!(kind(&explored("named", &["locking", "again"])), Some(FailureKind::Deadlock));
    let left = std::fs::read_dir("/dev/shm").map_or(0, |files| {
        files.flatten().filter(|file| file.file_name().to_string_lossy().contains("stubborn")).count()
    });
    assert_eq!(left, 0);
}

/// A process that is forked while another thread holds a lock has a copy of it that nobody unlocks.
#[test]
fn locks_are_copied_with_their_process() {
    let report = explored("named", &["copying"]);
    assert_eq!(kind(&report), Some(FailureKind::Deadlock), "{report}");
    let report = explored("named", &["copying", "safe"]);
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
}

#[test]
fn tosses_and_assertions() {
    let report = all_runs("toss", &[], Algorithm::Source);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
    assert_eq!(report.stats.runs, 12, "{report}");
}

#[test]
fn a_run_is_made_again() {
    let run = run("pphil", &["2"]);
    let report = run.explore().expect("it can be explored");
    let story = report.counterexample().expect("a deadlock");
    let again = run.replay(&story.replay).expect("a schedule");
    assert_eq!(again.counterexample(), Some(story));
    assert!(run.replay("nonsense").is_err());
}

#[test]
fn which_child_ends_first_matters_to_who_asks() {
    let report = explored("odd", &["status"]);
    assert_eq!(kind(&report), Some(FailureKind::Assertion), "{report}");
}

/// `wait(NULL)` gets any child that has ended, and goes on when one has.
#[test]
fn any_child_may_be_waited_for() {
    for what in ["child-number", "child-look", "child-gone"] {
        let report = explored("odd", &[what]);
        assert_eq!(kind(&report), Some(FailureKind::Assertion), "{what}: {report}");
    }
    for what in ["child-lets", "child-all"] {
        let report = explored("odd", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
    }
    // Who waits for all and does not ask which cannot tell.
    assert_eq!(explored("odd", &["child-all"]).stats.runs, 1);
}

/// Who looks again and again waits; who gives up does so when nothing else can happen.
#[test]
fn looking_again_and_again_is_waiting() {
    for what in ["polls", "gives-up"] {
        let report = explored("odd", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
        assert!(report.spins > 0, "{what}: {report}");
    }
}

#[test]
fn what_a_process_has_taken_is_given_back_if_it_said_so() {
    let report = explored("odd", &["undo"]);
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(kind(&explored("odd", &["undo-not"])), Some(FailureKind::Deadlock));
}

#[test]
fn threads_that_are_left_end_with_their_process() {
    assert!(matches!(explored("odd", &["left"]).verdict, Verdict::Holds));
}

/// A process may end before or after what its other threads do, if somebody can tell.
#[test]
fn a_process_ends_when_it_ends() {
    for what in ["end-never", "end-early"] {
        let report = explored("odd", &[what]);
        assert_eq!(kind(&report), Some(FailureKind::Assertion), "{what}: {report}");
        for algorithm in Algorithm::ALL {
            assert!(kind(&all_runs("odd", &[what], algorithm)).is_some(), "{what} with {}", algorithm.word());
        }
    }
    for what in ["end-joined", "end-last", "end-main"] {
        let report = explored("odd", &[what]);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
    }
}

#[test]
fn the_clock_is_the_same_in_every_run() {
    assert!(matches!(explored("odd", &["clock"]).verdict, Verdict::Holds));
}

#[test]
fn what_cannot_be_controlled_is_said() {
    let report = explored("odd", &["crash"]);
    assert_eq!(kind(&report), Some(FailureKind::Panic), "{report}");
    assert!(report.to_string().contains("SIGSEGV"), "{report}");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("longer").to_string_lossy().into_owned();
    let short = |how: &str| {
        run("odd", &[how, &file]).patience(Duration::from_millis(400)).explore().expect("it can be explored")
    };
    let report = short("loop");
    assert_eq!(kind(&report), Some(FailureKind::Divergence), "{report}");
    assert!(report.to_string().contains("ran without a visible operation"), "{report}");
    let report = short("blocks");
    assert!(report.to_string().contains("the system call read"), "{report}");
    assert_eq!(report.exit_code(), 3);
    let report = short("killed");
    assert_eq!(kind(&report), Some(FailureKind::Panic), "{report}");
    let report = short("differs");
    assert_eq!(kind(&report), Some(FailureKind::Nondeterminism), "{report}");
    assert_eq!(report.exit_code(), 2);
    std::fs::write(&file, "").expect("the test's own directory");
    let report = short("wanders");
    assert_eq!(kind(&report), Some(FailureKind::Nondeterminism), "{report}");
    assert!(report.stats.runs > 1, "{report}");
}

#[test]
fn programs_that_cannot_be_explored_are_refused() {
    let refused = |program: &str| Run::new([program]).explore().expect_err("it cannot be").to_string();
    assert!(refused("./not-there").contains("there is no program"));
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let script = directory.join("script.sh");
    std::fs::write(&script, "#!/bin/sh\n").expect("the test's own directory");
    assert!(refused(&script.to_string_lossy()).contains("script"));
    let text = directory.join("text");
    std::fs::write(&text, "hello").expect("the test's own directory");
    assert!(refused(&text.to_string_lossy()).contains("not a 64-bit ELF"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/pphil.c");
    let fixed = directory.join("static");
    let mut gcc = Command::new("gcc");
    let status = gcc.args(["-static", "-pthread", "-o"]).arg(&fixed).arg(source).status().expect("gcc");
    assert!(status.success());
    assert!(refused(&fixed.to_string_lossy()).contains("linked statically"));
    assert!(Run::new(Vec::<String>::new()).explore().is_err());
}

#[test]
fn races_on_plain_memory_are_found_in_programs_that_we_compile() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/racy.c").to_string_lossy().into_owned();
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("racy-deep").to_string_lossy().into_owned();
    let mut said = Vec::new();
    let arguments = [&source, "-O1", "-pthread", "-o", &program].map(str::to_owned);
    let code = compile(&arguments, |line| said.push(line.to_owned())).expect("gcc");
    assert_eq!(code, 0, "{said:?}");
    assert!(said.iter().any(|line| line.contains("-fsanitize=thread")), "{said:?}");
    let explored = |what: &str| Run::new([&*program, what]).explore().expect("it can be explored");
    assert_eq!(explored("long").exit_code(), 3);
    for what in ["count", "flag", "copy", "name", "format", "line", "shown", "sorted", "open", "shared"] {
        let report = explored(what);
        assert_eq!(kind(&report), Some(FailureKind::DataRace), "{what}: {report}");
        let most = if what == "open" { 20 } else { 2 };
        assert!(report.stats.runs <= most && report.to_string().contains("racy.c:"), "{report}");
    }
    assert_eq!(kind(&explored("broken")), Some(FailureKind::Assertion));
    for what in ["atomic", "peterson", "spin", "compare", "handed"] {
        let report = explored(what);
        assert!(matches!(report.verdict, Verdict::Holds), "{what}: {report}");
    }
    // By itself it is a program like any other.
    assert!(Command::new(&program).arg("atomic").status().expect("it runs").success());
}

/// Programs of Debian with threads and with processes: no false alarm within a bound. All but `xz` and `zstd` are in every installation.
#[test]
fn programs_that_nobody_here_wrote() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("numbers");
    let numbers: Vec<String> = (0..3_000_u32).map(|n| (n * 7_919 % 3_001).to_string()).collect();
    std::fs::write(&file, numbers.join("\n") + "\n").expect("the test's own directory");
    let file = file.to_string_lossy().into_owned();
    let programs: [&[&str]; 9] = [
        &["xz", "-T2", "--block-size=4096", "-k", "-c", &file],
        &["zstd", "-T2", "-k", "-c", &file],
        &["sort", "--parallel=2", &file],
        &["sort", "--parallel=2", "-S", "64K", "--batch-size=2", &file],
        &["dash", "-c", "echo a | cat | cat"],
        &["bash", "-c", "echo a | cat"],
        &["find", &file, "-exec", "echo", "{}", ";"],
        &["tar", "czfP", "-", &file],
        &["perl", "-e", "if (fork()) { wait } else { exit 0 }"],
    ];
    let mut n_explored = 0;
    for program in programs {
        let is_there =
            ["/usr/bin", "/bin"].iter().any(|directory| Path::new(directory).join(program[0]).exists());
        if !is_there {
            eprintln!("{} is not installed", program[0]);
            continue;
        }
        let run = Run::new(program.iter().copied()).options(|options| options.max_runs = Some(30));
        let report = run.explore().expect("it can be explored");
        let text = report.to_string();
        eprintln!("{}: {text}", program.join(" "));
        assert!(!matches!(report.verdict, Verdict::Violated(_)), "{}: {text}", program.join(" "));
        assert!(report.stats.steps > 0 && !text.contains("not controlled"), "{}: {text}", program.join(" "));
        n_explored += 1;
    }
    assert!(n_explored >= 6, "only {n_explored} programs are installed");
}
