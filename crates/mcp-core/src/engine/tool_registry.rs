use std::{ops::Deref, sync::Arc};

use super::{BuildError, ServedTool};
use crate::{Contracts, Json, Tool, ToolHandler, Unchecked, registry::Registry};

/// The tools of a server, by name. Cheap to clone; all clones are the same registry, and tools can
/// come and go while they are served.
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

    /// An empty registry that holds calls to the `contracts` made from its tools' schemas.
    pub fn with_contracts(contracts: Arc<dyn Contracts>) -> ToolRegistry {
        ToolRegistry { tools: Arc::new(Registry::new()), contracts }
    }

    /// Adds a tool that takes any object. One of the same name is replaced, keeps its place and is
    /// returned. A tool without a name is not kept: nobody could call it.
    pub fn insert(
        &self,
        name: impl Into<String>,
        handler: Box<dyn ToolHandler>,
    ) -> Option<Arc<ServedTool>> {
        let any_object = Json::already_parsed(bytes::Bytes::from_static(br#"{"type":"object"}"#));
        let tool = Tool::new(name, any_object);
        // No contract is needed: a tool is never called with anything else.
        self.tools.insert(ServedTool::new(tool, handler.into(), &Unchecked).ok()?)
    }

    /// Adds a tool with a definition of its own: a schema of its arguments, a description. One of the
    /// same name is replaced, keeps its place and is returned.
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
    fn it_is_filled_from_outside_and_its_clones_are_the_same() {
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
    fn what_nobody_can_call_is_not_kept() {
        let tools = ToolRegistry::new();
        tools.insert("", Box::new(Nothing));
        assert!(tools.is_empty());
    }

    #[test]
    fn a_definition_has_to_be_one() {
        let tools = ToolRegistry::new();
        let schema = |text: &'static str| Json::parse(text).unwrap();
        let object = Tool::new("a", schema(r#"{"type":"object","required":["x"]}"#));
        assert!(tools.define(object, Box::new(Nothing)).unwrap().is_none());
        let array = Tool::new("b", schema(r#"{"type":"array"}"#));
        assert!(tools.define(array, Box::new(Nothing)).is_err());
        assert_eq!(tools.len(), 1);
    }
}
