//! Rules: every construct, wrong ones with their messages, the default rules, and compositions by definition.

use std::collections::BTreeSet;
use stubborn_explore::{Limits, Unwatched};
use stubborn_lts::{
    Component, Composition, CompositionJob, Files, Lsts, LstsBuilder, Mark, MemoryFiles, Mover, NoComponent,
    Plan, ReadOptions, Refusal, Renaming, TAU, Tuple, default_plan, initial, read_lsts, read_renaming,
    read_rules, read_visible, successors, unfold, with_composition,
};
use stubborn_system::{Batch, System, WordVector};

/// A process in short: `initial`, edges as (source, action, target), and propositions, all from zero.
fn process(n: u64, edges: &[(u32, &str, u32)], propositions: &[(&str, &[u32])]) -> Lsts {
    let mut builder = LstsBuilder::new(n).unwrap();
    for &(source, action, target) in edges {
        let action = if action.is_empty() { TAU } else { builder.action(action) };
        builder.add_transition(source, action, target);
    }
    for (name, states) in propositions {
        builder.add_proposition(Mark::Named((*name).into()), states.iter().copied());
    }
    builder.build().unwrap()
}

fn text_of(lsts: &Lsts) -> Vec<u8> {
    let mut out = Vec::new();
    stubborn_lts::write_lsts(lsts, &mut out).unwrap();
    out
}

fn files(rules: &str) -> MemoryFiles {
    let sender = process(2, &[(0, "send<1>", 1), (0, "send<2>", 1), (1, "", 0)], &[("/idle", &[0])]);
    let buffer = process(
        3,
        &[(0, "put<1>", 1), (0, "put<2>", 2), (1, "get<1>", 0), (2, "get<2>", 0), (0, "reset", 0)],
        &[("full", &[1, 2]), ("/two", &[2])],
    );
    MemoryFiles(vec![
        ("r.ext".into(), rules.as_bytes().to_vec()),
        ("sender.lsts".into(), text_of(&sender)),
        ("sub/buffer.lsts".into(), text_of(&buffer)),
        ("bad.lsts".into(), b"Begin Lsts\nBegin Colours".to_vec()),
        ("more".into(), b"(2,\"reset\") -> 0 include_file \"evenmore\"".to_vec()),
        ("evenmore".into(), b"include_file \"more\"".to_vec()),
    ])
}

fn read(rules: &str, lenient: bool) -> Result<Plan, Box<Refusal>> {
    let files = files(rules);
    let options = ReadOptions { lenient };
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    read_rules("r.ext", rules.as_bytes().to_vec(), &files, &mut load, options)
}

const COMPONENTS: &str = "1 = <\"s.\"> \"sender.lsts\"\n2 = \"sub/buffer.lsts\"\n";

fn shown(plan: &Plan) -> Vec<String> {
    let part = |&(component, action): &(usize, u32)| {
        let component = &plan.components()[component];
        format!("{}.{}", component.number, component.lsts.action_name(action))
    };
    let rule = |rule: &stubborn_lts::Rule| {
        let parts: Vec<String> = rule.parts.iter().map(part).collect();
        format!("{} -> {}", parts.join(" "), plan.action_name(rule.result))
    };
    plan.rules().iter().map(rule).collect()
}

