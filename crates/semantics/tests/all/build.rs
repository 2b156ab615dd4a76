//! Systems built step by step: the same as the whole, with sizes; and texts that are refused, with places.

use stubborn_explore::{Limits, Unwatched};
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Files, Lsts, MemoryFiles, NoComponent, NoFiles, ReadOptions, Tau, read_aut, read_lsts, read_rules, unfold,
};
use stubborn_semantics::{
    BuildError, Built, Comparison, Limit, Loaded, Minimization, Model, Workshop, build, compare, minimize,
};

/// Builds with these files.
fn built_with(text: &str, files: &MemoryFiles, limits: Limits, nodes: usize) -> Result<Built, BuildError> {
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(|_| "there is no such file".to_owned())?;
        if path.ends_with(".ext") {
            let mut load = |path: &str| {
                let bytes = files.load(path).map_err(NoComponent::Load)?;
                read_lsts(path, bytes, files, options).map_err(NoComponent::Refused)
            };
            let plan = read_rules(path, bytes, files, &mut load, options);
            return plan.map(Loaded::Composition).map_err(|refusal| refusal.to_string());
        }
        let lsts = if path.ends_with(".aut") {
            read_aut(path, bytes, Tau::Both)
        } else {
            read_lsts(path, bytes, &NoFiles, options)
        };
        lsts.map(Loaded::Process).map_err(|refusal| refusal.to_string())
    };
    let (limit, watch) = (Limit::of_nodes(nodes), &mut Unwatched);
    build("t.build", text, &mut Workshop { load: &mut load, limits, limit, watch })
}

fn built(text: &str, files: &MemoryFiles) -> Result<Built, BuildError> {
    built_with(text, files, Limits::default(), 1_000)
}

/// Small processes: a chain of two buffers, say.
fn small_files() -> MemoryFiles {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let marked = "Begin Lsts Begin Header State_cnt=2 Action_cnt=1 Transition_cnt=2 State_prop_cnt=2 Initial_states=1; End Header
        Begin Action_names 1=\"a\" End Action_names Begin State_props \"/p\":2; \"q\":2; End State_props
        Begin Transitions 1: 2,1; 2: 1,1; End Transitions End Lsts";
    MemoryFiles(vec![
        file("one.aut", "des (0, 2, 2)\n(0, \"in\", 1)\n(1, \"mid\", 0)\n"),
        file("two.aut", "des (0, 2, 2)\n(0, \"mid\", 1)\n(1, \"out\", 0)\n"),
        file("marked.lsts", marked),
        file("bad.lsts", "Begin Lsts"),
        file("both.ext", "1 = \"marked.lsts\" 2 = \"marked.lsts\" (1,\"a\") -> \"a\" (2,\"a\") -> 0"),
    ])
}

#[test]
fn a_ring_step_by_step_is_the_whole_ring_and_stays_small() {
    let mut results: Vec<Lsts> = Vec::new();
    for n in 2..=5 {
        let ring = ProcessRing { visible: true, token: false, rejections: false, ..ProcessRing::new(n) };
        let files = MemoryFiles(ring.files().into_iter().map(|(n, text)| (n, text.into_bytes())).collect());
        let text = String::from_utf8(files.load("ring.build").unwrap()).unwrap();
        let made = built(&text, &files).unwrap();
        assert_eq!((made.lsts.n_states(), made.lsts.n_transitions()), (4, 5), "n = {n}");
        assert_eq!(made.same_under, Model::Cffd);
        let peaks = [31, 93, 258, 459];
        assert_eq!(made.peak().unwrap().states, peaks[n - 2], "n = {n}");
        if n <= 4 {
            let options = ReadOptions::default();
            let mut load = |path: &str| {
                let bytes = files.load(path).map_err(NoComponent::Load)?;
                read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
            };
            let rules = files.load("ring.ext").unwrap();
            let plan = read_rules("ring.ext", rules, &files, &mut load, options).unwrap();
            let whole = unfold(&plan, Limits::default(), false, &mut Unwatched).unwrap().lsts;
            assert_eq!(compare(&whole, &made.lsts, &Comparison::new(Model::Cffd)), Ok(None), "n = {n}");
            let how = Minimization::Cffd { initial_stability: false };
            assert_eq!(minimize(&whole, how, Limit::default()).unwrap(), made.lsts);
        }
        results.push(made.lsts);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "a client cannot see how long the ring is");
}

