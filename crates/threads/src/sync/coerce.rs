//! Owners of a type as owners of a trait.
//!
//! The standard library's `Arc<T>` becomes an `Arc<dyn Trait>` by itself; that is a privilege of its types. Here it is said: `Arc::coerce(arc, |data|
//! data)` lets the standard library's `Arc` inside do it. Counts stay what they are: it is the same owner.
//! `tests/all/counted.rs` would notice an error.

use super::arc::{Arc, Weak};
use std::any::Any;

impl<T: ?Sized> Arc<T> {
    /// The same owner, of another type: `Arc::coerce(arc, |data| data)` makes an `Arc<dyn Trait>` of an `Arc<T>`, or an `Arc<[T]>` of an
    /// `Arc<[T; N]>`.
    ///
    /// ```
    /// use stubborn_threads::sync::Arc;
    ///
    /// let shown: Arc<dyn std::fmt::Display + Send + Sync> = Arc::coerce(Arc::new(7), |data| data);
    /// assert_eq!(shown.to_string(), "7");
    /// ```
    ///
    /// # Panics
    ///
    /// If what the closure returns is not what it was given.
    #[track_caller]
    pub fn coerce<U: ?Sized>(mut this: Arc<T>, coerce: fn(std::sync::Arc<T>) -> std::sync::Arc<U>) -> Arc<U> {
        let counts = this.counts.clone();
        let data = this.data.take().expect("the data is here until it is dropped");
        let before = std::sync::Arc::as_ptr(&data).cast::<()>();
        let data = coerce(data);
        assert!(
            std::ptr::eq(before, std::sync::Arc::as_ptr(&data).cast::<()>()),
            "`coerce` must return the data that it was given"
        );
        Arc { data: Some(data), counts }
    }
}

impl<T: ?Sized> Weak<T> {
    /// The same for one that does not own: `Weak::coerce(weak, |data| data)`.
    ///
    /// # Panics
    ///
    /// If what the closure returns is not what it was given.
    #[track_caller]
    pub fn coerce<U: ?Sized>(this: Weak<T>, coerce: fn(std::sync::Weak<T>) -> std::sync::Weak<U>) -> Weak<U> {
        let before = this.data.as_ptr().cast::<()>();
        let data = coerce(this.data.clone());
        assert!(
            std::ptr::eq(before, data.as_ptr().cast::<()>()),
            "`coerce` must return the data that it was given"
        );
        let coerced = Weak::of(data, this.counts.clone());
        this.replace();
        coerced
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// See [`std::sync::Arc::downcast`].
    pub fn downcast<T: Any + Send + Sync>(mut self) -> Result<Arc<T>, Arc<dyn Any + Send + Sync>> {
        let counts = self.counts.clone();
        match self.data.take().map(std::sync::Arc::downcast) {
            Some(Ok(data)) => Ok(Arc { data: Some(data), counts }),
            Some(Err(data)) => Err(Arc { data: Some(data), counts }),
            None => Err(self),
        }
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Arc<T> {
        Arc::from_std(value.into())
    }
}

impl From<String> for Arc<str> {
    #[track_caller]
    fn from(text: String) -> Arc<str> {
        Arc::from_std(text.into())
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &[T]) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    #[track_caller]
    fn from(values: [T; N]) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}
