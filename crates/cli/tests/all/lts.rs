//! `stubborn lts` as a user meets it.

use crate::common::{stubborn, stubborn_with};
use std::path::{Path, PathBuf};

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lts").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn ring(name: &str, options: &str) -> PathBuf {
    let directory = directory(name);
    let run = stubborn(&format!("lts example {} {options}", directory.display()));
    assert_eq!(run.code, 0, "{}", run.err);
    directory
}

#[test]
fn a_ring_is_composed_and_its_files_converted() {
    let ring = ring("compose", "--size 2 --visible");
    let at = |name: &str| ring.join(name).display().to_string();
    let run = stubborn(&format!("lts compose {} -o {}", at("ring.ext"), at("out.lsts")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("132 states, 298 transitions, 2 terminal states"), "{}", run.out);
    let info = stubborn(&format!("lts info {}", at("out.lsts")));
    assert!(
        info.out.contains("132 (132 reachable)") && info.out.contains("/2.T (66 states, permanent)"),
        "{}",
        info.out
    );
    let there = stubborn(&format!("lts convert {} -o {}", at("out.lsts"), at("out.aut")));
    assert!(there.code == 0 && there.err.contains("propositions; they are lost"), "{}", there.err);
    let back = stubborn(&format!("lts convert {} --to lsts", at("out.aut")));
    assert!(back.out.contains("State_cnt = 132"), "{}", back.err);
    let again = stubborn(&format!("lts convert {}", at("out.lsts")));
    assert_eq!(again.out, std::fs::read_to_string(ring.join("out.lsts")).unwrap());
    let dot = stubborn(&format!("lts convert {} --to dot", at("client.lsts")));
    assert!(dot.out.starts_with("digraph") && dot.out.contains("s4 -> s5"), "{}", dot.out);
    let numeric = stubborn(&format!("lts rules {} --numeric -o {}", at("ring.ext"), at("ring.rules")));
    assert_eq!(numeric.code, 0);
    let run = stubborn(&format!("lts compose {} -o {}", at("ring.rules"), at("again.lsts")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(
        std::fs::read(ring.join("again.lsts")).unwrap(),
        std::fs::read(ring.join("out.lsts")).unwrap()
    );
}

#[test]
fn rules_are_made_for_components_of_the_directory() {
    let ring = ring("rules", "");
    std::fs::write(ring.join("visible"), "\"rq\" \"nothing\"").unwrap();
    let at = |name: &str| ring.join(name).display().to_string();
    let files = format!("{} {}", at("first.lsts"), at("client.lsts"));
    let run = stubborn(&format!("lts rules {files} --visible {}", at("visible")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("(1,\"rq\") (2,\"rq\") -> \"rq\"") && run.out.contains("(2,\"bye\") -> 0"),
        "{}",
        run.out
    );
    assert!(run.err.contains("nothing is called `nothing`"), "{}", run.err);
    assert!(run.err.contains("not in the directory of the rules"), "{}", run.err);
    let run = stubborn(&format!("lts rules {files} -o {}", at("made.ext")));
    assert!(run.code == 0 && run.err.is_empty(), "{}", run.err);
    let run = stubborn(&format!("lts compose {}", at("made.ext")));
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn wrong_files_have_messages_and_code_2() {
    let here = directory("wrong");
    let refused = |command: &str, file: &str, bytes: &[u8], words: &str| {
        let file = here.join(file);
        std::fs::write(&file, bytes).unwrap();
        let run = stubborn(&format!("lts {command} {}", file.display()));
        assert_eq!(run.code, 2, "{}{}", run.out, run.err);
        assert!(run.err.contains(words), "{words}: {}", run.err);
        assert!(!run.err.contains("panicked"), "{}", run.err);
    };
    refused("info", "a.lsts", b"Begin Lsts\n\xff\xfe", "a.lsts:2:1");
    refused("info", "b.aut", b"des (0,1,1)\n", "T0120");
    refused("compose", "c.ext", b"1 = \"none.lsts\"", "there is no file `none.lsts`");
    refused("compose", "d.ext", b"1 = \"/etc/passwd\"", "outside the directory");
    refused("compose", "e.ext", b"1 = \"b.aut\"", "b.aut:1:1");
    let run = stubborn(&format!("lts info {}", here.join("none.lsts").display()));
    assert_eq!(run.code, 2);
    let ring = ring("limits", "--size 4");
    let rules = ring.join("ring.ext").display().to_string();
    let run = stubborn(&format!("lts compose {rules} --max-states 1000"));
    assert!(run.code == 3 && run.err.contains("1000 states"), "{}", run.err);
    let run = stubborn(&format!("lts convert {rules} -o x.colour"));
    assert!(run.code == 2 && run.err.contains(".colour"), "{}", run.err);
}

#[test]
fn conversion_keeps_what_is_besides_the_system() {
    let here = directory("besides");
    let at = |name: &str| here.join(name).display().to_string();
    let graph = "Begin Lsts Begin History 1.05 \"by hand\" End History
        Begin Header State_cnt = #{EVAL 1+1} Action_cnt=1 Initial_states=1; Deterministic End Header
        Begin Action_names 1=\"a\" End Action_names GRAPH Begin Transitions 1: 2,1; End Transitions
        Begin Layout 1 -3 4 End Layout End Lsts \"0.1 s\"";
    std::fs::write(here.join("a.lsts"), graph.replace("GRAPH", "")).unwrap();
    let run = stubborn(&format!("lts convert {} -o {}", at("a.lsts"), at("b.lsts")));
    assert_eq!(run.code, 0, "{}", run.err);
    let once = std::fs::read_to_string(here.join("b.lsts")).unwrap();
    for kept in ["1.05 \"by hand\"", "State_cnt = 2", " Deterministic\n", " 1 -3 4\n", "End Lsts \"0.1 s\""] {
        assert!(once.contains(kept), "{kept}: {once}");
    }
    assert_eq!(stubborn(&format!("lts convert {}", at("b.lsts"))).out, once);
    // An acceptance graph is converted, but is no process.
    let graph = graph.replace("GRAPH", "Begin Div_bits 2 End Div_bits Begin Acc_sets 1 {1}; End Acc_sets");
    std::fs::write(here.join("g.lsts"), graph).unwrap();
    let run = stubborn(&format!("lts convert {}", at("g.lsts")));
    assert!(run.code == 0 && run.out.contains("Begin Acc_sets\n 1 {1};"), "{}{}", run.out, run.err);
    for command in ["info", "minimize", "convert --to aut"] {
        let run = stubborn(&format!("lts {command} {}", at("g.lsts")));
        assert!(run.code == 2 && run.err.contains("T0105"), "{command}: {}{}", run.out, run.err);
    }
    std::fs::write(here.join("p.lsts"), "Begin Lsts\n #{EVAL x}").unwrap();
    let run = stubborn(&format!("lts info {}", at("p.lsts")));
    assert!(
        run.code == 2 && run.err.contains("p.lsts:2:2") && run.err.contains("`X` is not set"),
        "{}",
        run.err
    );
}

/// A process in the format, in short: number of states, actions by number, propositions and transitions as written.
fn process(n: usize, actions: &[&str], propositions: &str, transitions: &str) -> String {
    let names: String =
        actions.iter().enumerate().map(|(i, name)| format!(" {}=\"{name}\"", i + 1)).collect();
    format!(
        "Begin Lsts Begin Header State_cnt={n} Action_cnt={} Initial_states=1 End Header
         Begin Action_names{names} End Action_names
         Begin State_props {propositions} End State_props Begin Transitions {transitions} End Transitions End Lsts",
        actions.len()
    )
}

#[test]
fn faults_of_the_ring_are_shown_and_replayed() {
    for (fault, words) in [
        (0, vec![]),
        (1, vec!["rej: violated"]),
        (2, vec!["ll-rej: violated"]),
        (3, vec!["dl-rej: violated"]),
    ] {
        let ring = ring(&format!("fault{fault}"), &format!("--size 3 --fault {fault}"));
        let rules = ring.join("ring.ext").display().to_string();
        for reduction in ["", "--reduction none"] {
            let run = stubborn(&format!("lts check {rules} -q --all-errors {reduction}"));
            assert_eq!(run.code, i32::from(fault > 0), "{}{}", run.out, run.err);
            let violated: Vec<&str> = run.out.lines().filter(|line| line.contains("violated")).collect();
            assert!(words.iter().all(|word| violated.contains(word)), "{violated:?}");
            assert_eq!(violated.is_empty(), words.is_empty(), "{violated:?}");
        }
        let json = stubborn(&format!("lts check {rules} --json")).json();
        assert_eq!(json["results"].as_array().map(Vec::len), Some(9), "{json}");
    }
}

#[test]
#[cfg_attr(feature = "always-interpreter", ignore = "this build has no choice")]
fn both_engines_tell_the_same_and_say_who_they_are() {
    for fault in [0, 1, 3] {
        let ring = ring(&format!("engines{fault}"), &format!("--size 4 --fault {fault}"));
        let rules = ring.join("ring.ext").display().to_string();
        let told = |engine: &str| {
            let asked = format!("lts check {rules} --json --all-errors --reduction none --engine {engine}");
            stubborn(&asked).json()
        };
        let ours = told("interpreter");
        assert_eq!(ours["phases"][0]["key_words"], serde_json::Value::Null);
        for engine in ["auto", "packed"] {
            let keys = told(engine);
            assert_eq!(keys["phases"][0]["key_words"], 1, "{keys}");
            assert_eq!(keys["exit_code"], ours["exit_code"]);
            let phases = |json: &serde_json::Value| json["phases"].as_array().map(Vec::len);
            assert_eq!(phases(&keys), phases(&ours));
            for i in 0..phases(&ours).unwrap() {
                for what in ["states", "transitions", "terminal_states", "depth"] {
                    assert_eq!(keys["phases"][i][what], ours["phases"][i][what], "{what}, fault {fault}");
                }
            }
            let answers = keys["results"].as_array().unwrap().iter().zip(ours["results"].as_array().unwrap());
            for (key, our) in answers {
                for what in ["question_text", "verdict", "rests_on", "witness"] {
                    assert_eq!(key[what], our[what], "{what}, fault {fault}");
                }
            }
        }
    }
}

#[test]
fn a_system_is_checked_against_testers_specifications_and_formulas() {
    let here = directory("testers");
    let write = |name: &str, text: String| {
        std::fs::write(here.join(name), text).unwrap();
        here.join(name).display().to_string()
    };
    let system = write("system.lsts", process(3, &["req", "ack"], "", "1: 2,1; 2: 1,2 3,0;"));
    let check = |options: &str| stubborn(&format!("lts check {system} {options}"));
    // The system may stop behind a request.
    let good = write("good.lsts", process(2, &["req", "ack"], "Ll_rej: 2;", "1: 2,1; 2: 1,2;"));
    let strict = write("strict.lsts", process(2, &["req", "ack"], "Dl_rej: 2;", "1: 2,1; 2: 1,2;"));
    assert_eq!(check(&format!("--tester {good} -q")).out, "ll-rej: holds\n");
    let wrong = check(&format!("--tester {strict}"));
    assert!(wrong.code == 1 && wrong.out.contains("illegal trace: req"), "{}{}", wrong.out, wrong.err);
    let specification = write("spec.lsts", process(2, &["req", "ack"], "", "1: 2,1; 2: 1,2;"));
    let refined = check(&format!("--specification {specification} -q --all-errors"));
    assert_eq!((refined.code, refined.out.as_str()), (1, "rej: holds\ndl-rej: violated\nll-rej: holds\n"));
    assert_eq!(check(&format!("--specification {system} -q")).code, 0);
    assert_eq!(check("--ltl [](req->!X(req)) -q").code, 0);
    let live = check("--ltl [](req-><>ack)");
    assert!(live.code == 1 && live.out.contains("deadlock"), "{}{}", live.out, live.err);
    let tester = stubborn(&format!("lts tester {specification}"));
    let made = write("made.lsts", tester.out);
    let again = check(&format!("--tester {made} -q --all-errors"));
    assert_eq!(again.out, refined.out);
    // Bad testers.
    let refused = |text: String, words: &str| {
        let file = write("bad.lsts", text);
        let run = check(&format!("--tester {file}"));
        assert!(run.code == 2 && run.err.contains(words), "{words}: {}{}", run.out, run.err);
    };
    refused(process(2, &["req"], "Rej: 2;", "1: 2,0; 2: 1,0;"), "loop of tau");
    refused(process(2, &["req"], "Dl_rej: 1;", "1: 2,0;"), "deadlock monitor");
    refused(process(2, &["req"], "", "1: 2,1;"), "rejects nothing");
    refused(process(2, &["other"], "Rej: 2;", "1: 2,1;"), "`other`");
    let run = check("--ltl [](req");
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    let run = check("--ltl []other");
    assert!(run.code == 2 && run.err.contains("`other`"), "{}{}", run.out, run.err);
    // Propositions, beside actions: what waits is answered, unless the system stops there.
    let waiting = write(
        "waiting.lsts",
        process(3, &["req", "ack"], "\"/waits\": 2; \"/dead\": 3;", "1: 2,1; 2: 1,2 3,0;"),
    );
    let satisfied = |formula: &str| stubborn_with(["lts", "check", &waiting, "--ltl", formula, "-q"]).code;
    assert_eq!(satisfied("[] (\"/waits\" -> <> (ack || \"/dead\"))"), 0);
    assert_eq!(satisfied("[] (\"/waits\" -> <> ack)"), 1);
    assert_eq!(satisfied("[] (ack -> \"/waits\")"), 0);
    assert_eq!(satisfied("[] ! \"/dead\""), 1);
    let run = stubborn(&format!("lts check {system}"));
    assert!(run.code == 2 && run.err.contains("nothing is rejected"), "{}{}", run.out, run.err);
    let run = check(&format!("--tester {good} --symmetry"));
    assert_eq!(run.code, 2);
    let run = stubborn(&format!("lts tester {specification} --max-states 1"));
    assert!(run.code == 2 && run.err.contains("more than 1 states"), "{}{}", run.out, run.err);
}

const SENDER: &str = "mtype { data, ack };
chan q = [1] of { mtype, bit }; chan r = [0] of { bit };
byte n;
active proctype S() { bit b; do :: q!data(b); r?b; b = 1 - b :: n < 2 -> n++ od }
active proctype R() { bit b; do :: q?data(b); r!b od }
";

#[test]
fn promela_models_are_processes_whose_events_the_user_chooses() {
    let here = directory("promela");
    let write = |name: &str, text: &str| {
        std::fs::write(here.join(name), text).unwrap();
        here.join(name).display().to_string()
    };
    let model = write("sender.pml", SENDER);
    let counts = stubborn(&format!("check {model} --reduction none --json --question deadlock")).json();
    let convert = |options: &str| {
        let run = stubborn(&format!("lts convert {model} {options}"));
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    let all = convert("--event q! --event q? --event r! --event n= --proposition two:n==2");
    assert!(all.contains(&format!("State_cnt = {}", counts["states"])), "{all}\n{counts}");
    for name in ["\"q!data,0\"", "\"q?data,1\"", "\"r!1\"", "\"n=2\"", "\"two\" :"] {
        assert!(all.contains(name), "{name}: {all}");
    }
    assert!(convert("").contains("Action_cnt = 0"));
    assert!(convert("--event n>1").contains("1 = \"n>1\""));
    // Messages alternate for ever, and counting is not seen.
    let specification = process(2, &["q!data,0", "q!data,1"], "", "1: 2,1; 2: 1,2;");
    let specification = write("spec.lsts", &specification);
    let check = |options: &str| stubborn(&format!("lts check {model} {options}"));
    let traces =
        write("traces.lsts", &process(3, &["q!data,0", "q!data,1"], "Rej: 3;", "1: 2,1 3,2; 2: 1,2 3,1;"));
    let holds = check(&format!("--event q! --tester {traces} -q"));
    assert_eq!((holds.code, holds.out.as_str()), (0, "rej: holds\n"), "{}", holds.err);
    let refines = check(&format!("--event q! --specification {specification} -q"));
    assert_eq!(refines.code, 0, "{}{}", refines.out, refines.err);
    // In rules, beside another process.
    write("env.lsts", &process(1, &["stop"], "", ""));
    let rules = write("r.ext", "1 = \"sender.pml\" 2 = \"env.lsts\" (1,\"q!data,0\") -> \"first\"");
    let run = stubborn(&format!("lts compose {rules} --event q!"));
    assert!(run.code == 0 && run.out.contains("states"), "{}{}", run.out, run.err);
    // Bad input.
    let bad = write("bad.pml", "active proctype P() { x = 1 }");
    assert_eq!(stubborn(&format!("lts info {bad}")).code, 2);
    let few = check("--event q! --max-model-states 3 --ltl []true");
    assert!(few.code == 2 && few.err.contains("--max-model-states"), "{}{}", few.out, few.err);
}
