//! The published tables, as far as they fit into a test; `stubborn papers` runs all of them.

use crate::common::stubborn;

#[test]
fn the_published_figures_are_met() {
    let run = stubborn("papers --quick");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    // Table I for two and three customers, and the ring for two to seven stations in four modes, at least.
    let rows = run.out.lines().filter(|line| line.contains(" = ")).count();
    assert!(rows >= 16 + 24, "{rows} rows\n{}", run.out);
    for row in ["peterson-3 correct plain", "peterson-3 violating stubborn", "token-ring-7 plain"] {
        assert!(run.out.contains(row), "{row}");
    }
}

#[test]
fn table_one_as_the_command_line_tells_it() {
    let table = [
        ("naive", 3, "none", 38_038, 114_114),
        ("naive", 3, "scc", 18_817, 34_083),
        ("revealing", 3, "none", 43_675, 131_025),
        ("revealing", 3, "scc", 23_134, 41_562),
        ("correct", 3, "none", 96_854, 290_562),
        ("correct", 3, "scc", 44_868, 78_750),
        ("violating", 3, "none", 32_957, 87_081),
        ("violating", 3, "scc", 15_164, 22_100),
        ("violating", 2, "none", 336, 602),
        ("violating", 2, "scc", 219, 258),
    ];
    for (variant, n, reduction, states, transitions) in table {
        let run =
            stubborn(&format!("demo peterson --size {n} --variant {variant} --reduction {reduction} --json"));
        let json = run.json();
        assert_eq!(json["states"], states, "{variant} {n} {reduction}");
        assert_eq!(json["transitions"], transitions, "{variant} {n} {reduction}");
        let verdict = |q: &str| {
            let results = json["results"].as_array().unwrap();
            results.iter().find(|r| r["question"] == q).unwrap()["verdict"].as_str().unwrap().to_owned()
        };
        let (code, safety, progress) = match variant {
            "revealing" => (1, "holds", "violated"),
            "violating" => (1, "violated", "inconclusive"),
            _ => (0, "holds", "holds"),
        };
        assert_eq!((run.code, verdict("safety").as_str()), (code, safety), "{variant} {n} {reduction}");
        assert_eq!(verdict("may-progress"), progress, "{variant} {n} {reduction}");
    }
}

#[test]
fn counterexamples_to_mutual_exclusion_have_the_published_length() {
    for (n, n_states) in [(2, 18), (3, 31)] {
        for reduction in ["none", "scc"] {
            let arguments =
                format!("demo peterson --size {n} --variant violating --reduction {reduction} --json");
            let json = stubborn(&arguments).json();
            assert_eq!(json["witness"]["steps"].as_array().unwrap().len() + 1, n_states);
        }
    }
}

/// V15 section II prints this counterexample: customer 1 stops, and customer 0 waits for ever.
#[test]
fn the_published_counterexample_appears_line_for_line() {
    let published = [
        "0-00 0-00 0",
        "0-00 0 00 0",
        "==========",
        "0j00 0 00 0",
        "0Q00 0 00 0",
        "0T00 0 00 0",
        "0w00 0 00 0",
        "----------",
        "0k00 0 00 0",
        "0A00 0 00 0",
        "0k10 0 00 0",
        "0A10 0 00 0",
        "0w10 0 00 0",
    ];
    let json = stubborn("demo peterson --size 2 --variant revealing --question may-progress --json").json();
    let witness = &json["witness"];
    let mut states = vec![witness["initial"].as_str().unwrap().to_owned()];
    states
        .extend(witness["steps"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap().to_owned()));
    let mut lines = Vec::new();
    // The last state closes the cycle and is not printed again.
    for (i, state) in states[..states.len() - 1].iter().enumerate() {
        if witness["no_return"] == i {
            lines.push("==========".to_owned());
        }
        if witness["cycle_start"] == i {
            lines.push("----------".to_owned());
        }
        lines.push(state.clone());
    }
    assert_eq!(lines, published);
    assert_eq!(states.last(), states.get(witness["cycle_start"].as_u64().unwrap() as usize));
}

/// Rules derived from footprints, with no hand-written rule, against figure 4 of V15.
#[test]
fn derived_rules_are_at_most_a_third_worse_than_hand_written_ones() {
    for variant in ["naive", "revealing", "correct", "violating"] {
        for n in [2, 3] {
            let states = |rules: &str| {
                let arguments =
                    format!("demo peterson --size {n} --variant {variant} --rules {rules} --json");
                stubborn(&arguments).json()["states"].as_f64().unwrap()
            };
            let ratio = states("derived") / states("hand");
            println!("{variant} {n}: {ratio:.3}");
            assert!(ratio <= 1.35, "{variant} {n}: {ratio}");
        }
    }
}
