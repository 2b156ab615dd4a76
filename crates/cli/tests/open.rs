//! Processes and channels of a Promela model, taken out of it and put together again.

mod common;

use common::stubborn;
use std::path::{Path, PathBuf};

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("open").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Writes a model to a directory of its own.
fn written(name: &str, model: &str) -> PathBuf {
    let here = directory(name);
    std::fs::write(here.join("m.pml"), model).unwrap();
    here
}

/// The figures of a composition: states, transitions.
fn figures(text: &str) -> (String, String) {
    let mut words = text.split_whitespace();
    let states = words.next().unwrap_or_default().replace(',', "");
    (states, words.nth(1).unwrap_or_default().replace(',', ""))
}

/// The parts of a model, composed by rules of equal names, have as many states and transitions as the model.
fn as_large_as_the_whole(name: &str, model: &str, parts: &[&str]) {
    let here = written(name, model);
    let at = |name: &str| here.join(name).display().to_string();
    let files: Vec<String> = parts.iter().map(|part| at(&format!("m.pml#{part}"))).collect();
    let run = stubborn(&format!("lts rules {} -o {}", files.join(" "), at("r.ext")));
    assert!(run.code == 0 && run.err.is_empty(), "{name}: {}{}", run.out, run.err);
    // Nobody sends or receives alone.
    let rules = std::fs::read_to_string(here.join("r.ext")).unwrap();
    let is_kept = |line: &&str| line.matches('(').count() != 1;
    std::fs::write(here.join("r.ext"), rules.lines().filter(is_kept).collect::<Vec<_>>().join("\n")).unwrap();
    same_size(name, &here);
}

/// A composition has as many states and transitions as the model.
fn same_size(name: &str, here: &Path) {
    let at = |name: &str| here.join(name).display().to_string();
    let run = stubborn(&format!("lts compose {}", at("r.ext")));
    assert_eq!(run.code, 0, "{name}: {}", run.err);
    let whole = stubborn(&format!("lts info {}", at("m.pml")));
    let info = |word: &str| {
        let line = whole.out.lines().find(|line| line.trim_start().starts_with(word)).unwrap_or_default();
        line.split_whitespace()
            .find(|w| w.starts_with(|c: char| c.is_ascii_digit()))
            .map(|w| w.replace(',', ""))
    };
    let (states, transitions) = figures(&run.out);
    assert_eq!(
        (Some(states), Some(transitions)),
        (info("states"), info("transitions")),
        "{name}: {}",
        run.out
    );
}

/// All that never ends, so that nobody dies; buffered channels, so that names of equal actions meet.
const PIPE: &str = "mtype { data, more };
chan q = [2] of { mtype, bit }; chan r = [1] of { bit };
active proctype S() { bit b; do :: q!data(b); r?b; b = 1 - b :: q!more(0) od }
active proctype R() { bit b; do :: q?data(b) -> r!b :: q?more(_) od }
";

const RENDEZVOUS: &str = "mtype { a, b }; chan z = [0] of { mtype };
active proctype S() { byte k; do :: atomic { z!a; k = 1; k = 0 } :: z!b od }
active proctype R() { byte k; do :: z?a -> k = 1 - k :: atomic { z?b; k = 0 } od }
";

const RING: &str = "chan c[3] = [1] of { bit };
active [3] proctype P() { bit x; if :: _pid == 0 -> x = 1; c[1]!x :: else fi;
  do :: c[_pid]?x -> c[(_pid + 1) % 3]!x od }
";

const ATOMIC: &str = "chan q = [1] of { bit }; byte n;
active proctype S() { do :: atomic { n < 2 -> n++; n = n; q!1 } :: d_step { n == 2 -> n = 0 } od }
active proctype R() { byte k; l: do :: q?1 -> atomic { k = (k + 1) % 3; k = k } od }
";

/// A process that is started, with a channel for an argument.
const STARTED: &str = "chan q = [1] of { byte }; chan r = [2] of { bit };
proctype P(chan c; bit b) { do :: c!b :: c?<b> :: c??b od }
init { run P(r, 1) }
";

