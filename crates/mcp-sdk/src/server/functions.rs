//! Functions as handlers of tools, prompts, resources and completions.

use std::{borrow::Cow, collections::BTreeMap};

use mcp_core::{
    BoxFuture, CallToolResult, CompleteRequest, Completion, CompletionHandler, Context, Error,
    GetPromptResult, Json, PromptHandler, ReadResourceResult, ResourceHandler, ToolHandler,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::{Failure, ToolOutput};

/// The arguments of a tool without arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct NoArguments {}

/// Not derived: the doc comment above would become the schema's description.
impl JsonSchema for NoArguments {
    fn schema_name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": false })
    }
}

/// A tool whose function takes the arguments as JSON text.
pub(super) struct RawTool<F>(pub(super) F);

impl<F, R, O> ToolHandler for RawTool<F>
where
    F: Fn(Json, Context) -> R + Send + Sync,
    R: Future<Output = Result<O, Failure>> + Send,
    O: ToolOutput,
{
    fn call(
        &self,
        arguments: Json,
        context: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        Box::pin(async move {
            let output = (self.0)(arguments, context).await.map_err(|failure| failure.0)?;
            output.into_result()
        })
    }
}

pub(super) struct PromptFunction<F>(pub(super) F);

impl<F, R> PromptHandler for PromptFunction<F>
where
    F: Fn(BTreeMap<String, String>, Context) -> R + Send + Sync,
    R: Future<Output = Result<GetPromptResult, Failure>> + Send,
{
    fn get(
        &self,
        arguments: BTreeMap<String, String>,
        context: Context,
    ) -> BoxFuture<'_, Result<GetPromptResult, Error>> {
        Box::pin(async move { (self.0)(arguments, context).await.map_err(|failure| failure.0) })
    }
}

pub(super) struct ResourceFunction<F>(pub(super) F);

impl<F, R> ResourceHandler for ResourceFunction<F>
where
    F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync,
    R: Future<Output = Result<ReadResourceResult, Failure>> + Send,
{
    fn read(
        &self,
        uri: String,
        variables: BTreeMap<String, String>,
        context: Context,
    ) -> BoxFuture<'_, Result<ReadResourceResult, Error>> {
        Box::pin(
            async move { (self.0)(uri, variables, context).await.map_err(|failure| failure.0) },
        )
    }
}

pub(super) struct CompletionFunction<F>(pub(super) F);

impl<F, R> CompletionHandler for CompletionFunction<F>
where
    F: Fn(CompleteRequest, Context) -> R + Send + Sync,
    R: Future<Output = Result<Completion, Failure>> + Send,
{
    fn complete(
        &self,
        request: CompleteRequest,
        context: Context,
    ) -> BoxFuture<'_, Result<Completion, Error>> {
        Box::pin(async move { (self.0)(request, context).await.map_err(|failure| failure.0) })
    }
}
