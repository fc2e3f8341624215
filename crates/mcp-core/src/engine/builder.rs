use std::{collections::BTreeMap, mem::take, sync::Arc};

use serde_json::Value;

use super::{
    Dispatch, InvalidArguments, Mcp, McpSettings, ServedPrompt, ServedResource, ServedTemplate,
    ServedTool, Shared, ToolRegistry, capabilities::Offer, result::Decoration, updates::Updates,
};
use crate::{
    CompletionHandler, ContractError, ContractKind, Contracts, Implementation, Json, Prompt,
    PromptHandler, Resource, ResourceHandler, ResourceTemplate, Revisions, Seal, Tool, ToolHandler,
    Unchecked, UriTemplate, registry::Registry, revision_shape,
};

/// Builds an [`Mcp`].
#[derive(Debug)]
pub struct McpBuilder {
    info: Implementation,
    instructions: Option<String>,
    revisions: Revisions,
    settings: McpSettings,
    tools: Vec<(Tool, Arc<dyn ToolHandler>)>,
    prompts: Vec<(Prompt, Arc<dyn PromptHandler>)>,
    resources: Vec<(Resource, Arc<dyn ResourceHandler>)>,
    templates: Vec<(ResourceTemplate, Arc<dyn ResourceHandler>)>,
    completions: Option<Arc<dyn CompletionHandler>>,
    contracts: Arc<dyn Contracts>,
    seal: Option<Arc<dyn Seal>>,
    offers: [bool; 3],
    extensions: BTreeMap<String, Value>,
}

