//! The syntax tree: what the interpreter does not show, because lowering leaves it alone or folds it away.

use stubborn_ltl::Formula;
use stubborn_network::UnaryOp as PlainUnary;
use stubborn_promela::ast::{BinaryOp, Expr, ExprKind, Item, StatementKind, UnaryOp};
use stubborn_promela::{Compiled, Options, compile};
use stubborn_system::{Batch, System};
use stubborn_text::NoLoader;

fn model(text: &str) -> Compiled {
    let compiled = compile("m.pml", text, &NoLoader, &Options::default());
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    compiled
}

/// An expression with all its parentheses.
fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Reference(reference) => reference.parts[0].name.name.to_string(),
        ExprKind::Unary(op, a) => {
            let op = match op {
                UnaryOp::Plain(PlainUnary::Not) => "!",
                UnaryOp::Plain(PlainUnary::Minus) => "-",
                UnaryOp::Plain(PlainUnary::Complement) => "~",
                UnaryOp::Always => "[]",
                UnaryOp::Eventually => "<>",
                UnaryOp::Next => "X",
            };
            format!("{op}{}", show(a))
        }
        ExprKind::Binary(BinaryOp::Plain(op), a, b) => format!("({} {op:?} {})", show(a), show(b)),
        ExprKind::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
        other => format!("{other:?}"),
    }
}

#[track_caller]
fn check_formula(formula: &str, expected: &str) {
    let compiled = model(&format!("byte p, q, r; init {{ skip }} ltl f {{ {formula} }}"));
    let found = compiled.model.items.iter().find_map(|item| match item {
        Item::Ltl { name: Some(name), formula } if &*name.name == "f" => Some(show(formula)),
        _ => None,
    });
    assert_eq!(found.as_deref(), Some(expected));
}

#[test]
fn formulas_bind_as_in_spin() {
    check_formula("[] (p -> <> q)", "[](p Implies <>q)");
    check_formula("[]<>p && q", "([]<>p And q)");
    check_formula("p U q || r", "((p Until q) Or r)");
    check_formula("!p U q U r", "((!p Until q) Until r)");
    check_formula("p -> q -> r", "((p Implies q) Implies r)");
    check_formula("p == 1 && q <-> r", "(((p Equal 1) And q) Equivalent r)");
    check_formula("always (p implies eventually q)", "[](p Implies <>q)");
    check_formula("p W q", "(p WeakUntil q)");
    check_formula("X p V q", "(Xp Release q)");
    check_formula("(p until (q release r))", "(p Until (q Release r))");
}

#[test]
fn claims_are_kept() {
    let compiled = model("byte x; init { x = 1 } never { do :: x == 0 :: x > 0 -> break od }");
    let body = compiled.model.items.iter().find_map(|item| match item {
        Item::Never { name: None, body } => Some(body),
        _ => None,
    });
    assert!(matches!(body.expect("a claim").statements[0].kind, StatementKind::Do(ref o) if o.len() == 2));
}

#[test]
fn expressions_bind_as_in_c() {
    let cases = [
        ("a + b * c", "(a Add (b Multiply c))"),
        ("a - b - c", "((a Subtract b) Subtract c)"),
        ("a | b & c == a", "(a BitOr (b BitAnd (c Equal a)))"),
        ("a || b && !c", "(a Or (b And !c))"),
        ("-a * ~b << 2", "((-a Multiply ~b) ShiftLeft 2)"),
        ("a < b == c", "((a Less b) Equal c)"),
        ("a ^ b | c", "((a BitXor b) BitOr c)"),
    ];
    for (text, expected) in cases {
        let compiled = model(&format!("byte a, b, c; int x; init {{ x = {text} }}"));
        let Some(Item::Proctype(init)) = compiled.model.items.last() else { panic!("no init") };
        let StatementKind::Assign(_, value) = &init.body.statements[0].kind else { panic!("no assignment") };
        assert_eq!(show(value), expected);
        assert!(matches!(value.kind, ExprKind::Binary(op, ..) if op != BinaryOp::Implies));
    }
}

#[test]
fn the_end_of_a_line_separates_statements() {
    let lines = "byte x\nactive proctype A() {\n x = 1\n x++\n (x == 2)\n -> x = 3\n}";
    let compiled = model(lines);
    let Some(Item::Proctype(process)) = compiled.model.items.last() else { panic!("no process") };
    assert_eq!(process.body.statements.len(), 4);
}

#[test]
fn propositions_and_claims_are_evaluated_on_states() {
    let text = "byte x; active proctype A() { x = 1; L: x = 2 }
        ltl f { <> (A@L && x == 1) }
        never { do :: x == 0 :: x == 1 -> break :: else -> assert(x == 2) od }";
    let compiled = model(text);
    let network = compiled.network.as_ref().expect("a network");
    let [property] = compiled.formulas.as_slice() else { panic!("one formula") };
    assert_eq!(property.name.as_deref(), Some("f"));
    let both = Formula::and([Formula::atom(0), Formula::atom(1)]);
    assert_eq!(property.formula, Formula::Eventually(Box::new(both)));
    let holds = |state: &[u8]| property.exprs.iter().all(|expr| network.holds(state, expr));
    let claim = &network.claims[0];
    let mut state = network.initial_state().expect("it can begin");
    let mut found = Vec::new();
    loop {
        let steps = network.claim_moves(claim, claim.entry, &state, false);
        let steps: Vec<usize> = steps.iter().map(|m| m.step).collect();
        found.push((holds(&state), steps));
        match network.expand(&state).successors.pop() {
            Some(successor) => state = successor.state,
            None => break,
        }
    }
    let expected = [(false, vec![0]), (true, vec![1]), (false, vec![2]), (false, vec![2])];
    assert_eq!(found, expected);
    let text = "byte x; init { x = 1 } ltl { <> timeout }";
    let of_a_process = compile("m.pml", text, &NoLoader, &Options::default());
    assert!(of_a_process.network.is_none());
}

#[test]
fn states_and_transitions_are_explained() {
    let text = "byte x; chan c = [0] of { byte };\nactive proctype A() { c!3 }\nactive proctype B() {\n byte v;\n atomic { c?v; x = v; { byte v; v = 1 } } }";
    let network = model(text).network.expect("a network");
    let first = network.initial_state().expect("it can begin");
    let mut batch = Batch::new();
    network.successors(&first, &mut batch).expect("no fault");
    let parts = network.explain(&first, batch.via(0));
    let parts: Vec<String> = parts
        .iter()
        .map(|p| format!("{}:{} {}", p.process.as_deref().unwrap_or(""), p.line.unwrap_or(0), p.text))
        .collect();
    let expected = ["A[0]:2 c!3", "B[1]:5 c?v", "B[1]:5 x = v", "B[1]:5 byte v", "B[1]:5 v = 1"];
    assert_eq!(parts, expected);
    let shown = network.show(batch.state(0));
    assert_eq!(shown, "x=3 c=1 A[0]=line 2 B[1]=line 5 B[1].v=3 B[1].v#2=1 channel 1 (c)=");
}
