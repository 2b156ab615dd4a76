//! Tests of the preprocessor.

use super::*;
use stubborn_text::{MemoryLoader, NoLoader};

fn run(text: &str, loader: &dyn Loader, definitions: &[(&str, &str)]) -> (String, Vec<Diagnostic>) {
    let mut map = SourceMap::new();
    let file = map.add("m.pml", text.to_owned(), None);
    let definitions: Vec<_> = definitions.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let Preprocessed { tokens, diagnostics, .. } =
        preprocess(file, &mut map, loader, &definitions, &[], &Limits::default());
    let words: Vec<String> =
        tokens.iter().filter(|t| t.kind != Kind::End).map(|t| t.kind.to_string()).collect();
    (words.join(" "), diagnostics)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (out, diagnostics) = run(text, &NoLoader, &[]);
    assert_eq!(out, expected);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}

#[track_caller]
fn check_error(text: &str, code: &str, snippet: &str) {
    let (_, diagnostics) = run(text, &NoLoader, &[]);
    let first = diagnostics.first().expect("an error");
    let span = first.span().expect("a place");
    let found = &text[span.start as usize..span.end as usize];
    assert_eq!((first.code, found), (code, snippet), "{}", first.message);
}

#[test]
fn macros_are_expanded_with_and_without_arguments() {
    check("#define N 3\nx=N", "x = 3");
    check("#define f(a,b) (a+b*a)\nf(1,(2,3))", "( 1 + ( 2 , 3 ) * 1 )");
    check("#define f (a)\nf(1)", "( a ) ( 1 )");
    check("#define f() 1\nf() f", "1 f");
    check("#define g f\n#define f(x) x+1\ng(2) f (3)", "2 + 1 3 + 1");
    check("#define f(x) x x\n#define N 2\nf(N)\n#undef N\nN", "2 2 N");
    check("#define long 1 + \\\n 2\nlong", "1 + 2");
    check("#define f(a) g(a,\n1)\nf(2)", "1 ) g ( 2 ,");
}

#[test]
fn a_macro_is_not_expanded_in_itself() {
    check("#define x x+y\n#define y x\nx", "x + x");
    check("#define f(a) f(a)+1\nf(f(2))", "f ( f ( 2 ) + 1 ) + 1");
}

#[test]
fn tokens_are_quoted_and_pasted() {
    check("#define q(a) #a\nq(x == 1)", "\"x == 1\"");
    check("#define p(a,b) a##b = b\np(x, 1)", "x1 = 1");
}

#[test]
fn conditions_choose_one_branch() {
    check("#if 1 + 1 == 2\na\n#else\nb\n#endif", "a");
    check("#ifdef X\na\n#elif !defined(X) && (3 % 2)\nb\n#elif 1\nc\n#else\nd\n#endif e", "b");
    check("#define X\n#ifndef X\na\n#if 1\nb\n#endif\n#else\nc\n#endif", "c");
    check("#define N 5\n#if N > 4\nbig\n#endif", "big");
    check("#if 0\n don't \"look\n#endif\nx", "x");
}

#[test]
fn definitions_come_from_outside_too() {
    let (out, diagnostics) = run("x = N + M", &NoLoader, &[("N", "7"), ("M", "(N*2)")]);
    assert_eq!((out.as_str(), diagnostics.len()), ("x = 7 + ( 7 * 2 )", 0));
}

#[test]
fn files_are_included_from_the_directory_of_the_model() {
    let loader = MemoryLoader::new()
        .with("a.h", "#include \"sub/b.h\"\na")
        .with("sub/b.h", "#include \"../c.h\"\nb")
        .with("c.h", "#define C 1\nc");
    let (out, diagnostics) = run("#include \"a.h\"\nC", &loader, &[]);
    assert_eq!(out, "c b a 1");
    assert!(diagnostics.is_empty());
    let endless = MemoryLoader::new().with("m.h", "#include \"m.h\"");
    assert_eq!(run("#include \"m.h\"", &endless, &[]).1[0].code, "P0105");
}

#[test]
fn mistakes_are_reported_where_they_are() {
    check_error("#if 1\nx", "P0101", "#if");
    check_error("x\n#endif", "P0101", "#endif");
    check_error("#frob", "P0102", "#frob");
    check_error("#if 1 +\n#endif", "P0103", "if");
    check_error("#include <stdio.h>", "P0104", "#include");
    check_error("#include \"../x\"", "P0106", "#include");
    check_error("#include \"x\"", "P0106", "#include");
    check_error("#error stop", "P0108", "#error");
    check_error("#define 3", "P0109", "#define");
    check_error("#define f(a) a\nf(1,2)", "P0110", "f");
}

#[test]
fn bombs_run_into_the_budget() {
    let mut text = String::from("#define a0 x x x x x x x x x x\n");
    for i in 1..12 {
        let body = format!(" a{}", i - 1).repeat(10);
        text += &format!("#define a{i}{body}\n");
    }
    text += "a11";
    let (_, diagnostics) = run(&text, &NoLoader, &[]);
    assert_eq!(diagnostics[0].code, "P0007");
}
