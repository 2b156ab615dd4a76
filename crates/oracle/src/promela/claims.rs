//! Random never claims: small nondeterministic automata over propositions.
//!
//! Most of them notice stuttering, and many accept by a finite run: they end, or an assertion of them fails.

use crate::Rng;

/// A claim with this name over these conditions.
pub(super) fn random_claim(rng: &mut Rng, name: &str, propositions: &[String]) -> String {
    let n = rng.between(1, 4);
    let is_accepting: Vec<bool> = (0..n).map(|_| rng.chance(1, 3)).collect();
    let label = |i: usize| if is_accepting[i] { format!("accept_S{i}") } else { format!("S{i}") };
    let mut text = format!("never {name} {{\n");
    for i in 0..n {
        text += &format!("{}:\n    if\n", label(i));
        for _ in 0..rng.between(1, 3) {
            let target = if rng.chance(1, 12) { "over".to_owned() } else { label(rng.below(n)) };
            let condition = condition(rng, propositions);
            text += &match rng.below(12) {
                0 => format!("    :: atomic {{ {condition} -> assert(!{condition}) }}; goto {target}\n"),
                1 => format!("    :: assert({condition}); goto {target}\n"),
                2 => format!(
                    "    :: atomic {{ {condition} -> {} }}; goto {target}\n",
                    self::condition(rng, propositions)
                ),
                _ => format!("    :: {condition} -> goto {target}\n"),
            };
        }
        if rng.chance(1, 6) {
            text += &format!("    :: else -> goto {}\n", label(rng.below(n)));
        }
        text += "    fi;\n";
    }
    text + "over: skip\n}\n"
}

fn condition(rng: &mut Rng, propositions: &[String]) -> String {
    let literal = |rng: &mut Rng| {
        let sign = if rng.chance(1, 2) { "!" } else { "" };
        format!("{sign}({})", rng.pick(propositions))
    };
    match rng.below(6) {
        0 => "(true)".to_owned(),
        1 => format!("({} && {})", literal(rng), literal(rng)),
        2 => format!("({} || {})", literal(rng), literal(rng)),
        _ => format!("({})", literal(rng)),
    }
}
