//! What a transition may touch in any state, and how closely.
//!
//! A footprint is an upper bound over all states: the rules in `derived` combine it with what a
//! transition *does* in the current state, which is recorded and need not be declared.

use crate::{Array, Var};

/// A set of values of a variable; exact for variables with at most 64 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Any value.
    Any,
    /// Bit `i` stands for the `i`-th value of the variable.
    Set(u64),
}

impl Values {
    /// The values of `var` that are in `values`.
    pub fn of(var: Var, values: impl IntoIterator<Item = usize>) -> Self {
        if var.n_values() > 64 {
            return Self::Any;
        }
        let bits = values
            .into_iter()
            .filter(|&v| v >= var.min as usize && v <= var.max as usize)
            .fold(0, |set, v| set | 1 << (v - var.min as usize));
        Self::Set(bits)
    }

    /// All values of `var` that are not in `self`.
    pub(crate) fn complement(self, var: Var) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Set(bits) => Self::Set(!bits & (u64::MAX >> (64 - var.n_values()))),
        }
    }

    /// Whether the raw value `raw` (counted from the variable's smallest) is in the set.
    pub(crate) fn has(self, raw: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Set(bits) => raw < 64 && bits >> raw & 1 == 1,
        }
    }

    /// Whether some value is in both sets.
    pub(crate) fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Set(a), Self::Set(b)) => a & b != 0,
            _ => true,
        }
    }
}

/// How a variable is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Its value matters.
    Value,
    /// It only matters whether the value is in the set.
    In(Values),
    /// For checks: it only matters whether the value is in the set, and being in the set can only help
    /// the check to fail.
    Raises(Values),
}

impl Observation {
    /// Testing whether `var` has one of `values`; all of the value, where the set cannot be written down.
    pub(crate) fn test(var: Var, values: impl IntoIterator<Item = usize>) -> Self {
        match Values::of(var, values) {
            Values::Any => Self::Value,
            set => Self::In(set),
        }
    }

    /// Whether a change of the raw value from `old` to `new` can be seen. A change that can only make a
    /// check fail is not seen as a change that may turn it off.
    pub(crate) fn sees(self, old: u32, new: u32) -> bool {
        match self {
            Self::Value => old != new,
            Self::In(set) => set.has(old) != set.has(new),
            Self::Raises(set) => set.has(old) && !set.has(new),
        }
    }

    /// Whether writing some value of `written` over the raw value `now` can be seen, or for a check,
    /// help it to fail.
    pub(crate) fn may_be_changed(self, var: Var, now: u32, written: Values) -> bool {
        match self {
            Self::Value => match written {
                Values::Any => true,
                Values::Set(bits) => now >= 64 || bits & !(1 << now) != 0,
            },
            Self::In(set) if set.has(now) => written.meets(set.complement(var)),
            Self::In(set) => written.meets(set),
            Self::Raises(set) => !set.has(now) && written.meets(set),
        }
    }
}

/// What a transition (or a check) may read and write, in any state.
///
/// ```
/// # use stubborn_model::*;
/// let mut layout = Layout::new();
/// let turn = layout.var("turn", 0..=1);
/// let flag = layout.array("flag", 2, 0..=1);
/// // Process 0 tests the other's flag, and gives the turn away.
/// let footprint = Footprint::new().tests(flag[1], [1]).writes(flag[0]).writes_only(turn, [1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub(crate) reads: Vec<(Var, Observation)>,
    pub(crate) writes: Vec<(Var, Values)>,
}

impl Footprint {
    /// Touches nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// May read the value of `var`.
    #[must_use]
    pub fn reads(mut self, var: Var) -> Self {
        self.reads.push((var, Observation::Value));
        self
    }

    /// May read any element of `array`.
    #[must_use]
    pub fn reads_all(self, array: &Array) -> Self {
        array.iter().fold(self, Self::reads)
    }

    /// May test whether `var` has one of `values`, and looks at it in no other way.
    #[must_use]
    pub fn tests(mut self, var: Var, values: impl IntoIterator<Item = usize>) -> Self {
        self.reads.push((var, Observation::test(var, values)));
        self
    }

    /// For checks: may test whether `var` has one of `values`, and the more such tests succeed, the more
    /// the check fails.
    #[must_use]
    pub fn fails_by(mut self, var: Var, values: impl IntoIterator<Item = usize>) -> Self {
        let how = match Observation::test(var, values) {
            Observation::In(set) => Observation::Raises(set),
            value => value,
        };
        self.reads.push((var, how));
        self
    }

