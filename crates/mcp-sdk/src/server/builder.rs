use std::{collections::BTreeMap, sync::Arc};

use mcp_core::{
    BuildError, CompleteRequest, Completion, Context, Dispatch, GetPromptResult, Implementation,
    InvalidArguments, Json, Mcp, McpBuilder, McpSettings, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, Revisions, Seal, Tool, ToolHandler, ToolRegistry,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Failure, Server, ToolFunction, ToolOutput,
    functions::{CompletionFunction, PromptFunction, RawTool, ResourceFunction},
    tool_name,
};
use crate::{SignedSeal, Validation};

/// Builds a [`Server`].
#[derive(Debug)]
pub struct ServerBuilder {
    mcp: McpBuilder,
    validation: Validation,
    seal: Option<Arc<dyn Seal>>,
    max_message_bytes: Option<usize>,
    #[cfg(feature = "http")]
    principals: Option<super::http::PrincipalFinder>,
}

impl ServerBuilder {
    pub(super) fn new(info: Implementation) -> ServerBuilder {
        ServerBuilder {
            mcp: Mcp::builder(info),
            validation: Validation::default(),
            seal: None,
            max_message_bytes: None,
            #[cfg(feature = "http")]
            principals: None,
        }
    }

    /// Sets the instructions that tell models how to use the server.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.with(|mcp| mcp.instructions(instructions))
    }

    /// Supports only these revisions. Default: all.
    #[must_use]
    pub fn revisions(self, revisions: Revisions) -> Self {
        self.with(|mcp| mcp.revisions(revisions))
    }

    /// Replaces the settings.
    #[must_use]
    pub fn settings(self, settings: McpSettings) -> Self {
        self.with(|mcp| mcp.settings(settings))
    }

    /// Sets how calls are dispatched: with [`Dispatch::Bare`] the server is a plain JSON-RPC server
    /// whose methods are its tools. Nothing else needs to be configured. Bare dispatch works over
    /// standard streams and WebSocket; Streamable HTTP requires the headers of MCP. The same as
    /// [`McpSettings::dispatch`].
    #[must_use]
    pub fn dispatch(self, dispatch: Dispatch) -> Self {
        self.with(|mcp| mcp.dispatch(dispatch))
    }

    /// Sets how invalid tool arguments are answered: with a protocol error, or with a result that
    /// models can read. Default: as the negotiated revision requires. A later
    /// [`settings`](ServerBuilder::settings) overrides this.
    ///
    /// ```
    /// use mcp_sdk::{Server, core::InvalidArguments};
    ///
    /// let server = Server::builder("strict", "1.0.0")
    ///     .invalid_arguments(InvalidArguments::ProtocolError)
    ///     .build()?;
    /// # Ok::<(), mcp_sdk::BuildError>(())
    /// ```
    #[must_use]
    pub fn invalid_arguments(self, answered: InvalidArguments) -> Self {
        self.with(|mcp| mcp.invalid_arguments(answered))
    }

    /// Sets the validation. Default: [`Validation::enforce`].
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Limits received and sent messages to `bytes`, over every transport. Default 16 MiB. A
    /// transport that you create yourself also has its own limit. For what happens to longer
    /// messages, see the [guide to validation](crate::guide::validation#message-size).
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = Some(bytes);
        self
    }

    /// Sets the seal that protects the state of calls that take several rounds. By default it has a
    /// random key, and only this process can continue such calls; give all replicas of a server the
    /// same [`SignedSeal`].
    #[must_use]
    pub fn seal(mut self, seal: SignedSeal) -> Self {
        self.seal = Some(Arc::new(seal));
        self
    }

    /// Sets the function that identifies the client of an accepted HTTP request: for example, from
    /// what your authorization layer has put into the request's extensions. Tools read it with
    /// [`Context::principal`], and the state of a call that takes several rounds is rejected from
    /// any other principal.
    ///
    /// In the handshake era a session belongs to the principal of the request that opened it. For
    /// requests from anyone else the session does not exist (404).
    ///
    /// ```
    /// use mcp_sdk::Server;
    ///
    /// #[derive(Clone)]
    /// struct User(String);
    ///
    /// let server = Server::builder("notes", "1.0.0")
    ///     .principal(|request| request.extensions.get::<User>().map(|user| user.0.clone()))
    ///     .build()?;
    /// # Ok::<(), mcp_sdk::BuildError>(())
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    pub fn principal(
        mut self,
        find: impl Fn(&http::request::Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.principals = Some(super::http::PrincipalFinder::new(find));
        self
    }

    /// Adds an async function as a tool. The schema of its arguments is derived from their type, the
    /// schema of its output from the type in [`Structured`](super::Structured).
    ///
    /// All calls on a connection are served by one task. A function that computes for a long time,
    /// or waits without `await`, holds up the others: make it a
    /// [blocking tool](ServerBuilder::blocking_tool).
    ///
    /// ```
    /// use mcp_sdk::{Server, schemars::JsonSchema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Sum {
    ///     /// The numbers to add.
    ///     numbers: Vec<f64>,
    /// }
    ///
    /// let server = Server::builder("calculator", "1.0.0")
    ///     .tool("sum", "Adds numbers", async |sum: Sum, _| {
    ///         Ok(sum.numbers.iter().sum::<f64>().to_string())
    ///     })
    ///     .build()?;
    /// # Ok::<(), mcp_sdk::BuildError>(())
    /// ```
    #[must_use]
    pub fn tool<A, F, R, O>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Self
    where
        F: Fn(A, Context) -> R + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
        O: ToolOutput + 'static,
    {
        self.tool_function(ToolFunction::new(name, description, run))
    }

    /// Adds a function that computes for a long time, or waits without `await`, as a tool. It runs
    /// on a blocking thread and does not hold up other calls; see [`ToolFunction::blocking`].
    ///
    /// ```
    /// use mcp_sdk::{Server, schemars::JsonSchema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Read {
    ///     path: String,
    /// }
    ///
    /// let server = Server::builder("files", "1.0.0")
    ///     .blocking_tool("read", "Reads a file", |read: Read, _| {
    ///         Ok(std::fs::read_to_string(read.path)?)
    ///     })
    ///     .build()?;
    /// # Ok::<(), mcp_sdk::BuildError>(())
    /// ```
    #[must_use]
    pub fn blocking_tool<A, F, O>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Self
    where
        F: Fn(A, Context) -> Result<O, Failure> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: ToolOutput + 'static,
    {
        self.tool_function(ToolFunction::blocking(name, description, run))
    }

    /// Adds a function as a tool, with title, annotations and so on.
    #[must_use]
    pub fn tool_function(self, function: ToolFunction) -> Self {
        self.tool_with(function.tool, function.handler)
    }

    /// Adds an async function as a tool with an explicit definition. The function gets the arguments
    /// as JSON text, after they have been checked against the tool's schema.
    #[must_use]
    pub fn raw_tool<F, R, O>(self, tool: Tool, run: F) -> Self
    where
        F: Fn(Json, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
        O: ToolOutput + 'static,
    {
        self.tool_with(tool, Arc::new(RawTool(run)))
    }

    /// Adds a tool that is implemented by a type.
    #[must_use]
    pub fn tool_with(self, tool: Tool, handler: Arc<dyn ToolHandler>) -> Self {
        self.with(|mcp| mcp.tool(tool, handler))
    }

    /// Adds the current tools of a registry.
    #[must_use]
    pub fn tools(self, tools: &ToolRegistry) -> Self {
        self.with(|mcp| mcp.tools(tools))
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt<F, R>(self, prompt: Prompt, get: F) -> Self
    where
        F: Fn(BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.prompt(prompt, Arc::new(PromptFunction(get))))
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource<F, R>(self, resource: Resource, read: F) -> Self
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.resource(resource, Arc::new(ResourceFunction(read))))
    }

    /// Adds a resource template; the function gets the values of its variables.
    #[must_use]
    pub fn template<F, R>(self, template: ResourceTemplate, read: F) -> Self
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.template(template, Arc::new(ResourceFunction(read))))
    }

    /// Sets the function that completes arguments of prompts and templates.
    #[must_use]
    pub fn completions<F, R>(self, complete: F) -> Self
    where
        F: Fn(CompleteRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.completions(Arc::new(CompletionFunction(complete))))
    }

    /// Declares tools even if there are none yet; add them with [`Server::add_tool`].
    #[must_use]
    pub fn offers_tools(self) -> Self {
        self.with(McpBuilder::offers_tools)
    }

    /// Declares prompts even if there are none yet; add them with [`Server::add_prompt`].
    #[must_use]
    pub fn offers_prompts(self) -> Self {
        self.with(McpBuilder::offers_prompts)
    }

    /// Declares resources even if there are none yet; add them with [`Server::add_resource`] and
    /// [`Server::add_template`].
    #[must_use]
    pub fn offers_resources(self) -> Self {
        self.with(McpBuilder::offers_resources)
    }

    /// Declares tools, prompts and resources even if there are none yet.
    #[must_use]
    pub fn offers_everything(self) -> Self {
        self.offers_tools().offers_prompts().offers_resources()
    }

    /// Declares a protocol extension and its settings.
    #[must_use]
    pub fn extension(self, name: impl Into<String>, settings: Value) -> Self {
        self.with(|mcp| mcp.extension(name, settings))
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// If a definition is invalid, a name is used twice, or the server itself has no name.
    pub fn build(self) -> Result<Server, BuildError> {
        let seal = self.seal.unwrap_or_else(|| Arc::new(SignedSeal::random()));
        let mut validation = self.validation;
        let max_message = self.max_message_bytes.unwrap_or_else(|| validation.message_bytes());
        validation = validation.for_messages_of(max_message);
        let contracts = validation.contracts(self.mcp.chosen_dispatch());
        let mcp = self.mcp.contracts(contracts).seal(seal).build()?;
        for tool in mcp.tools().list() {
            tool_name::warn_if_unusual(&tool.definition.name);
        }
        #[cfg_attr(not(feature = "http"), expect(unused_mut, reason = "nothing else to set"))]
        let mut server = Server::new(mcp, validation, max_message);
        #[cfg(feature = "http")]
        {
            server.principals = self.principals;
        }
        Ok(server)
    }

    fn with(mut self, change: impl FnOnce(McpBuilder) -> McpBuilder) -> Self {
        self.mcp = change(self.mcp);
        self
    }
}
