//! Wrong texts: each its code, its line and its column. Nothing panics, whatever the bytes.

use stubborn_lts::{MemoryFiles, NoFiles, ReadOptions, Tau, read_aut, read_document, read_lsts};

fn refusal(text: &str) -> (&'static str, usize, usize) {
    let refusal = read_lsts("t.lsts", text.as_bytes().to_vec(), &NoFiles, ReadOptions::default())
        .expect_err("it must be refused");
    let (line, column) = refusal.place();
    assert!(refusal.render().contains(&format!("t.lsts:{line}:{column}")), "{}", refusal.render());
    (refusal.diagnostic.code, line, column)
}

/// A file with this header and these sections.
fn file(header: &str, sections: &str) -> String {
    format!("Begin Lsts\nBegin Header {header}\nEnd Header\n{sections}\nEnd Lsts\n")
}

const COUNTS: &str = "State_cnt=2 Action_cnt=1 Transition_cnt=1 State_prop_cnt=1 Initial_states=1;";
const NAMES: &str = "Begin Action_names 1=\"a\" End Action_names";

#[test]
fn wrong_counts_are_told_where_they_stand() {
    let with = |props: &str, transitions: &str| {
        file(
            COUNTS,
            &format!(
                "{NAMES}\nBegin State_props {props} End State_props\nBegin Transitions {transitions} End Transitions"
            ),
        )
    };
    assert!(
        read_lsts("t", with("\"p\":1;", "1: 2,1;").into_bytes(), &NoFiles, ReadOptions::default()).is_ok()
    );
    assert_eq!(refusal(&with("\"p\":1;", "1: 2,1 1,0;")), ("T0120", 2, 39));
    assert_eq!(refusal(&with("\"p\":1;", "")), ("T0120", 2, 39));
    assert_eq!(refusal(&with("\"p\":1; \"q\":;", "1: 2,1;")), ("T0117", 2, 56));
    assert_eq!(refusal(&with("\"p\":3;", "1: 2,1;")), ("T0111", 5, 23));
    assert_eq!(refusal(&with("\"p\":2..1;", "1: 2,1;")), ("T0118", 5, 26));
    assert_eq!(refusal(&with("\"p\":1;\"p\":1;", "1: 2,1;")), ("T0116", 5, 25));
    assert_eq!(refusal(&with("\"p\":1;", "1: 2,2;")), ("T0121", 6, 24));
    assert_eq!(refusal(&with("\"p\":1;", "1: 2,1; 1: ;")), ("T0119", 6, 27));
    assert_eq!(refusal(&file(COUNTS, "Begin Action_names 2=\"b\" End Action_names")), ("T0113", 4, 20));
    assert_eq!(refusal(&file(COUNTS, "Begin Action_names End Action_names")), ("T0113", 4, 20));
    assert_eq!(refusal(&file(COUNTS, "Begin Action_names 0=\"b\" End Action_names")).0, "T0112");
    assert_eq!(refusal(&file(COUNTS, "Begin Action_names 1=\"\" End Action_names")).0, "T0114");
    assert_eq!(refusal(&file(COUNTS, "Begin Action_names 1=\"a\" 1=\"b\" End Action_names")).0, "T0115");
    let twice = "State_cnt=1 Action_cnt=2 Initial_states=1";
    assert_eq!(refusal(&file(twice, "Begin Action_names 1=\"a\" 2=\"a\" End Action_names")).0, "T0115");
    assert_eq!(refusal(&file("State_cnt=99999999999 Initial_states=1", "")), ("T0107", 2, 14));
    assert_eq!(refusal(&file("State_cnt=1 Action_cnt=99999999999 Initial_states=1", "")).0, "T0107");
    assert_eq!(refusal(&file("State_cnt=2 Initial_states=3", "")), ("T0111", 2, 41));
    assert_eq!(refusal(&file("State_cnt=2", "")), ("T0106", 2, 7));
    assert_eq!(refusal(&file("State_cnt=2 Initial_states=1 2;", "")).0, "T0108");
    assert_eq!(refusal(&file("State_cnt=2 Transition_cnt=1 Initial_states=1", "")).0, "T0120");
}

#[test]
fn sections_that_are_unknown_or_out_of_place_are_refused() {
    let states = "State_cnt=2 Initial_states=1";
    assert_eq!(refusal(&file(states, "Begin Colours End Colours")), ("T0102", 4, 7));
    assert_eq!(refusal(&file(states, "Begin Acc_sets End Acc_sets")).0, "T0105");
    let order = "Begin Transitions End Transitions Begin State_props End State_props";
    assert_eq!(refusal(&file(states, order)), ("T0104", 4, 41));
    assert_eq!(refusal(&file(states, "Begin Layout End Layout Begin Layout End Layout")).0, "T0103");
    assert_eq!(refusal("Begin Lsts Begin Transitions End Transitions End Lsts").0, "T0104");
    assert_eq!(refusal("Begin Lsts End Lsts").0, "T0106");
    assert_eq!(refusal("Begin Lsts").0, "T0001");
    assert_eq!(refusal("").0, "T0001");
    assert_eq!(refusal(&(file(states, "") + "more")).0, "T0001");
    assert_eq!(refusal(&file("Colour=1", "")).0, "T0110");
    assert_eq!(refusal(&file("State_cnt=1 Initial_states=1 Interrupted:\"x\"", "")).0, "T0109");
    assert_eq!(refusal("Begin Lsts Begin History 1.0 \"x\"").0, "T0001");
}

