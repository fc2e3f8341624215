use std::{fmt, sync::Arc};

use mcp_json::Node;

use crate::{Json, Revision};

/// Compiles the JSON Schemas of tools and forms into contracts.
pub trait Contracts: fmt::Debug + Send + Sync {
    /// Compiles a schema for `kind`.
    ///
    /// # Errors
    ///
    /// If it is not a usable JSON Schema.
    fn compile(
        &self,
        schema: &Json,
        kind: ContractKind,
    ) -> Result<Arc<dyn Contract>, ContractError>;
}

/// The values that a contract checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "MCP has no other schemas of this kind")]
pub enum ContractKind {
    /// The arguments of a tool call.
    Arguments,
    /// The structured content of a tool result.
    Output,
    /// The user's answers to a form.
    Form,
}

/// A schema for arguments, output or a form, ready to check values.
pub trait Contract: fmt::Debug + Send + Sync {
    /// Whether it checks anything. If not, values need not be parsed for it.
    fn is_checked(&self) -> bool {
        true
    }

    /// The violations in `value`, one finding each, in the format of an error's `findings`. Empty
    /// if there are none.
    fn violations(&self, value: Node<'_>) -> Vec<Json>;

    /// Like [`Contract::violations`], for a call served at `revision`, and also reports the
    /// violations to observers, once per call. `None` means that a required value is missing.
    fn enforce(&self, value: Option<Node<'_>>, revision: Revision) -> Vec<Json>;
}

/// A schema that cannot be compiled into a contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {reason}")]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct ContractError {
    /// One sentence.
    pub reason: String,
}

/// Accepts every schema and every value.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct Unchecked;

impl Contracts for Unchecked {
    fn compile(&self, _: &Json, _: ContractKind) -> Result<Arc<dyn Contract>, ContractError> {
        Ok(Arc::new(Unchecked))
    }
}

impl Contract for Unchecked {
    fn is_checked(&self) -> bool {
        false
    }

    fn violations(&self, _: Node<'_>) -> Vec<Json> {
        Vec::new()
    }

    fn enforce(&self, _: Option<Node<'_>>, _: Revision) -> Vec<Json> {
        Vec::new()
    }
}
