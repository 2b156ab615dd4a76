//! How states are written down: flat slices of any length, or fixed keys of a few words.
//!
//! Searches and stores are generic over [`Vector`] and run unchanged on all of them. [`Rows`] is a
//! growable list of states that allocates per list, never per state.

use std::fmt::Debug;

/// A state, as the kernel sees it: something to copy, compare and hash.
///
/// Implemented by `[u8]` and `[u64]` (any length, states of one system may differ in length) and by
/// `[u64; N]` (packed keys).
pub trait Vector: Eq + Debug + 'static {
    /// A growable list of such states.
    type Rows: Rows<Self>;
    /// A list of such states that is read now and then.
    type Archive: Archive<Self>;

    /// A well-mixed 64-bit hash: every bit depends on every bit of the state.
    fn hash64(&self) -> u64;

    /// The state as bytes, for fingerprints.
    fn as_bytes(&self) -> &[u8];
}

/// A growable list of states.
pub trait Rows<S: ?Sized>: Default + Clone + Debug {
    /// Appends a copy of `state`.
    fn push(&mut self, state: &S);
    /// Row `i`, to be changed in place (its length stays).
    fn get_mut(&mut self, i: usize) -> &mut S;
    /// Removes the last row.
    fn pop(&mut self);
    /// Row `i`.
    fn get(&self, i: usize) -> &S;
    /// Where row `i` begins in memory: a hint for prefetching, never dereferenced.
    fn address(&self, i: usize) -> *const u8;
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Removes all rows and keeps the memory.
    fn clear(&mut self);
    /// Memory in use, in bytes.
    fn bytes(&self) -> usize;
    /// Makes room for `rows` more rows of `len` elements; `false` if the memory cannot be had.
    fn try_reserve(&mut self, rows: usize, len: usize) -> bool;
}

/// A growable list of states that may be written in fewer bytes than they have: to read one takes a room.
pub trait Archive<S: Vector + ?Sized>: Default + Clone + Debug {
    /// Appends `state`.
    fn push(&mut self, state: &S);
    /// State `i`, in the room if it does not lie here as it is.
    fn read<'a>(&'a self, i: usize, room: &'a mut S::Rows) -> &'a S;
    /// Says where in memory state `i` lies: hints for prefetching, never dereferenced.
    fn touch(&self, i: usize, hint: impl FnMut(*const u8));
    /// Number of states.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Memory in use, in bytes.
    fn bytes(&self) -> usize;
    /// Makes room for `states` more states of `len` elements; `false` if the memory cannot be had.
    fn try_reserve(&mut self, states: usize, len: usize) -> bool;
}

/// An archive that keeps states as they are.
#[derive(Clone, Debug, Default)]
pub struct Plain<R>(R);

impl<S: Vector<Rows = R> + ?Sized, R: Rows<S>> Archive<S> for Plain<R> {
    #[inline]
    fn push(&mut self, state: &S) {
        self.0.push(state);
    }
    #[inline]
    fn read<'a>(&'a self, i: usize, _: &'a mut R) -> &'a S {
        self.0.get(i)
    }
    #[inline]
    fn touch(&self, i: usize, mut hint: impl FnMut(*const u8)) {
        hint(self.0.address(i));
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
    fn try_reserve(&mut self, states: usize, len: usize) -> bool {
        self.0.try_reserve(states, len)
    }
}

/// Multiplies to 128 bits and folds the halves: two or three cycles, and every output bit depends on
/// every input bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd6e8_feb8_6659_fd93;

impl<const N: usize> Vector for [u64; N] {
    type Rows = KeyRows<N>;
    type Archive = Plain<KeyRows<N>>;

    #[inline]
    fn hash64(&self) -> u64 {
        let mut h = K0;
        for &word in self {
            h = fold(word ^ h, K1);
        }
        // One round leaves a visible pattern when only a few high bits of the key vary.
        fold(h ^ K1, K0)
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.as_slice())
    }
}

impl Vector for [u8] {
    type Rows = FlatRows<u8>;
    type Archive = crate::Deltas;

    #[inline]
    fn hash64(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self)
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self
    }
}

impl Vector for [u64] {
    type Rows = FlatRows<u64>;
    type Archive = Plain<FlatRows<u64>>;