#[test]
fn includes_that_are_missing_outside_or_circular_are_refused() {
    let files = MemoryFiles(vec![("h".into(), b"Begin Header include_file \"h\"".to_vec())]);
    let read = |text: &str| {
        let refusal = read_lsts("t", text.as_bytes().to_vec(), &files, ReadOptions::default()).unwrap_err();
        (refusal.diagnostic.code, refusal.place().0, refusal.render())
    };
    let (code, line, shown) = read("Begin Lsts\nInclude Header From \"h\"");
    assert_eq!((code, line), ("T0005", 1));
    assert!(shown.contains("h:1:27") && shown.contains("included at t:2"), "{shown}");
    assert_eq!(read("Begin Lsts include_file \"x\"").0, "T0004");
    assert_eq!(read("Begin Lsts include_file \"../x\"").0, "T0004");
    assert_eq!(read("Begin Lsts include_file \"/etc/passwd\"").0, "T0004");
    assert_eq!(read("Begin Lsts include_file 3").0, "T0001");
}

#[test]
fn bytes_that_are_not_utf8_are_names_or_have_their_message() {
    let bytes = b"Begin Lsts\n \xff\xfe\x80".to_vec();
    let refusal = read_lsts("t", bytes, &NoFiles, ReadOptions::default()).unwrap_err();
    assert_eq!((refusal.diagnostic.code, refusal.place()), ("T0003", (2, 2)));
}

#[test]
fn wrong_aut_texts_are_refused() {
    let code = |text: &str| {
        let refusal = read_aut("t.aut", text.as_bytes().to_vec(), Tau::Both).unwrap_err();
        (refusal.diagnostic.code, refusal.place())
    };
    assert_eq!(code(""), ("T0201", (1, 1)));
    assert_eq!(code("des (0,1)"), ("T0201", (1, 1)));
    assert_eq!(code("des (0,1,99999999999999)").0, "T0107");
    assert_eq!(code("des (1,0,1)").0, "T0111");
    assert_eq!(code("des (0,1,1)\n\n  (0,\"a\",1)"), ("T0111", (3, 3)));
    assert_eq!(code("des (0,1,1)\n(0,\"a,0)"), ("T0202", (2, 1)));
    assert_eq!(code("des (0,2,1)\n(0,a,0)"), ("T0120", (1, 1)));
}

/// Any byte of a good text changed, and any cut: no panic.
#[test]
fn no_text_panics() {
    let good = file(
        COUNTS,
        &format!(
            "{NAMES}\nBegin State_props \"p\":1; End State_props\nBegin Transitions 1: 2,1; End Transitions"
        ),
    );
    let aut = "des (0,2,2)\n(0,\"a\",1)\n(1,i,0)\n";
    for (i, lenient) in (0..good.len()).flat_map(|i| [(i, false), (i, true)]) {
        let options = ReadOptions { lenient };
        let _ = read_lsts("t", good.as_bytes()[..i].to_vec(), &NoFiles, options);
        for byte in [0, b'"', b'(', b'#', b';', b'9', b'\\', 0x80, 0xff] {
            let mut bytes = good.clone().into_bytes();
            bytes[i] = byte;
            if let Err(refusal) = read_lsts("t", bytes, &NoFiles, options) {
                assert!(!refusal.render().is_empty());
            }
        }
    }
    for i in 0..aut.len() {
        for byte in [0, b'"', b'(', b',', b'9', 0xff] {
            let mut bytes = aut.as_bytes().to_vec();
            bytes[i] = byte;
            let _ = read_aut("t", bytes, Tau::Both);
        }
    }
}

/// The same for what is besides the system, and for directives.
#[test]
fn no_document_panics() {
    let good = "#{SET n=2}Begin Lsts Begin History 1.5 \"x\" From 1 & 2 End History
        Begin Header State_cnt=#{EVAL n*1} Action_cnt=1 Initial_states=1 2; No_taus Interrupted: \"y\" End Header
        Begin Action_names 1=\"a#{EVAL -(n)+3}\" End Action_names Begin Div_bits 1..2 End Div_bits
        Begin Acc_sets 1 {} {1..1}; End Acc_sets #{LABEL l}#{CB l:0}
        Begin Transitions 1: 2,1 \"d\" {\"l\"}; End Transitions Begin Layout 1 -2 3 End Layout End Lsts \"r\"";
    let read = |bytes: Vec<u8>, lenient| read_document("t", bytes, &NoFiles, ReadOptions { lenient });
    assert!(read(good.as_bytes().to_vec(), true).is_ok());
    for i in 0..good.len() {
        let _ = read(good.as_bytes()[..i].to_vec(), true);
        for byte in [0, b'"', b'(', b'#', b'{', b'}', b'-', b'.', b'9', b'\\', 0xdf] {
            let mut bytes = good.as_bytes().to_vec();
            bytes[i] = byte;
            for lenient in [false, true] {
                if let Err(refusal) = read(bytes.clone(), lenient) {
                    assert!(!refusal.render().is_empty());
                }
            }
        }
    }
}

/// A hundred megabytes of anything are answered in time.
#[test]
fn a_hundred_megabytes_are_answered() {
    let started = std::time::Instant::now();
    let refused = |bytes: Vec<u8>| {
        let refusal = read_lsts("t", bytes, &NoFiles, ReadOptions::default()).unwrap_err();
        (refusal.diagnostic.code, refusal.place())
    };
    let mut comment = b"Begin Lsts (*".to_vec();
    comment.resize(100 << 20, b' ');
    assert_eq!(refused(comment), ("T0008", (1, 12)));
    let mut rows = b"Begin Lsts Begin Header State_cnt=9 Transition_cnt=1 Initial_states=1 End Header Begin Transitions 1:".to_vec();
    while rows.len() < 100 << 20 {
        rows.extend_from_slice(b" 1,0 2,0\n");
    }
    rows.extend_from_slice(b"; End Transitions End Lsts");
    assert_eq!(refused(rows).0, "T0120");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
