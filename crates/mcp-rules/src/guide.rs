//! How-to guides for this crate.

#[cfg(doc)]
use mcp_schema::Schemas;

#[cfg(doc)]
use crate::{Engine, Finding, ValidationError, Validator};

#[doc = include_str!("../guides/other-validators.md")]
pub mod other_validators {}
