//! Sets of processes: bits, in place for up to 128 processes.

use smallvec::{SmallVec, smallvec};

/// A set of process numbers.
#[derive(Clone, Debug, Default)]
pub struct Set {
    words: SmallVec<[u64; 2]>,
}

/// Words at the end that are zero do not count.
impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        let n = self.words.len().max(other.words.len());
        (0..n).all(|i| self.word(i) == other.word(i))
    }
}

impl Eq for Set {}

impl Set {
    /// The empty set.
    pub fn new() -> Set {
        Set { words: smallvec![0] }
    }

    /// The set with one member.
    pub fn single(process: u32) -> Set {
        let mut set = Set::new();
        set.insert(process);
        set
    }

    fn word(&self, i: usize) -> u64 {
        self.words.get(i).copied().unwrap_or(0)
    }

    /// Puts a process in.
    pub fn insert(&mut self, process: u32) {
        let (word, bit) = ((process / 64) as usize, process % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    /// Takes a process out.
    pub fn remove(&mut self, process: u32) {
        if let Some(word) = self.words.get_mut((process / 64) as usize) {
            *word &= !(1 << (process % 64));
        }
    }

    /// Whether a process is in.
    pub fn contains(&self, process: u32) -> bool {
        self.word((process / 64) as usize) >> (process % 64) & 1 == 1
    }

    /// Whether nobody is in.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many are in.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The smallest member.
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The members, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    i as u32 * 64 + bit
                })
            })
        })
    }

    /// Whether some process is in both.
    pub fn meets(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Set) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    /// What is in this set and not in the other.
    pub fn without(&self, other: &Set) -> Set {
        Set { words: (0..self.words.len()).map(|i| self.words[i] & !other.word(i)).collect() }
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(processes: I) -> Set {
        let mut set = Set::new();
        processes.into_iter().for_each(|process| set.insert(process));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order_and_beyond_the_first_words() {
        let mut set: Set = [200, 3, 64].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        set.remove(200);
        assert!(!set.contains(200) && set.contains(64) && set.len() == 2);
        assert_eq!(set, [3, 64].into_iter().collect());
        assert_eq!(set.without(&Set::single(3)), Set::single(64));
        assert!(set.meets(&Set::single(64)) && !set.meets(&Set::single(65)));
    }
}
