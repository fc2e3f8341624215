//! Guides to this crate.

#[cfg(doc)]
use crate::{
    CallOptions, Client, ClientBuilder, ClientError, ClientEvent, Failure, Granted, Host,
    HostError, ListenError, Server, ServerBuilder, Settings, SignedSeal, Subscription,
    ToolFunction, Validation,
};

#[doc = include_str!("../docs/tools.md")]
pub mod tools {}

#[doc = include_str!("../docs/validation.md")]
pub mod validation {}

#[doc = include_str!("../docs/revisions.md")]
pub mod revisions {}

#[doc = include_str!("../docs/clients.md")]
pub mod clients {}

#[doc = include_str!("../docs/errors.md")]
pub mod errors {}

#[doc = include_str!("../docs/http.md")]
pub mod http {}
