//! The engine: takes requests of the domain, runs what serves them, gives answers.

mod bare;
mod builder;
mod capabilities;
mod conversation;
mod handshake;
mod listen;
mod lists;
mod news;
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

pub(crate) use self::tools::sentences;
pub use self::{
    builder::{BuildError, McpBuilder},
    conversation::Conversation,
    output::OutputPromise,
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
/// The patterns by which further resources of a server can be read.
pub type TemplateRegistry = Registry<ServedTemplate>;

/// A server without its wires: what it offers and how it answers. Cheap to clone; all clones are
/// the same server.
///
/// What is offered is written once and served at every revision. Entries can come and go while
/// conversations are running; clients that want to know are told.
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
    /// Begins a server that calls itself `info`.
    pub fn builder(info: Implementation) -> McpBuilder {
        McpBuilder::new(info)
    }

    /// A server of base JSON-RPC that has nothing but these tools: a method is the name of a tool. See
    /// [`Dispatch::Bare`].
    pub fn bare(tools: ToolRegistry) -> Mcp {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Mcp::builder(info).dispatch(Dispatch::Bare).offers_tools().around(tools)
    }

    /// What serves one client. A conversation over a stateless transport may be of one era only.
    pub fn conversation(&self, era: Option<Era>) -> Conversation {
        Conversation::new(self.clone(), era)
    }

    /// Serves one request that stands for itself: of a stateless revision, or a bare call.
    pub async fn process_request(&self, request: Request, call: Call) -> Response {
        self.conversation(None).process_request(request, call).await
    }

    /// What the server calls itself.
    pub fn info(&self) -> &Implementation {
        &self.shared.info
    }

    /// The revisions it speaks.
    pub fn revisions(&self) -> Revisions {
        self.shared.revisions
    }

    /// How it behaves.
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

    /// The patterns by which further resources can be read.
    pub fn templates(&self) -> &TemplateRegistry {
        &self.shared.templates
    }

    /// Offers a tool from now on, in place of an older one of that name.
    ///
    /// # Errors
    ///
    /// If a schema cannot be used, or clients were told that there are no tools.
    pub fn add_tool(&self, tool: Tool, handler: Arc<dyn ToolHandler>) -> Result<(), BuildError> {
        is_offered("tools", self.shared.offer.tools)?;
        self.shared.tools.add(tool, handler)?;
        Ok(())
    }

    /// Offers a prompt from now on, in place of an older one of that name.
    ///
    /// # Errors
    ///
    /// If it has no name, or clients were told that there are no prompts.
    pub fn add_prompt(
        &self,
        prompt: Prompt,
        handler: Arc<dyn PromptHandler>,
    ) -> Result<(), BuildError> {
        is_offered("prompts", self.shared.offer.prompts)?;
        self.shared.prompts.insert(ServedPrompt::new(prompt, handler)?);
        Ok(())
    }

    /// Offers a resource from now on, in place of an older one of that URI.
    ///
    /// # Errors
    ///
    /// If its URI is none, or clients were told that there are no resources.
    pub fn add_resource(
        &self,
        resource: Resource,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<(), BuildError> {
        is_offered("resources", self.shared.offer.resources)?;
        self.shared.resources.insert(ServedResource::new(resource, handler)?);
        Ok(())
    }

    /// Offers resources by a pattern from now on, in place of an older one that is the same.
    ///
    /// # Errors
    ///
    /// If the pattern is no URI template that can be matched, or clients were told that there are
    /// no resources.
    pub fn add_template(
        &self,
        template: ResourceTemplate,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<(), BuildError> {
        is_offered("resources", self.shared.offer.resources)?;
        self.shared.templates.insert(ServedTemplate::new(template, handler)?);
        Ok(())
    }

    /// Tells clients that subscribed to it, or to something it lies within, that a resource has
    /// changed. A client that is slow is told once of several changes.
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

/// Clients do not ask for what was not declared to them.
fn is_offered(what: &'static str, offered: bool) -> Result<(), BuildError> {
    if offered { Ok(()) } else { Err(BuildError::NotOffered { what }) }
}