    /// May assign anything to `var`.
    #[must_use]
    pub fn writes(mut self, var: Var) -> Self {
        self.writes.push((var, Values::Any));
        self
    }

    /// May assign anything to any element of `array`.
    #[must_use]
    pub fn writes_all(self, array: &Array) -> Self {
        array.iter().fold(self, Self::writes)
    }

    /// May assign to `var`, but only `values`.
    #[must_use]
    pub fn writes_only(mut self, var: Var, values: impl IntoIterator<Item = usize>) -> Self {
        self.writes.push((var, Values::of(var, values)));
        self
    }

    /// May read the value of `var` and assign anything to it.
    #[must_use]
    pub fn updates(self, var: Var) -> Self {
        self.reads(var).writes(var)
    }

    /// Whether looking at `var` in this way is declared.
    pub(crate) fn allows_read(&self, var: Var, how: Observation) -> bool {
        self.reads.iter().any(|&(v, declared)| {
            v.index == var.index
                && match (declared, how) {
                    (Observation::Value, _) => true,
                    (Observation::In(a), Observation::In(b)) => a == b || a.complement(var) == b,
                    // A negated test looks at the same fact; what matters is which way the check goes.
                    (Observation::Raises(a), Observation::In(b)) => a == b || a.complement(var) == b,
                    _ => false,
                }
        })
    }

    /// Whether assigning the raw value `raw` to `var` is declared.
    pub(crate) fn allows_write(&self, var: Var, raw: u32) -> bool {
        self.writes.iter().any(|&(v, values)| v.index == var.index && values.has(raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn sets_of_values_are_counted_from_the_smallest() {
        let mut layout = Layout::new();
        let v = layout.var("v", 3..=7);
        let set = Values::of(v, [3, 7, 9]);
        assert_eq!(set, Values::Set(0b10001));
        assert_eq!(set.complement(v), Values::Set(0b01110));
        assert!(set.has(4) && !set.has(1) && !set.meets(set.complement(v)));
        let wide = layout.var("wide", 0..=100);
        assert_eq!(Values::of(wide, [1]), Values::Any);
        let full = layout.var("full", 0..=63);
        assert_eq!(Values::of(full, []).complement(full), Values::Set(u64::MAX));
    }

    #[test]
    fn a_variable_too_wide_for_a_set_is_seen_whole() {
        let mut layout = Layout::new();
        let wide = layout.var("wide", 0..=100);
        assert_eq!(Observation::test(wide, [1]), Observation::Value);
        let f = Footprint::new().tests(wide, [1]).fails_by(wide, [2]).writes_only(wide, [3]);
        assert_eq!(f.reads, [(wide, Observation::Value), (wide, Observation::Value)]);
        assert_eq!(f.writes, [(wide, Values::Any)]);
    }

    #[test]
    fn what_a_write_can_change_depends_on_what_is_looked_at() {
        let mut layout = Layout::new();
        let v = layout.var("v", 0..=3);
        let set = |values: &[usize]| Values::of(v, values.iter().copied());
        let is_two = Observation::In(set(&[2]));
        assert!(is_two.may_be_changed(v, 2, set(&[1])) && !is_two.may_be_changed(v, 2, set(&[2])));
        assert!(is_two.may_be_changed(v, 0, set(&[1, 2])) && !is_two.may_be_changed(v, 0, set(&[1, 3])));
        assert!(is_two.sees(2, 0) && is_two.sees(0, 2) && !is_two.sees(0, 1));
        let raises = Observation::Raises(set(&[2]));
        assert!(raises.sees(2, 0) && !raises.sees(0, 2));
        assert!(!raises.may_be_changed(v, 2, Values::Any) && raises.may_be_changed(v, 1, set(&[2])));
        assert!(!Observation::Value.may_be_changed(v, 1, set(&[1])));
        assert!(Observation::Value.may_be_changed(v, 1, set(&[1, 2])));
    }

    #[test]
    fn a_declared_test_allows_its_negation_and_nothing_finer() {
        let mut layout = Layout::new();
        let v = layout.var("v", 0..=3);
        let f = Footprint::new().tests(v, [2]).writes_only(v, [1]);
        assert!(f.allows_read(v, Observation::In(Values::of(v, [2]))));
        assert!(f.allows_read(v, Observation::In(Values::of(v, [0, 1, 3]))));
        assert!(!f.allows_read(v, Observation::In(Values::of(v, [0]))));
        assert!(!f.allows_read(v, Observation::Value));
        assert!(f.allows_write(v, 1) && !f.allows_write(v, 2));
    }
}
