//! Promela models seen from outside: with stubborn sets they are the same as without, and they are compared with
//! specifications in one command.
//!
//! The program is asked as a user asks it. A random model is written as a process in full and minimised with stubborn
//! sets; the two must be CFFD-equivalent.

use crate::common::{Files, stubborn_with};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::promela::Model;

/// A statement of a process with a local `l`.
fn statement(rng: &mut Rng, depth: usize) -> String {
    let simple = [
        "x = (x + 1) % 3",
        "y = 1 - y",
        "x = l",
        "l = (l + 1) % 2",
        "l = x",
        "z++",
        "skip",
        "q!l",
        "q!1",
        "q!!l",
        "q?l",
        "q?_",
        "q?1",
        "q?<l>",
        "r!l",
        "r?l",
        "s!1",
        "s?l",
        "(x == 1)",
        "(y == 0)",
        "(len(q) > 0)",
        "empty(r)",
    ];
    if depth == 0 || rng.chance(3, 4) {
        return (*rng.pick(&simple)).to_owned();
    }
    let option = |rng: &mut Rng| {
        let n = rng.between(1, 2);
        (0..n).map(|_| statement(rng, depth - 1)).collect::<Vec<_>>().join("; ")
    };
    let (one, two) = (option(rng), option(rng));
    if rng.chance(1, 2) {
        format!("if :: {one} :: {two} fi")
    } else {
        format!("do :: {one} :: {two}; break od")
    }
}

/// A model without atomic sequences: two globals that are looked at and one that is not, buffers and a rendezvous.
fn plain_model(rng: &mut Rng) -> String {
    let capacity = rng.between(1, 2);
    let mut text = format!(
        "byte x; bit y; bit z; chan q = [{capacity}] of {{ byte }}; chan r = [1] of {{ byte }}; chan s = [0] of {{ byte }};\n"
    );
    for i in 0..rng.between(2, 3) {
        let n = rng.between(2, 5);
        let body: Vec<String> = (0..n).map(|_| statement(rng, 2)).collect();
        let body = body.join("; ");
        let body = if rng.chance(1, 3) { format!("do :: {body} od") } else { body };
        text += &format!("active proctype P{i}() {{ byte l; {body} }}\n");
    }
    text
}

/// A model of any kind, whose globals are called otherwise.
fn any_model(rng: &mut Rng) -> String {
    Model::random(rng).to_string()
}

/// How a model is drawn.
type Draw = fn(&mut Rng) -> String;

#[test]
fn models_with_stubborn_sets_are_the_same_from_outside() {
    const TEST: &str = "models_with_stubborn_sets_are_the_same_from_outside";
    let files = Files::new("lts_models");
    let (full, small) = (files.path("full.lsts"), files.path("small.lsts"));
    let plain = ["x=", "q!", "q?", "r!", "r?", "x == 1"];
    let any = ["g0=", "g1 == 1", "g0 == 0", "g1="];
    let draws: [(Draw, &[&str], usize, f64); 2] =
        [(plain_model, &plain, 70, 0.2), (any_model, &any, 30, 0.0)];
    for (draw, events, n, min_share) in draws {
        let mut tally = Tally::new();
        for seed in seeds(n) {
            let rng = &mut Rng::new(seed);
            let text = draw(rng);
            let model = files.write("model.pml", text.clone());
            let n_events = rng.between(1, 2);
            let seen: Vec<&str> = rng.sample(n_events, events.len()).into_iter().map(|i| events[i]).collect();
            let mut options: Vec<&str> = seen.iter().flat_map(|event| ["--event", event]).collect();
            if events.contains(&"x=") && rng.chance(1, 3) {
                options.extend(["--proposition", "p:y == 1"]);
            }
            options.extend(["--max-model-states", "3000"]);
            let run = |words: &[&str]| stubborn_with(words.iter().chain(&options).copied());
            let whole = run(&["lts", "convert", &model, "-o", &full]);
            if whole.code != 0 {
                // Too large, or refused.
                continue;
            }
            let complain = |what: &str, out: &str| {
                fail("lts_models", TEST, seed, format!("{what}: {seen:?} {options:?}\n{text}\n{out}"))
            };
            let reduced = run(&["lts", "minimize", &model, "-o", &small]);
            if reduced.code != 0 {
                complain("it cannot be minimised", &reduced.err);
            }
            let same = stubborn_with(["lts", "compare", &full, &small]);
            if same.code != 0 {
                complain("it is not the same", &same.out);
            }
            let written = std::fs::read_to_string(&full).unwrap();
            let count = |text: &str| text.split_whitespace().next()?.replace(',', "").parse().ok();
            let n_states = written.split("State_cnt = ").nth(1).and_then(count).unwrap();
            tally.count(n_states, count(&reduced.out).unwrap());
        }
        tally.assert_not_degenerate(5, min_share);
    }
}

const BUFFERS: &str = "
chan in = [1] of { bit }; chan mid = [1] of { bit }; chan out = [1] of { bit };
active proctype source() { do :: in!0 :: in!1 od }
active proctype first() { bit b; do :: in?b; mid!b od }
active proctype second() { bit b; do :: mid?b; out!b od }
active proctype sink() { do :: out?_ od }
";

#[test]
fn a_protocol_is_compared_with_its_specification_in_one_command() {
    let files = Files::new("lts_specification");
    let model = files.write("buffers.pml", BUFFERS);
    let spec = |edges: &[(u32, &str, u32)]| {
        let mut text = format!("des (0, {}, 20)\n", edges.len());
        edges.iter().for_each(|(from, name, to)| text += &format!("({from}, \"{name}\", {to})\n"));
        text
    };
    // Seen from the sink alone: zeros and ones for ever, never an end.
    let right = files.write("right.aut", spec(&[(0, "i", 1), (0, "i", 2), (1, "out!0", 0), (2, "out!1", 0)]));
    let compare = |words: &[&str]| stubborn_with(["lts", "compare"].iter().chain(words).copied());
    let run = compare(&[&model, &right, "--event", "out!"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    for reduction in ["none", "closure", "scc", "deletion"] {
        let words = [&model, &right, "--event", "out!", "--model-reduction", reduction];
        assert_eq!(compare(&words).code, 0, "{reduction}");
    }
    // An action that only the specification knows is one that the model never does.
    let wrong = files.write("wrong.aut", spec(&[(0, "out!0", 0), (0, "out!1", 0), (0, "out!2", 0)]));
    let run = compare(&[&model, &wrong, "--event", "out!"]);
    assert!(run.code == 1 && !run.out.contains("has the action"), "{}", run.out);
    assert_eq!(compare(&[&model, &wrong, "--event", "out!", "--under", "traces", "--preorder"]).code, 0);
    assert_eq!(compare(&[&wrong, &model, "--event", "out!", "--under", "traces", "--preorder"]).code, 1);
    let run = stubborn_with(["lts", "minimize", &model, "--event", "out!", "-o", &files.path("view.lsts")]);
    assert!(run.code == 0 && run.out.contains("-> 3 states"), "{}", run.out);
}
