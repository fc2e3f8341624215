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

/// Puts a server together.
#[derive(Debug)]
pub struct ServerBuilder {
    mcp: McpBuilder,
    validation: Validation,
    seal: Option<Arc<dyn Seal>>,
    max_message_bytes: Option<usize>,
    #[cfg(feature = "http")]
    principals: Option<super::http::Principals>,
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

    /// Tells models how to use the server.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.with(|mcp| mcp.instructions(instructions))
    }

    /// Speaks only these revisions. Default: all.
    #[must_use]
    pub fn revisions(self, revisions: Revisions) -> Self {
        self.with(|mcp| mcp.revisions(revisions))
    }

    /// Behaves as `settings` say.
    #[must_use]
    pub fn settings(self, settings: McpSettings) -> Self {
        self.with(|mcp| mcp.settings(settings))
    }

    /// Has calls name what they want as `dispatch` says: with [`Dispatch::Bare`] the server speaks base
    /// JSON-RPC and its methods are its tools. Nothing else needs to be set for it. It is served over
    /// standard streams and WebSocket; Streamable HTTP is a transport of MCP and wants its headers. The
    /// same as [`McpSettings::dispatch`].
    #[must_use]
    pub fn dispatch(self, dispatch: Dispatch) -> Self {
        self.with(|mcp| mcp.dispatch(dispatch))
    }

    /// Answers arguments that do not fit a tool with an error of the protocol, or with a result that
    /// models read. Default: as the revision in use says. [`settings`](ServerBuilder::settings) that
    /// are given later win.
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

    /// Validates as `validation` says. Default: everything is enforced.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Takes and sends messages of at most so many bytes, whatever they travel over. Default 16 MiB. A
    /// transport that you make yourself has a limit of its own besides. The
    /// [guide to validation](crate::guide::validation#message-size) tells what becomes of
    /// longer ones.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = Some(bytes);
        self
    }

    /// Protects the state of calls that take several rounds. By default with a random key, so
    /// that only this process can go on with them; give replicas of a server the same
    /// [`SignedSeal`].
    #[must_use]
    pub fn seal(mut self, seal: SignedSeal) -> Self {
        self.seal = Some(Arc::new(seal));
        self
    }

    /// Finds out who a client is, from the head of an HTTP request that was let in: what a layer of
    /// yours for authorization has put into its extensions, say. Tools read it from
    /// [`Context::principal`], and the state of a call that takes several rounds is of no use to
    /// anybody else.
    ///
    /// In the handshake era the request that opens a session decides whose it is. Requests of
    /// somebody else, or of nobody, that name the session do not find it (404).
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
        self.principals = Some(super::http::Principals::new(find));
        self
    }

    /// Offers an async function as a tool. The schema of its arguments comes from their type, the
    /// schema of its output from [`Structured`](super::Structured) output.
    ///
    /// All calls of a connection are served by one task. A function that computes for long, or waits
    /// without `await`, holds up the others: make it a [blocking tool](ServerBuilder::blocking_tool).
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

    /// Offers a function that computes for long or waits without `await` as a tool. It runs on a
    /// thread for such work, so that it holds up nobody else; see [`ToolFunction::blocking`].
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

    /// Offers a function as a tool, with title, annotations and whatever else it has.
    #[must_use]
    pub fn tool_function(self, function: ToolFunction) -> Self {
        self.tool_with(function.tool, function.handler)
    }

    /// Offers an async function as a tool with a definition of its own making. The function gets
    /// the arguments as JSON text, after they have been checked against the tool's schema.
    #[must_use]
    pub fn raw_tool<F, R, O>(self, tool: Tool, run: F) -> Self
    where
        F: Fn(Json, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
        O: ToolOutput + 'static,
    {
        self.tool_with(tool, Arc::new(RawTool(run)))
    }

    /// Offers a tool that is implemented by a type.
    #[must_use]
    pub fn tool_with(self, tool: Tool, handler: Arc<dyn ToolHandler>) -> Self {
        self.with(|mcp| mcp.tool(tool, handler))
    }

    /// Offers the tools that are in a registry now.
    #[must_use]
    pub fn tools(self, tools: &ToolRegistry) -> Self {
        self.with(|mcp| mcp.tools(tools))
    }

    /// Offers a prompt.
    #[must_use]
    pub fn prompt<F, R>(self, prompt: Prompt, get: F) -> Self
    where
        F: Fn(BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.prompt(prompt, Arc::new(PromptFunction(get))))
    }

    /// Offers a resource.
    #[must_use]
    pub fn resource<F, R>(self, resource: Resource, read: F) -> Self
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.resource(resource, Arc::new(ResourceFunction(read))))
    }

    /// Offers resources by a pattern; the function gets the values of its variables.
    #[must_use]
    pub fn template<F, R>(self, template: ResourceTemplate, read: F) -> Self
    where
        F: Fn(String, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ReadResourceResult, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.template(template, Arc::new(ResourceFunction(read))))
    }

    /// Suggests values for arguments of prompts and templates.
    #[must_use]
    pub fn completions<F, R>(self, complete: F) -> Self
    where
        F: Fn(CompleteRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, Failure>> + Send + 'static,
    {
        self.with(|mcp| mcp.completions(Arc::new(CompletionFunction(complete))))
    }

    /// Declares tools although there may be none yet: they come with [`Server::add_tool`].
    #[must_use]
    pub fn offers_tools(self) -> Self {
        self.with(McpBuilder::offers_tools)
    }

    /// Declares prompts although there may be none yet: they come with [`Server::add_prompt`].
    #[must_use]
    pub fn offers_prompts(self) -> Self {
        self.with(McpBuilder::offers_prompts)
    }

    /// Declares resources although there may be none yet: they come with [`Server::add_resource`]
    /// and [`Server::add_template`].
    #[must_use]
    pub fn offers_resources(self) -> Self {
        self.with(McpBuilder::offers_resources)
    }

    /// Declares tools, prompts and resources although there may be none yet.
    #[must_use]
    pub fn offers_everything(self) -> Self {
        self.offers_tools().offers_prompts().offers_resources()
    }

    /// Declares an extension of the protocol and its settings.
    #[must_use]
    pub fn extension(self, name: impl Into<String>, settings: Value) -> Self {
        self.with(|mcp| mcp.extension(name, settings))
    }

    /// Finishes the server.
    ///
    /// # Errors
    ///
    /// If something that was added cannot be served: a schema that is none, a name used twice. Or if
    /// the server itself has no name.
    pub fn build(self) -> Result<Server, BuildError> {
        let seal = self.seal.unwrap_or_else(|| Arc::new(SignedSeal::random()));
        let mut validation = self.validation;
        let max_message = self.max_message_bytes.unwrap_or_else(|| validation.message_bytes());
        validation = validation.for_messages_of(max_message);
        let contracts = validation.contracts(self.mcp.chosen_dispatch());
        let mcp = self.mcp.contracts(contracts).seal(seal).build()?;
        for tool in mcp.tools().list() {
            tool_name::warn_of(&tool.definition.name);
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
