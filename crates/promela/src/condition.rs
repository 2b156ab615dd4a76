//! The conditions of `#if` and `#elif`: integer expressions, in which an unknown name is zero.

use crate::token::{Kind, Token};

/// Binary operators with their precedence, weakest first.
const BINARY: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    (">", 7),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

/// Whether the condition holds; `nesting` bounds its depth.
pub(crate) fn evaluate(line: &[Token], nesting: usize) -> Result<bool, String> {
    let mut rest = line;
    let value = binary(&mut rest, 1, nesting)?;
    match rest.first() {
        None => Ok(value != 0),
        Some(token) => Err(format!("unexpected `{}`", token.kind)),
    }
}

fn binary(rest: &mut &[Token], weakest: u8, nesting: usize) -> Result<i64, String> {
    let mut left = unary(rest, nesting)?;
    loop {
        let found = rest.first().and_then(|t| BINARY.iter().find(|(op, _)| t.is_mark(op)));
        let Some(&(operator, precedence)) = found.filter(|(_, p)| *p >= weakest) else {
            return Ok(left);
        };
        *rest = &rest[1..];
        let right = binary(rest, precedence + 1, nesting)?;
        left = apply(operator, left, right)?;
    }
}

fn apply(operator: &str, a: i64, b: i64) -> Result<i64, String> {
    Ok(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" | "%" if b == 0 => return Err("division by zero".into()),
        "/" => a.wrapping_div(b),
        _ => a.wrapping_rem(b),
    })
}

fn unary(rest: &mut &[Token], nesting: usize) -> Result<i64, String> {
    let Some((token, tail)) = rest.split_first() else { return Err("a value is missing".into()) };
    if nesting == 0 {
        return Err("nested too deeply".into());
    }
    *rest = tail;
    match &token.kind {
        Kind::Number(value) => {
            // `1L` and `2u`: the suffix is a word of its own here.
            if rest.first().is_some_and(|t| !t.spaced && t.word().is_some()) {
                *rest = &rest[1..];
            }
            Ok(i64::from(*value))
        }
        Kind::Word(_) => Ok(0),
        Kind::Mark("!") => Ok(i64::from(unary(rest, nesting - 1)? == 0)),
        Kind::Mark("!!") => Ok(i64::from(unary(rest, nesting - 1)? != 0)),
        Kind::Mark("-") => Ok(unary(rest, nesting - 1)?.wrapping_neg()),
        Kind::Mark("~") => Ok(!unary(rest, nesting - 1)?),
        Kind::Mark("+") => unary(rest, nesting - 1),
        Kind::Mark("(") => {
            let value = binary(rest, 1, nesting - 1)?;
            match rest.split_first() {
                Some((close, tail)) if close.is_mark(")") => {
                    *rest = tail;
                    Ok(value)
                }
                _ => Err("`)` is missing".into()),
            }
        }
        other => Err(format!("unexpected `{other}`")),
    }
}
