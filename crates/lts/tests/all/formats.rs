//! Every construct of the formats, the dialects, and the way there and back.

use stubborn_lts::{
    Files, Lsts, LstsBuilder, Mark, MemoryFiles, NoFiles, ReadOptions, Special, TAU, Tau, read_aut,
    read_document, read_lsts, write_aut, write_document, write_dot, write_lsts,
};

fn read(text: &[u8], lenient: bool) -> Result<Lsts, &'static str> {
    read_with(text, &NoFiles, lenient)
}

fn read_with(text: &[u8], files: &dyn Files, lenient: bool) -> Result<Lsts, &'static str> {
    read_lsts("t.lsts", text.to_vec(), files, ReadOptions { lenient })
        .map_err(|refusal| refusal.diagnostic.code)
}

fn written(lsts: &Lsts) -> Vec<u8> {
    let mut out = Vec::new();
    write_lsts(lsts, &mut out).unwrap();
    out
}

const EVERYTHING: &[u8] = br#"
Begin Lsts (* every construct (* of the format *) *)
Begin History
  1.0 "made by hand" 2.1 From 1.0 & 1.0 Using <| 1.0 : 2.0 |> "a.lsts" "join" # comment
End History
begin header
  State_cnt = 4 ACTION_CNT = 2 Transition_cnt = 5 State_prop_cnt = 4 Elusive_action_cnt = 0
  Initial_states = 2; Initially_unstable = true Semantics = CFFD No_taus Deterministic
End HEADER
Begin Action_names 2 = "b\!\"\n\^
   ^x" 1 = "tau" End Action_names
Begin State_names 1 = "one" End State_names
Begin State_props "/P" : 2 4; "Q" : 1..3; Ll_rej: 4; "%C": ; End State_props
Begin Transitions
  1 : 2,1 3 , 0 "extra" {"layout"} ;
  4 : 4,2 4,0; 2: 1
   ,2;
End Transitions
Begin Layout 1 -10 20 2 3 -4 End Layout
End Lsts "12 s"
"#;

#[test]
fn every_construct_is_read() {
    let lsts = read(EVERYTHING, false).unwrap();
    assert_eq!((lsts.n_states(), lsts.n_transitions(), lsts.initial()), (4, 5, 1));
    assert_eq!(lsts.action_names(), ["tau", "b\\\"\nx"]);
    assert_eq!(lsts.edges(0).collect::<Vec<_>>(), [(TAU, 2), (1, 1)]);
    assert_eq!(lsts.edges(1).collect::<Vec<_>>(), [(2, 0)]);
    assert_eq!(lsts.edges(2).count(), 0);
    assert_eq!(lsts.edges(3).collect::<Vec<_>>(), [(TAU, 3), (2, 3)]);
    let states = |mark: Mark| lsts.marked(&mark).unwrap().ones().collect::<Vec<_>>();
    assert_eq!(states(Mark::Named("/P".into())), [1, 3]);
    assert_eq!(states(Mark::Named("Q".into())), [0, 1, 2]);
    assert_eq!(states(Mark::Special(Special::LlRej)), [3]);
    assert_eq!(states(Mark::Named("%C".into())), [0usize; 0]);
    assert_eq!(lsts.state_name(0), Some("one"));
}

#[test]
fn what_is_written_reads_as_the_same_and_is_written_as_the_same_bytes() {
    let lsts = read(EVERYTHING, false).unwrap();
    let bytes = written(&lsts);
    let again = read(&bytes, false).unwrap();
    assert_eq!(again, lsts);
    assert_eq!(written(&again), bytes);
}

/// What becomes of a file that is converted to its own format.
fn rewritten(text: &[u8], lenient: bool) -> Vec<u8> {
    let document = read_document("t.lsts", text.to_vec(), &NoFiles, ReadOptions { lenient })
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut out = Vec::new();
    write_document(&document, &mut out).unwrap();
    out
}

