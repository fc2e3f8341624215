//! Definitions together with their handlers.

use std::sync::Arc;

use crate::{
    Contract, Json, Prompt, PromptHandler, Resource, ResourceHandler, ResourceTemplate, Revision,
    Tool, ToolHandler, UriTemplate, registry::Named,
};

/// A tool and its handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedTool {
    /// What clients see.
    pub definition: Tool,
    /// The definition as it is listed.
    pub(super) listed: Json,
    /// If the tool has an output schema: the first revision that lists it, and the definition for
    /// older ones.
    pub(super) listed_without_output: Option<(Revision, Json)>,
    pub(super) handler: Arc<dyn ToolHandler>,
    pub(super) input: Arc<dyn Contract>,
    pub(super) output: Option<Arc<dyn Contract>>,
}

/// A prompt and its handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// What clients see.
    pub definition: Prompt,
    pub(super) handler: Arc<dyn PromptHandler>,
}

/// A resource and its handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedResource {
    /// What clients see.
    pub definition: Resource,
    pub(super) handler: Arc<dyn ResourceHandler>,
}

/// A resource template and its handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedTemplate {
    /// What clients see.
    pub definition: ResourceTemplate,
    pub(super) pattern: UriTemplate,
    pub(super) handler: Arc<dyn ResourceHandler>,
}

impl ServedTool {
    /// The definition for clients at `revision`.
    pub(super) fn listed(&self, revision: Revision) -> &Json {
        match &self.listed_without_output {
            Some((since, without)) if revision < *since => without,
            _ => &self.listed,
        }
    }
}

impl Named for ServedTool {
    fn name(&self) -> &str {
        &self.definition.name
    }
}

impl Named for ServedPrompt {
    fn name(&self) -> &str {
        &self.definition.name
    }
}

impl Named for ServedResource {
    #[expect(clippy::misnamed_getters, reason = "this is what it is found by")]
    fn name(&self) -> &str {
        &self.definition.uri
    }
}

impl Named for ServedTemplate {
    #[expect(clippy::misnamed_getters, reason = "this is what it is found by")]
    fn name(&self) -> &str {
        &self.definition.uri_template
    }
}
