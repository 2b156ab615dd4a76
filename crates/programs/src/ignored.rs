//! Whether a program looks at what a call returns: `wait(NULL)` gives the number of a child, and which one matters only to who
//! looks at it.
//!
//! **Implements** liveness of one register over a few instructions of x86-64, from the place to which the call returns along all
//! branches. Whatever is not understood counts as a look, so the answer "ignored" can be relied on. That a number is positive
//! is no look: every child's is.
//! **Differs from the text** in that calls of other functions of the same program count as looks, too: the compiler knows
//! what those leave alone.
//! **Checked by** the tests below, on what gcc makes of programs, and by `tests/programs.rs`.

use std::collections::BTreeSet;
use std::ops::Range;

/// Instructions that are looked at, at most.
const MOST: usize = 64;

/// The machine code of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Where it begins, and its bytes.
    pub(crate) text: (u64, Vec<u8>),
    /// Where calls of other objects' functions go through.
    pub(crate) stubs: Vec<Range<u64>>,
}

/// What an instruction means for the register of results.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing; control goes on behind it.
    On(u64),
    /// Nothing; control goes on in one of two places.
    Either(u64, u64),
    /// It gets another value.
    Overwritten,
    /// It is looked at, or nobody knows.
    Seen,
}

impl Code {
    /// Whether what a call gives that returns to this address is ignored.
    pub(crate) fn ignores_result(&self, returns_to: u64) -> bool {
        let mut todo = vec![returns_to];
        let mut seen = BTreeSet::new();
        while let Some(address) = todo.pop() {
            if !seen.insert(address) {
                continue;
            }
            if seen.len() > MOST {
                return false;
            }
            match self.step(address) {
                Step::On(next) => todo.push(next),
                Step::Either(one, two) => todo.extend([one, two]),
                Step::Overwritten => {}
                Step::Seen => return false,
            }
        }
        true
    }

    fn byte(&self, address: u64) -> Option<u8> {
        let at = usize::try_from(address.checked_sub(self.text.0)?).ok()?;
        self.text.1.get(at).copied()
    }

    fn number(&self, address: u64, n: u64) -> Option<i64> {
        let mut bytes = [0; 8];
        for i in 0..n.min(8) {
            bytes[i as usize] = self.byte(address.checked_add(i)?)?;
        }
        let unused = 64 - 8 * n as u32;
        Some((i64::from_le_bytes(bytes) << unused) >> unused)
    }

    fn is_stub(&self, address: u64) -> bool {
        self.stubs.iter().any(|stubs| stubs.contains(&address))
    }

    fn step(&self, address: u64) -> Step {
        self.understood(address).unwrap_or(Step::Seen)
    }

    fn understood(&self, address: u64) -> Option<Step> {
        if self.number(address, 4)? as u32 == 0xfa1e_0ff3 {
            return Some(Step::On(address + 4));
        }
        // Longer ways to do nothing.
        let mut address = address;
        while self.byte(address)? == 0x66 || self.byte(address)? == 0x2e {
            address += 1;
            let next = self.byte(address)?;
            if !([0x66, 0x2e, 0x90].contains(&next) || next == 0x0f && self.byte(address + 1)? == 0x1f) {
                return None;
            }
        }
        let first = self.byte(address)?;
        let (rex, at) = if first & 0xf0 == 0x40 { (first, address + 1) } else { (0, address) };
        let opcode = self.byte(at)?;
        let behind = at + 1;
        let to = |n: u64| Some((behind + n).wrapping_add_signed(self.number(behind, n)?));
        Some(match opcode {
            0x90 | 0xc9 if rex == 0 => Step::On(behind),
            // Parity is the one flag that tells positive numbers apart.
            0x7a | 0x7b => Step::Seen,
            0x70..=0x7f => Step::Either(behind + 1, to(1)?),
            0xeb => Step::On(to(1)?),
            0xe9 if self.is_stub(to(4)?) => Step::Overwritten,
            0xe9 => Step::On(to(4)?),
            0xe8 if self.is_stub(to(4)?) => Step::Overwritten,
            0x50 | 0x58 if rex & 1 == 0 => {
                if opcode == 0x58 {
                    Step::Overwritten
                } else {
                    Step::Seen
                }
            }
            0x50..=0x5f => Step::On(behind),
            0xb8 if rex & 1 == 0 => Step::Overwritten,
            0xb8..=0xbf => Step::On(behind + if rex & 8 == 0 { 4 } else { 8 }),
            0x0f => return self.two_bytes(rex, behind),
            _ => return self.with_operands(opcode, rex, behind),
        })
    }

