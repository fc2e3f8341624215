//! The engine: takes requests of the domain, runs what serves them, gives answers.

mod builder;
mod capabilities;
mod conversation;
mod handshake;
mod listen;
mod lists;
mod news;
mod params;
mod prompts;
mod resources;
mod result;
mod rounds;
mod served;
mod settings;
mod tools;

use std::sync::Arc;

use tokio::sync::broadcast;

pub(crate) use self::tools::sentences;
pub use self::{
    builder::{BuildError, McpBuilder},
    conversation::Conversation,
    served::{ServedPrompt, ServedResource, ServedTemplate, ServedTool},
    settings::{Dispatch, InvalidArguments, McpSettings},
};
use self::{capabilities::Offer, result::Decoration};
use crate::{
    Call, CompletionHandler, Contracts, Era, Implementation, Prompt, PromptHandler, Request,
    Resource, ResourceHandler, ResourceTemplate, Response, Revision, Revisions, Seal, Tool,
    ToolHandler, registry::Registry,
};

/// The tools of a server.
pub type ToolRegistry = Registry<ServedTool>;
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
    /// URIs of resources that have changed.
    updates: broadcast::Sender<Arc<str>>,
}

impl Mcp {
    /// Begins a server that calls itself `info`.
    pub fn builder(info: Implementation) -> McpBuilder {
        McpBuilder::new(info)
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
        if !self.shared.offer.tools {
            return Err(BuildError::NotOffered);
        }
        self.shared.tools.insert(ServedTool::new(tool, handler, &*self.shared.contracts)?);
        Ok(())
    }

    /// Offers a prompt from now on, in place of an older one of that name.
    pub fn add_prompt(&self, prompt: Prompt, handler: Arc<dyn PromptHandler>) {
        self.shared.prompts.insert(ServedPrompt { definition: prompt, handler });
    }

    /// Offers a resource from now on, in place of an older one of that URI.
    pub fn add_resource(&self, resource: Resource, handler: Arc<dyn ResourceHandler>) {
        self.shared.resources.insert(ServedResource { definition: resource, handler });
    }

    /// Offers resources by a pattern from now on.
    ///
    /// # Errors
    ///
    /// If the pattern is no URI template that can be matched.
    pub fn add_template(
        &self,
        template: ResourceTemplate,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<(), BuildError> {
        self.shared.templates.insert(ServedTemplate::new(template, handler)?);
        Ok(())
    }

    /// Tells clients that subscribed to it that a resource has changed.
    pub fn resource_updated(&self, uri: &str) {
        // Nobody may be listening.
        let _ = self.shared.updates.send(uri.into());
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
