//! Where the number of each part's value lies in a key.
//!
//! A field never straddles two words. Widths follow from the values that were seen; bits that are left over go to the
//! parts that had new values to the last, and then one by one to those with the most, because these are the likeliest to have more.

/// A place in a key of several words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) word: u8,
    pub(crate) shift: u8,
    pub(crate) bits: u8,
}

impl Field {
    /// The largest number that fits.
    #[inline]
    pub(crate) fn most(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The bits of its word.
    #[inline]
    pub(crate) fn mask(self) -> u64 {
        self.most() << self.shift
    }

    #[inline]
    pub(crate) fn get<const N: usize>(self, key: &[u64; N]) -> u32 {
        ((key[usize::from(self.word)] >> self.shift) & self.most()) as u32
    }

    /// Puts a number where zeros are.
    #[inline]
    pub(crate) fn put<const N: usize>(self, key: &mut [u64; N], number: u32) {
        key[usize::from(self.word)] |= u64::from(number) << self.shift;
    }
}

/// How many bits tell `n` values apart.
pub(crate) fn bits_for(n: usize) -> u8 {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as u8
}

/// Most bits of a field.
const WIDEST: u8 = 31;

/// Places for parts with so many bits each, in `n_words` words; `None` if there is no room.
pub(crate) fn place(bits: &[u8], n_words: usize) -> Option<Vec<Field>> {
    let mut order: Vec<usize> = (0..bits.len()).collect();
    // The widest first, each into the first word that has room.
    order.sort_by_key(|&part| std::cmp::Reverse(bits[part]));
    let mut used = vec![0u8; n_words];
    let mut fields = vec![Field::default(); bits.len()];
    for part in order {
        let wanted = bits[part];
        if wanted > WIDEST {
            return None;
        }
        // The highest bit of all is left to stores.
        let room = |word: usize| if word + 1 == n_words { 63 } else { 64 };
        let word = (0..n_words).position(|word| used[word] + wanted <= room(word))?;
        // An empty field at the end of a full word would be shifted too far.
        let shift = if wanted == 0 { 0 } else { used[word] };
        fields[part] = Field { word: word as u8, shift, bits: wanted };
        used[word] += wanted;
    }
    Some(fields)
}

/// Who gets one more bit, round by round, as long as there is room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Parts that had new values all the time.
    Growing,
    /// Parts that have had several values.
    Several,
    /// Parts with one value so far, which may well be constants.
    Constant,
}

/// To begin again because a field is too narrow takes as long as the search so far, so those come first who need it most.
const ROUNDS: [Round; 11] = {
    use Round::{Constant, Growing, Several};
    [Growing, Growing, Growing, Several, Constant, Several, Several, Several, Several, Growing, Growing]
};

/// Widths with room to spare: as many bits more as `n_words` words have room for.
pub(crate) fn spread(bits: &[u8], are_growing: &[bool], n_words: usize) -> Option<Vec<Field>> {
    let mut best = place(bits, n_words)?;
    let mut wide = bits.to_vec();
    let mut order: Vec<usize> = (0..bits.len()).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(bits[part]));
    for round in ROUNDS {
        for &part in &order {
            let is_served = match round {
                Round::Growing => are_growing[part],
                Round::Several => bits[part] > 0,
                Round::Constant => bits[part] == 0,
            };
            if !is_served || wide[part] >= WIDEST {
                continue;
            }
            wide[part] += 1;
            match place(&wide, n_words) {
                Some(fields) => best = fields,
                None => wide[part] -= 1,
            }
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap_and_numbers_come_back() {
        let bits = [5, 0, 1, 31, 7, 3, 0, 11, 2];
        let fields = spread(&bits, &[false; 9], 1).unwrap();
        let mut all = 0u64;
        for (field, bits) in fields.iter().zip(bits) {
            assert!(field.bits >= bits && all & field.mask() == 0, "{fields:?}");
            all |= field.mask();
        }
        let mut key = [0u64];
        for (i, field) in fields.iter().enumerate() {
            field.put(&mut key, (i as u64 & field.most()) as u32);
        }
        assert!(fields.iter().enumerate().all(|(i, f)| u64::from(f.get(&key)) == i as u64 & f.most()));
        assert_eq!(all, u64::MAX >> 1, "all bits are used but the one that is left to stores");
        let are_growing = [true, false, false, false];
        let widths: Vec<u8> =
            spread(&[8, 8, 20, 20], &are_growing, 1).unwrap().iter().map(|field| field.bits).collect();
        assert_eq!(widths, [12, 9, 21, 21], "who grows gets more");
        assert!(place(&[30, 30, 30], 1).is_none() && place(&[30, 30, 30], 2).is_some());
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits_for), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
