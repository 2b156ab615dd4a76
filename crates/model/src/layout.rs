//! Where each variable lives in the packed state.
//!
//! Variables are packed in declaration order into 64-bit words; a variable never straddles two words.
//! A mistake in a declaration does not panic: it is remembered and reported when the model is used.

use std::ops::{Index, RangeInclusive};
use thiserror::Error;

/// A variable: where it lives and what it may hold. Cheap to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var {
    /// Number of the variable; of the array, if this stands for an element that does not exist.
    pub(crate) index: u32,
    /// The smallest value; stored as zero.
    pub(crate) min: u32,
    /// The largest value.
    pub(crate) max: u32,
    /// All ones, as wide as the variable.
    pub(crate) mask: u32,
    /// Which word; [`Var::NOWHERE`] for an element that does not exist.
    pub(crate) word: u16,
    /// Where in the word.
    pub(crate) shift: u8,
}

impl Var {
    pub(crate) const NOWHERE: u16 = u16::MAX;

    /// Number of the variable in its layout.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// How many values the variable can hold.
    pub(crate) fn n_values(self) -> u64 {
        u64::from(self.max - self.min) + 1
    }
}

/// An array of variables. Indexing out of range gives a variable that does not exist; using it is a
/// fault of the model, reported with the array's name.
#[derive(Clone, Debug)]
pub struct Array {
    vars: Vec<Var>,
    nowhere: Var,
}

impl Array {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.vars.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.vars.is_empty()
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = Var> + '_ {
        self.vars.iter().copied()
    }
}

impl Index<usize> for Array {
    type Output = Var;
    #[inline]
    fn index(&self, i: usize) -> &Var {
        self.vars.get(i).unwrap_or(&self.nowhere)
    }
}

/// A declaration that cannot be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// The range is empty or does not fit 32 bits.
    #[error("variable `{name}`: the range {min}..={max} is not a range of 32-bit numbers")]
    BadRange {
        /// Name of the variable.
        name: String,
        /// Lower end.
        min: usize,
        /// Upper end.
        max: usize,
    },
    /// More bits than a state may have.
    #[error("variable `{name}`: states would take more than {limit} words of 64 bits")]
    TooLarge {
        /// The variable that no longer fits.
        name: String,
        /// The limit, in words.
        limit: usize,
    },
    /// The same name twice.
    #[error("variable `{name}` is declared twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// What is known of a variable besides its place.
#[derive(Clone, Debug)]
struct Declared {
    var: Var,
    name: String,
    /// Names of the values from `min` up, if they have names.
    labels: Vec<String>,
}

/// The variables of a model, in declaration order.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    declared: Vec<Declared>,
    arrays: Vec<(String, usize)>,
    /// Bits used so far, gaps included.
    n_bits: usize,
    error: Option<LayoutError>,
}

impl Layout {
    /// The largest number of words in a state: 64 KiB.
    pub const MAX_WORDS: usize = 8192;

    /// No variables yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a variable that holds the values of `range`; initially the smallest.
    pub fn var(&mut self, name: &str, range: RangeInclusive<usize>) -> Var {
        self.declare(name.to_owned(), range, Vec::new())
    }

    /// Declares a variable that is `bits` wide, holding 0..=2^bits-1.
    pub fn bits(&mut self, name: &str, bits: u32) -> Var {
        let max = 1usize.checked_shl(bits).map_or(usize::MAX, |n| n - 1);
        self.declare(name.to_owned(), 0..=max, Vec::new())
    }

    /// Declares a variable with one value per label, numbered from zero and shown by name.
    pub fn named(&mut self, name: &str, labels: &[&str]) -> Var {
        let labels: Vec<String> = labels.iter().map(|&l| l.to_owned()).collect();
        self.declare(name.to_owned(), 0..=labels.len().wrapping_sub(1), labels)
    }

    /// Declares `len` variables `name[0]`, `name[1]`, ...
    pub fn array(&mut self, name: &str, len: usize, range: RangeInclusive<usize>) -> Array {
        self.array_of(name, len, range, &[])
    }

    /// Declares `len` variables with named values.
    pub fn named_array(&mut self, name: &str, len: usize, labels: &[&str]) -> Array {
        self.array_of(name, len, 0..=labels.len().wrapping_sub(1), labels)
    }

    fn array_of(&mut self, name: &str, len: usize, range: RangeInclusive<usize>, labels: &[&str]) -> Array {
        let nowhere =
            Var { index: self.arrays.len() as u32, min: 0, max: 0, mask: 0, word: Var::NOWHERE, shift: 0 };
        self.arrays.push((name.to_owned(), len));
        let labels: Vec<String> = labels.iter().map(|&l| l.to_owned()).collect();
        let vars =
            (0..len).map(|i| self.declare(format!("{name}[{i}]"), range.clone(), labels.clone())).collect();
        Array { vars, nowhere }
    }

