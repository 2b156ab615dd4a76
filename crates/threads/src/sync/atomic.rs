//! Atomics, sequentially consistent whatever ordering is given.
//!
//! The value is the engine's while a run goes on; a copy is kept here for who has the atomic alone.

use crate::runtime::object::Handle;
use crate::runtime::state::with_state;
use crate::runtime::visible_on;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use stubborn_schedule::objects::Variable;
use stubborn_schedule::{Action, ObjectId, Update, Width};

pub use std::sync::atomic::Ordering;

/// See [`std::sync::atomic::fence`]: memory is sequentially consistent, so it does nothing.
pub fn fence(_order: Ordering) {}

/// See [`std::sync::atomic::compiler_fence`].
pub fn compiler_fence(_order: Ordering) {}

macro_rules! atomic {
    ($name:ident, $type:ty, $to:expr, $from:expr, $width:expr, $(#[$doc:meta])*) => {
        $(#[$doc])*
        pub struct $name {
            handle: Handle,
            first: $type,
            copy: std::sync::atomic::$name,
        }

        impl $name {
            const WIDTH: Width = $width;

            /// A new atomic.
            #[track_caller]
            pub const fn new(value: $type) -> $name {
                $name { handle: Handle::new("atomic"), first: value, copy: std::sync::atomic::$name::new(value) }
            }

            fn id(&self) -> ObjectId {
                let make = |is_old| {
                    // In a new run an atomic that outlives runs begins with its first value.
                    let value = if is_old { self.first } else { self.copy.load(Relaxed) };
                    Variable::new($to(value)).into()
                };
                match self.handle.look(make) {
                    crate::runtime::object::Known::Here(id) | crate::runtime::object::Known::New(id, _) => id,
                }
            }

            #[track_caller]
            fn update(&self, update: Update, operand: $type) -> $type {
                let operand = $to(operand);
                let old = visible_on(self.id(), Action::Update(update, Self::WIDTH, operand));
                self.copy.store($from(Self::WIDTH.apply(update, old, operand)), Relaxed);
                $from(old)
            }

            /// Reads.
            #[track_caller]
            pub fn load(&self, _order: Ordering) -> $type {
                $from(visible_on(self.id(), Action::Read))
            }

            /// Writes.
            #[track_caller]
            pub fn store(&self, value: $type, _order: Ordering) {
                visible_on(self.id(), Action::Write($to(value)));
                self.copy.store(value, Relaxed);
            }

            /// Writes and gives the old value.
            #[track_caller]
            pub fn swap(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Swap, value)
            }

            /// Writes if the value is the one that is given.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                _success: Ordering,
                _failure: Ordering,
            ) -> Result<$type, $type> {
                let action = Action::CompareExchange { expected: $to(current), new: $to(new) };
                let old = visible_on(self.id(), action);
                if old == $to(current) {
                    self.copy.store(new, Relaxed);
                    Ok($from(old))
                } else {
                    Err($from(old))
                }
            }

            /// Like `compare_exchange`; it does not fail without a reason.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Reads, computes, and tries to write, until that succeeds or there is nothing to write.
            #[track_caller]
            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<$type, $type>
            where
                F: FnMut($type) -> Option<$type>,
            {
                let mut now = self.load(fetch);
                while let Some(next) = f(now) {
                    match self.compare_exchange_weak(now, next, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(other) => now = other,
                    }
                }
                Err(now)
            }

            /// The value, for who has the atomic alone.
            pub fn get_mut(&mut self) -> &mut $type {
                self.handle.forget();
                self.copy.get_mut()
            }

            /// The value.
            pub fn into_inner(self) -> $type {
                self.copy.into_inner()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.copy.load(Relaxed)).finish()
            }
        }

        impl From<$type> for $name {
            #[track_caller]
            fn from(value: $type) -> $name {
                $name::new(value)
            }
        }
    };
}

macro_rules! integer {
    ($($name:ident $type:ty, $unsigned:ty, $signed:expr;)*) => {$(
        atomic!(
            $name,
            $type,
            |value: $type| (value as $unsigned) as u64,
            |value: u64| value as $type,
            Width { bits: <$type>::BITS as u8, signed: $signed },
            #[doc = concat!("See [`std::sync::atomic::", stringify!($name), "`].")]
        );

        impl $name {
            /// Adds, wrapping; gives the old value.
            #[track_caller]
            pub fn fetch_add(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Add, value)
            }

            /// Subtracts, wrapping; gives the old value.
            #[track_caller]
            pub fn fetch_sub(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Sub, value)
            }

            /// Bitwise and; gives the old value.
            #[track_caller]
            pub fn fetch_and(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::And, value)
            }

            /// The complement of bitwise and; gives the old value.
            #[track_caller]
            pub fn fetch_nand(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Nand, value)
            }

            /// Bitwise or; gives the old value.
            #[track_caller]
            pub fn fetch_or(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Or, value)
            }

            /// Bitwise exclusive or; gives the old value.
            #[track_caller]
            pub fn fetch_xor(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Xor, value)
            }

            /// The larger; gives the old value.
            #[track_caller]
            pub fn fetch_max(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Max, value)
            }

            /// The smaller; gives the old value.
            #[track_caller]
            pub fn fetch_min(&self, value: $type, _order: Ordering) -> $type {
                self.update(Update::Min, value)
            }
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> $name {
                $name::new(0)
            }
        }
    )*};
}