#[test]
fn what_is_no_part_of_the_system_is_kept() {
    let once = rewritten(EVERYTHING, false);
    let text = String::from_utf8(once.clone()).unwrap();
    for kept in [
        "1.0 \"made by hand\" 2.1 From 1.0 & 1.0 Using <| 1.0 : 2.0 |> \"a.lsts\" \"join\"",
        "Initially_unstable = true",
        "Semantics = CFFD",
        " Deterministic\n",
        "3,0 \"extra\" {\"layout\"}",
        " 1 -10 20\n 2 3 -4\n",
        "End Lsts \"12 s\"",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert_eq!(rewritten(&once, false), once);
    assert_eq!(read(&once, false).unwrap(), read(EVERYTHING, false).unwrap());
    // Strings of bytes above 127, several initial states, a result that was interrupted.
    let text = b"Begin Lsts Begin Header State_cnt=3 Initial_states=2 1 3; Interrupted: On_the_fly_error : rej In_state 2
        End Header Begin Transitions 1: 2,0 \"\xe4\"; End Transitions End Lsts";
    let once = rewritten(text, true);
    assert!(once.windows(8).any(|w| w == b"= 2 1 3;") && once.windows(3).any(|w| w == b"\"\xe4\""));
    assert!(String::from_utf8_lossy(&once).contains("Interrupted: On_the_fly_error : rej In_state 2\n"));
    assert_eq!(rewritten(&once, true), once);
    // What has nothing besides is the system, byte by byte.
    for seed in 0..100 {
        let bytes = written(&random(seed));
        assert_eq!(rewritten(&bytes, false), bytes, "seed {seed}");
    }
}

#[test]
fn acceptance_graphs_are_converted_and_are_no_systems() {
    let graph = br#"Begin Lsts Begin Header State_cnt = 4 Action_cnt = 3 Initial_states = 1; Semantics = CFFD End Header
        Begin Action_names 1 = "a" 2 = "b" 3 = "c" End Action_names
        Begin Div_bits 2..3 End Div_bits
        Begin Acc_sets 1 {1 2} {3}; 2 {} {1..3}; 3; End Acc_sets
        Begin Transitions 1: 2,1 3,2; End Transitions End Lsts"#;
    assert_eq!(read(graph, false).unwrap_err(), "T0105");
    let once = rewritten(graph, false);
    let text = String::from_utf8(once.clone()).unwrap();
    assert!(text.contains("Begin Div_bits\n  2..3\nEnd Div_bits"), "{text}");
    assert!(text.contains(" 1 {1 2} {3};\n 2 {} {1 2 3};\n 3;\nEnd Acc_sets"), "{text}");
    assert_eq!(rewritten(&once, false), once);
}

#[test]
fn the_preprocessor_makes_the_text() {
    let text = b"Begin Lsts #{SET n=3} Begin Header State_cnt = #{EVAL n+1} Action_cnt=#{EVAL n} Initial_states=1; End Header
        Begin Action_names #{SET i=1}#{LABEL names}#{EVAL i} = \"a#{EVAL i}\" #{SET i=i+1}#{CB names:i<=n} End Action_names
        Begin Transitions #{SET i=1}#{LABEL rows}#{EVAL i}: #{EVAL i+1},#{EVAL i}; #{SET i=i+1}#{CB rows:i<=n} End Transitions
        End Lsts";
    let lsts = read(text, false).unwrap();
    assert_eq!((lsts.n_states(), lsts.n_transitions()), (4, 3));
    assert_eq!(lsts.action_names(), ["a1", "a2", "a3"]);
    assert_eq!(read(&rewritten(text, false), false).unwrap(), lsts);
    // Variables are those of all files.
    let files = MemoryFiles(vec![(
        "h".into(),
        b"Begin Header State_cnt=#{EVAL n} Initial_states=1 End Header".to_vec(),
    )]);
    let text = b"#{SET n=7}Begin Lsts include_file \"h\" Begin Transitions End Transitions End Lsts";
    assert_eq!(read_with(text, &files, false).unwrap().n_states(), 7);
    assert_eq!(read(b"Begin Lsts #{EVAL n}", false).unwrap_err(), "T0007");
    assert_eq!(read(b"Begin Lsts #{LABEL l}#{CB l:1}", false).unwrap_err(), "T0007");
}

#[test]
fn old_style_sections_and_sections_from_files_are_read() {
    let old =
        b"Lsts_file Header State_cnt = 1 Initial_state = 1 End_header Transitions End_transitions End_lsts";
    assert_eq!(read(old, false).unwrap().n_states(), 1);
    let files = MemoryFiles(vec![
        ("h".into(), b"Begin Header State_cnt=2 Action_cnt=1 Initial_states=1 End Header".to_vec()),
        ("sub/names".into(), b"Action_names 1 = \"a\" End_action_names".to_vec()),
        ("t".into(), b"Begin Transitions 1: 2,1; End Transitions".to_vec()),
    ]);
    let text = b"Begin Lsts Include Header From \"h\" Include Action_names From \"sub/names\"
        include_file \"t\" End Lsts";
    assert_eq!(read_with(text, &files, false).unwrap().n_transitions(), 1);
}

#[test]
fn dialects_are_read_only_leniently() {
    let fmbt = br#"Begin Lsts Begin Header State_cnt=2 Action_cnt=1 Transition_cnt=1 State_prop_cnt=1 Initial_states=1; ; End Header
        Begin Transitions 1: 2,1; End Transitions
        Begin Action_names 1 = "it\'s" End Action_names
        Begin State_props "p" : 1, 2; End State_props End Lsts"#;
    assert!(read(fmbt, false).is_err());
    assert_eq!(read(fmbt, true).unwrap().action_names(), ["it's"]);
    let tema = b"Begin Lsts Begin Header State_cnt=1 Action_cnt=1 Initial_states=1; End Header
        Begin Action_names 1=\"x\xa7\" End Action_names Begin Transitions End Transitions End Lsts";
    assert_eq!(read(tema, false).unwrap().action_names(), ["x\u{a7}"]);
}

fn random(seed: u64) -> Lsts {
    let mut state = seed;
    let mut below = |n: u32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u32 % n
    };
    let n = 1 + below(40);
    let mut builder = LstsBuilder::new(n.into()).unwrap();
    let names = ["a", "b \"quoted\"", "back\\slash", "new\nline", "\u{1}\u{9f}\u{ff}", "tau", "i"];
    let n_names = 1 + below(names.len() as u32 - 1);
    for name in &names[..n_names as usize] {
        builder.action(name);
    }
    for _ in 0..below(100) {
        builder.add_transition(below(n), below(n_names + 1), below(n));
    }
    for mark in [Mark::Named("p".into()), Mark::Named("/q".into()), Mark::Special(Special::Rej)] {
        let states: Vec<u32> = (0..n).filter(|_| below(3) > 0).collect();
        builder.add_proposition(mark, states);
    }
    builder.set_initial(below(n));
    builder.build().unwrap()
}

