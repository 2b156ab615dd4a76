//! Texts in, positions and diagnostics out.
//!
//! What every front-end shares: a [`SourceMap`] of all texts that a model is made of, [`Span`]s into
//! them, [`Diagnostic`]s as plain data, the [`Limits`] that a hostile text runs into, and the [`Loader`]
//! through which included files arrive.
//!
//! Invariant: this crate touches no file. Whoever has files gives it a [`Loader`].

#![forbid(unsafe_code)]

mod diagnostic;
mod limits;
mod loader;
mod render;
mod source_map;
mod span;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use limits::Limits;
pub use loader::{LoadError, Loader, MemoryLoader, NoLoader, resolve};
pub use render::render;
pub use source_map::{Position, SourceMap};
pub use span::{FileId, Span};
