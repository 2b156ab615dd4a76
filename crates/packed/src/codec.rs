//! From states to keys and back: the values of parts, numbered.
//!
//! A key has a field for the shape and one for each part. A number is that of a value among those that the part has
//! had so far ([`Dictionary`]), so keys are equal exactly if states are. When a number does not fit its field, the
//! key cannot be made, and whoever asked must begin again with wider fields.
//!
//! Where several threads search, each has values of its own and all have them in common: numbers are given to the values
//! in common, and a thread that comes upon a value or a number that it does not know catches up.

use crate::dictionary::Dictionary;
use crate::fields::{Field, bits_for, spread};
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_system::{Parts, Rows, Tracer, Vector};

/// A number does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooNarrow;

/// What is known of values, whatever the width of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Which parts a state of a shape has.
    shapes: Vec<Shape>,
    shape_numbers: Dictionary,
    parts: Vec<Dictionary>,
    /// What a tracer must take finer apart, in this order, so that parts are these.
    pub(crate) splits: Vec<(Vec<u8>, u16)>,
}

/// States that have the same parts and agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Numbers of the parts.
    pub(crate) parts: Vec<u16>,
    /// For each agent the part that tells best what it can do.
    pub(crate) roots: Vec<u16>,
}

impl Values {
    /// Notes the values of a state that was just taken apart.
    pub(crate) fn learn<S: Vector + ?Sized>(&mut self, parts: &Parts, tracer: &mut dyn Tracer<S>) {
        self.shape(parts, tracer);
        for (part, value) in parts.iter() {
            self.parts[usize::from(part)].number(value);
        }
    }

    /// Whether nothing is to be learned from a state.
    fn knows(&self, parts: &Parts) -> bool {
        self.shape_numbers.knows(&parts.shape)
            && parts.iter().all(|(part, value)| self.parts[usize::from(part)].knows(value))
    }

    /// Learns what others know who began with the same values.
    fn catch_up(&mut self, others: &Self) {
        self.shapes.extend_from_slice(&others.shapes[self.shapes.len()..]);
        self.shape_numbers.catch_up(&others.shape_numbers);
        self.parts.resize_with(others.parts.len(), Dictionary::default);
        self.parts.iter_mut().zip(&others.parts).for_each(|(mine, theirs)| mine.catch_up(theirs));
    }

    /// The number of the shape of a state that was just taken apart.
    fn shape<S: Vector + ?Sized>(&mut self, parts: &Parts, tracer: &mut dyn Tracer<S>) -> u32 {
        let number = self.shape_numbers.number(&parts.shape);
        if number as usize == self.shapes.len() {
            let mut shape = Shape::default();
            shape.parts.extend(parts.list.iter().map(|&(part, _)| part));
            tracer.agents(&mut shape.roots);
            let most = shape.parts.iter().map(|&part| usize::from(part) + 1).max().unwrap_or(0);
            if self.parts.len() < most {
                self.parts.resize_with(most, Dictionary::default);
            }
            self.shapes.push(shape);
        }
        number
    }

    /// How many values a part has had.
    fn n_values(&self, part: u16) -> usize {
        self.parts.get(usize::from(part)).map_or(0, Dictionary::len)
    }

    /// Bits that a key needs at least.
    pub(crate) fn n_bits(&self) -> usize {
        self.bits().iter().map(|&bits| usize::from(bits)).sum()
    }

    /// The first part that leads an agent and has had more than `most` values, with a shape that has it.
    pub(crate) fn large_root(&self, most: usize) -> Option<(&[u8], u16)> {
        let roots = |(number, shape): (usize, &Shape)| {
            let large = shape.roots.iter().find(|&&root| self.n_values(root) > most);
            large.map(|&root| (self.shape_numbers.value(number as u32), root))
        };
        self.shapes.iter().enumerate().find_map(roots)
    }

    /// For the shape and for each part.
    fn bits(&self) -> Vec<u8> {
        let parts = self.parts.iter().map(|values| bits_for(values.len()));
        std::iter::once(bits_for(self.shapes.len())).chain(parts).collect()
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(Dictionary::bytes).sum::<usize>() + self.shape_numbers.bytes()
    }
}

/// Keys of `N` words.
#[derive(Debug)]
pub(crate) struct Codec<const N: usize> {
    pub(crate) values: Box<Values>,
    shape: Field,
    fields: Vec<Field>,
    /// What all threads know, if there are several.
    common: Option<Arc<Mutex<Values>>>,
}