/// Why a server cannot be built, or an entry cannot be added.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe them")]
#[non_exhaustive]
pub enum BuildError {
    #[error("tool `{tool}`: the {which} cannot be used")]
    Schema {
        tool: String,
        which: &'static str,
        #[source]
        source: ContractError,
    },
    #[error("`{template}` is not a supported URI template: {reason}")]
    Template { template: String, reason: String },
    #[error("a definition cannot be serialized as JSON")]
    Unwritable(#[source] serde_json::Error),
    #[error("tool `{tool}`: the input schema must have `\"type\": \"object\"` at the top level")]
    NotAnObject { tool: String },
    #[error("`{uri}` is not an absolute URI")]
    Uri { uri: String },
    #[error("{0} has no name")]
    Nameless(&'static str),
    #[error("the server does not declare {what}; call `offers_{what}` on the builder")]
    MissingCapability { what: &'static str },
    #[error("two {what} have the name `{name}`")]
    Twice { what: &'static str, name: String },
    #[error("a server must support at least one revision")]
    NoRevision,
}

impl McpBuilder {
    pub(super) fn new(info: Implementation) -> McpBuilder {
        McpBuilder {
            info,
            instructions: None,
            revisions: Revisions::ALL,
            settings: McpSettings::default(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completions: None,
            contracts: Arc::new(Unchecked),
            seal: None,
            offers: [false; 3],
            extensions: BTreeMap::new(),
        }
    }

    /// Sets the instructions that tell models how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Supports only these revisions. Default: all.
    #[must_use]
    pub fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// Replaces the settings.
    #[must_use]
    pub fn settings(mut self, settings: McpSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how calls are dispatched. The same as [`McpSettings::dispatch`].
    #[must_use]
    pub fn dispatch(mut self, dispatch: Dispatch) -> Self {
        self.settings.dispatch = dispatch;
        self
    }

    /// The dispatch chosen so far.
    pub fn chosen_dispatch(&self) -> Dispatch {
        self.settings.dispatch
    }

    /// Sets how invalid tool arguments are answered, overriding earlier [settings].
    ///
    /// [settings]: McpBuilder::settings
    #[must_use]
    pub fn invalid_arguments(mut self, answered: InvalidArguments) -> Self {
        self.settings.invalid_arguments = answered;
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool, handler: Arc<dyn ToolHandler>) -> Self {
        self.tools.push((tool, handler));
        self
    }

    /// Adds the current tools of a registry, checked by the contracts of this server.
    #[must_use]
    pub fn tools(mut self, tools: &ToolRegistry) -> Self {
        let tools = tools.list();
        self.tools
            .extend(tools.iter().map(|tool| (tool.definition.clone(), Arc::clone(&tool.handler))));
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt, handler: Arc<dyn PromptHandler>) -> Self {
        self.prompts.push((prompt, handler));
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: Resource, handler: Arc<dyn ResourceHandler>) -> Self {
        self.resources.push((resource, handler));
        self
    }

    /// Adds a resource template.
    #[must_use]
    pub fn template(
        mut self,
        template: ResourceTemplate,
        handler: Arc<dyn ResourceHandler>,
    ) -> Self {
        self.templates.push((template, handler));
        self
    }

    /// Sets the handler that completes arguments of prompts and templates.
    #[must_use]
    pub fn completions(mut self, handler: Arc<dyn CompletionHandler>) -> Self {
        self.completions = Some(handler);
        self
    }

    /// Checks arguments and output of tools. Default: no checks.
    #[must_use]
    pub fn contracts(mut self, contracts: Arc<dyn Contracts>) -> Self {
        self.contracts = contracts;
        self
    }

    /// Protects the state that clients return in later rounds of a call. Without a seal, calls that
    /// carry state between rounds fail.
    #[must_use]
    pub fn seal(mut self, seal: Arc<dyn Seal>) -> Self {
        self.seal = Some(seal);
        self
    }

    /// Declares tools although there are none yet.
    #[must_use]
    pub fn offers_tools(mut self) -> Self {
        self.offers[0] = true;
        self
    }

    /// Declares prompts although there are none yet.
    #[must_use]
    pub fn offers_prompts(mut self) -> Self {
        self.offers[1] = true;
        self
    }

    /// Declares resources although there are none yet.
    #[must_use]
    pub fn offers_resources(mut self) -> Self {
        self.offers[2] = true;
        self
    }

    /// Declares a protocol extension and its settings.
    #[must_use]
    pub fn extension(mut self, name: impl Into<String>, settings: Value) -> Self {
        self.extensions.insert(name.into(), settings);
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// If a definition is invalid, or a name is used twice.
    pub fn build(mut self) -> Result<Mcp, BuildError> {
        if self.revisions == Revisions::NONE {
            return Err(BuildError::NoRevision);
        }
        if self.info.name.is_empty() {
            return Err(BuildError::Nameless("the server"));
        }
        self.offers[0] |= !self.tools.is_empty();
        self.offers[1] |= !self.prompts.is_empty();
        self.offers[2] |= !self.resources.is_empty() || !self.templates.is_empty();
        let (tools, prompts) = (take(&mut self.tools), take(&mut self.prompts));
        let (resources, templates) = (take(&mut self.resources), take(&mut self.templates));
        let registry = ToolRegistry::with_contracts(Arc::clone(&self.contracts));
        let mcp = self.with_tools(registry);
        for (tool, handler) in tools {
            check_unique("tools", &tool.name, mcp.tools().get(&tool.name).is_some())?;
            mcp.add_tool(tool, handler)?;
        }
        for (prompt, handler) in prompts {
            check_unique("prompts", &prompt.name, mcp.prompts().get(&prompt.name).is_some())?;
            mcp.add_prompt(prompt, handler)?;
        }
        for (resource, handler) in resources {
            check_unique("resources", &resource.uri, mcp.resources().get(&resource.uri).is_some())?;
            mcp.add_resource(resource, handler)?;
        }
        for (template, handler) in templates {
            let name = &template.uri_template;
            check_unique("templates", name, mcp.templates().get(name).is_some())?;
            mcp.add_template(template, handler)?;
        }
        Ok(mcp)
    }

    /// The server with these tools, without the prompts and resources that were added.
    pub(super) fn with_tools(self, tools: ToolRegistry) -> Mcp {
        let offer = Offer {
            tools: self.offers[0],
            prompts: self.offers[1],
            resources: self.offers[2],
            completions: self.completions.is_some(),
            logging: self.settings.logging,
            list_changes: self.settings.list_changes,
            subscriptions: self.settings.resource_subscriptions,
            extensions: self.extensions,
        };
        Mcp {
            shared: Arc::new(Shared {
                decoration: Decoration::new(&self.info, &self.settings),
                info: self.info,
                instructions: self.instructions,
                revisions: self.revisions,
                settings: self.settings,
                offer,
                tools,
                prompts: Registry::new(),
                resources: Registry::new(),
                templates: Registry::new(),
                completions: self.completions,
                contracts: self.contracts,
                seal: self.seal,
                updates: Updates::default(),
            }),
        }
    }
}

fn check_unique(what: &'static str, name: &str, exists: bool) -> Result<(), BuildError> {
    if exists { Err(BuildError::Twice { what, name: name.to_owned() }) } else { Ok(()) }
}

/// Every revision requires a tool's arguments to be an object, and its schema to say so.
fn takes_object(schema: &Json) -> bool {
    #[derive(serde::Deserialize)]
    struct Top {
        r#type: String,
    }
    schema.read::<Top>().is_ok_and(|top| top.r#type == "object")
}

/// A scheme, a colon and no whitespace: the least that every client can parse.
pub(super) fn is_absolute(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let starts_well = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    starts_well && is_scheme && !rest.is_empty() && uri.chars().all(|c| c.is_ascii_graphic())
}

impl ServedTool {
    pub(super) fn new(
        definition: Tool,
        handler: Arc<dyn ToolHandler>,
        contracts: &dyn Contracts,
    ) -> Result<ServedTool, BuildError> {
        if definition.name.is_empty() {
            return Err(BuildError::Nameless("a tool"));
        }
        if !takes_object(&definition.input_schema) {
            return Err(BuildError::NotAnObject { tool: definition.name });
        }
        let compile = |which, schema: &Json, purpose| {
            contracts.compile(schema, purpose).map_err(|source| BuildError::Schema {
                tool: definition.name.clone(),
                which,
                source,
            })
        };
        Ok(ServedTool {
            input: compile("input schema", &definition.input_schema, ContractKind::Arguments)?,
            output: definition
                .output_schema
                .as_ref()
                .map(|schema| compile("output schema", schema, ContractKind::Output))
                .transpose()?,
            listed: Json::of(&definition).map_err(BuildError::Unwritable)?,
            listed_without_output: definition
                .output_schema
                .as_ref()
                .map(|schema| {
                    let listed = Json::of(&Tool { output_schema: None, ..definition.clone() })?;
                    Ok((revision_shape::output_listed_since(schema), listed))
                })
                .transpose()
                .map_err(BuildError::Unwritable)?,
            definition,
            handler,
        })
    }
}

impl ServedPrompt {
    pub(super) fn new(
        definition: Prompt,
        handler: Arc<dyn PromptHandler>,
    ) -> Result<ServedPrompt, BuildError> {
        if definition.name.is_empty() {
            return Err(BuildError::Nameless("a prompt"));
        }
        Ok(ServedPrompt { definition, handler })
    }
}

impl ServedResource {
    pub(super) fn new(
        definition: Resource,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<ServedResource, BuildError> {
        if !is_absolute(&definition.uri) {
            return Err(BuildError::Uri { uri: definition.uri });
        }
        Ok(ServedResource { definition, handler })
    }
}

impl ServedTemplate {
    pub(super) fn new(
        definition: ResourceTemplate,
        handler: Arc<dyn ResourceHandler>,
    ) -> Result<ServedTemplate, BuildError> {
        let pattern =
            UriTemplate::parse(&definition.uri_template).map_err(|error| BuildError::Template {
                template: definition.uri_template.clone(),
                reason: error.to_string(),
            })?;
        Ok(ServedTemplate { definition, pattern, handler })
    }
}
