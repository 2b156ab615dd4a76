//! What only the machine can do: the unsafe code of this crate, all of it.
//!
//! * [`prefetch`] asks for a line of memory. It takes any address, also one that is nobody's: the instruction is a hint that
//!   reads and writes nothing, and never faults.
//! * [`scan`] looks at a line of the exact store at once. Its instructions are those of SSE2, which every x86_64 processor has;
//!   they work on values that were copied into registers, and touch no memory.
//! * [`with_widest`] runs code that was compiled for AVX2, and only after asking the processor whether it has that. [`Wide`], which looks at
//!   lines of keys with it, is known to nobody else.
//!
//! Invariant: nothing here dereferences a pointer, keeps one, or makes a reference of one; what is called has no condition but
//! that the processor knows its instructions. So no argument of a safe caller can make it wrong.
//!
//! **Checked by** `scripts/miri`, which runs the tests of all stores under Miri, and by a test (`scan.rs`) that the vector
//! instructions see what plain code sees. Miri has no AVX2, so there [`with_widest`] uses plain eyes.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::scan::{Eyes, Seen, seen};
use crate::scan::{Plain, Sight};

/// Asks the processor to bring the line at `address` near. Never faults, whatever the address.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint; it reads nothing and cannot fault on any address. The instruction
    // is part of the x86_64 baseline (SSE).
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// `scan::plain` in vectors of four slots.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn scan(line: &[u32; 16], tag: u32, mask: u32) -> (u32, usize) {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
        _mm_set1_epi32, _mm_setzero_si128,
    };
    let quarters: [__m128i; 4] = bytemuck::cast(*line);
    // SAFETY: these instructions need SSE2, which every x86_64 processor has; they touch no memory.
    unsafe {
        let (tags, high, zero) =
            (_mm_set1_epi32(tag as i32), _mm_set1_epi32(!mask as i32), _mm_setzero_si128());
        let bits = |of: [__m128i; 4]| {
            let low = _mm_packs_epi32(of[0], of[1]);
            let top = _mm_packs_epi32(of[2], of[3]);
            _mm_movemask_epi8(_mm_packs_epi16(low, top)) as u32
        };
        let fits = bits(quarters.map(|q| _mm_cmpeq_epi32(_mm_and_si128(q, high), tags)));
        let free = bits(quarters.map(|q| _mm_cmpeq_epi32(q, zero)));
        (fits & !free, free.trailing_zeros().min(16) as usize)
    }
}

/// By vectors of 256 bits. Only for who was compiled for them: see [`with_widest`].
#[cfg(target_arch = "x86_64")]
struct Wide;

#[cfg(target_arch = "x86_64")]
impl Eyes for Wide {
    #[inline(always)]
    fn look<const N: usize>(line: &[u64; 8], wanted: &[u64; N]) -> Seen {
        let mut pattern = [0; 4];
        for (i, word) in pattern.iter_mut().enumerate() {
            *word = wanted[i % N];
        }
        // SAFETY: nobody but `with_widest` makes use of this type, after it has asked the processor.
        let (equal, highest) = unsafe { masks_avx2(line, &pattern) };
        seen::<N>(equal, highest)
    }
}

/// The words of a line that equal those of a pattern, and those whose highest bit is set.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn masks_avx2(line: &[u64; 8], pattern: &[u64; 4]) -> (u32, u32) {
    use std::arch::x86_64::{__m256i, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd};
    let [low, high]: [__m256i; 2] = bytemuck::cast(*line);
    let pattern: __m256i = bytemuck::cast(*pattern);
    let bits = |of: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(of)) as u32;
    let equal = bits(_mm256_cmpeq_epi64(low, pattern)) | bits(_mm256_cmpeq_epi64(high, pattern)) << 4;
    (equal, bits(low) | bits(high) << 4)
}

/// Does something with the widest vectors that the processor has.
#[inline]
pub(crate) fn with_widest(sight: impl Sight) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function was compiled for.
        return unsafe { with_avx2(sight) };
    }
    sight.with::<Plain>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(sight: impl Sight) {
    sight.with::<Wide>();
}