#[test]
fn operators_do_what_they_say() {
    let files = small_files();
    let names = |text: &str| built(text, &files).unwrap().lsts.action_names().join(" ");
    let size = |text: &str| {
        let lsts = built(text, &files).unwrap_or_else(|error| panic!("{error}")).lsts;
        (lsts.n_states(), lsts.n_transitions())
    };
    assert_eq!(names("x = \"one.aut\" | \"two.aut\""), "in mid out");
    assert_eq!(size("x = \"one.aut\" | \"two.aut\""), (4, 5));
    assert_eq!(names("x = hide mid in \"one.aut\" | \"two.aut\""), "in out");
    assert_eq!(names("x = keep out, \"in\" in \"one.aut\" | \"two.aut\""), "in out");
    assert_eq!(names("x = rename mid to \"in\" in \"one.aut\""), "in");
    // Two places, of which an observer sees how many are full.
    assert_eq!(size("x = minimize hide mid in \"one.aut\" | \"two.aut\""), (3, 4));
    assert_eq!(size("x = minimize branching hide mid in \"one.aut\" | \"two.aut\""), (3, 4));
    assert_eq!(size("x = reduce cffd (hide mid in \"one.aut\" | \"two.aut\")"), (4, 5));
    assert_eq!(size("x = determinise hide mid in \"one.aut\" | \"two.aut\""), (3, 4));
    // Parentheses compose before they hide: what is hidden does not meet what has its name.
    assert_eq!(size("x = (hide mid in \"one.aut\") | \"two.aut\""), (4, 8));
    let sequence = "a = \"one.aut\" b = \"two.aut\"; a = a | b # again\n c = minimize strong a";
    let made = built(sequence, &files).unwrap();
    let rows: Vec<String> =
        made.rows.iter().map(|r| format!("{} {} {} {}", r.line, r.name, r.operation, r.states)).collect();
    assert_eq!(
        rows,
        ["1 a file \"one.aut\" 2", "1 b file \"two.aut\" 2", "1 a compose 4", "2 c minimize strong 4"]
    );
    assert_eq!(made.same_under, Model::Strong);
    let weakest = "a = minimize \"one.aut\" b = determinise \"two.aut\" c = minimize branching a | b";
    assert_eq!(built(weakest, &files).unwrap().same_under, Model::Traces);
}

#[test]
fn permanent_propositions_stay_unless_they_are_forgotten() {
    let files = small_files();
    let marks = |text: &str| built(text, &files).unwrap().lsts.propositions().len();
    assert_eq!(marks("x = \"marked.lsts\""), 2);
    assert_eq!(marks("x = hide a in \"marked.lsts\""), 2);
    assert_eq!(marks("x = \"marked.lsts\" | \"one.aut\""), 1);
    assert_eq!(marks("x = forget \"/p\" in \"marked.lsts\" | \"one.aut\""), 0);
    assert_eq!(marks("x = forget q in \"marked.lsts\""), 1);
    assert_eq!(marks("x = reduce cffd \"both.ext\""), 1);
    let made = built("x = minimize hide a in \"both.ext\"", &files).unwrap();
    assert!(made.lsts.action_names().is_empty() && made.peak().unwrap().states == 4);
}

