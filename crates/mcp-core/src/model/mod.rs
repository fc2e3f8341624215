//! The protocol's data types, with the members of the newest revisions. Differences between
//! revisions are handled where the types are serialized.

mod capabilities;
mod completion;
mod content;
mod elicitation;
mod identity;
mod logging;
mod meta;
mod prompt;
mod resource;
mod results;
mod roots;
mod sampling;
mod tool;
mod uri_template;

pub use self::{
    capabilities::{ClientCapabilities, ServerCapabilities},
    completion::{
        CompleteRequest, Completion, CompletionArgument, CompletionContext, CompletionReference,
    },
    content::{Content, EmbeddedResource, MediaContent, TextContent},
    elicitation::{ElicitAction, ElicitField, ElicitForm, ElicitRequest, ElicitResult},
    identity::{Annotations, Icon, Implementation, Role},
    logging::{LogLevel, LogMessage, Progress},
    meta::{Meta, ProgressToken},
    prompt::{GetPromptResult, Prompt, PromptArgument, PromptMessage},
    resource::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
    results::{
        DiscoverResult, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult,
    },
    roots::{ListRootsResult, Root},
    sampling::{
        CreateMessageRequest, CreateMessageResult, ModelHint, ModelPreferences, SamplingContent,
        SamplingMessage,
    },
    tool::{CallToolResult, Tool, ToolAnnotations},
    uri_template::{UriTemplate, UriTemplateError},
};
