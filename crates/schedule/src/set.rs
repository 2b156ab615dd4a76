//! Sets of processes: bits, the first 64 of them in place.

/// A set of process numbers.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Processes below 64: in nearly all programs, all of them.
    first: u64,
    /// The others.
    more: Vec<u64>,
}

/// Words at the end that are zero do not count.
impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        let n = self.more.len().max(other.more.len());
        self.first == other.first && (1..=n).all(|i| self.word(i) == other.word(i))
    }
}

impl Eq for Set {}

impl Set {
    /// The empty set.
    pub fn new() -> Set {
        Set::default()
    }

    /// The set with one member.
    pub fn single(process: u32) -> Set {
        let mut set = Set::new();
        set.insert(process);
        set
    }

    #[inline]
    fn word(&self, i: usize) -> u64 {
        if i == 0 { self.first } else { self.more.get(i - 1).copied().unwrap_or(0) }
    }

    /// Puts a process in.
    #[inline]
    pub fn insert(&mut self, process: u32) {
        if process < 64 {
            self.first |= 1 << process;
        } else {
            let i = (process / 64) as usize - 1;
            if i >= self.more.len() {
                self.more.resize(i + 1, 0);
            }
            self.more[i] |= 1 << (process % 64);
        }
    }

    /// Takes a process out.
    #[inline]
    pub fn remove(&mut self, process: u32) {
        if process < 64 {
            self.first &= !(1 << process);
        } else if let Some(word) = self.more.get_mut((process / 64) as usize - 1) {
            *word &= !(1 << (process % 64));
        }
    }

    /// Takes everybody out.
    pub fn clear(&mut self) {
        self.first = 0;
        self.more.clear();
    }

    /// Whether a process is in.
    #[inline]
    pub fn contains(&self, process: u32) -> bool {
        self.word((process / 64) as usize) >> (process % 64) & 1 == 1
    }

    /// Whether nobody is in.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&word| word == 0)
    }

    /// How many are in.
    pub fn len(&self) -> usize {
        (self.first.count_ones() + self.more.iter().map(|word| word.count_ones()).sum::<u32>()) as usize
    }

    /// The member, if there is one and no other.
    #[inline]
    pub fn only(&self) -> Option<u32> {
        let is_one = self.more.is_empty() && self.first.is_power_of_two();
        is_one.then(|| self.first.trailing_zeros())
    }

    /// The smallest member.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The members, smallest first.
    #[inline]
    pub fn iter(&self) -> Members<'_> {
        Members { left: self.first, offset: 0, more: self.more.iter() }
    }

    /// Whether some process is in both.
    #[inline]
    pub fn meets(&self, other: &Set) -> bool {
        self.first & other.first != 0 || self.more.iter().zip(&other.more).any(|(a, b)| a & b != 0)
    }

    /// Adds all of another set.
    #[inline]
    pub fn extend(&mut self, other: &Set) {
        self.first |= other.first;
        if self.more.len() < other.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        self.more.iter_mut().zip(&other.more).for_each(|(a, b)| *a |= b);
    }

    /// What is in this set and not in the other.
    #[inline]
    pub fn without(&self, other: &Set) -> Set {
        let more = (0..self.more.len()).map(|i| self.more[i] & !other.word(i + 1)).collect();
        Set { first: self.first & !other.first, more }
    }
}

/// The members of a set.
#[derive(Clone, Debug)]
pub struct Members<'s> {
    left: u64,
    offset: u32,
    more: std::slice::Iter<'s, u64>,
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.left == 0 {
            self.left = *self.more.next()?;
            self.offset += 64;
        }
        let bit = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(self.offset + bit)
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
        assert_eq!((Set::single(3).only(), set.only(), Set::new().only()), (Some(3), None, None));
    }
}
