//! How things are done with this crate, and why they are so.

#[cfg(doc)]
use crate::{
    Client, ClientBuilder, ClientError, Failure, Host, HostError, Server, ServerBuilder, Settings,
    SignedSeal, ToolFunction, Validation,
};

#[doc = include_str!("../docs/tools.md")]
pub mod tools {}

#[doc = include_str!("../docs/validation.md")]
pub mod validation {}

#[doc = include_str!("../docs/revisions.md")]
pub mod revisions {}

#[doc = include_str!("../docs/errors.md")]
pub mod errors {}

#[doc = include_str!("../docs/http.md")]
pub mod http {}
