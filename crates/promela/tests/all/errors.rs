//! Bad models: each mistake has its code and its place. Codes and spans are asserted, words are not.

use stubborn_promela::{Options, compile};
use stubborn_text::{Limits, NoLoader};

/// The codes and marked texts of the findings of a model.
fn findings(text: &str) -> Vec<(&'static str, String)> {
    let compiled = compile("m.pml", text, &NoLoader, &Options::default());
    let marked = |d: &stubborn_text::Diagnostic| {
        let span = d.span().expect("every finding has a place");
        (d.code, compiled.map.snippet(span).to_owned())
    };
    compiled.diagnostics.iter().map(marked).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let found = findings(text);
    let found: Vec<(&str, &str)> = found.iter().map(|(code, text)| (*code, text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn syntax() {
    check("init { x ? }", &[("P0004", "}")]);
    check("init { skip", &[("P0005", "{")]);
    check("init { if :: skip }", &[("P0005", "if")]);
    check("byte x; init { x = 1 x = 2 }", &[("P0008", "x")]);
    check("init { if fi }", &[("P0009", "if")]);
    check("init { L: byte x; skip }", &[("P0010", "L")]);
    check("init { printf(\"a) }", &[("P0002", "\"a) }"), ("P0005", "{")]);
    check("init { skip } $", &[("P0003", "$")]);
    check("init { skip } /* ...", &[("P0001", "/*")]);
}

#[test]
fn several_mistakes_are_found_at_once() {
    check(
        "byte x;\ninit { x = ; x = y; x = ) }\nactive proctype A() { skip ( }\n",
        &[("P0004", ";"), ("P0004", ")"), ("P0008", "(")],
    );
    check(
        "byte x;\ninit { y = 1; x = z; goto L; run Q() }\n",
        &[("P0301", "y"), ("P0301", "z"), ("P0323", "Q"), ("P0328", "L")],
    );
}

#[test]
fn names() {
    check("init { x = 1 }", &[("P0301", "x")]);
    check("byte x; byte x; init { skip }", &[("P0302", "x")]);
    check("mtype = { a, a }; init { skip }", &[("P0302", "a")]);
    check("init { L: skip; L: skip }", &[("P0302", "L")]);
    check("proctype P() { skip } init { run P(1) }", &[("P0327", "P")]);
    check("init { run P() }", &[("P0323", "P")]);
    check("init { goto L }", &[("P0328", "L")]);
    check("init { break }", &[("P0325", "break")]);
    check("init { _pid = 1 }", &[("P0322", "_pid")]);
    check("proctype P() { skip } init { P@L }", &[("P0324", "L")]);
    check("byte count; init { cont = 1 }", &[("P0301", "cont")]);
}

#[test]
fn types() {
    check("typedef T { byte a } T t; init { t.b = 1 }", &[("P0314", "b")]);
    check("byte x; init { x.a = 1 }", &[("P0314", "a")]);
    check("byte x; init { x[1] = 1 }", &[("P0316", "1")]);
    check("typedef T { byte a } T t; init { t = 1 }", &[("P0317", "t")]);
    check("unsigned u : 40; init { u = 1 }", &[("P0304", "40")]);
    check("byte a[0]; init { skip }", &[("P0305", "0")]);
    check("byte n; byte a[n + 1]; init { n = 1 }", &[("P0306", "n + 1")]);
    check("byte x = [1] of { byte }; init { skip }", &[("P0311", "[1] of { byte }")]);
    check("chan c = [300] of { byte }; init { skip }", &[("P0312", "[300] of { byte }")]);
    check("proctype P(byte x = 1) { skip } init { skip }", &[("P0309", "x")]);
}

#[test]
fn messages() {
    // SPIN refuses these as well.
    check("byte x; init { x!1 }", &[("P0331", "x")]);
    check("chan q = [1] of { byte }; proctype P(byte c) { c?_ } init { run P(q) }", &[("P0331", "c")]);
    check("typedef T { byte z; chan k } T t; chan q = [1] of { byte }; init { t.z!1 }", &[("P0331", "t.z")]);
    check("chan q = [1] of { byte, byte }; init { q!1,2,3 }", &[("P0332", "q")]);
    check("init { chan c; c!1 }", &[("P0332", "c")]);
    check("chan STDIN; byte x; init { STDIN?x }", &[]);
    check("mtype = { a }; init { a!1 }", &[("P0331", "a")]);
    check("byte x; init { xr x; skip }", &[("P0331", "x")]);
    // These may be all right when the model runs, or never run.
    check("chan q = [1] of { byte, byte }; init { q!1 }", &[("P0333", "q")]);
    check("chan q[2] = [1] of { byte, byte }; byte x; init { q[1]?x }", &[("P0333", "q[1]")]);
    check(
        "chan a = [1] of { byte }; chan b = [1] of { byte, byte }; init { a = b; a!1,2 }",
        &[("P0333", "a")],
    );
    // Nothing is known of a parameter; a record stands for its fields.
    check("chan q = [1] of { byte, byte }; proctype P(chan c) { c!1 } init { run P(q) }", &[]);
    check("typedef T { byte a, b } T t; chan q = [1] of { T }; init { q!t; q?t; q!1,2 }", &[]);
}

/// SPIN refuses the first three, and lets its verifier fail on the others.
#[test]
fn questions_about_channels_need_channels() {
    check("byte x; init { full(x) }", &[("P0331", "x")]);
    check("byte x[2]; init { nempty(x[1]) }", &[("P0331", "x[1]")]);
    check("mtype = { a }; init { len(a) == 0 }", &[("P0331", "a")]);
    check("byte x; init { len(x) > 0 }", &[("P0331", "x")]);
    check("byte x; init { printf(\"%d\", len(x)) }", &[("P0331", "x")]);
    check("byte x; init { x?[1] }", &[("P0331", "x")]);
    check("byte x, y; init { y = x??[1] }", &[("P0331", "x")]);
    check("init { len(_pid) == 0 }", &[("P0331", "_pid")]);
    check("typedef T { byte z; chan k } T t; init { len(t.k) == len(t.z) }", &[("P0331", "t.z")]);
    check("chan q = [1] of { byte }; init { len(q) == 0 && q?[1] && nfull(q) }", &[]);
    check("chan q = [1] of { byte }; init { q?[1,2] }", &[("P0333", "q")]);
}

#[test]
fn habits_from_other_languages_get_help() {
    for (text, help) in [
        ("byte i; init { while (i < 3) { i++ } }", "`do ::"),
        ("byte i; init { if (i == 0) { i = 1 } else { i = 2 } }", "`if ::"),
        ("byte i; init { for (i = 0; i < 3; i++) { skip } }", "0 .. 9"),
        ("byte i; proctype P() { i = 1 } init { P() }", "`run`"),
        ("byte i; proctype P { i = 1 } init { run P() }", "parentheses"),
        ("byte i; init { i += 2 }", "`x++`"),
        ("byte m[3][3]; init { skip }", "one dimension"),
        ("bool a, b; init { a and b }", "`&&`"),
    ] {
        let compiled = compile("m.pml", text, &NoLoader, &Options::default());
        let found = compiled.diagnostics[0].help.as_deref().unwrap_or("");
        assert!(found.contains(help), "{text}: {:?}", compiled.diagnostics);
    }
    // A letter is like any other.
    let compiled = compile("m.pml", "byte a; init { c = 1 }", &NoLoader, &Options::default());
    assert_eq!(compiled.diagnostics[0].help, None);
}

#[test]
fn embedded_c_is_refused_with_help() {
    for text in ["init { c_code { x = 1; } }", "c_decl { int x; }\ninit { skip }", "init { c_expr { 1 } }"] {
        let compiled = compile("m.pml", text, &NoLoader, &Options::default());
        let first = &compiled.diagnostics[0];
        assert_eq!(first.code, "P0107", "{text}");
        assert!(first.help.is_some() && compiled.network.is_none());
        assert!(compiled.map.snippet(first.span().unwrap()).starts_with("c_"));
    }
}

#[test]
fn inlines() {
    check("inline f(a) { a = 1 } byte x; init { f(x, x) }", &[("P0202", "f")]);
    check("inline f() { f() } init { f() }", &[("P0201", "f")]);
    check("init { return 3 }", &[("P0203", "return")]);
}

#[test]
fn jumps_in_a_circle_are_found() {
    check("init { A: goto B; B: goto A }", &[("P0329", "goto A")]);
}

/// SPIN refuses these as well.
#[test]
fn a_d_step_is_entered_at_its_beginning_and_left_at_its_end() {
    check("byte x; init { goto L; d_step { x = 1; L: x = 2 } }", &[("P0334", "goto L")]);
    check("byte x; init { d_step { x = 1; L: x = 2 }; goto L }", &[("P0334", "goto L")]);
    check(
        "byte x; init { d_step { x = 1; if :: goto L :: skip fi; x = 2 }; x = 3; L: x = 4 }",
        &[("P0335", "goto L")],
    );
    check("byte x; init { do :: d_step { x = 1; break } od; x = 2 }", &[("P0335", "break")]);
    check("byte x; init { L: d_step { x = 1; goto L } }", &[("P0335", "goto L")]);
    check("byte x; init { d_step { x = 1; L: x++; if :: x < 5 -> goto L :: else fi } }", &[]);
    check("byte x; init { d_step { do :: x < 5 -> x++ :: else -> break od } }", &[]);
}

/// SPIN's verifier refuses these as well.
#[test]
fn one_else_at_one_place() {
    check(
        "byte x; init { do :: if :: x == 1 :: else fi :: if :: x == 2 :: else fi od }",
        &[("P0336", "else")],
    );
    check("byte x; init { if :: atomic { if :: x == 1 :: else fi } :: else fi }", &[("P0336", "else")]);
    check(
        "byte x; init { { if :: x == 1 :: else fi } unless { if :: x == 2 :: else fi } }",
        &[("P0336", "else")],
    );
    check("byte x; init { do :: if :: x == 1 :: else fi :: skip; if :: x == 2 :: else fi od }", &[]);
    check("byte x; init { d_step { if :: if :: x == 1 :: else fi :: else fi } }", &[]);
}

#[test]
fn a_model_needs_a_process() {
    assert_eq!(findings("byte x;")[0].0, "P0307");
}

#[test]
fn limits_are_diagnostics() {
    let deep = format!("byte x; init {{ x = {}1{} }}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(findings(&deep).len(), 1);
    assert_eq!(findings(&deep)[0].0, "P0006");
    let blocks = format!("init {} skip {}", "{".repeat(5_000), "}".repeat(5_000));
    assert_eq!(findings(&blocks)[0].0, "P0006");
    let chain = format!("byte x; init {{ x = 1{} }}", " + 1".repeat(100_000));
    assert_eq!(findings(&chain)[0].0, "P0006");
    let mut mixed = String::from("1");
    for _ in 0..100 {
        mixed = format!("({mixed}{})", " + 1".repeat(100));
    }
    assert_eq!(findings(&format!("byte x; init {{ x = {mixed} }}"))[0].0, "P0006");
    assert_eq!(findings("int a[60000]; init { skip }")[0].0, "P0401");
    assert_eq!(findings("active [256] proctype P() { skip }")[0].0, "P0402");
    let mut inlines =
        String::from("inline f0() { skip; skip; skip; skip; skip; skip; skip; skip; skip; skip }\n");
    for i in 1..9 {
        let body = format!("f{}();", i - 1).repeat(10);
        inlines += &format!("inline f{i}() {{ {body} }}\n");
    }
    inlines += "init { f8() }";
    assert_eq!(findings(&inlines)[0].0, "P0007");
    let tight = Options { limits: Limits { processes: 2, ..Limits::default() }, ..Options::default() };
    let compiled = compile("m.pml", "active [3] proctype P() { skip }", &NoLoader, &tight);
    assert_eq!(compiled.diagnostics[0].code, "P0402");
}

#[test]
fn every_code_is_documented() {
    fn codes(directory: &std::path::Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).expect("the sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                codes(&path, out);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let found = text.match_indices("\"P0").filter_map(|(at, _)| text.get(at + 1..at + 6));
            out.extend(found.filter(|c| c[1..].chars().all(|c| c.is_ascii_digit())).map(str::to_owned));
        }
    }
    let mut found = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    codes(&root.join("src"), &mut found);
    found.sort();
    found.dedup();
    assert!(found.len() > 50);
    let documented = std::fs::read_to_string(root.join("ERRORS.md")).expect("ERRORS.md is there");
    for code in found {
        assert!(documented.contains(&format!("| {code} |")), "{code} is not documented");
    }
}
