//! The values that a part has had, numbered in the order in which they were seen.

use rustc_hash::FxHashMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    numbers: FxHashMap<Box<[u8]>, u32>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// What the keys of the map take elsewhere.
    boxes: usize,
}

impl Dictionary {
    /// The number of a value; a new one if it was not seen before.
    pub(crate) fn number(&mut self, value: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.numbers.insert(value.into(), number);
        // An allocator gives sixteen bytes at a time, and has a word of its own.
        self.boxes += (value.len() + 8).next_multiple_of(16).max(32);
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as u32);
        number
    }

    /// Whether a value was seen before.
    pub(crate) fn knows(&self, value: &[u8]) -> bool {
        self.numbers.contains_key(value)
    }

    /// Learns what another one knows that began with the same values.
    pub(crate) fn catch_up(&mut self, other: &Self) {
        for number in self.len()..other.len() {
            self.number(other.value(number as u32));
        }
    }

    /// The value with a number.
    #[inline]
    pub(crate) fn value(&self, number: u32) -> &[u8] {
        let end = self.ends[number as usize] as usize;
        let start = if number == 0 { 0 } else { self.ends[number as usize - 1] as usize };
        &self.bytes[start..end]
    }

    /// How many values were seen.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // A map is at most seven eighths full, and has a byte for each slot.
        let map = self.numbers.capacity() / 7 * 8 * (size_of::<(Box<[u8]>, u32)>() + 1);
        map + self.boxes + self.bytes.len() + self.ends.len() * size_of::<u32>()
    }
}
