//! Shared ownership. The data and its counts are those of the standard library's `Arc`.
//!
//! Cloning and dropping are no operations as long as nobody can tell when they are done. Somebody can who asks for a count, for the data
//! alone (`try_unwrap`, `get_mut`), or for the data that a `Weak` refers to; and if the last one to go drops data whose destructor does something
//! visible, it matters who is last. When that happens, the exploration begins again, and all operations on counts of what was created at the
//! same place are visible. `tests/all/counted.rs` would notice an error.
//!
//! **Differs from the standard library**: `Arc<T>` does not become `Arc<dyn Trait>` by itself (only the standard library's types can), but by
//! `Arc::coerce` (`coerce`). Methods cannot have `self: Arc<Self>`.

use crate::runtime::object::Handle;
use crate::runtime::{counts, switch, turn, visible, visible_in_drop};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, Op};

/// The engine's side of all owners of a value.
#[derive(Debug)]
pub(super) struct Counts {
    handle: Handle,
    /// Whether there ever was a second owner.
    was_shared: AtomicBool,
}

impl Counts {
    #[track_caller]
    fn new() -> std::sync::Arc<Counts> {
        std::sync::Arc::new(Counts { handle: Handle::new("arc"), was_shared: AtomicBool::new(false) })
    }

    fn site(&self) -> u64 {
        std::ptr::from_ref(self.handle.created()) as u64
    }

    fn op(&self, code: u32, strong: usize) -> Op {
        let make = || Object::Custom(Box::new(counts::Count::new(strong as u64)));
        Op::on(self.handle.id(make), Action::Custom { code, input: 0 })
    }

    /// Whether operations on these counts are visible.
    fn are_visible(&self) -> bool {
        switch::is_task() && !turn::is_ending() && counts::are_visible(self.site())
    }

    /// Something that nobody may be able to tell.
    #[track_caller]
    fn change(&self, code: u32, strong: usize) {
        if self.are_visible() {
            visible(self.op(code, strong));
        }
    }

    /// Something that can tell what others have done.
    #[track_caller]
    fn observe(&self, code: u32, strong: usize) {
        if switch::is_task() && !turn::is_ending() {
            counts::see(self.site());
            visible(self.op(code, strong));
        }
    }
}

/// See [`std::sync::Arc`].
pub struct Arc<T: ?Sized> {
    /// Here until it is dropped or taken out.
    pub(super) data: Option<std::sync::Arc<T>>,
    pub(super) counts: std::sync::Arc<Counts>,
}

/// See [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    pub(super) data: std::sync::Weak<T>,
    pub(super) counts: std::sync::Arc<Counts>,
    /// Whether there is another one instead of it.
    is_replaced: bool,
}

