//! `stubborn lts compare`, `minimize` and `determinise` as a user meets them.

use crate::common::stubborn;
use std::path::{Path, PathBuf};

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lts_semantics").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// An .aut file of edges as "0 a 1".
fn aut(directory: &Path, name: &str, edges: &[&str]) -> String {
    let mut text = format!("des (0, {}, 12)\n", edges.len());
    for edge in edges {
        let words: Vec<&str> = edge.split(' ').collect();
        text += &format!("({}, \"{}\", {})\n", words[0], words[1], words[2]);
    }
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn internal_and_external_choice_have_equal_traces_only() {
    let at = directory("choice");
    let one = aut(&at, "one.aut", &["0 a 1", "1 b 2", "1 c 3"]);
    let two = aut(&at, "two.aut", &["0 a 1", "0 a 2", "1 b 3", "2 c 4"]);
    let run = stubborn(&format!("lts compare {one} {two}"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("is not equivalent to") && run.out.contains("after: a\n"), "{}", run.out);
    assert!(run.out.contains("two.aut can be stable and refuse {a, c}"), "{}", run.out);
    assert_eq!(stubborn(&format!("lts compare {one} {two} --preorder")).code, 0);
    assert_eq!(stubborn(&format!("lts compare {two} {one} --preorder")).code, 1);
    assert_eq!(stubborn(&format!("lts compare {one} {two} --under traces")).code, 0);
    let run = stubborn(&format!("lts compare {two} {one} --json"));
    let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&json["holds"], &json["exit_code"]), (&false.into(), &1.into()));
    let difference = &json["difference"];
    assert_eq!((&difference["side"], &difference["reason"]), (&"left".into(), &"refusal".into()));
    assert_eq!(difference["trace"][0]["action"], "a");
}

#[test]
fn equivalent_processes_have_byte_equal_normal_forms() {
    let at = directory("normal");
    let one = aut(&at, "one.aut", &["0 b 1", "0 i 2", "2 a 3"]);
    let two = aut(&at, "two.aut", &["0 i 1", "1 a 2", "0 i 3", "3 a 2", "3 b 2"]);
    let form = |file: &str| stubborn(&format!("lts minimize {file} --under cffd"));
    assert_eq!((form(&one).code, form(&one).out), (0, form(&two).out));
    assert_eq!(stubborn(&format!("lts compare {one} {two}")).code, 0);
    let strong = stubborn(&format!("lts compare {one} {two} --under strong"));
    assert!(strong.code == 1 && strong.out.contains("no trace, refusal or divergence"), "{}", strong.out);
    let out = at.join("out.lsts").display().to_string();
    let run = stubborn(&format!("lts determinise {two} -o {out}"));
    assert!(run.code == 0 && run.out.contains("-> 2 states, 2 transitions"), "{}{}", run.out, run.err);
    assert_eq!(stubborn(&format!("lts compare {two} {out} --under traces")).code, 0);
}

#[test]
fn the_client_of_a_ring_is_minimal() {
    let at = directory("ring");
    assert_eq!(stubborn(&format!("lts example {} --size 2", at.display())).code, 0);
    let (client, out) = (at.join("client.lsts"), at.join("small.lsts"));
    let run = stubborn(&format!("lts minimize {} -o {}", client.display(), out.display()));
    assert!(run.out.contains("6 states, 6 transitions -> 6 states, 6 transitions"), "{}{}", run.out, run.err);
    for under in ["cffd", "branching", "ndfd"] {
        let run = stubborn(&format!("lts compare {} {} --under {under}", client.display(), out.display()));
        assert_eq!(run.code, 0, "{}", run.out);
    }
}

#[test]
fn bad_input_has_its_message_and_exit_code() {
    let at = directory("bad");
    let one = aut(&at, "one.aut", &["0 a 1"]);
    let other = aut(&at, "other.aut", &["0 b 1"]);
    let run = stubborn(&format!("lts compare {one} {other}"));
    assert!(run.code == 2 && run.err.contains("no action in common"), "{}", run.err);
    assert!(run.err.contains("one.aut has \"a\"") && run.err.contains("other.aut has \"b\""), "{}", run.err);
    let both = aut(&at, "both.aut", &["0 a 1", "0 b 1"]);
    for relation in ["", "--preorder"] {
        let run = stubborn(&format!("lts compare {one} {both} {relation}"));
        let message = "the alphabets differ: ";
        assert!(run.code == 1 && run.out.contains(message), "{}{}", run.out, run.err);
        assert!(run.out.contains("both.aut has the action \"b\""), "{}", run.out);
    }
    let run = stubborn(&format!("lts compare {one} {}", at.join("none.aut").display()));
    assert!(run.code == 2 && run.err.contains("none.aut"), "{}", run.err);
    let run = stubborn(&format!("lts compare {one} {one} --under branching --preorder"));
    assert!(run.code == 2 && run.err.contains("branching has no preorder"), "{}", run.err);
    // Whether the tenth letter from the end was a: a set for each word of ten letters.
    let mut edges = vec!["0 a 0".to_owned(), "0 b 0".to_owned(), "0 a 1".to_owned()];
    (1..10).for_each(|i| edges.extend(["a", "b"].map(|letter| format!("{i} {letter} {}", i + 1))));
    let exploding = aut(&at, "explode.aut", &edges.iter().map(String::as_str).collect::<Vec<_>>());
    for command in ["minimize", "determinise"] {
        let run = stubborn(&format!("lts {command} {exploding} --max-states 1000"));
        assert!(run.code == 3 && run.err.contains("more than 1000 states"), "{}", run.err);
    }
    let two = aut(&at, "two.aut", &["0 a 0", "0 b 0"]);
    let run = stubborn(&format!("lts compare {exploding} {two} --max-states 1000 --under traces"));
    assert!(run.code == 3 && run.err.contains("inconclusive"), "{} {}", run.code, run.err);
}

