use std::{fmt, sync::Arc};

use mcp_json::Node;

use crate::{Json, Revision};

/// Makes contracts out of the JSON Schemas that tools state, and of the forms they have filled in.
pub trait Contracts: fmt::Debug + Send + Sync {
    /// Reads a schema that is meant for `purpose`.
    ///
    /// # Errors
    ///
    /// If it is no usable JSON Schema.
    fn compile(
        &self,
        schema: &Json,
        purpose: Purpose,
    ) -> Result<Arc<dyn Contract>, ContractRefused>;
}

/// What a contract is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there are no other schemas to keep to")]
pub enum Purpose {
    /// What a tool is called with.
    Arguments,
    /// What it gives back.
    Output,
    /// What a user fills in.
    Form,
}

/// What was promised about arguments, output or an answer.
pub trait Contract: fmt::Debug + Send + Sync {
    /// Whether it looks at values at all. For one that does not, nothing has to be parsed.
    fn is_checked(&self) -> bool {
        true
    }

    /// What is wrong with `value`: one finding each, written like the `findings` of an error. Empty
    /// if it keeps the contract.
    fn breaches(&self, value: Node<'_>) -> Vec<Json>;

    /// Holds a call that is served at `revision` to the contract: gives what
    /// [`Contract::breaches`] gives, and tells whoever wants to hear of it, once for each call.
    /// Without a `value` nothing was given back although it was promised.
    fn enforce(&self, value: Option<Node<'_>>, revision: Revision) -> Vec<Json>;
}

/// A schema from which no contract can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {reason}")]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct ContractRefused {
    /// One sentence.
    pub reason: String,
}

/// Takes every schema and finds nothing wrong with any value.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing")]
pub struct Unchecked;

impl Contracts for Unchecked {
    fn compile(&self, _: &Json, _: Purpose) -> Result<Arc<dyn Contract>, ContractRefused> {
        Ok(Arc::new(Unchecked))
    }
}

impl Contract for Unchecked {
    fn is_checked(&self) -> bool {
        false
    }

    fn breaches(&self, _: Node<'_>) -> Vec<Json> {
        Vec::new()
    }

    fn enforce(&self, _: Option<Node<'_>>, _: Revision) -> Vec<Json> {
        Vec::new()
    }
}
