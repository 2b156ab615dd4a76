//! What the operators with two operands mean: C's `int` arithmetic.
//!
//! Shifts take the count modulo 32, as the machines do on which SPIN runs; other overflow wraps. The values of
//! SPIN's own verifier are compared in `promela/tests/all/spin.rs`.

use crate::BinaryOp;

/// The value of `a op b`; none if it divides by zero. `And` and `Or` have both operands here.
#[inline]
pub fn arithmetic(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide | BinaryOp::Modulo if b == 0 => return None,
        BinaryOp::Divide => a.wrapping_div(b),
        BinaryOp::Modulo => a.wrapping_rem(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        BinaryOp::ShiftLeft => a.wrapping_shl(b as u32),
        BinaryOp::ShiftRight => a.wrapping_shr(b as u32),
        BinaryOp::Less => i32::from(a < b),
        BinaryOp::LessEqual => i32::from(a <= b),
        BinaryOp::Greater => i32::from(a > b),
        BinaryOp::GreaterEqual => i32::from(a >= b),
        BinaryOp::Equal => i32::from(a == b),
        BinaryOp::NotEqual => i32::from(a != b),
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
    })
}