impl<const N: usize> Codec<N> {
    /// With room for the values so far and for as many more as the words hold; the values again if the words are too few.
    pub(crate) fn new(values: Box<Values>) -> Result<Self, Box<Values>> {
        let Some(mut fields) = spread(&values.bits(), N) else { return Err(values) };
        let shape = fields.remove(0);
        Ok(Self { values, shape, fields, common: None })
    }

    /// Another one for the same keys, with values in common.
    pub(crate) fn member(&self, common: &Arc<Mutex<Values>>) -> Self {
        let values = common.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fields = self.fields.clone();
        Self { values: Box::new(values), shape: self.shape, fields, common: Some(Arc::clone(common)) }
    }

    /// Makes sure that all numbers of a key are known here.
    pub(crate) fn meet(&mut self, key: &[u64; N]) {
        let Some(common) = &self.common else { return };
        let known = self.values.shapes.get(self.shape.get(key) as usize).is_some_and(|shape| {
            let number = |part| self.field(part).get(key) as usize;
            shape.parts.iter().all(|&part| number(part) < self.values.n_values(part))
        });
        if !known {
            self.values.catch_up(&common.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Makes sure that all values of a state have numbers that others know, too.
    fn agree<S: Vector + ?Sized>(&mut self, parts: &Parts, tracer: &mut dyn Tracer<S>) {
        let Some(common) = &self.common else { return };
        if !self.values.knows(parts) {
            let mut common = common.lock().unwrap_or_else(PoisonError::into_inner);
            common.learn(parts, tracer);
            self.values.catch_up(&common);
        }
    }

    /// Where a part lies; nowhere if it was never seen.
    #[inline]
    pub(crate) fn field(&self, part: u16) -> Field {
        self.fields.get(usize::from(part)).copied().unwrap_or_default()
    }

    /// The bits of a part.
    pub(crate) fn mark(&self, part: u16, mask: &mut [u64; N]) {
        let field = self.field(part);
        mask[usize::from(field.word)] |= field.mask();
    }

    /// The bits of all parts in which two keys differ.
    pub(crate) fn mark_differing(&self, a: &[u64; N], b: &[u64; N], mask: &mut [u64; N]) {
        for field in self.fields.iter().chain([&self.shape]) {
            if field.get(a) != field.get(b) {
                mask[usize::from(field.word)] |= field.mask();
            }
        }
    }

    /// The shape of a key.
    #[inline]
    pub(crate) fn shape_of(&self, key: &[u64; N]) -> usize {
        self.shape.get(key) as usize
    }

    /// What states of a shape have.
    #[inline]
    pub(crate) fn shape(&self, number: usize) -> &Shape {
        &self.values.shapes[number]
    }

    /// The key of a state that was just taken apart.
    pub(crate) fn key<S: Vector + ?Sized>(
        &mut self,
        parts: &Parts,
        tracer: &mut dyn Tracer<S>,
    ) -> Result<[u64; N], TooNarrow> {
        self.agree(parts, tracer);
        let mut key = [0; N];
        // All values are learned, even if one does not fit: who begins again knows more.
        let mut fits = true;
        let mut put = |field: Field, number: u32| {
            fits &= u64::from(number) <= field.most();
            field.put(&mut key, number & field.most() as u32);
        };
        let shape = self.values.shape(parts, tracer);
        put(self.shape, shape);
        for (part, value) in parts.iter() {
            let number = self.values.parts[usize::from(part)].number(value);
            put(self.fields.get(usize::from(part)).copied().unwrap_or_default(), number);
        }
        if fits { Ok(key) } else { Err(TooNarrow) }
    }

    /// Takes a key apart.
    #[inline]
    pub(crate) fn parts(&self, key: &[u64; N], parts: &mut Parts) {
        parts.clear();
        let shape = self.shape_of(key);
        parts.shape.extend_from_slice(self.values.shape_numbers.value(shape as u32));
        for &part in &self.values.shapes[shape].parts {
            let number = self.field(part).get(key);
            parts.push(part, self.values.parts[usize::from(part)].value(number));
        }
    }

    /// Appends the state of a key.
    pub(crate) fn state<S: Vector + ?Sized>(
        &self,
        key: &[u64; N],
        parts: &mut Parts,
        tracer: &mut dyn Tracer<S>,
        out: &mut S::Rows,
    ) {
        self.parts(key, parts);
        out.clear();
        tracer.put_together(parts, out);
    }
}
