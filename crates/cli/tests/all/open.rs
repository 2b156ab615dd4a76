//! Processes and channels of a Promela model, taken out of it and put together again.

use crate::common::stubborn;
use std::path::{Path, PathBuf};
use stubborn_oracle::Rng;
use stubborn_oracle::promela::{Model, Plain, compiled};

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

/// Writes rules by which sends and receives of equal names happen together, and nobody sends or receives alone.
fn put_together(name: &str, here: &Path, parts: &[&str]) {
    let at = |name: &str| here.join(name).display().to_string();
    let files: Vec<String> = parts.iter().map(|part| at(&format!("m.pml#{part}"))).collect();
    let run = stubborn(&format!("lts rules {} -o {}", files.join(" "), at("r.ext")));
    assert!(run.code == 0 && run.err.is_empty(), "{name}: {}{}", run.out, run.err);
    let rules = std::fs::read_to_string(here.join("r.ext")).unwrap();
    let is_kept = |line: &&str| line.matches('(').count() != 1;
    std::fs::write(here.join("r.ext"), rules.lines().filter(is_kept).collect::<Vec<_>>().join("\n")).unwrap();
}

/// The parts of a model, put together, have as many states and transitions as the model.
fn as_large_as_the_whole(name: &str, model: &str, parts: &[&str]) {
    let here = written(name, model);
    put_together(name, &here, parts);
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

/// A channel with 16,843,009 states, of which its sender needs four.
const WIDE: &str = "chan q = [3] of { byte }; int x;
active proctype S() { q!7; q!8; q!9; do :: x++ od }
active proctype R() { byte b; do :: q?b od }
";

#[test]
fn large_components_are_followed_as_far_as_the_composition_comes() {
    let here = written("followed", WIDE);
    let at = |name: &str| here.join(name).display().to_string();
    let mut rules = "1 = \"m.pml#q\"\n2 = \"s.lsts\"\n".to_owned();
    for i in 7..10 {
        rules += &format!("(1,\"q!{i}\") (2,\"s{i}\") -> \"s{i}\"\n(1,\"q?{i}\") -> \"r{i}\"\n");
    }
    std::fs::write(here.join("r.ext"), &rules).unwrap();
    let sender = "Begin Lsts Begin Header State_cnt=4 Action_cnt=3 Initial_states=1 End Header
        Begin Action_names 1=\"s7\" 2=\"s8\" 3=\"s9\" End Action_names
        Begin Transitions 1: 2,1; 2: 3,2; 3: 4,3; End Transitions End Lsts";
    std::fs::write(here.join("s.lsts"), sender).unwrap();
    let run = stubborn(&format!("lts compose {} -o {} --unfold-first 100", at("r.ext"), at("out.lsts")));
    assert!(run.code == 0 && run.out.contains("10 states, 12 transitions"), "{}{}", run.out, run.err);
    // As a whole it is too large.
    let run = stubborn(&format!("lts info {} --max-model-states 2000", at("m.pml#q")));
    assert!(run.code == 2 && run.err.contains("--max-model-states"), "{}{}", run.out, run.err);
    let run = stubborn(&format!("lts compose {} --max-model-states 2000 --preserve cffd", at("r.ext")));
    assert!(run.code == 2 && run.err.contains("--max-model-states"), "{}{}", run.out, run.err);
    // A wild card may stand for any message: all of them must be known.
    std::fs::write(here.join("w.ext"), "1 = \"m.pml#q\"\n(1,\"q<$1>\") -> \"q<$1>\"").unwrap();
    let run = stubborn(&format!("lts compose {} --max-model-states 2000 --unfold-first 100", at("w.ext")));
    assert!(run.code == 2 && run.err.contains("--max-model-states"), "{}{}", run.out, run.err);
    // Rejections, with and without reduction; a name that is not met is told.
    let wrong = "Begin State_prop_rules 2.\"end\" -> dl_rej; End State_prop_rules (1,\"q!300\") -> 0";
    std::fs::write(here.join("c.ext"), format!("{rules}{wrong}")).unwrap();
    let marked = sender
        .replace("Begin Transitions", "Begin State_props \"end\": 4; End State_props Begin Transitions");
    std::fs::write(here.join("s.lsts"), marked).unwrap();
    for options in ["", "--reduction none"] {
        let run = stubborn(&format!("lts check {} --unfold-first 100 {options}", at("c.ext")));
        assert!(run.code == 1 && run.out.contains("illegal trace: s7"), "{}{}", run.out, run.err);
        assert!(run.err.contains("does not do q!300"), "{}", run.err);
    }
    // A model that counts up to the largest int is wrong at 3,000.
    let tester = "Begin Lsts Begin Header State_cnt=2 Action_cnt=1 Initial_states=1 End Header
        Begin Action_names 1=\"x=3000\" End Action_names Begin State_props Rej: 2; End State_props
        Begin Transitions 1: 2,1; End Transitions End Lsts";
    std::fs::write(here.join("t.lsts"), tester).unwrap();
    let run = stubborn(&format!(
        "lts check {} --event x= --unfold-first 100 --tester {} -q",
        at("m.pml"),
        at("t.lsts")
    ));
    assert_eq!((run.code, run.out.as_str()), (1, "rej: violated\n"), "{}", run.err);
    // A limit of a component is a limit, and a component that cannot go on is bad input.
    let limited = format!("--event x= --unfold-first 100 --max-model-states 1000 --tester {}", at("t.lsts"));
    let run = stubborn(&format!("lts check {} {limited}", at("m.pml")));
    let words = "inconclusive: m.pml: more than 1000 states (see --max-model-states)";
    assert!(run.code == 3 && run.err.contains(words) && !run.err.contains("run:"), "{}{}", run.out, run.err);
    assert!(run.err.contains("x=12 and 12 others"), "{}", run.err);
    std::fs::write(here.join("l.ext"), "1 = \"m.pml\"").unwrap();
    let run = stubborn(&format!("lts compose {} --unfold-first 100 --max-model-states 1000", at("l.ext")));
    assert!(run.code == 3 && run.err.contains("more than 1000 states"), "{}{}", run.out, run.err);
}

/// Every part followed from the first state on makes the same figures as parts that were unfolded.
#[test]
fn parts_that_are_followed_are_the_model_too() {
    for (name, model, parts) in [
        ("pipe", PIPE, vec!["S", "q", "R", "r"]),
        ("ring", RING, vec!["P[0]", "P[1]", "P[2]", "c[0]", "c[1]", "c[2]"]),
        ("atomic", ATOMIC, vec!["S", "q", "R"]),
    ] {
        let here = written(&format!("follow-{name}"), model);
        let at = |name: &str| here.join(name).display().to_string();
        put_together(name, &here, &parts);
        for options in ["", "--unfold-first 1"] {
            let out = at(if options.is_empty() { "all.lsts" } else { "followed.lsts" });
            let run = stubborn(&format!("lts compose {} -o {out} {options}", at("r.ext")));
            assert_eq!(run.code, 0, "{}", run.err);
        }
        let run = stubborn(&format!("lts compare {} {} --under strong", at("all.lsts"), at("followed.lsts")));
        assert_eq!(run.code, 0, "{name}: {}{}", run.out, run.err);
        let figures = |file: &str| {
            let info = stubborn(&format!("lts info {}", at(file))).out;
            info.lines()
                .take(4)
                .filter(|line| !line.starts_with("initial"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(figures("all.lsts"), figures("followed.lsts"), "{name}");
    }
}

/// Random models, with their sends to be seen, beside a process that does nothing.
#[test]
fn random_models_that_are_followed_are_those_that_were_unfolded() {
    let here = directory("random");
    let at = |name: &str| here.join(name).display().to_string();
    let idle = "Begin Lsts Begin Header State_cnt=1 Initial_states=1 End Header
        Begin Transitions End Transitions End Lsts";
    std::fs::write(here.join("idle.lsts"), idle).unwrap();
    let (mut n, mut n_seen, mut seed) = (0, 0, 40_000);
    while n < 40 {
        seed += 1;
        let text = Model::random(&mut Rng::new(seed)).to_string();
        let Ok((network, _)) = compiled(&text, &[]) else { continue };
        if Plain::full(&network, 2_000).is_none_or(|plain| plain.n_states() < 3) {
            continue;
        }
        n += 1;
        std::fs::write(here.join("m.pml"), &text).unwrap();
        let channels = network.globals.iter().filter(|global| global.is_channel);
        let events: Vec<String> = channels.map(|c| format!("--event {}!", c.name)).collect();
        let events = events.join(" ");
        let run =
            stubborn(&format!("lts rules {} {} {events} -o {}", at("m.pml"), at("idle.lsts"), at("r.ext")));
        assert_eq!(run.code, 0, "seed {seed}: {}", run.err);
        let figures = |options: &str| {
            let run = stubborn(&format!("lts compose {} {events} {options}", at("r.ext")));
            assert_eq!(run.code, 0, "seed {seed}: {}", run.err);
            run.out.rsplit_once(',').map(|(figures, _)| figures.to_owned())
        };
        n_seen += usize::from(std::fs::read_to_string(here.join("r.ext")).unwrap().contains("->"));
        assert_eq!(figures("--unfold-first 1"), figures(""), "seed {seed}");
    }
    assert!(n_seen > 5, "{n_seen}");
}
