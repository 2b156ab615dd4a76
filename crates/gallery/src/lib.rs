//! The gallery: models written as Rust code, to learn from, to test with and to measure.
//!
//! Each model has a file of its own, which opens by saying what is modelled, where it comes from and
//! what answers to expect. [`entries`] lists them, [`build`] makes one:
//!
//! ```
//! let model = stubborn_gallery::build("peterson", Some(3), Some("correct")).unwrap();
//! assert_eq!(model.n_transitions(), 6);
//! assert!(stubborn_gallery::build("petersen", None, None).is_err());
//! ```
//!
//! Every model declares footprints, so that stubborn rules can be derived; `peterson` and `token-ring`
//! also bring the hand-written rules of the published experiments.

#![forbid(unsafe_code)]

pub mod alternating_bit;
pub mod customer_ring;
pub mod peterson;
pub mod philosophers;
pub mod process_ring;
pub mod river;
#[cfg(test)]
mod test_explore;
pub mod token_ring;
pub mod turns;
pub mod two_phase_commit;

use std::ops::RangeInclusive;
use stubborn_model::Model;
use thiserror::Error;

/// What there is to know about a model before it is built.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The word for it on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The size that is taken if none is given.
    pub default_size: usize,
    /// The sizes that make sense.
    pub sizes: RangeInclusive<usize>,
    /// What the size counts.
    pub size_means: &'static str,
    /// The word for each variant, and what it is in one line.
    pub variants: &'static [(&'static str, &'static str)],
    /// The variant that is taken if none is given.
    pub default_variant: &'static str,
    /// Builds the model of a size that makes sense, in the variant with this place in `variants`.
    make: fn(usize, usize) -> Box<dyn Model>,
}

/// In the order of the guide: the two with published numbers first.
static ENTRIES: [Entry; 7] = [
    peterson::ENTRY,
    token_ring::ENTRY,
    philosophers::ENTRY,
    alternating_bit::ENTRY,
    two_phase_commit::ENTRY,
    turns::ENTRY,
    river::ENTRY,
];

/// A model that the gallery does not have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no model of this name.
    #[error("the gallery has no model `{name}`; it has {known}")]
    UnknownModel {
        /// The name asked for.
        name: String,
        /// The names that would do.
        known: String,
    },
    /// The model has no such variant.
    #[error("model `{model}` has no variant `{variant}`; it has {known}")]
    UnknownVariant {
        /// The model.
        model: &'static str,
        /// The variant asked for.
        variant: String,
        /// The variants that would do.
        known: String,
    },
    /// The model cannot have this size.
    #[error("model `{model}` cannot have size {size}; the size ({means}) is {least} to {most}")]
    BadSize {
        /// The model.
        model: &'static str,
        /// The size asked for.
        size: usize,
        /// What the size counts.
        means: &'static str,
        /// The smallest size.
        least: usize,
        /// The largest size.
        most: usize,
    },
}

/// All models of the gallery.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// Builds the model `name`, with its default size and variant where none is given.
pub fn build(name: &str, size: Option<usize>, variant: Option<&str>) -> Result<Box<dyn Model>, BuildError> {
    let entry = entries().iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known = listed(entries().iter().map(|entry| entry.name));
        BuildError::UnknownModel { name: name.to_owned(), known }
    })?;
    entry.build(size, variant)
}

impl Entry {
    /// Builds the model, with its default size and variant where none is given.
    pub fn build(&self, size: Option<usize>, variant: Option<&str>) -> Result<Box<dyn Model>, BuildError> {
        let size = size.unwrap_or(self.default_size);
        self.check_size(size)?;
        let variant = variant.unwrap_or(self.default_variant);
        let place = self.variants.iter().position(|(word, _)| *word == variant).ok_or_else(|| {
            let known = listed(self.variants.iter().map(|(word, _)| *word));
            BuildError::UnknownVariant { model: self.name, variant: variant.to_owned(), known }
        })?;
        Ok((self.make)(size, place))
    }

    fn check_size(&self, size: usize) -> Result<(), BuildError> {
        if self.sizes.contains(&size) {
            return Ok(());
        }
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        Err(BuildError::BadSize { model: self.name, size, means: self.size_means, least, most })
    }

    /// For constructors: panics if the model cannot have this size.
    fn expect_size(&self, size: usize) {
        if let Err(error) = self.check_size(size) {
            panic!("{error}");
        }
    }
}

/// The words in quotes, with commas between them.
fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_in_every_variant_and_says_which_it_is() {
        for entry in entries() {
            assert!(entry.sizes.contains(&entry.default_size), "{}", entry.name);
            assert!(entry.variants.iter().any(|(word, _)| *word == entry.default_variant));
            for (word, about) in entry.variants {
                assert!(!about.is_empty());
                for size in [*entry.sizes.start(), entry.default_size, *entry.sizes.end()] {
                    let model = build(entry.name, Some(size), Some(word)).unwrap();
                    assert_eq!(model.name(), format!("{} {size} {word}", entry.name));
                    assert_eq!(model.layout().error(), None);
                    assert!(!model.questions().is_empty());
                }
            }
        }
    }

    #[test]
    fn the_defaults_are_the_first_variant_except_for_peterson() {
        for entry in entries() {
            let expected = if entry.name == "peterson" { "correct" } else { entry.variants[0].0 };
            assert_eq!(entry.default_variant, expected);
            let model = build(entry.name, None, None).unwrap();
            assert_eq!(model.name(), format!("{} {} {expected}", entry.name, entry.default_size));
        }
    }

    #[test]
    fn what_cannot_be_built_is_explained() {
        let message = |name, size, variant| build(name, size, variant).err().unwrap().to_string();
        assert_eq!(
            message("petersen", None, None),
            "the gallery has no model `petersen`; it has `peterson`, `token-ring`, `philosophers`, \
             `alternating-bit`, `two-phase-commit`, `turns`, `river`"
        );
        assert_eq!(
            message("turns", None, Some("just")),
            "model `turns` has no variant `just`; it has `fair`, `unfair`"
        );
        assert_eq!(
            message("token-ring", Some(1), None),
            "model `token-ring` cannot have size 1; the size (stations) is 2 to 32"
        );
    }
}
