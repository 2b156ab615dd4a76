//! Promela models on the command line.

use crate::common::{Run, stubborn};
use std::path::{Path, PathBuf};

/// A directory for models, gone with the test.
struct Models(PathBuf);

impl Models {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("stubborn-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Checks a model with this text.
    fn check(&self, text: impl AsRef<[u8]>, flags: &str) -> Run {
        let file = self.write("model.pml", text);
        check(&file, flags)
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check(file: &Path, flags: &str) -> Run {
    stubborn(&format!("check {} {flags}", file.display()))
}

const COUNTER: &str = "
byte x, done;
active [2] proctype P() {
    byte t;
    t = x;
    x = t + 1;
    done++
}
active proctype Watch() { (done == 2) -> assert(x == 2) }
";

#[test]
fn a_model_that_runs_for_ever_is_called_so_without_a_run() {
    let text = "bit x; active proctype P() { do :: x = 1 - x od }";
    let models = Models::new("for-ever");
    let run = models.check(text, "");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("not always may-terminating; `--question may-terminate` shows why"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("run:"), "{}", run.out);
    let asked = models.check(text, "--question may-terminate");
    assert!(asked.code == 1 && asked.out.contains("run:"), "{}{}", asked.out, asked.err);
}

#[test]
fn a_lost_update_is_found_and_shown_line_by_line() {
    let models = Models::new("lost-update");
    let run = models.check(COUNTER, "--question safety");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for words in ["assertion violated", "P[0] line 5: t = x", "P[1] line 6: x = t", "x: 0 -> 1"] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
    let json = models.check(COUNTER, "--question safety --json").json();
    let step = &json["witness"]["steps"][0];
    assert!(step["process"].as_str().unwrap().starts_with("P["), "{step}");
    assert_eq!(step["line"], 5);
    assert_eq!((json["kind"].as_str(), json["rests_on"].as_str()), (Some("safety"), Some("replay")));
}

#[test]
fn a_witness_is_replayed_and_a_seed_repeats_a_run() {
    let models = Models::new("replay");
    let file = models.write("counter.pml", COUNTER);
    let json = check(&file, "--question safety --json").out;
    let witness = models.write("witness.json", json);
    let run = stubborn(&format!("replay {} {}", file.display(), witness.display()));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("replayed: violates safety"));
    let simulate = || stubborn(&format!("simulate {} --seed 4", file.display())).out;
    assert_eq!(simulate(), simulate());
}

#[test]
fn states_and_transitions_are_those_of_spin() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
    let table = std::fs::read_to_string(models.join("spin.csv")).unwrap();
    let mut n_compared = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (Ok(states), Ok(transitions)) = (fields[1].parse::<u64>(), fields[2].parse::<u64>()) else {
            continue;
        };
        if ["e18_hidden", "e29_div0", "s21_setprio"].contains(&fields[0]) {
            continue; // The front-end's tests say why.
        }
        let flags = "--all-errors --json --reduction none --question safety --question deadlock";
        let run = check(&models.join(format!("{}.pml", fields[0])), flags);
        let json = run.json();
        assert_eq!(
            (&json["states"], &json["transitions"]),
            (&states.into(), &transitions.into()),
            "{}",
            fields[0]
        );
        // Too many processes: SPIN stops there and counts it as an error; here it is a limit that was reached.
        let code = if fields[0] == "e35_runlimit" { 3 } else { i32::from(fields[3] != "0") };
        assert_eq!(run.code, code, "{}", fields[0]);
        n_compared += 1;
    }
    assert!(n_compared >= 110, "{n_compared}");
}

