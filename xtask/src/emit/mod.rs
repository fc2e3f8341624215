//! Emits shapes and method tables as Rust source.
//!
//! The text is correct but unformatted; `rustfmt` makes it readable.

mod methods;
mod module;
mod name;
mod validator;

pub(crate) use module::{Sources, index, revision};