#[test]
fn wrong_texts_are_refused_with_code_line_and_column() {
    let files = small_files();
    let refused = |text: &str| match built(text, &files) {
        Err(BuildError::Refused(refusal)) => (refusal.diagnostic.code, refusal.place()),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(refused(""), ("T0403", (1, 1)));
    assert_eq!(refused("# nothing\n"), ("T0403", (2, 1)));
    assert_eq!(refused("x = \"one.aut\" %"), ("T0401", (1, 15)));
    assert_eq!(refused("x = \"one.aut"), ("T0402", (1, 5)));
    assert_eq!(refused("x = \"one\\n\""), ("T0402", (1, 5)));
    assert_eq!(refused("x \"one.aut\""), ("T0404", (1, 3)));
    assert_eq!(refused("hide = \"one.aut\""), ("T0404", (1, 1)));
    assert_eq!(refused("x = \"one.aut\" | hide mid in \"two.aut\""), ("T0404", (1, 17)));
    assert_eq!(refused("x = hide mid \"one.aut\""), ("T0404", (1, 14)));
    assert_eq!(refused("x = rename mid in \"one.aut\""), ("T0404", (1, 16)));
    assert_eq!(refused("x = reduce strong \"one.aut\""), ("T0404", (1, 12)));
    assert_eq!(refused("x = (\"one.aut\""), ("T0404", (1, 15)));
    assert_eq!(refused(&format!("x = {}\"one.aut\"", "(".repeat(1_000))), ("T0405", (1, 205)));
    assert_eq!(refused(&format!("x = {}\"one.aut\"", "minimize ".repeat(1_000))).0, "T0405");
    assert_eq!(refused("x = \"none.aut\""), ("T0406", (1, 5)));
    assert_eq!(refused("x = \"bad.lsts\""), ("T0406", (1, 5)));
    assert_eq!(refused("x = \"one.aut\"\ny = x | z"), ("T0407", (2, 9)));
    assert_eq!(refused("x = x"), ("T0407", (1, 5)));
    assert_eq!(refused("x = reduce cffd \"one.aut\""), ("T0409", (1, 5)));
    assert_eq!(refused("x = hide mit in \"one.aut\""), ("T0410", (1, 10)));
    assert_eq!(refused("x = hide mid, mid in keep \"in\" in \"one.aut\" | \"two.aut\""), ("T0410", (1, 10)));
    assert_eq!(refused("x = forget r in \"marked.lsts\""), ("T0410", (1, 12)));
    assert_eq!(refused("x = forget \"/r\" in \"marked.lsts\" | \"one.aut\""), ("T0410", (1, 12)));
}

#[test]
fn limits_are_told_with_their_line() {
    let files = small_files();
    let text = "x = \"one.aut\"\ny = determinise x | \"two.aut\"";
    let limits = Limits { states: 3, ..Limits::default() };
    let line = |result: Result<Built, BuildError>| match result {
        Err(BuildError::Limit { line, why }) => (line, why.contains("states")),
        other => panic!("{other:?}"),
    };
    assert_eq!(line(built_with(text, &files, limits, 100)), (2, true));
    assert_eq!(line(built_with(text, &files, Limits::default(), 2)), (2, true));
}

#[test]
fn no_text_is_too_strange() {
    let files = small_files();
    let pieces = [
        "x",
        "=",
        "\"one.aut\"",
        "|",
        "(",
        ")",
        "hide",
        "mid",
        ",",
        "in",
        "minimize",
        "cffd",
        "\"two.aut\"",
        ";",
        "rename",
        "to",
        "keep",
        "forget",
        "reduce",
        "determinise",
        "\"",
        "\\",
        "#",
        "\n",
        "é",
        "\0",
        "strong",
    ];
    let mut state = 7u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut n_built = 0;
    for _ in 0..20_000 {
        let mut text = "x = ".to_owned();
        for _ in 0..random(9) {
            text += pieces[random(pieces.len())];
            text += if random(8) > 0 { " " } else { "" };
        }
        n_built += usize::from(built(&text, &files).is_ok());
    }
    assert!(n_built > 100, "{n_built} are built");
}
