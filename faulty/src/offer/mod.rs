//! What the server offers.

pub(crate) mod arguments;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod tools;
