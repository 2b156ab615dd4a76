//! State spaces for other tools.

use crate::common::stubborn;
use std::path::PathBuf;

/// A file in the directory for temporary files, gone with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("stubborn-graph-{}-{name}", std::process::id())))
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_graph_of_a_gallery_model_has_the_states_of_its_full_search() {
    let run = stubborn("graph peterson --size 2 --format aut");
    assert_eq!(run.code, 0, "{}", run.err);
    let full = stubborn("demo peterson --size 2 --reduction none --all-errors --json").json();
    let first = format!("des (0, {}, {})", full["transitions"], full["states"]);
    assert_eq!(run.out.lines().next(), Some(first.as_str()));
    let n_edges = run.out.lines().filter(|line| line.starts_with('(')).count();
    assert_eq!(n_edges as u64, full["transitions"].as_u64().unwrap());
}

#[test]
fn a_small_promela_model_is_written_as_it_is() {
    let model = Scratch::new("small.pml");
    std::fs::write(&model.0, "byte x; active proctype A() { x = N; printf(\"a\\\\b\\n\") }\n").unwrap();
    let aut = stubborn(&format!("graph {} -D N=2 --format aut", model.path()));
    let expected = "des (0, 3, 4)\n(0, \"A[0] x = N\", 1)\n(1, \"A[0] printf('a\\\\b\\n')\", 2)\n(2, \"A[0] -end-\", 3)\n";
    assert_eq!(aut.out, expected, "{}", aut.err);
    let dot = stubborn(&format!("graph {} -D N=2", model.path())).out;
    assert!(dot.starts_with("digraph \"") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("  0 -> 1 [label=\"A[0] x = N\"];\n"), "{dot}");
    assert!(dot.contains(r#"[label="A[0] printf(\"a\\\\b\\n\")"];"#), "{dot}");
    assert_eq!(dot.matches("shape=doublecircle").count(), 1, "{dot}");
    assert!(
        dot.lines().any(|line| line.starts_with("  3 [") && line.contains("shape=doublecircle")),
        "{dot}"
    );
}

#[test]
fn beyond_the_limit_what_was_found_is_written_and_the_exit_code_says_so() {
    let file = Scratch::new("cut.dot");
    let run = stubborn(&format!("graph peterson --size 3 --max-states 10 --output {}", file.path()));
    assert_eq!((run.code, run.out.as_str()), (3, ""), "{}", run.err);
    assert!(run.err.contains("10 states were written"), "{}", run.err);
    let dot = std::fs::read_to_string(&file.0).unwrap();
    assert!(dot.contains("// only the first 10 states"), "{dot}");
    assert_eq!(dot.matches("tooltip").count(), 10, "{dot}");
    let numbers = dot.lines().filter_map(|line| line.trim().split_once(" -> "));
    for (from, rest) in numbers {
        let to = rest.split(' ').next().unwrap();
        assert!(from.parse::<u32>().unwrap() < 10 && to.parse::<u32>().unwrap() < 10, "{from} -> {to}");
    }
    assert_eq!(stubborn("graph peterson --size 3").code, 3);
}

#[test]
fn what_cannot_be_written_or_read_is_bad_input() {
    for arguments in [
        "graph nobody",
        "graph nowhere.pml",
        "graph peterson --format png",
        "graph peterson --max-states 0",
        "graph peterson --size 2 --output /nowhere/at/all.dot",
    ] {
        let run = stubborn(arguments);
        assert_eq!(run.code, 2, "{arguments}: {}{}", run.out, run.err);
        assert!(run.err.contains("error"), "{arguments}: {}", run.err);
    }
}