    fn two_bytes(&self, rex: u8, at: u64) -> Option<Step> {
        let operands = || self.operands(rex, at + 1);
        Some(match self.byte(at)? {
            0x8a | 0x8b => Step::Seen,
            0x80..=0x8f => Step::Either(at + 5, (at + 5).wrapping_add_signed(self.number(at + 1, 4)?)),
            0x1f => Step::On(operands()?.end),
            0xb6 | 0xb7 | 0xbe | 0xbf => operands()?.is_written(),
            _ => Step::Seen,
        })
    }

    fn with_operands(&self, opcode: u8, rex: u8, at: u64) -> Option<Step> {
        let operands = self.operands(rex, at)?;
        let on = |n: u64| if operands.touches() { Step::Seen } else { Step::On(operands.end + n) };
        let on_memory = |n: u64| {
            let is_touched = operands.in_address || operands.register_2 || operands.half;
            if is_touched { Step::Seen } else { Step::On(operands.end + n) }
        };
        Some(match opcode {
            // Exclusive or with itself is zero.
            0x31 | 0x33 if operands.register && operands.register_2 => Step::Overwritten,
            // A comparison with itself says that it is positive.
            0x85 if operands.register && operands.register_2 => Step::On(operands.end),
            0x89 if operands.register_2 && !operands.register => Step::Overwritten,
            0x00..=0x3b if opcode & 7 < 4 => on(0),
            0x84 | 0x85 | 0x88 | 0x89 => on(0),
            0x8b | 0x8d | 0x63 => operands.is_written(),
            0xc7 if operands.register_2 && operands.digit == 0 => Step::Overwritten,
            0xc7 => on_memory(4),
            0xc6 => on_memory(1),
            0x83 if operands.digit == 7 && operands.register_2 && !operands.in_address => {
                // With zero or less: any positive number gives the same.
                if self.number(operands.end, 1)? <= 0 { Step::On(operands.end + 1) } else { Step::Seen }
            }
            0x80 | 0x83 => on_memory(1),
            0x81 => on_memory(4),
            // A call through a table of other objects' functions.
            0xff if operands.digit == 2 && operands.is_relative => Step::Overwritten,
            // One more than a positive number is one, too.
            0xff if operands.digit == 0 && operands.register_2 => Step::On(operands.end),
            0xff if operands.digit < 2 => on_memory(0),
            _ => Step::Seen,
        })
    }

    fn operands(&self, rex: u8, at: u64) -> Option<Operands> {
        let byte = self.byte(at)?;
        let (mode, digit, low) = (byte >> 6, byte >> 3 & 7, byte & 7);
        let mut end = at + 1;
        let is_first = |number: u8, extension: u8| number == 0 && extension == 0;
        let mut operands = Operands {
            digit,
            register: is_first(digit, rex & 4),
            register_2: mode == 3 && is_first(low, rex & 1),
            // Its second byte, if operands are bytes.
            half: rex == 0 && (digit == 4 || mode == 3 && low == 4),
            in_address: false,
            is_relative: mode == 0 && low == 5,
            end,
        };
        if mode == 3 {
            return Some(operands);
        }
        if low == 4 {
            let scale = self.byte(end)?;
            end += 1;
            let (index, base) = (scale >> 3 & 7, scale & 7);
            operands.in_address = (index == 0 && rex & 2 == 0) || (base == 0 && rex & 1 == 0);
            if mode == 0 && base == 5 {
                end += 4;
            }
        } else {
            operands.in_address = low == 0 && rex & 1 == 0;
        }
        operands.end = end
            + match mode {
                1 => 1,
                2 => 4,
                _ if operands.is_relative => 4,
                _ => 0,
            };
        Some(operands)
    }
}

