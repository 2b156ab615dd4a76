//! From states to keys and back: the values of parts, numbered.
//!
//! A key has a field for the shape and one for each part. A number is that of a value among those that the part has
//! had so far ([`Dictionary`]), so keys are equal exactly if states are. When a number does not fit its field, the
//! key cannot be made, and whoever asked must begin again with wider fields. States that are words with a field for each
//! part (those of models as code) are keys as they are: nothing is numbered, and a key is taken apart for nothing.
//!
//! Where several threads search, each has values of its own and all have them in common: numbers are given to the values
//! in common, and a thread that comes upon a value or a number that it does not know catches up.

use crate::dictionary::Dictionary;
use crate::fields::{Field, bits_for, spread};
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_system::{Bits, Parts, Rows, Tracer, Vector};

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
    /// How many values each part had some time ago: who had few then and has many now will have more.
    earlier: Vec<usize>,
    /// How often keys were too narrow.
    pub(crate) n_failures: u32,
    /// Memory in use, in bytes.
    n_bytes: usize,
    /// If states are keys as they are: where their parts lie. Then values are not numbered.
    as_they_are: Option<Vec<Field>>,
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

/// The widest field of a part that leads an agent, if its values are not numbered: they are indices.
const WIDEST_ROOT: u8 = 12;

/// A part is growing if it has had more than a few values, and one in so many of them of late.
const FEW_VALUES: usize = 8;
const GROWTH: usize = 4;

impl Values {
    /// Takes the values of parts for their numbers from now on, if that is possible: they lie at these places of states.
    pub(crate) fn take_as_they_are(&mut self, places: &[Bits]) {
        let field = |place: &Bits| Field { word: place.word as u8, shift: place.shift, bits: place.bits };
        let fields: Vec<Field> = places.iter().map(field).collect();
        let is_small = |root: &u16| fields.get(usize::from(*root)).is_some_and(|f| f.bits <= WIDEST_ROOT);
        let is_possible = places.iter().all(|place| place.word < 4)
            && self.shapes.len() == 1
            && self.shapes[0].roots.iter().all(is_small);
        self.as_they_are = is_possible.then_some(fields);
    }

    /// Whether values are taken for their numbers.
    #[inline]
    pub(crate) fn is_as_they_are(&self) -> bool {
        self.as_they_are.is_some()
    }

    /// Words that a key needs whose highest bit is free, if values are taken as they are.
    pub(crate) fn words_as_they_are(&self) -> Option<usize> {
        let fields = self.as_they_are.as_ref()?;
        let last = fields.iter().map(|field| field.word).max().unwrap_or(0);
        let is_full = fields.iter().any(|field| field.word == last && field.mask() >> 63 != 0);
        Some(usize::from(last) + 1 + usize::from(is_full))
    }

    /// Notes the values of a state that was just taken apart.
    pub(crate) fn learn<S: Vector + ?Sized>(&mut self, parts: &Parts, tracer: &mut dyn Tracer<S>) {
        self.shape(parts, tracer);
        for (part, value) in parts.iter() {
            self.number(part, value);
        }
    }

    /// The number of a value of a part.
    fn number(&mut self, part: u16, value: &[u8]) -> u32 {
        let values = &mut self.parts[usize::from(part)];
        let (before, n) = (values.bytes(), values.len());
        let number = values.number(value);
        if number as usize == n {
            self.n_bytes += values.bytes() - before;
        }
        number
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
        self.n_bytes = self.parts.iter().map(Dictionary::bytes).sum();
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

    /// For the shape and for each part. To begin again because a part has one value more than there is room for takes as long as the search until then, and where that came to pass
    /// more than once there may be many such parts, each with a few more values than the last time. So from then on all have room for half as many values more, and then for as many more as there are.
    fn bits(&self) -> Vec<u8> {
        let halves = self.n_failures.saturating_sub(1) as usize;
        let spare = |n: usize| if n > FEW_VALUES { n * halves / 2 } else { 0 };
        let parts = self.parts.iter().map(|values| bits_for(values.len() + spare(values.len())));
        std::iter::once(bits_for(self.shapes.len())).chain(parts).collect()
    }

    /// Remembers how many values parts have had so far.
    pub(crate) fn look_back(&mut self) {
        self.earlier.clear();
        self.earlier.extend(self.parts.iter().map(Dictionary::len));
    }

    /// The same: which had several more values of late.
    fn are_growing(&self) -> Vec<bool> {
        let earlier = self.earlier.iter().copied().chain(std::iter::repeat(0));
        let parts = self.parts.iter().zip(earlier).map(|(values, earlier)| {
            values.len() > FEW_VALUES && values.len() - earlier > values.len() / GROWTH
        });
        std::iter::once(false).chain(parts).collect()
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.n_bytes + self.shape_numbers.bytes()
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
    pub(crate) fn new(mut values: Box<Values>) -> Result<Self, Box<Values>> {
        if let Some(needed) = values.words_as_they_are() {
            let fields = values.as_they_are.clone().filter(|_| needed <= N);
            let Some(fields) = fields else { return Err(values) };
            return Ok(Self { values, shape: Field::default(), fields, common: None });
        }
        let Some(mut fields) = spread(&values.bits(), &values.are_growing(), N) else { return Err(values) };
        values.look_back();
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
        let Some(common) = self.common.as_ref().filter(|_| self.values.as_they_are.is_none()) else { return };
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
        let Some(common) = self.common.as_ref().filter(|_| self.values.as_they_are.is_none()) else { return };
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

    /// The bits of the shape.
    pub(crate) fn mark_shape(&self, mask: &mut [u64; N]) {
        mask[usize::from(self.shape.word)] |= self.shape.mask();
    }

    /// The bits of all parts in which two keys differ.
    pub(crate) fn mark_differing(&self, a: &[u64; N], b: &[u64; N], mask: &mut [u64; N]) {
        for field in self.fields.iter().chain([&self.shape]) {
            if field.get(a) != field.get(b) {
                mask[usize::from(field.word)] |= field.mask();
            }
        }
    }

    /// Where shapes are written.
    pub(crate) fn shape_field(&self) -> Field {
        self.shape
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
            let number = match value.try_into() {
                Ok(bytes) if self.values.as_they_are.is_some() => u32::from_le_bytes(bytes),
                _ => self.values.number(part, value),
            };
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
        out.clear();
        if self.values.as_they_are.is_some() {
            return tracer.put_words(key, out);
        }
        self.parts(key, parts);
        tracer.put_together(parts, out);
    }
}
