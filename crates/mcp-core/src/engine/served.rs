//! What is offered, together with what serves it.

use std::sync::Arc;

use crate::{
    Contract, Json, Prompt, PromptHandler, Resource, ResourceHandler, ResourceTemplate, Revision,
    Tool, ToolHandler, UriTemplate, registry::Named,
};

/// A tool that can be called.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedTool {
    /// What clients see.
    pub definition: Tool,
    /// The definition as it is listed.
    pub(super) listed: Json,
    /// The same before the revision from which on its output schema is listed, if it has one.
    pub(super) listed_without_output: Option<(Revision, Json)>,
    pub(super) handler: Arc<dyn ToolHandler>,
    pub(super) input: Arc<dyn Contract>,
    pub(super) output: Option<Arc<dyn Contract>>,
}

/// A prompt that can be filled in.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// What clients see.
    pub definition: Prompt,
    pub(super) handler: Arc<dyn PromptHandler>,
}

/// A resource that can be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedResource {
    /// What clients see.
    pub definition: Resource,
    pub(super) handler: Arc<dyn ResourceHandler>,
}

/// Resources that can be read by a pattern.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedTemplate {
    /// What clients see.
    pub definition: ResourceTemplate,
    pub(super) pattern: UriTemplate,
    pub(super) handler: Arc<dyn ResourceHandler>,
}

impl ServedTool {
    /// The definition as clients of `revision` can read it.
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
