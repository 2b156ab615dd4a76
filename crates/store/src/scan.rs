//! A line at a glance.
//!
//! A line of the exact store is looked at twice per insertion, so this is the innermost loop of all. On
//! x86_64 it uses vector instructions of the baseline; elsewhere, and as the definition, plain code.

#[cfg(target_arch = "x86_64")]
use crate::machine;

/// The slots of a line whose tag fits, as a bit mask, and the number of slots in use.
///
/// `mask` has the low bits that hold the number; `tag` has none of them. A slot in use is not zero, and the
/// slots in use come first.
#[inline(always)]
pub(crate) fn scan(line: &[u32], tag: u32, mask: u32) -> (u32, usize) {
    let line: &[u32; 16] = line.try_into().expect("a line has sixteen slots");
    #[cfg(target_arch = "x86_64")]
    return machine::scan(line, tag, mask);
    #[cfg(not(target_arch = "x86_64"))]
    return plain(line, tag, mask);
}

/// The definition.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(line: &[u32; 16], tag: u32, mask: u32) -> (u32, usize) {
    let mut candidates = 0;
    let mut used = 0;
    for (i, &slot) in line.iter().enumerate() {
        candidates |= u32::from(slot != 0 && slot & !mask == tag) << i;
        used += usize::from(slot != 0);
    }
    (candidates, used)
}

/// Whether a key is among those of a line, and how many slots are in use. A slot in use is not zero in its last word, and
/// the slots in use come first.
#[inline(always)]
pub(crate) fn scan_keys<const N: usize>(line: &[u64], key: &[u64; N]) -> (bool, usize) {
    let line: &[u64; 8] = line.try_into().expect("a line has eight words");
    let (mut found, mut used) = (0usize, 0);
    for slot in line.chunks_exact(N) {
        // All of them, without a branch: the processor does several at a time.
        let differing = slot.iter().zip(key).fold(0, |all, (a, b)| all | (a ^ b));
        found |= usize::from(differing == 0);
        used += usize::from(slot[N - 1] != 0);
    }
    (found != 0, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_and_plain_code_see_the_same() {
        let mut random = 9u64;
        // Miri does the same with less.
        for round in 0..if cfg!(miri) { 40 } else { 20_000 } {
            let mask = u32::MAX >> (1 + round % 20);
            let mut line = [0u32; 16];
            for slot in line.iter_mut().take(round as usize % 17) {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Few tags, so that some fit.
                *slot =
                    ((random >> 40) as u32 % 3) << 30 | ((random >> 20) as u32 & mask & 0x3fff_ffff).max(1);
            }
            for tag in [0, 1 << 30, 1 << 31] {
                let tag = tag & !mask;
                assert_eq!(scan(&line, tag, mask), plain(&line, tag, mask), "{line:x?} {tag:x} {mask:x}");
            }
        }
    }
}