#[test]
fn parts_of_a_model_together_are_the_model() {
    as_large_as_the_whole("pipe", PIPE, &["S", "q", "R", "r"]);
    let here = written("rendezvous", RENDEZVOUS);
    let rules =
        "1 = \"m.pml#S\" 2 = \"m.pml#R\" (1,\"z!a\") (2,\"z?a\") -> \"a\" (1,\"z!b\") (2,\"z?b\") -> 0";
    std::fs::write(here.join("r.ext"), rules).unwrap();
    same_size("rendezvous", &here);
    as_large_as_the_whole("ring", RING, &["P[0]", "P[1]", "P[2]", "c[0]", "c[1]", "c[2]"]);
}

#[test]
fn a_process_by_itself_offers_what_its_model_does_not_decide() {
    let here = written("offers", ATOMIC);
    let info = |part: &str, options: &str| {
        let run = stubborn(&format!("lts convert {}#{part} {options}", here.join("m.pml").display()));
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    // Where the channel operation of an atomic sequence is next, the process may have to wait.
    let sender = info("S", "--event n= --proposition two:n==2");
    assert!(
        sender.contains("\"q!1\"") && sender.contains("\"n=1\"") && sender.contains("\"two\" : "),
        "{sender}"
    );
    assert!(sender.contains("State_cnt = 5"), "{sender}");
    let receiver = info("R", "--event R@l");
    assert!(receiver.contains("\"q?1\"") && !receiver.contains("\"q?0\""), "{receiver}");
    let channel = info("q", "");
    assert!(channel.contains("State_cnt = 257") && channel.contains("Transition_cnt = 512"), "{channel}");
    std::fs::write(here.join("m.pml"), STARTED).unwrap();
    let started = info("P(r,1)", "");
    for name in ["r!0", "r!1", "r?<0>", "r?<1>", "r??0", "r??1"] {
        assert!(started.contains(&format!("\"{name}\"")), "{name}: {started}");
    }
}

#[test]
fn what_a_process_by_itself_cannot_know_is_refused() {
    let here = directory("refused");
    let refused = |body: &str, part: &str, words: &str| {
        let model = format!("chan q = [1] of {{ byte }}; chan z = [0] of {{ int }}; byte n;\n{body}");
        std::fs::write(here.join("m.pml"), model).unwrap();
        let run = stubborn(&format!("lts info {}#{part}", here.join("m.pml").display()));
        assert_eq!(run.code, 2, "{words}: {}", run.out);
        assert!(run.err.contains(words) && !run.err.contains("panicked"), "{words}: {}", run.err);
    };
    let other = "active proctype O() { n = 1 }";
    refused(
        &format!("active proctype P() {{ n > 0 -> q!n }} {other}"),
        "P",
        "shares the variable `n` with O",
    );
    refused("active [2] proctype P() { n++ }", "P[1]", "shares the variable `n` with P");
    refused("active proctype P() { len(q) == 0 }", "P", "what is in a channel");
    refused("active proctype P() { q?[1] }", "P", "what is in a channel");
    refused("active proctype P() { timeout -> skip }", "P", "`timeout`");
    refused("active proctype P() { if :: q!1 :: else fi }", "P", "`else` beside a channel operation");
    refused("active proctype P() { d_step { q!1; n = 2 } }", "P", "in a d_step");
    refused("active proctype P() { { n = 1; q!1 } unless { q?1 } }", "P", "`unless`");
    refused("active proctype O() { l: skip } active proctype P() { O[0]@l -> q!1 }", "P", "another process");
    refused("active proctype P() { run O() } proctype O() { skip }", "P", "starts a process");
    refused("active proctype P() { int x; z?x }", "P", "narrower fields");
    refused("active proctype P() { skip }", "O", "no process or channel is called `O`");
    refused("active [2] proctype P() { skip }", "P", "there are several of P");
    refused("active proctype P() { skip }", "P[3]", "process 3 is not P");
    refused("proctype P(byte x) { skip } init { skip }", "P", "P(...)");
    refused("proctype P(byte x) { skip } init { skip }", "P(1,2)", "1 parameters, not 2");
    refused("active proctype P() { skip }", "z", "rendezvous");
    refused("active proctype P() { skip }", "P(", "P(");
}
