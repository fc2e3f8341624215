//! The traits an application implements.

use std::{collections::BTreeMap, fmt};

use crate::{
    BoxFuture, CallToolResult, CompleteRequest, Completion, Context, Error, GetPromptResult, Json,
    ReadResourceResult,
};

/// Runs a tool. The arguments have been checked against the tool's schema.
pub trait ToolHandler: Send + Sync {
    /// Runs the tool. `arguments` is a JSON object.
    ///
    /// [`Error::ToolError`] is a failure that the model should see; any other error fails the
    /// request.
    fn call(
        &self,
        arguments: Json,
        context: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, Error>>;
}

/// Produces the messages of a prompt. All required arguments are present.
pub trait PromptHandler: Send + Sync {
    /// Fills in the prompt.
    fn get(
        &self,
        arguments: BTreeMap<String, String>,
        context: Context,
    ) -> BoxFuture<'_, Result<GetPromptResult, Error>>;
}

/// Reads a resource.
pub trait ResourceHandler: Send + Sync {
    /// Reads `uri`. `variables` are the values of a template's variables, empty for a resource
    /// that has a fixed URI.
    fn read(
        &self,
        uri: String,
        variables: BTreeMap<String, String>,
        context: Context,
    ) -> BoxFuture<'_, Result<ReadResourceResult, Error>>;
}

/// Suggests values for arguments.
pub trait CompletionHandler: Send + Sync {
    /// Suggests completions.
    fn complete(
        &self,
        request: CompleteRequest,
        context: Context,
    ) -> BoxFuture<'_, Result<Completion, Error>>;
}

macro_rules! opaque_debug {
    ($($name:ident),*) => {$(
        impl fmt::Debug for dyn $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

opaque_debug!(ToolHandler, PromptHandler, ResourceHandler, CompletionHandler);