#[test]
fn wild_cards_aliases_and_numbers_make_rules() {
    let text = format!(
        "{COMPONENTS} GET = \"get\" open = \"<\"
         (1,\"send<$1>\") (2,\"put<$1>\") -> \"move<$1>\"
         (2, GET open \"$2>\") -> \"out<$2>\"
         (2,5) -> 0"
    );
    let plan = read(&text, false).unwrap();
    let expected = [
        "1.send<1> 2.put<1> -> move<1>",
        "1.send<2> 2.put<2> -> move<2>",
        "2.get<1> -> out<1>",
        "2.get<2> -> out<2>",
        "2.reset -> tau",
    ];
    assert_eq!(shown(&plan), expected);
    assert_eq!(plan.alphabet(), ["move<1>", "move<2>", "out<1>", "out<2>"]);
    let lsts = unfold(&plan, Limits::default(), true, &mut Unwatched).unwrap().lsts;
    // The sender is busy or idle, the buffer empty or full in two ways.
    assert_eq!(lsts.n_states(), 6);
    let names: Vec<_> = lsts.propositions().iter().map(|p| p.mark.name().unwrap()).collect();
    assert_eq!(names, ["/s.idle", "/two"]);
    assert_eq!(lsts.state_name(0), Some("1 1"));
}

#[test]
fn proposition_rules_are_boolean_expressions_and_hiding_hides() {
    let text = format!(
        "{COMPONENTS} (1,\"send<1>\") (2,\"put<1>\") -> \"a\" (2,\"get<1>\") -> \"b\"
         Begin State_prop_rules
           hide \"/idle\", \"/x\";
           2.\"full\" & !(1.\"/idle\" | false) -> \"both\";
           !true | 2.\"full\" -> \"both\";
           2.\"/two\" -> rej; 1.\"/idle\" & 2.\"full\" -> ll_rej; 2.\"full\" -> inf_rej; true -> dl_rej;
         End State_prop_rules"
    );
    let plan = read(&text, false).unwrap();
    let lsts = unfold(&plan, Limits::default(), false, &mut Unwatched).unwrap().lsts;
    let names: Vec<_> = lsts.propositions().iter().map(|p| p.mark.name().unwrap()).collect();
    assert_eq!(names, ["both", "/two"]);
    assert_eq!(lsts.propositions()[0].states.count_ones(..), 2);
    let exprs: Vec<String> = plan.propositions().iter().map(|rule| plan.show(&rule.expr)).collect();
    assert_eq!(exprs[0], "(2.\"full\" & !(1.\"/idle\" | false))");
    // Two rules for one result are a disjunction, and rejections may be about any components.
    assert_eq!(exprs.len(), 7);
}

#[test]
fn wrong_rules_have_their_messages() {
    let code = |rules: &str| {
        let refusal = read(&format!("{COMPONENTS}{rules}"), false).unwrap_err();
        (refusal.diagnostic.code, refusal.place())
    };
    assert_eq!(code("(1,\"go\") -> 0"), ("T0307", (3, 4)));
    assert_eq!(code("(1,9) -> 0"), ("T0307", (3, 4)));
    assert_eq!(code("(1,0) -> 0"), ("T0306", (3, 4)));
    assert_eq!(code("(3,\"a\") -> 0"), ("T0305", (3, 2)));
    assert_eq!(code("(1,\"send<1>\") (1,\"send<2>\") -> 0"), ("T0313", (3, 1)));
    assert_eq!(code("(1,\"send<1>\") -> 7"), ("T0308", (3, 18)));
    assert_eq!(code("(1,\"send<$1>\") -> \"<$2>\""), ("T0309", (3, 19)));
    assert_eq!(code("(1,NONE) -> 0"), ("T0311", (3, 4)));
    assert_eq!(code("(1,\"send<1>\" -> 0"), ("T0001", (3, 14)));
    assert_eq!(code("Begin State_prop_rules 1.\"p\" -> rej; End State_prop_rules"), ("T0315", (3, 26)));
    assert_eq!(code("Begin State_prop_rules 9.\"p\" -> rej; End State_prop_rules"), ("T0305", (3, 24)));
    assert_eq!(code("Begin State_prop_rules true -> fail; End State_prop_rules"), ("T0001", (3, 32)));
    let deep = format!("Begin State_prop_rules {} -> rej;", "(".repeat(100_000));
    assert_eq!(code(&deep).0, "T0314");
    assert_eq!(code("include_file \"more\"").0, "T0005");
    let whole = |text: &str| read(text, false).unwrap_err();
    assert_eq!(whole("1 = \"none.lsts\"").diagnostic.code, "T0004");
    assert_eq!(whole("1 = \"../x.lsts\"").diagnostic.code, "T0004");
    assert_eq!(whole("1 = \"sender.lsts\" 1 = \"sender.lsts\"").diagnostic.code, "T0303");
    assert_eq!(whole("").diagnostic.code, "T0301");
    let inside = whole("1 = \"bad.lsts\"");
    assert!(inside.render().contains("bad.lsts:2:7"), "{inside}");
    assert_eq!(shown(&read(&format!("{COMPONENTS}(1,\"go\") -> 0"), true).unwrap()).len(), 0);
    let numeric = |rules: &str| {
        let text = format!(
            "Parallel_composition_rules_file Header Action_cnt = 1 End_header Action_names 1 = \"a\" End_action_names
             Parcomponents {COMPONENTS} End_parcomponents {rules} End_parallel_composition_rules"
        );
        read(&text, false).map(|plan| shown(&plan)).map_err(|refusal| refusal.diagnostic.code)
    };
    assert_eq!(numeric("Rules Amount = 1 (1,1)(2,1) -> 1 End_rules").unwrap(), ["1.send<1> 2.put<1> -> a"]);
    assert_eq!(numeric("Rules Amount = 2 (1,1)(2,1) -> 1 End_rules"), Err("T0302"));
    assert_eq!(numeric("Rules Amount = 1 (1,1)(2,9) -> 1 End_rules"), Err("T0307"));
    assert_eq!(numeric("Rules Amount = 1 (1,1)(2,1) -> 2 End_rules"), Err("T0307"));
    assert_eq!(numeric("Colours End_colours"), Err("T0102"));
}

/// Any byte of good rules changed, and any cut: no panic.
#[test]
fn no_rules_panic() {
    let extended = format!(
        "{COMPONENTS} A = \"get<\" (1,\"send<$1>\") (2,\"put<$1>\") -> \"move<$1>\" (2,A\"1>\") -> 0
         Begin State_prop_rules hide \"/idle\"; 2.\"full\" & !1.\"/idle\" -> rej; End State_prop_rules"
    );
    let numeric = format!(
        "Parallel_composition_rules_file Header Action_cnt = 1 End_header Action_names 1 = \"a\" End_action_names
         Parcomponents {COMPONENTS} End_parcomponents Rules Amount = 1 (1,1)(2,1) -> 1 End_rules
         End_parallel_composition_rules"
    );
    for good in [extended, numeric] {
        assert!(read(&good, false).is_ok());
        for (i, lenient) in (0..good.len()).flat_map(|i| [(i, false), (i, true)]) {
            let cut = good[..i].to_owned();
            let _ = read(&cut, lenient);
            for byte in ['0', '"', '(', '<', '>', ';', '$', '-', '#'] {
                let mut changed = good.clone();
                changed.replace_range(i..=i, &byte.to_string());
                if let Err(refusal) = read(&changed, lenient) {
                    assert!(!refusal.render().is_empty());
                }
            }
        }
    }
}

#[test]
fn actions_of_one_name_happen_together_by_default() {
    let a = process(1, &[(0, "x", 0), (0, "y", 0)], &[]);
    let b = process(1, &[(0, "y", 0), (0, "z", 0)], &[]);
    let components = || {
        let component = |(i, lsts): (u64, &Lsts)| Component {
            number: i,
            prefix: String::new(),
            name: format!("{i}"),
            lsts: lsts.clone().into(),
        };
        [(1, &a), (2, &b)].map(component).to_vec()
    };
    let options = ReadOptions::default();
    let none = MemoryFiles::default();
    assert_eq!(
        shown(&default_plan(components(), &Renaming::default()).0),
        ["1.x -> x", "1.y 2.y -> y", "2.z -> z"]
    );
    let renamed = read_renaming("r", b"\"x\"; \"y\" \"y1\" \"y2\"; \"w\";".to_vec(), &none, options).unwrap();
    let (plan, unknown) = default_plan(components(), &Renaming { renamed, visible: None });
    assert_eq!(shown(&plan), ["1.x -> tau", "1.y 2.y -> y1", "1.y 2.y -> y2", "2.z -> z"]);
    assert_eq!(unknown, ["w"]);
    let visible = Some(read_visible("v", b"\"y\" \"q\"".to_vec(), &none, options).unwrap());
    let (plan, unknown) = default_plan(components(), &Renaming { visible, ..Renaming::default() });
    assert_eq!(shown(&plan), ["1.x -> tau", "1.y 2.y -> y", "2.z -> tau"]);
    assert_eq!(unknown, ["q"]);
    assert!(read_visible("v", b"y".to_vec(), &none, options).is_err());
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Up to `n` components of a few states, nondeterministic, with rules for up to four of them.
fn random_plan(seed: u64, n: usize, states: usize) -> Plan {
    let mut random = Random(seed);
    let mut plan = Plan::new();
    let names = ["", "a", "b", "c"];
    for number in 0..1 + random.below(n) {
        let n_states = 1 + random.below(states);
        let mut builder = LstsBuilder::new(n_states as u64).unwrap();
        names[1..].iter().for_each(|name| {
            builder.action(name);
        });
        for _ in 0..n_states + random.below(3 * n_states) {
            let (s, a, t) = (random.below(n_states), random.below(names.len()), random.below(n_states));
            builder.add_transition(s as u32, a as u32, t as u32);
        }
        builder.set_initial(random.below(n_states) as u32);
        if random.below(4) == 0 {
            builder.add_proposition(Mark::Named("%cut".into()), [random.below(n_states) as u32]);
        }
        let (name, lsts) = (format!("{number}"), builder.build().unwrap().into());
        plan.add_component(Component { number: number as u64, prefix: String::new(), name, lsts });
    }
    let n = plan.components().len();
    for _ in 0..2 + random.below(8) {
        let mut parts: Vec<(usize, u32)> = Vec::new();
        for _ in 0..1 + random.below(4) {
            let component = random.below(n);
            if parts.iter().all(|part| part.0 != component) {
                parts.push((component, 1 + random.below(3) as u32));
            }
        }
        let result = plan.result(["x", "y"][random.below(2)]);
        plan.add_rule(parts, if random.below(3) == 0 { TAU } else { result }).unwrap();
    }
    plan.finish();
    plan
}

/// Compares the successors of every reachable state with the definition.
struct Compare<'a>(&'a Plan);

impl<S: WordVector + ?Sized> CompositionJob<S> for Compare<'_> {
    type Output = usize;

    fn run(self, composition: &Composition<'_, S>) -> usize {
        let plan = self.0;
        let n = plan.components().len();
        let tuple = |state: &S| (0..n).map(|i| composition.local(state, i)).collect::<Tuple>();
        let mut waiting = Batch::new();
        composition.initial(&mut waiting).unwrap();
        assert_eq!(tuple(waiting.state(0)), initial(plan));
        let mut seen: BTreeSet<Tuple> = BTreeSet::from([initial(plan)]);
        let mut next = 0;
        while next < waiting.len() && next < 300 {
            let mut out = Batch::new();
            composition.successors(waiting.state(next), &mut out).unwrap();
            let ids: Vec<u32> = (0..out.len()).map(|i| out.via(i).0).collect();
            assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "highest first: {ids:?}");
            let mut found = Vec::new();
            for i in 0..out.len() {
                let (t, to) = (out.via(i), tuple(out.state(i)));
                let who: Vec<usize> = composition.participants(t).collect();
                let mover = composition.rule(t).map_or(Mover::Tau(who[0]), Mover::Rule);
                found.push((mover, composition.action(t), to.clone()));
                let mut fired = Batch::new();
                assert!(composition.fire(waiting.state(next), t, &mut fired).unwrap());
                assert_eq!(tuple(fired.state(0)), to);
                if seen.insert(to) {
                    waiting.push(t, out.state(i));
                }
            }
            let mut all = Batch::new();
            for t in (0..composition.n_transitions()).rev() {
                composition.fire(waiting.state(next), t.into(), &mut all).unwrap();
            }
            assert_eq!((0..all.len()).map(|i| all.via(i).0).collect::<Vec<_>>(), ids);
            let mut expected = successors(plan, &tuple(waiting.state(next)));
            expected.sort();
            found.sort();
            assert_eq!(found, expected);
            next += 1;
        }
        next
    }
}

#[test]
fn compositions_are_what_the_definition_says() {
    let mut n_states = 0;
    for seed in 0..4_000 {
        let plan = random_plan(seed, 4, 4);
        n_states += with_composition(&plan, Compare(&plan)).unwrap();
    }
    assert!(n_states > 10_000, "{n_states}");
    // More components and larger ones: states of two, four and more words.
    let mut widths = BTreeSet::new();
    for seed in 0..60 {
        let plan = random_plan(seed, 12 + 60 * (seed as usize % 3), 300);
        widths.insert(stubborn_lts::n_words(&plan).min(5));
        with_composition(&plan, Compare(&plan)).unwrap();
    }
    assert!(widths.len() >= 4, "{widths:?}");
}
