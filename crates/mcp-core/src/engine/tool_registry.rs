use std::{ops::Deref, sync::Arc};

use super::{BuildError, ServedTool};
use crate::{Contracts, Json, Tool, ToolHandler, Unchecked, registry::Registry};

/// The tools of a server, by name. Cheap to clone; all clones are the same registry. Tools can be
/// added and removed while the server runs.
///
/// ```
/// use mcp_core::{BoxFuture, CallToolResult, Context, Error, Json, ToolHandler, ToolRegistry};
///
/// struct EchoTool;
///
/// impl ToolHandler for EchoTool {
///     fn call(
///         &self,
///         arguments: Json,
///         _: Context,
///     ) -> BoxFuture<'_, Result<CallToolResult, Error>> {
///         Box::pin(async move { Ok(CallToolResult::structured(arguments)) })
///     }
/// }
///
/// let tools = ToolRegistry::new();
/// tools.insert("echo", Box::new(EchoTool));
/// assert!(tools.get("echo").is_some());
/// ```
#[derive(Debug, Clone)]
pub struct ToolRegistry {
    tools: Arc<Registry<ServedTool>>,
    contracts: Arc<dyn Contracts>,
}

impl ToolRegistry {
    /// An empty registry. Tool schemas are shown to clients but not enforced.
    pub fn new() -> ToolRegistry {
        ToolRegistry::with_contracts(Arc::new(Unchecked))
    }

    /// An empty registry that checks calls with `contracts` compiled from its tools' schemas.
    pub fn with_contracts(contracts: Arc<dyn Contracts>) -> ToolRegistry {
        ToolRegistry { tools: Arc::new(Registry::new()), contracts }
    }

    /// Adds a tool that takes any object. An existing tool of the same name is replaced in place and
    /// returned. A tool with an empty name is ignored: it could not be called.
    pub fn insert(
        &self,
        name: impl Into<String>,
        handler: Box<dyn ToolHandler>,
    ) -> Option<Arc<ServedTool>> {
        let any_object = Json::already_parsed(bytes::Bytes::from_static(br#"{"type":"object"}"#));
        let tool = Tool::new(name, any_object);
        // No contract is needed: tools are only ever called with objects.
        self.tools.insert(ServedTool::new(tool, handler.into(), &Unchecked).ok()?)
    }

    /// Adds a tool with a definition: a schema for its arguments, a description. An existing tool of
    /// the same name is replaced in place and returned.
    ///
    /// # Errors
    ///
    /// If it has no name, or a schema cannot be used.
    pub fn define(
        &self,
        tool: Tool,
        handler: Box<dyn ToolHandler>,
    ) -> Result<Option<Arc<ServedTool>>, BuildError> {
        self.add(tool, handler.into())
    }

    pub(super) fn add(
        &self,
        tool: Tool,
        handler: Arc<dyn ToolHandler>,
    ) -> Result<Option<Arc<ServedTool>>, BuildError> {
        Ok(self.tools.insert(ServedTool::new(tool, handler, &*self.contracts)?))
    }
}

impl Default for ToolRegistry {
    fn default() -> Self {
        ToolRegistry::new()
    }
}

impl Deref for ToolRegistry {
    type Target = Registry<ServedTool>;

    fn deref(&self) -> &Registry<ServedTool> {
        &self.tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoxFuture, CallToolResult, Context, Error};

    struct Nothing;

    impl ToolHandler for Nothing {
        fn call(&self, _: Json, _: Context) -> BoxFuture<'_, Result<CallToolResult, Error>> {
            Box::pin(std::future::ready(Ok(CallToolResult::default())))
        }
    }

    #[test]
    fn clones_share_their_tools() {
        let tools = ToolRegistry::new();
        let clone = tools.clone();
        assert!(tools.insert("a", Box::new(Nothing)).is_none());
        assert!(tools.insert("b".to_owned(), Box::new(Nothing)).is_none());
        assert!(clone.insert("a", Box::new(Nothing)).is_some(), "it is replaced");
        let names: Vec<_> = clone.list().iter().map(|tool| tool.definition.name.clone()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(clone.remove("a").is_some());
        assert!(tools.get("a").is_none());
    }

    #[test]
    fn a_tool_with_an_empty_name_is_ignored() {
        let tools = ToolRegistry::new();
        tools.insert("", Box::new(Nothing));
        assert!(tools.is_empty());
    }

    #[test]
    fn an_invalid_definition_is_rejected() {
        let tools = ToolRegistry::new();
        let schema = |text: &'static str| Json::parse(text).unwrap();
        let object = Tool::new("a", schema(r#"{"type":"object","required":["x"]}"#));
        assert!(tools.define(object, Box::new(Nothing)).unwrap().is_none());
        let array = Tool::new("b", schema(r#"{"type":"array"}"#));
        assert!(tools.define(array, Box::new(Nothing)).is_err());
        assert_eq!(tools.len(), 1);
    }
}