#[test]
fn random_systems_survive_the_way_there_and_back() {
    for seed in 0..300 {
        let lsts = random(seed);
        assert_eq!(read(&written(&lsts), false).unwrap(), lsts, "seed {seed}");
        let mut dot = Vec::new();
        write_dot(&lsts, &mut dot).unwrap();
        assert_eq!(dot.iter().filter(|&&b| b == b'>').count(), lsts.n_transitions() + 1, "seed {seed}");
    }
}

#[test]
fn aut_survives_in_both_spellings_of_tau() {
    let mut aut_written = 0;
    for seed in 0..300 {
        let lsts = random(seed);
        for tau in [Tau::Both, Tau::I, Tau::Tau] {
            let mut out = Vec::new();
            if let Err(error) = write_aut(&lsts, tau, &mut out) {
                let names = lsts.action_names();
                let is_taken = names.iter().any(|n| n == "tau" || n == "i" || n.contains('\n'));
                assert!(is_taken, "{error}");
                continue;
            }
            aut_written += 1;
            let again = read_aut("t.aut", out.clone(), tau).unwrap();
            let mut bytes = Vec::new();
            write_aut(&again, tau, &mut bytes).unwrap();
            assert_eq!((again.n_states(), again.n_transitions()), (lsts.n_states(), lsts.n_transitions()));
            for state in 0..lsts.n_states() as u32 {
                let named = |lsts: &Lsts| {
                    let mut edges: Vec<(String, u32)> =
                        lsts.edges(state).map(|(a, t)| (lsts.action_name(a).to_owned(), t)).collect();
                    edges.sort();
                    edges
                };
                assert_eq!(named(&again), named(&lsts), "seed {seed}");
            }
        }
    }
    assert!(aut_written > 200, "{aut_written}");
    let text = b"des (0, 3, 2)\n(0, \"a,b(c)\", 1)\r\n(1, i, 0)\n\n(1, tau, 1)\n";
    let taus = |tau| read_aut("t", text.to_vec(), tau).unwrap().edges(1).filter(|e| e.0 == TAU).count();
    assert_eq!([taus(Tau::Both), taus(Tau::I), taus(Tau::Tau)], [2, 1, 1]);
    assert_eq!(read_aut("t", text.to_vec(), Tau::I).unwrap().action_names(), ["a,b(c)", "tau"]);
}
