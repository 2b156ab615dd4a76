//! Reference counts as an object of the engine, and where they are visible.
//!
//! Everything is always enabled: who has an owner has it. Additions commute, and so do a clone and a drop that is not the last (whoever clones has
//! an owner of his own); an upgrade and a drop do not, because the drop might have been the last. The last drop conflicts with
//! every other one, and who looks with whoever changes anything.
//! **Checked by** the tests below (every pair of operations, in both orders) and `tests/all/counted.rs`.

use super::state::{COUNTS_MATTER, with_state};
use super::stop;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::PoisonError;
use stubborn_schedule::ProcessId;
use stubborn_schedule::objects::{CustomObject, Relation};

/// One more owner, made of one that is there.
pub(crate) const CLONE: u32 = 0;
/// One owner less; gets 1 if it was the last.
pub(crate) const DROP: u32 = 1;
/// The last owner takes the data; gets 1 if there is no other.
pub(crate) const UNWRAP: u32 = 2;
/// One more owner, if there is one; gets 1 if there is.
pub(crate) const UPGRADE: u32 = 3;
/// Looks at the counts.
pub(crate) const LOOK: u32 = 4;
/// One more that does not own.
pub(crate) const ADD_WEAK: u32 = 5;
/// One less that does not own.
pub(crate) const DROP_WEAK: u32 = 6;

/// What an operation is called, and what it got.
pub(crate) fn words(code: u32, out: Option<u64>) -> Option<(String, String)> {
    let (word, yes, no) = match code {
        CLONE => ("clone", "", ""),
        DROP => ("drop", "the last one", ""),
        UNWRAP => ("unwrap", "the only one", "there are others"),
        UPGRADE => ("upgrade", "still there", "gone"),
        LOOK => {
            let value = out.map(|out| format!("{} owners", out & u64::from(u32::MAX)));
            return Some(("look-at-count".to_owned(), value.unwrap_or_default()));
        }
        ADD_WEAK => ("add-weak", "", ""),
        DROP_WEAK => ("drop-weak", "", ""),
        _ => return None,
    };
    let value = match out {
        Some(1) => yes,
        Some(_) => no,
        None => "",
    };
    Some((word.to_owned(), value.to_owned()))
}

/// How many own a value, and how many refer to it.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    strong: u64,
    weak: u64,
}

impl Count {
    pub(crate) fn new(strong: u64) -> Count {
        Count { strong, weak: 0 }
    }
}

/// What an operation amounts to, with what it got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Look,
    Clone,
    Upgrade,
    Drop,
    DropLast,
    Weak,
}

fn does(code: u32, out: u64) -> Does {
    match (code, out) {
        (CLONE, _) => Does::Clone,
        (DROP | UNWRAP, 1) => Does::DropLast,
        (DROP, _) => Does::Drop,
        (UPGRADE, 1) => Does::Upgrade,
        (ADD_WEAK | DROP_WEAK, _) => Does::Weak,
        _ => Does::Look,
    }
}

impl CustomObject for Count {
    fn enabled(&self, _: ProcessId, _: u32, _: u64) -> bool {
        true
    }

    fn execute(&mut self, _: ProcessId, code: u32, _: u64) -> u64 {
        let is_last = u64::from(self.strong == 1);
        match code {
            CLONE => self.strong += 1,
            DROP => {
                self.strong = self.strong.saturating_sub(1);
                return is_last;
            }
            UNWRAP => {
                self.strong -= is_last;
                return is_last;
            }
            UPGRADE => {
                let is_there = u64::from(self.strong > 0);
                self.strong += is_there;
                return is_there;
            }
            ADD_WEAK => self.weak += 1,
            DROP_WEAK => self.weak = self.weak.saturating_sub(1),
            _ => return self.weak << 32 | self.strong,
        }
        0
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        use Does::*;
        match (does(first.0, first.2), does(second.0, second.2)) {
            (Look, Look) => Relation::Independent,
            (Look, _) | (_, Look) => Relation::Conflict,
            (Weak, _) | (_, Weak) => Relation::Independent,
            (Clone | Upgrade, Clone | Upgrade) => Relation::Independent,
            (Clone | Drop, Clone | Drop) => Relation::Independent,
            _ => Relation::Conflict,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("{} owners", self.strong)
    }
}

/// Where counts are visible: places of creation.
pub(crate) type Places = HashSet<u64>;

/// Whether the counts of what was created at a place are visible.
pub(crate) fn are_visible(site: u64) -> bool {
    with_state(|state| state.counted.contains(&site))
}

/// Sees to it that the counts of what was created at a place are visible.
pub(crate) fn see(site: u64) {
    if are_visible(site) || std::thread::panicking() {
        return;
    }
    with_state(|state| {
        state.settings.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(site);
    });
    stop(COUNTS_MATTER.to_owned());
}

thread_local! {
    static DESTROYING: Cell<u64> = const { Cell::new(0) };
}

/// The place of creation of what is being destroyed by its last owner; 0 if nothing is.
#[inline]
pub(crate) fn destroying() -> u64 {
    DESTROYING.get()
}

pub(crate) fn set_destroying(site: u64) {
    DESTROYING.set(site);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Owners of three processes; each does what it can with its own.
    #[test]
    fn every_pair_of_operations_keeps_the_table() {
        for owners in 0..8u64 {
            let owns = |process: u64| owners >> process & 1 == 1;
            let codes = |process| {
                let needs_owner = move |code| matches!(code, CLONE | DROP | UNWRAP | LOOK);
                (CLONE..=DROP_WEAK).filter(move |&code| owns(process) || !needs_owner(code))
            };
            let value = Count { strong: u64::from(owners.count_ones()), weak: 3 };
            for (p, q) in [(0, 1), (1, 2), (2, 0)] {
                for (a, b) in codes(p).flat_map(|a| codes(q).map(move |b| (a, b))) {
                    let (mut forth, mut back) = (value.clone(), value.clone());
                    let one = forth.execute(p as u32, a, 0);
                    let two = forth.execute(q as u32, b, 0);
                    let two_first = back.execute(q as u32, b, 0);
                    let one_last = back.execute(p as u32, a, 0);
                    let commutes =
                        (one, two, forth.strong, forth.weak) == (one_last, two_first, back.strong, back.weak);
                    let independent = value.relation((a, 0, one), (b, 0, two)) == Relation::Independent;
                    assert!(commutes || !independent, "{a} {b} in {value:?}");
                }
            }
        }
    }
}
