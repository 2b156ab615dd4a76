//! Embedded C: why it is refused, and what to write instead.

use crate::token::Token;
use stubborn_text::Diagnostic;

/// The refusal, if the token begins embedded C.
pub(crate) fn embedded_c(token: &Token) -> Option<Diagnostic> {
    let word = token.word()?;
    let help = match &**word {
        "c_code" => "assign in Promela instead: `x = 1`; use `d_step { ... }` for several statements in one",
        "c_expr" => "write the condition in Promela: `(x > 0)`",
        "c_decl" => "declare types with `typedef` and variables with Promela's types",
        "c_state" | "c_track" => "declare the variable in Promela: everything declared is part of the state",
        _ => return None,
    };
    let message = format!("`{word}` is not accepted: models are data and never run C");
    Some(Diagnostic::error("P0107", token.span, message).here("embedded C starts here").help(help))
}
