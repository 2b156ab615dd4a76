//! `stubborn lts` as a user meets it.

mod common;

use common::stubborn;
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