#[test]
fn macros_and_includes_come_from_the_command_line_and_the_directory() {
    let models = Models::new("include");
    models.write("part.h", "byte x = N;\n");
    let file = models.write("main.pml", "#include \"part.h\"\nactive proctype A() { assert(x == 3) }\n");
    assert_eq!(check(&file, "-D N=3 -q").code, 0);
    assert_eq!(check(&file, "-D N=4 -q").code, 1);
    let run = check(&file, "-D 3=N");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("-D NAME"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn includes_do_not_leave_the_directory() {
    let models = Models::new("escape");
    std::fs::create_dir_all(models.0.join("inner")).unwrap();
    models.write("secret.h", "byte x;\n");
    std::os::unix::fs::symlink("../secret.h", models.0.join("inner/link.h")).unwrap();
    for name in ["../secret.h", "/etc/hostname", "link.h"] {
        let file =
            models.write("inner/m.pml", format!("#include \"{name}\"\nactive proctype A() {{ skip }}\n"));
        let run = check(&file, "");
        assert_eq!(run.code, 2, "{name}: {}", run.out);
        assert!(run.err.contains("m.pml:1:"), "{name}: {}", run.err);
    }
}

/// Each with its message: code, place, and what to do.
#[test]
fn bad_models_are_explained() {
    let models = Models::new("bad");
    let deep =
        format!("active proctype A() {{ int x; x = {}1{} }}", "(".repeat(100_000), ")".repeat(100_000));
    let wide = "byte a[70000]; active proctype A() { a[1] = 1 }".to_owned();
    let recursive = "inline f() { f() } active proctype A() { f() }".to_owned();
    let bad: [(&str, String, &[&str]); 7] = [
        ("syntax", "active proctype A( { skip }".into(), &["error[", "model.pml:1:20"]),
        ("unknown name", "active proctype A() { y = 1 }".into(), &["error[", "`y`", "model.pml:1:23"]),
        ("embedded C", "active proctype A() { c_code { x = 1; } }".into(), &["P0107", "`c_code`", "help"]),
        ("too deep", deep, &["error[", "model.pml:1:"]),
        ("too large", wide, &["error["]),
        ("recursion", recursive, &["error["]),
        ("not text", "\u{0}\u{1}\u{fffd}%%%".into(), &["error["]),
    ];
    for (what, text, words) in bad {
        let run = models.check(&text, "");
        assert_eq!(run.code, 2, "{what}: {}{}", run.out, run.err);
        for word in words {
            assert!(run.err.contains(word), "{what}: `{word}` is not in {}", run.err);
        }
        assert!(!run.err.contains("panicked"), "{what}: {}", run.err);
    }
    let several = models.check("active proctype A() { y = 1; z = 2 }", "");
    assert!(several.err.contains("`y`") && several.err.contains("`z`"), "{}", several.err);
    assert_eq!(stubborn("check nowhere.pml").code, 2);
}

#[test]
fn what_goes_wrong_at_run_time_is_a_violation_with_a_run() {
    let models = Models::new("run-time");
    let wrong = [
        ("byte a[2]; byte i; active proctype A() { i = 2; a[i] = 1 }", "index 2"),
        ("int x; int y; active proctype A() { y = 0; x = 1 / y }", "division by zero"),
        ("active proctype A() { d_step { skip; false } }", "d_step blocks"),
        ("chan q; chan r = [1] of { byte }; active proctype A() { q!1 }", "this is no channel"),
        ("chan q = [1] of { byte, byte }; active proctype A() { q!1 }", "2 fields, not 1"),
    ];
    for (text, words) in wrong {
        let run = models.check(text, "--question safety");
        assert_eq!(run.code, 1, "{text}: {}{}", run.out, run.err);
        assert!(run.out.contains(words), "{text}: {}", run.out);
    }
    let run = models.check("chan q = [0] of { byte }; active proctype A() { q!1 }", "");
    assert_eq!(run.code, 1);
    assert!(run.out.contains("invalid end state: A[0] at line 1"), "{}", run.out);
}

#[test]
fn what_is_not_there_yet_is_refused_not_ignored() {
    let models = Models::new("not-yet");
    let run = models.check(COUNTER, "--symmetry");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no declared symmetry"), "{}", run.err);
}

#[test]
fn every_reduction_finds_what_the_full_search_finds() {
    let models = Models::new("reductions");
    let turns = |last: &str| {
        format!(
            "byte x, y; active proctype P() {{ do :: x = 1; x = 0 od }}
             active proctype Q() {{ do :: y = 1; y = 0 {last} od }}"
        )
    };
    // Without the condition against ignoring, a reduction may run P for ever and never look at Q.
    for reduction in
        ["none", "ample", "persistent-1", "persistent-2", "persistent-3", "closure", "scc", "deletion"]
    {
        let args = format!("--reduction {reduction} --question safety");
        assert_eq!(models.check(turns(""), &args).code, 0, "{reduction}");
        assert_eq!(models.check(turns("; assert(false)"), &args).code, 1, "{reduction}");
        // Arguments are split at spaces.
        let violated = models.check(turns(""), &format!("{args} --invariant !(x==1&&y==1)"));
        assert_eq!(violated.code, 1, "{reduction}: {}", violated.out);
    }
}
