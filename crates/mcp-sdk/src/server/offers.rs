//! Adding and removing tools, prompts and resources while the server runs.

use std::{collections::BTreeMap, sync::Arc};

use mcp_core::{
    BuildError, Context, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    Failure, Server, ToolFunction, ToolOutput,
    functions::{PromptFunction, ResourceFunction},
    tool_name,
};

impl Server {
    /// Adds a tool like [`ServerBuilder::tool`](super::ServerBuilder::tool), replacing one of the
    /// same name. Subscribed clients are notified.
    ///
    /// # Errors
    ///
    /// If a schema cannot be used, or the server was built without tools: see
    /// [`ServerBuilder::offers_tools`](super::ServerBuilder::offers_tools).
    pub fn add_tool<A, F, R, O>(
        &self,
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Result<(), BuildError>
    where
        F: Fn(A, Context) -> R + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
        O: ToolOutput + 'static,
    {
        self.add_tool_function(ToolFunction::new(name, description, run))
    }

    /// Like [`Server::add_tool`], with title, annotations and so on.
    ///
    /// # Errors
    ///
    /// As for [`Server::add_tool`].
    pub fn add_tool_function(&self, function: ToolFunction) -> Result<(), BuildError> {
        tool_name::warn_if_unusual(&function.tool.name);
        self.mcp.add_tool(function.tool, function.handler)
    }

    /// Adds a prompt, replacing one of the same name.
    ///
    /// # Errors
    ///
    /// If it has no name, or the server was built without prompts: see
    /// [`ServerBuilder::offers_prompts`](super::ServerBuilder::offers_prompts).
    pub fn add_prompt<F, R>(&self, prompt: Prompt, get: F) -> Result<(), BuildError>
    where
        F: Fn(BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, Failure>> + Send + 'static,
    {
        self.mcp.add_prompt(prompt, Arc::new(PromptFunction(get)))
    }

    /// Adds a resource, replacing one of the same URI.
    ///
    /// # Errors
    ///
    /// If its URI is invalid, or the server was built without resources: see
    /// [`ServerBuilder::offers_resources`](super::ServerBuilder::offers_resources).
    pub fn add_resource<F, R>(&self, resource: Resource, read: F) -> Result<(), BuildError>
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.mcp.add_resource(resource, Arc::new(ResourceFunction(read)))
    }

    /// Adds a resource template, replacing an equal one.
    ///
    /// # Errors
    ///
    /// If the template is not supported, or the server was built without resources: see
    /// [`ServerBuilder::offers_resources`](super::ServerBuilder::offers_resources).
    pub fn add_template<F, R>(&self, template: ResourceTemplate, read: F) -> Result<(), BuildError>
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.mcp.add_template(template, Arc::new(ResourceFunction(read)))
    }

    /// Removes a tool; `false` if it does not exist. Calls in flight are finished.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.mcp.tools().remove(name).is_some()
    }

    /// Removes a prompt; `false` if it does not exist.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.mcp.prompts().remove(name).is_some()
    }

    /// Removes a resource; `false` if it does not exist.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.mcp.resources().remove(uri).is_some()
    }

    /// Removes a resource template; `false` if it does not exist.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.mcp.templates().remove(uri_template).is_some()
    }

    /// Notifies the clients that have subscribed to a resource that it has changed.
    pub fn resource_updated(&self, uri: &str) {
        self.mcp.resource_updated(uri);
    }
}
