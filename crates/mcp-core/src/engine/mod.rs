//! The engine: takes domain requests, runs their handlers and returns responses.

mod bare;
mod builder;
mod capabilities;
mod changes;
mod conversation;
mod handshake;
mod listen;
mod lists;
mod output;
mod params;
mod prompts;
mod resources;
mod result;
mod rounds;
mod served;
mod settings;
mod tool_registry;
mod tools;
mod updates;

use std::sync::Arc;

pub(crate) use self::tools::describe_all;
pub use self::{
    builder::{BuildError, McpBuilder},
    conversation::Conversation,
    output::OutputContract,
    served::{ServedPrompt, ServedResource, ServedTemplate, ServedTool},
    settings::{Dispatch, InvalidArguments, McpSettings},
    tool_registry::ToolRegistry,
};
use self::{capabilities::Offer, result::Decoration, updates::Updates};
use crate::{
    Call, CompletionHandler, Contracts, Era, Implementation, Prompt, PromptHandler, Request,
    Resource, ResourceHandler, ResourceTemplate, Response, Revision, Revisions, Seal, Tool,
    ToolHandler, registry::Registry,
};

/// The prompts of a server.
pub type PromptRegistry = Registry<ServedPrompt>;
/// The resources of a server that have fixed URIs.
pub type ResourceRegistry = Registry<ServedResource>;
/// The resource templates of a server.
pub type TemplateRegistry = Registry<ServedTemplate>;

/// A server without a transport: what it offers and how it responds. Cheap to clone; all clones
/// are the same server.
///
/// Tools, prompts and resources are written once and served at every revision. They can be added
/// and removed while conversations are running; clients that subscribed are notified.
#[derive(Debug, Clone)]
pub struct Mcp {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    info: Implementation,
    instructions: Option<String>,
    revisions: Revisions,
    settings: McpSettings,
    offer: Offer,
    tools: ToolRegistry,
    prompts: PromptRegistry,
    resources: ResourceRegistry,
    templates: TemplateRegistry,
    completions: Option<Arc<dyn CompletionHandler>>,
    contracts: Arc<dyn Contracts>,
    seal: Option<Arc<dyn Seal>>,
    decoration: Decoration,
    updates: Updates,
}

impl Mcp {
    /// Starts building a server with the name and version in `info`.
    pub fn builder(info: Implementation) -> McpBuilder {
        McpBuilder::new(info)
    }

    /// A plain JSON-RPC server for these tools, in which the method is the name of the tool. See
    /// [`Dispatch::Bare`].
    pub fn bare(tools: ToolRegistry) -> Mcp {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Mcp::builder(info).dispatch(Dispatch::Bare).offers_tools().with_tools(tools)
    }

    /// A conversation with one client, restricted to `era` if the transport allows only one.
    pub fn conversation(&self, era: Option<Era>) -> Conversation {
        Conversation::new(self.clone(), era)
    }

    /// Serves one self-contained request: of a stateless revision, or a bare call.
    pub async fn process_request(&self, request: Request, call: Call) -> Response {
        self.conversation(None).process_request(request, call).await
    }

    /// The server's name and version.
    pub fn info(&self) -> &Implementation {
        &self.shared.info
    }

    /// The supported revisions.
    pub fn revisions(&self) -> Revisions {
        self.shared.revisions
    }

    /// The settings.
    pub fn settings(&self) -> &McpSettings {
        &self.shared.settings
    }

    /// The tools.
    pub fn tools(&self) -> &ToolRegistry {
        &self.shared.tools
    }

    /// The prompts.
    pub fn prompts(&self) -> &PromptRegistry {
        &self.shared.prompts
    }

    /// The resources that have fixed URIs.
    pub fn resources(&self) -> &ResourceRegistry {
        &self.shared.resources
    }

    /// The resource templates.
    pub fn templates(&self) -> &TemplateRegistry {
        &self.shared.templates
    }

    /// Adds a tool, replacing one of the same name.
    ///
    /// # Errors
    ///
    /// If a schema cannot be used, or the server was built without declaring tools.
    pub fn add_tool(&self, tool: Tool, handler: Arc<dyn ToolHandler>) -> Result<(), BuildError> {
        check_offered("tools", self.shared.offer.tools)?;
        self.shared.tools.add(tool, handler)?;
        Ok(())
    }

    /// Adds a prompt, replacing one of the same name.
    ///
    /// # Errors
    ///
    /// If it has no name, or the server was built without declaring prompts.
    pub fn add_prompt(
        &self,
        prompt: Prompt,
        handler: Arc<dyn PromptHandler>,
    ) -> Result<(), BuildError> {
        check_offered("prompts", self.shared.offer.prompts)?;
        self.shared.prompts.insert(ServedPrompt::new(prompt, handler)?);
        Ok(())
    }

    /// Adds a resource, replacing one of the same URI.
    ///
    /// # Errors
    ///
    /// If its URI is invalid, or the server was built without declaring resources.
    pub fn add_resource(
        &self,
        resource: Resource,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<(), BuildError> {
        check_offered("resources", self.shared.offer.resources)?;
        self.shared.resources.insert(ServedResource::new(resource, handler)?);
        Ok(())
    }

    /// Adds a resource template, replacing an equal one.
    ///
    /// # Errors
    ///
    /// If it is not a supported URI template, or the server was built without declaring resources.
    pub fn add_template(
        &self,
        template: ResourceTemplate,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<(), BuildError> {
        check_offered("resources", self.shared.offer.resources)?;
        self.shared.templates.insert(ServedTemplate::new(template, handler)?);
        Ok(())
    }

    /// Notifies the clients that subscribed to a resource, or to a parent of it, that it has
    /// changed. Several changes may reach a slow client as one notification.
    pub fn resource_updated(&self, uri: &str) {
        self.shared.updates.announce(uri);
    }

    fn decoration(&self) -> &Decoration {
        &self.shared.decoration
    }

    fn supported(&self) -> Vec<Revision> {
        let mut revisions: Vec<Revision> = self.shared.revisions.iter().collect();
        revisions.reverse();
        revisions
    }
}

/// Clients do not use features that were not declared to them.
fn check_offered(what: &'static str, offered: bool) -> Result<(), BuildError> {
    if offered { Ok(()) } else { Err(BuildError::MissingCapability { what }) }
}
