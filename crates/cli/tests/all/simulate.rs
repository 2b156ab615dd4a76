//! `simulate`: step by step, and guided by a file.

use crate::common::{Files, Run, stubborn, stubborn_reading};

const MODEL: &str = "
byte x;
active proctype A() { x = 1; x = 2; assert(x != 3) }
active proctype B() { x = 3 }
";

fn interactive(input: impl AsRef<[u8]>) -> Run {
    let files = Files::new(&format!("interactive-{:?}", std::thread::current().id()));
    let model = files.write("model.pml", MODEL);
    stubborn_reading(&format!("simulate {model} --interactive"), input)
}

#[test]
fn the_user_chooses_step_by_step() {
    // B, then A twice and its end: nothing goes wrong.
    let run = interactive("1\n2\n2\nq\n");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    for words in [
        "     1  B[1] line 4: x = 3\n     2  A[0] line 3: x = 1\n1..2, r, u, s, h or q: ",
        "   1  B[1] line 4: x = 3  x: 0 -> 3",
        "   3  A[0] line 3: x = 2  x: 1 -> 2",
    ] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
}

#[test]
fn a_violation_is_said_where_it_is_chosen() {
    let run = interactive("2\n2\n1\nq\n");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert_eq!(
        run.out.matches("state 3 violates safety: assertion violated in A[0]").count(),
        2,
        "{}",
        run.out
    );
}

#[test]
fn steps_can_be_undone() {
    let run = interactive("2\n2\n1\nu\nu\nu\nu\ns\nq\n");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("back in state 0\n"), "{}", run.out);
    assert!(run.out.contains("this is the initial state\n"), "{}", run.out);
    assert!(run.out.contains("  x = 0\n  A[0] = line 3\n"), "{}", run.out);
}

#[test]
fn the_end_of_the_input_ends_the_run() {
    for input in ["", "2", "r\nr\nr"] {
        let run = interactive(input);
        assert!([0, 1].contains(&run.code), "{input:?}: {}{}", run.out, run.err);
        assert!(run.err.is_empty(), "{}", run.err);
    }
}

#[test]
fn chance_comes_to_the_end_of_every_run() {
    let run = interactive("r\n".repeat(10));
    assert!(run.out.contains("nothing can be done here"), "{}", run.out);
    assert!(run.out.contains("`r` is no choice here"), "{}", run.out);
}

#[test]
fn nonsense_is_answered_with_help() {
    let long = "7".repeat(100_000);
    let words = ["x", "0", "-1", "99999999999999999999999", "1 2", "\u{1b}[2J", "q q", "1.5", &long];
    for word in words {
        let run = interactive(format!("{word}\nq\n"));
        assert_eq!(run.code, 0, "{word}: {}{}", run.out, run.err);
        assert!(run.out.contains("is no choice here:\n  a number   make this step\n"), "{word}: {}", run.out);
        assert!(!run.out.contains('\u{1b}'));
    }
    assert_eq!(interactive([0xff, 0xfe, 0, b'\n']).code, 0);
}

#[test]
fn models_of_the_gallery_can_be_walked_through() {
    let run = stubborn_reading("simulate peterson --interactive", "1\nu\nr\ns\n");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("back in state 0"), "{}", run.out);
}

#[test]
fn a_saved_run_can_be_made_again_and_gone_on_from() {
    let files = Files::new("simulate-json");
    let model = files.write("model.pml", MODEL);
    let json = stubborn(&format!("check {model} --question safety --json"));
    let file = files.write("witness.json", &json.out);
    let run = stubborn(&format!("simulate {model} --trail {file}"));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("   3  x=3"), "{}", run.out);
    let more = stubborn_reading(&format!("simulate {model} --trail {file} --interactive"), "u\nu\n2\nq\n");
    assert!(more.out.contains("back in state 1\n"), "{}{}", more.out, more.err);
}

#[test]
fn a_trail_is_followed_as_far_as_it_is_one() {
    let files = Files::new("simulate-trail");
    let model = files.write("model.pml", MODEL);
    let trail = stubborn(&format!("check {model} --question safety --trail"));
    assert_eq!(trail.code, 1, "{}{}", trail.out, trail.err);
    assert!(trail.err.contains("replay it with: spin -t -p "), "{}", trail.err);
    // Two statements of A, B's only one (its end is the second of B), the assertion.
    let text = std::fs::read_to_string(files.path("model.pml.trail")).unwrap();
    assert_eq!(text, "1:0:0\n2:0:1\n3:1:4\n4:0:2\n");
    let run = stubborn(&format!("simulate {model} --trail {}", files.path("model.pml.trail")));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("state 3 violates safety: assertion violated"), "{}", run.out);
    let wrong = files.write("wrong.trail", "1:0:0\n2:0:0\n");
    let run = stubborn(&format!("simulate {model} --trail {wrong}"));
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    assert!(run.err.contains("line 2 of the trail cannot be followed"), "{}", run.err);
}

#[test]
fn what_is_no_run_is_refused() {
    let files = Files::new("simulate-bad");
    let model = files.write("model.pml", MODEL);
    for (text, words) in [
        ("garbage", "line 1: not `depth:process:statement`"),
        ("{\"results\": []}", "no result has a `witness`"),
        ("{", "not JSON"),
        ("1:99:0", "line 1 of the trail cannot be followed"),
        ("1:0:4000000000", "line 1 of the trail cannot be followed"),
        ("-7:1:1", "permuted"),
    ] {
        let file = files.write("bad", text);
        let run = stubborn(&format!("simulate {model} --trail {file}"));
        assert_eq!(run.code, 2, "{text}: {}{}", run.out, run.err);
        assert!(run.err.contains(words), "{text}: {}", run.err);
    }
    let file = files.write("spin.trail", "1:0:0\n");
    let run = stubborn(&format!("simulate peterson --trail {file}"));
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    let none = stubborn(&format!("simulate {model} --trail {}", files.path("not-there")));
    assert_eq!(none.code, 2, "{}{}", none.out, none.err);
    let both = stubborn(&format!("simulate {model} --interactive --seed 1"));
    assert_eq!(both.code, 2, "{}{}", both.out, both.err);
}

#[test]
fn without_a_counterexample_there_is_no_trail() {
    let files = Files::new("no-trail");
    let model = files.write("model.pml", "active proctype A() { skip }");
    let run = stubborn(&format!("check {model} --trail -q"));
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.err.contains("no trail is written"), "{}", run.err);
    assert!(!std::path::Path::new(&files.path("model.pml.trail")).exists());
    let model = files.write("model.pml", MODEL);
    let run = stubborn(&format!("check {model} --trail {}/no/such/directory/t", files.path("")));
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
}