integer! {
    AtomicU8 u8, u8, false;
    AtomicU16 u16, u16, false;
    AtomicU32 u32, u32, false;
    AtomicU64 u64, u64, false;
    AtomicUsize usize, usize, false;
    AtomicI8 i8, u8, true;
    AtomicI16 i16, u16, true;
    AtomicI32 i32, u32, true;
    AtomicI64 i64, u64, true;
    AtomicIsize isize, usize, true;
}

atomic!(
    AtomicBool,
    bool,
    u64::from,
    |value: u64| value != 0,
    Width { bits: 1, signed: false },
    /// See [`std::sync::atomic::AtomicBool`].
);

impl AtomicBool {
    /// And; gives the old value.
    #[track_caller]
    pub fn fetch_and(&self, value: bool, _order: Ordering) -> bool {
        self.update(Update::And, value)
    }

    /// The complement of and; gives the old value.
    #[track_caller]
    pub fn fetch_nand(&self, value: bool, _order: Ordering) -> bool {
        self.update(Update::Nand, value)
    }

    /// Or; gives the old value.
    #[track_caller]
    pub fn fetch_or(&self, value: bool, _order: Ordering) -> bool {
        self.update(Update::Or, value)
    }

    /// Exclusive or; gives the old value.
    #[track_caller]
    pub fn fetch_xor(&self, value: bool, _order: Ordering) -> bool {
        self.update(Update::Xor, value)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

/// See [`std::sync::atomic::AtomicPtr`]. The engine sees the order in which addresses occur in a run instead of the
/// addresses, which differ from run to run.
pub struct AtomicPtr<T> {
    handle: Handle,
    first: std::sync::atomic::AtomicPtr<T>,
    copy: std::sync::atomic::AtomicPtr<T>,
}

impl<T> AtomicPtr<T> {
    /// A new atomic.
    #[track_caller]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        let first = std::sync::atomic::AtomicPtr::new(value);
        AtomicPtr { handle: Handle::new("atomic"), first, copy: std::sync::atomic::AtomicPtr::new(value) }
    }

    /// The number of an address; null is 0.
    fn number(pointer: *mut T) -> u64 {
        let address = pointer.expose_provenance();
        if address == 0 {
            return 0;
        }
        with_state(|state| {
            let known = state.addresses.iter().position(|&other| other == address);
            let number = known.unwrap_or_else(|| {
                state.addresses.push(address);
                state.addresses.len() - 1
            });
            number as u64 + 1
        })
    }

    fn pointer(number: u64) -> *mut T {
        let address = match number.checked_sub(1) {
            None => 0,
            Some(i) => with_state(|state| state.addresses.get(i as usize).copied().unwrap_or(0)),
        };
        std::ptr::with_exposed_provenance_mut(address)
    }

    fn id(&self) -> ObjectId {
        self.handle.id(|| Variable::new(Self::number(self.first.load(Relaxed))).into())
    }

    /// Reads.
    #[track_caller]
    pub fn load(&self, _order: Ordering) -> *mut T {
        Self::pointer(visible_on(self.id(), Action::Read))
    }

    /// Writes.
    #[track_caller]
    pub fn store(&self, value: *mut T, _order: Ordering) {
        visible_on(self.id(), Action::Write(Self::number(value)));
        self.copy.store(value, Relaxed);
    }

    /// Writes and gives the old value.
    #[track_caller]
    pub fn swap(&self, value: *mut T, _order: Ordering) -> *mut T {
        let action = Action::Update(Update::Swap, Width::WORD, Self::number(value));
        let old = visible_on(self.id(), action);
        self.copy.store(value, Relaxed);
        Self::pointer(old)
    }

    /// Writes if the value is the one that is given.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let expected = Self::number(current);
        let action = Action::CompareExchange { expected, new: Self::number(new) };
        let old = visible_on(self.id(), action);
        if old == expected {
            self.copy.store(new, Relaxed);
            Ok(current)
        } else {
            Err(Self::pointer(old))
        }
    }

    /// Like `compare_exchange`; it does not fail without a reason.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.compare_exchange(current, new, success, failure)
    }

    /// The value.
    pub fn into_inner(self) -> *mut T {
        self.copy.into_inner()
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicPtr").finish_non_exhaustive()
    }
}