    fn declare(&mut self, name: String, range: RangeInclusive<usize>, labels: Vec<String>) -> Var {
        let index = self.declared.len() as u32;
        let (min, max) = (*range.start(), *range.end());
        let fits = min <= max && u32::try_from(max).is_ok();
        let (min, max) = if fits {
            (min as u32, max as u32)
        } else {
            self.complain(LayoutError::BadRange { name: name.clone(), min, max });
            (0, 0)
        };
        let width = (u64::from(max - min) + 1).next_power_of_two().trailing_zeros() as usize;
        if self.n_bits / 64 != (self.n_bits + width.max(1) - 1) / 64 {
            self.n_bits = self.n_bits.next_multiple_of(64);
        }
        // A variable with one value takes no bits, and so lives anywhere; not behind the last word.
        let (mut word, shift) = if width == 0 { (0, 0) } else { (self.n_bits / 64, self.n_bits % 64) };
        self.n_bits += width;
        if word >= Self::MAX_WORDS {
            self.complain(LayoutError::TooLarge { name: name.clone(), limit: Self::MAX_WORDS });
            word = 0;
        }
        let mask = ((1u64 << width) - 1) as u32;
        let var = Var { index, min, max, mask, word: word as u16, shift: shift as u8 };
        self.declared.push(Declared { var, name, labels });
        var
    }

    fn complain(&mut self, error: LayoutError) {
        self.error.get_or_insert(error);
    }

    /// The first mistake in the declarations, if any.
    pub fn error(&self) -> Option<LayoutError> {
        let mut names: Vec<&str> = self.declared.iter().map(|d| d.name.as_str()).collect();
        names.sort_unstable();
        let twice =
            names.windows(2).find(|w| w[0] == w[1]).map(|w| LayoutError::Twice { name: w[0].to_owned() });
        self.error.clone().or(twice)
    }

    /// Number of variables.
    pub fn n_vars(&self) -> usize {
        self.declared.len()
    }

    /// Bits in a state.
    pub fn n_bits(&self) -> usize {
        self.n_bits
    }

    /// Words in a state, at least one.
    pub fn n_words(&self) -> usize {
        self.n_bits.div_ceil(64).clamp(1, Self::MAX_WORDS)
    }

    /// Variable number `index`.
    pub fn by_index(&self, index: usize) -> Var {
        self.declared[index].var
    }

    /// All variables.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.declared.iter().map(|d| d.var)
    }

    /// The name of a variable.
    pub fn name(&self, var: Var) -> &str {
        match self.declared.get(var.index()) {
            Some(declared) if var.word != Var::NOWHERE => &declared.name,
            _ => "(no such element)",
        }
    }

    /// Name and length of the array that the missing element `var` was asked of.
    pub(crate) fn missing(&self, var: Var) -> (String, usize) {
        self.arrays.get(var.index()).cloned().unwrap_or_default()
    }

    /// How to show `value` of `var`: by its label if it has one.
    pub fn show_value(&self, var: Var, value: usize) -> String {
        let labels = &self.declared[var.index()].labels;
        labels.get(value.wrapping_sub(var.min as usize)).cloned().unwrap_or_else(|| value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_packed_and_never_straddle_words() {
        let mut layout = Layout::new();
        let a = layout.array("a", 12, 0..=31);
        let b = layout.var("b", 3..=10);
        let c = layout.bits("c", 32);
        assert_eq!((a[11].word, a[11].shift), (0, 55));
        assert_eq!((b.word, b.shift, b.mask), (0, 60, 7));
        assert_eq!((c.word, c.shift, c.mask), (1, 0, u32::MAX));
        assert_eq!((layout.n_bits(), layout.n_words(), layout.error()), (96, 2, None));
    }

    #[test]
    fn a_variable_with_one_value_takes_no_bits() {
        let mut layout = Layout::new();
        let v = layout.var("constant", 7..=7);
        assert_eq!((layout.n_bits(), layout.n_words(), v.mask), (0, 1, 0));
    }

    #[test]
    fn a_variable_with_one_value_has_a_place_behind_a_full_word() {
        for n in [1, 63, 64, 65, 128, 192, 256] {
            let mut layout = Layout::new();
            layout.array("bit", n, 0..=1);
            let v = layout.var("constant", 3..=3);
            assert!(usize::from(v.word) < layout.n_words(), "{n}");
        }
    }

    #[test]
    fn wrong_declarations_are_remembered_not_panicked_at() {
        let mut layout = Layout::new();
        layout.var("ok", 0..=1);
        layout.bits("wide", 40);
        assert!(matches!(layout.error(), Some(LayoutError::BadRange { name, .. }) if name == "wide"));
        let mut layout = Layout::new();
        layout.named("empty", &[]);
        assert!(matches!(layout.error(), Some(LayoutError::BadRange { .. })));
        let mut layout = Layout::new();
        layout.array("huge", 70_000, 0..=255);
        assert!(matches!(layout.error(), Some(LayoutError::TooLarge { .. })));
        let mut layout = Layout::new();
        layout.var("x", 0..=1);
        layout.var("x", 0..=1);
        assert_eq!(layout.error(), Some(LayoutError::Twice { name: "x".into() }));
    }
}