    #[inline]
    fn hash64(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(self))
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

/// Rows of fixed keys: one vector, no bookkeeping.
#[derive(Clone, Debug, Default)]
pub struct KeyRows<const N: usize> {
    keys: Vec<[u64; N]>,
}

impl<const N: usize> Rows<[u64; N]> for KeyRows<N> {
    #[inline]
    fn push(&mut self, state: &[u64; N]) {
        self.keys.push(*state);
    }
    #[inline]
    fn get_mut(&mut self, i: usize) -> &mut [u64; N] {
        &mut self.keys[i]
    }
    #[inline]
    fn pop(&mut self) {
        self.keys.pop();
    }
    #[inline]
    fn get(&self, i: usize) -> &[u64; N] {
        &self.keys[i]
    }
    #[inline]
    fn address(&self, i: usize) -> *const u8 {
        self.keys.as_ptr().wrapping_add(i).cast()
    }
    #[inline]
    fn len(&self) -> usize {
        self.keys.len()
    }
    fn clear(&mut self) {
        self.keys.clear();
    }
    fn bytes(&self) -> usize {
        self.keys.len() * size_of::<[u64; N]>()
    }
    fn try_reserve(&mut self, rows: usize, _len: usize) -> bool {
        self.keys.try_reserve(rows).is_ok()
    }
}

/// Rows of slices. While all rows have one length no offsets are kept; they appear with the first row
/// of another length.
#[derive(Clone, Debug)]
pub struct FlatRows<T> {
    data: Vec<T>,
    /// Length of every row while `starts` is empty.
    width: usize,
    /// Number of rows.
    n_rows: usize,
    /// Where each row starts, and one more entry for the end; empty while all rows are `width` long.
    starts: Vec<usize>,
}

impl<T> Default for FlatRows<T> {
    fn default() -> Self {
        Self { data: Vec::new(), width: 0, n_rows: 0, starts: Vec::new() }
    }
}

impl<T> FlatRows<T> {
    /// Makes what `fill` writes the only row.
    #[inline]
    pub(crate) fn only(&mut self, fill: impl FnOnce(&mut Vec<T>)) -> &[T] {
        fill(&mut self.data);
        self.starts.clear();
        self.n_rows = 1;
        self.width = self.data.len();
        &self.data
    }

    #[inline]
    fn range(&self, i: usize) -> std::ops::Range<usize> {
        if self.starts.is_empty() {
            i * self.width..(i + 1) * self.width
        } else {
            self.starts[i]..self.starts[i + 1]
        }
    }
}

impl<T: Copy + Debug> Rows<[T]> for FlatRows<T> {
    #[inline]
    fn push(&mut self, state: &[T]) {
        if self.starts.is_empty() && state.len() != self.width {
            if self.n_rows == 0 {
                self.width = state.len();
            } else {
                self.starts = (0..=self.n_rows).map(|i| i * self.width).collect();
            }
        }
        self.data.extend_from_slice(state);
        self.n_rows += 1;
        if !self.starts.is_empty() {
            self.starts.push(self.data.len());
        }
    }
    #[inline]
    fn get_mut(&mut self, i: usize) -> &mut [T] {
        assert!(i < self.n_rows, "row {i} of {}", self.n_rows);
        let range = self.range(i);
        &mut self.data[range]
    }
    #[inline]
    fn pop(&mut self) {
        if self.n_rows > 0 {
            self.data.truncate(self.range(self.n_rows - 1).start);
            self.n_rows -= 1;
            if !self.starts.is_empty() {
                self.starts.pop();
            }
        }
    }
    #[inline]
    fn get(&self, i: usize) -> &[T] {
        assert!(i < self.n_rows, "row {i} of {}", self.n_rows);
        &self.data[self.range(i)]
    }
    #[inline]
    fn address(&self, i: usize) -> *const u8 {
        self.data.as_ptr().wrapping_add(self.range(i).start).cast()
    }
    #[inline]
    fn len(&self) -> usize {
        self.n_rows
    }
    fn clear(&mut self) {
        self.data.clear();
        self.starts.clear();
        self.n_rows = 0;
        self.width = 0;
    }
    fn bytes(&self) -> usize {
        self.data.len() * size_of::<T>() + self.starts.len() * size_of::<usize>()
    }
    fn try_reserve(&mut self, rows: usize, len: usize) -> bool {
        self.data.try_reserve(rows.saturating_mul(len)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_length_keep_no_offsets_and_others_do() {
        let mut rows = FlatRows::<u8>::default();
        rows.push(b"abc");
        rows.push(b"def");
        assert!(rows.starts.is_empty());
        rows.push(b"g");
        rows.push(b"");
        rows.push(b"hij");
        let all: Vec<&[u8]> = (0..rows.len()).map(|i| rows.get(i)).collect();
        assert_eq!(all, [&b"abc"[..], b"def", b"g", b"", b"hij"]);
        rows.pop();
        assert_eq!(rows.get(3), b"");
        rows.pop();
        rows.pop();
        rows.get_mut(1)[0] = b'x';
        assert_eq!(rows.get(1), b"xef");
        rows.clear();
        rows.push(b"longer");
        assert_eq!((rows.len(), rows.get(0)), (1, &b"longer"[..]));
    }

    #[test]
    fn empty_states_are_states() {
        let mut rows = FlatRows::<u8>::default();
        rows.push(b"");
        rows.push(b"");
        assert_eq!(rows.len(), 2);
        rows.push(b"z");
        assert_eq!((rows.get(0), rows.get(2)), (&b""[..], &b"z"[..]));
    }

    #[test]
    fn equal_states_hash_equally_and_single_bits_matter() {
        for bit in 0..64 {
            let a = [1u64 << bit];
            assert_eq!(a.hash64(), [1u64 << bit].hash64());
            for other in 0..bit {
                let b = [1u64 << other];
                // Both ends of the hash are used: the top for the line, the bottom for the tag.
                assert_ne!(a.hash64() >> 32, b.hash64() >> 32);
                assert_ne!(a.hash64() as u32, b.hash64() as u32);
            }
        }
        assert_ne!([1, 0].hash64(), [0, 1].hash64());
    }
}