/// Where the register of results occurs in an instruction.
#[derive(Clone, Copy, Debug)]
struct Operands {
    digit: u8,
    /// As the operand that is a register always.
    register: bool,
    /// As the other one.
    register_2: bool,
    half: bool,
    in_address: bool,
    is_relative: bool,
    /// Behind them.
    end: u64,
}

impl Operands {
    fn touches(self) -> bool {
        self.register || self.register_2 || self.half || self.in_address
    }

    /// The first operand gets the value of the second.
    fn is_written(self) -> Step {
        match self {
            _ if self.register_2 || self.half || self.in_address => Step::Seen,
            _ if self.register => Step::Overwritten,
            _ => Step::On(self.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::binary::Binary;
    use std::path::PathBuf;
    use std::process::Command;

    /// Which of the calls of `wait` in each function ignore their result, in the order of their places.
    fn ignored(bodies: &[&str], level: &str) -> Vec<Vec<bool>> {
        let own = format!("stubborn-{}-{}{level}", std::process::id(), bodies.len());
        let path = std::env::temp_dir().join(own);
        let source = PathBuf::from(format!("{}.c", path.display()));
        let mut text = "#include <sys/wait.h>\n#include <unistd.h>\n#include <stdlib.h>\n".to_owned();
        for (i, body) in bodies.iter().enumerate() {
            text += &format!("int function{i}(int n) {{ {body} return 0; }}\n");
        }
        std::fs::write(&source, text + "int main(void) { return 0; }\n").expect("a temporary file");
        let status = Command::new("gcc").args([level, "-w", "-o"]).arg(&path).arg(&source).status();
        assert!(status.expect("gcc").success());
        let binary = Binary::new("it", &path).expect("a program");
        let listing = Command::new("objdump").arg("-d").arg(&path).output().expect("objdump").stdout;
        for file in [&path, &source] {
            // What is temporary; nobody needs it any more.
            let _ = std::fs::remove_file(file);
        }
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let address = |line: &str| u64::from_str_radix(line.trim().split(':').next()?, 16).ok();
        let calls = |i: usize| {
            let start = format!("<function{i}>:");
            let lines: Vec<&str> = listing.lines().skip_while(|line| !line.ends_with(&start)).collect();
            let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
            let is_call = |line: &str| line.contains("call") && line.contains("<wait@plt>");
            let pairs = lines[..end].windows(2).filter(|pair| is_call(pair[0]));
            pairs.filter_map(|pair| Some(binary.code.ignores_result(address(pair[1])?))).collect()
        };
        (0..bodies.len()).map(calls).collect()
    }

    #[test]
    fn results_that_nobody_looks_at() {
        let bodies = [
            "for (int i = 0; i < n; i++) wait(0); sleep(1);",
            "while (wait(0) > 0) ; sleep(1);",
            "while (wait(0) != -1) ; sleep(1);",
            "wait(0); sleep(1);",
        ];
        for level in ["-O0", "-O1", "-O2", "-Os"] {
            for (body, found) in bodies.iter().zip(ignored(&bodies, level)) {
                assert!(!found.is_empty() && found.iter().all(|&is| is), "{level} {body}: {found:?}");
            }
        }
    }

    #[test]
    fn results_that_somebody_looks_at() {
        let bodies = [
            "if (wait(0) == n) abort();",
            "int got = wait(0); return got + 1;",
            "int got = wait(0); sleep(n); if (got == 1001) abort();",
            "static volatile int got[4]; got[n] = wait(0);",
            "while (wait(0) > 1000) ;",
            "switch (wait(0)) { case 1000: abort(); case 1001: sleep(n); }",
            "if (wait(0) & 1) abort();",
        ];
        for level in ["-O0", "-O1", "-O2", "-Os"] {
            for (body, found) in bodies.iter().zip(ignored(&bodies, level)) {
                assert!(!found.is_empty() && !found.iter().all(|&is| is), "{level} {body}: {found:?}");
            }
        }
    }
}
