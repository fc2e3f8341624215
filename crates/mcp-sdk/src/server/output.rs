use mcp_core::{CallToolResult, Content, Error, Json};
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::output_schema;

/// A type that tools can return.
pub trait ToolOutput: Send {
    /// The schema of its structured output, if it has any.
    fn schema() -> Option<Json> {
        None
    }

    /// Converts the output to a result.
    ///
    /// # Errors
    ///
    /// If it cannot be serialized as JSON.
    fn into_result(self) -> Result<CallToolResult, Error>;
}

/// Structured output: the value, with the schema of its type, and its JSON as a text block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper")]
pub struct Structured<T>(pub T);

impl<T: Serialize + JsonSchema + Send> ToolOutput for Structured<T> {
    fn schema() -> Option<Json> {
        Some(output_schema::<T>())
    }

    fn into_result(self) -> Result<CallToolResult, Error> {
        let json = Json::of(&self.0).map_err(|error| {
            Error::internal(format!("the output cannot be serialized: {error}"))
        })?;
        Ok(CallToolResult::structured(json))
    }
}

impl ToolOutput for String {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for &'static str {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for () {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::text("done"))
    }
}

impl ToolOutput for Content {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl ToolOutput for Vec<Content> {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self))
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(self)
    }
}