#[test]
fn reduced_compositions_are_small_and_the_same() {
    let at = directory("reduced");
    let path = |name: &str| at.join(name).display().to_string();
    let example = format!("lts example {} --size 3 --visible --hide-token", at.display());
    assert_eq!(stubborn(&example).code, 0);
    let run = stubborn(&format!("lts compose {} -o {}", path("ring.ext"), path("all.lsts")));
    assert!(run.out.contains("1,320 states, 4,164 transitions"), "{}", run.out);
    for (options, under) in [
        ("--preserve cffd", "cffd"),
        ("--reduction deletion", "cffd"),
        ("--preserve failures --reduction scc+deletion", "failures"),
        ("--preserve traces", "traces"),
    ] {
        let run = stubborn(&format!("lts compose {} {options} -o {}", path("ring.ext"), path("small.lsts")));
        assert!(run.out.contains("500 states, 996 transitions, 3 terminal states"), "{}{}", run.out, run.err);
        let files = format!("{} {}", path("all.lsts"), path("small.lsts"));
        assert_eq!(stubborn(&format!("lts compare {files} --under {under}")).code, 0, "{options}");
    }
    let run = stubborn(&format!("lts compose {} --reduction none --preserve cffd", path("ring.ext")));
    assert!(run.out.contains("1,320 states"), "{}", run.out);
    let run = stubborn(&format!("lts compose {} --reduction ample", path("ring.ext")));
    assert!(run.code == 2 && run.err.contains("compositions know none, closure, scc"), "{}", run.err);
}

#[test]
fn a_round_robin_ring_is_written_and_reduced() {
    let at = directory("round_robin");
    let example = format!("lts example {} --ring round-robin --size 8 --visible", at.display());
    assert_eq!(stubborn(&example).code, 0);
    let rules = at.join("ring.ext").display().to_string();
    let run = stubborn(&format!("lts compose {rules}"));
    assert!(run.out.contains("4,608 states"), "{}", run.out);
    let run = stubborn(&format!("lts compose {rules} --preserve cffd"));
    assert!(run.out.contains("56 states, 80 transitions"), "{}", run.out);
    let run = stubborn(&format!("lts example {} --ring round-robin --fault 1", at.display()));
    assert!(run.code == 2 && run.err.contains("faults"), "{}", run.err);
}

#[test]
fn a_ring_is_built_step_by_step() {
    let at = directory("build");
    let path = |name: &str| at.join(name).display().to_string();
    let example = format!("lts example {} --size 4 --visible --hide-token", at.display());
    assert_eq!(stubborn(&example).code, 0);
    let run = stubborn(&format!("lts build {} -o {}", path("ring.build"), path("view.lsts")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("peak: 258 states, 735 transitions, in line 6"), "{}", run.out);
    let result = "result: 4 states, 5 transitions; equivalent to the whole under cffd";
    assert!(run.out.contains(result), "{}", run.out);
    let whole = format!("lts compose {} --preserve cffd -o {}", path("ring.ext"), path("all.lsts"));
    assert_eq!(stubborn(&whole).code, 0);
    let run = stubborn(&format!("lts compare {} {}", path("all.lsts"), path("view.lsts")));
    assert_eq!(run.code, 0, "{}", run.out);
    let run = stubborn(&format!("lts build {} --json", path("ring.build")));
    let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&json["peak"]["states"], &json["states"]), (&258.into(), &4.into()));
    assert_eq!(json["steps"].as_array().map(Vec::len), Some(14));
    std::fs::write(at.join("wrong.build"), "x = minimize\n  \"client.lsts\" | y\n").unwrap();
    let run = stubborn(&format!("lts build {}", path("wrong.build")));
    assert!(run.code == 2 && run.err.contains("wrong.build:2:19"), "{}", run.err);
    let run = stubborn(&format!("lts build {} --max-states 10", path("ring.build")));
    assert!(run.code == 3 && run.err.contains("line 2: inconclusive"), "{}", run.err);
    std::fs::write(at.join("outside.build"), "x = \"../../client.lsts\"").unwrap();
    let run = stubborn(&format!("lts build {}", path("outside.build")));
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn tau_is_compressed_and_initial_stability_kept_if_asked_for() {
    let at = directory("tau");
    let chain = aut(&at, "chain.aut", &["0 i 1", "1 i 2", "2 a 3", "3 i 4", "4 i 3", "4 b 5", "5 i 6"]);
    let out = at.join("out.aut").display().to_string();
    let sizes = [
        ("tau", "-> 3 states, 3 transitions"),
        ("tau --initial-stability", "-> 4 states, 4 transitions"),
        ("branching", "-> 3 states, 3 transitions"),
        ("branching --initial-stability", "-> 4 states, 4 transitions"),
        ("cffd --initial-stability", "-> 4 states, 4 transitions"),
        ("strong --initial-stability", "-> 7 states, 7 transitions"),
        ("reachable", "-> 7 states, 7 transitions"),
    ];
    for (under, expected) in sizes {
        let run = stubborn(&format!("lts minimize {chain} --under {under} -o {out}"));
        assert!(run.code == 0 && run.out.contains(expected), "{under}: {}{}", run.out, run.err);
        assert_eq!(stubborn(&format!("lts compare {chain} {out}")).code, 0, "{under}");
        let kept = stubborn(&format!("lts compare {chain} {out} --initial-stability")).code == 0;
        assert_eq!(kept, under.contains("stab") || under == "reachable", "{under}");
    }
}
