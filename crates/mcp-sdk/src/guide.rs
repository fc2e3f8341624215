//! How things are done with this crate, and why they are so.

#[cfg(doc)]
use crate::{
    Client, ClientBuilder, ClientError, Failure, Host, HostError, ServerBuilder, Settings,
    SignedSeal, Validation,
};

#[doc = include_str!("../docs/validation.md")]
pub mod validation {}

#[doc = include_str!("../docs/revisions.md")]
pub mod revisions {}

#[doc = include_str!("../docs/errors.md")]
pub mod errors {}