impl<T> Arc<T> {
    /// See [`std::sync::Arc::new`].
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc { data: Some(std::sync::Arc::new(value)), counts: Counts::new() }
    }

    /// See [`std::sync::Arc::new_cyclic`].
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Arc<T> {
        let counts = Counts::new();
        let data = std::sync::Arc::new_cyclic(|weak| make(&Weak::of(weak.clone(), counts.clone())));
        Arc { data: Some(data), counts }
    }

    /// See [`std::sync::Arc::try_unwrap`].
    #[track_caller]
    pub fn try_unwrap(mut this: Arc<T>) -> Result<T, Arc<T>> {
        this.counts.observe(counts::UNWRAP, this.strong());
        let counts = this.counts.clone();
        match this.data.take().map(std::sync::Arc::try_unwrap) {
            Some(Ok(value)) => Ok(value),
            Some(Err(data)) => Err(Arc { data: Some(data), counts }),
            None => Err(this),
        }
    }

    /// See [`std::sync::Arc::into_inner`].
    #[track_caller]
    pub fn into_inner(mut this: Arc<T>) -> Option<T> {
        this.counts.observe(counts::DROP, this.strong());
        this.data.take().and_then(std::sync::Arc::into_inner)
    }

    /// See [`std::sync::Arc::unwrap_or_clone`].
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T: ?Sized> Arc<T> {
    /// One of the standard library's, whose other owners are not seen.
    #[track_caller]
    pub fn from_std(data: std::sync::Arc<T>) -> Arc<T> {
        Arc { data: Some(data), counts: Counts::new() }
    }

    fn strong(&self) -> usize {
        self.data.as_ref().map_or(0, std::sync::Arc::strong_count)
    }

    fn data(&self) -> &std::sync::Arc<T> {
        self.data.as_ref().expect("the data is here until it is dropped")
    }

    /// See [`std::sync::Arc::strong_count`].
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.counts.observe(counts::LOOK, this.strong());
        this.strong()
    }

    /// See [`std::sync::Arc::weak_count`].
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.counts.observe(counts::LOOK, this.strong());
        std::sync::Arc::weak_count(this.data())
    }

    /// See [`std::sync::Arc::get_mut`].
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        this.counts.observe(counts::LOOK, this.strong());
        this.data.as_mut().and_then(std::sync::Arc::get_mut)
    }

    /// See [`std::sync::Arc::make_mut`].
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T
    where
        T: Clone,
    {
        if Arc::get_mut(this).is_none() {
            *this = Arc::new((**this).clone());
        }
        this.data.as_mut().and_then(std::sync::Arc::get_mut).expect("it has one owner")
    }

    /// See [`std::sync::Arc::downgrade`].
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.counts.change(counts::ADD_WEAK, this.strong());
        Weak::of(std::sync::Arc::downgrade(this.data()), this.counts.clone())
    }

    /// See [`std::sync::Arc::ptr_eq`].
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std::sync::Arc::ptr_eq(this.data(), other.data())
    }

    /// See [`std::sync::Arc::as_ptr`].
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        std::sync::Arc::as_ptr(this.data())
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        self.counts.change(counts::CLONE, self.strong());
        self.counts.was_shared.store(true, Ordering::Relaxed);
        Arc { data: self.data.clone(), counts: self.counts.clone() }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        let Some(data) = self.data.take() else { return };
        let created: &'static Location<'static> = self.counts.handle.created();
        if self.counts.are_visible() {
            let strong = std::sync::Arc::strong_count(&data);
            visible_in_drop(created, || self.counts.op(counts::DROP, strong));
        } else if self.counts.was_shared.load(Ordering::Relaxed) && std::sync::Arc::strong_count(&data) == 1 {
            // If the destructor does something visible, it matters who is last.
            let outer = counts::destroying();
            counts::set_destroying(self.counts.site());
            drop(data);
            counts::set_destroying(outer);
        }
    }
}

impl<T> Weak<T> {
    /// See [`std::sync::Weak::new`].
    #[track_caller]
    pub fn new() -> Weak<T> {
        Weak::of(std::sync::Weak::new(), Counts::new())
    }
}

impl<T: ?Sized> Weak<T> {
    pub(super) fn of(data: std::sync::Weak<T>, counts: std::sync::Arc<Counts>) -> Weak<T> {
        Weak { data, counts, is_replaced: false }
    }

    /// It goes without being missed: there is another one instead.
    pub(super) fn replace(mut self) {
        self.is_replaced = true;
    }

    /// See [`std::sync::Weak::upgrade`].
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        self.counts.observe(counts::UPGRADE, self.data.strong_count());
        self.counts.was_shared.store(true, Ordering::Relaxed);
        Some(Arc { data: Some(self.data.upgrade()?), counts: self.counts.clone() })
    }

    /// See [`std::sync::Weak::strong_count`].
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.counts.observe(counts::LOOK, self.data.strong_count());
        self.data.strong_count()
    }

    /// See [`std::sync::Weak::weak_count`].
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.counts.observe(counts::LOOK, self.data.strong_count());
        self.data.weak_count()
    }

    /// See [`std::sync::Weak::ptr_eq`].
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.data.ptr_eq(&other.data)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        self.counts.change(counts::ADD_WEAK, self.data.strong_count());
        Weak::of(self.data.clone(), self.counts.clone())
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if !self.is_replaced && self.counts.are_visible() {
            let strong = self.data.strong_count();
            visible_in_drop(self.counts.handle.created(), || self.counts.op(counts::DROP_WEAK, strong));
        }
    }
}

impl<T> Default for Weak<T> {
    #[track_caller]
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Arc<str> {
        Arc::from_std(text.into())
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arc<[T]> {
        Arc::from_std(values.into_iter().collect())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
