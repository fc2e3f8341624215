use mcp_schema::{Schemas, ToolSchemas};

use crate::{Settings, shared_schemas::SharedSchemas};

/// What messages are judged by: the schemas and settings in use, and the tool schemas compiled so
/// far.
#[derive(Debug)]
pub(crate) struct Criteria {
    schemas: Schemas,
    settings: Settings,
    tool_schemas: ToolSchemas,
    shared_schemas: SharedSchemas,
}

impl Criteria {
    pub(crate) fn new(schemas: Schemas, settings: Settings) -> Criteria {
        Criteria {
            schemas,
            settings,
            tool_schemas: ToolSchemas::default(),
            shared_schemas: SharedSchemas::default(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    pub(crate) fn tool_schemas(&self) -> &ToolSchemas {
        &self.tool_schemas
    }

    /// The schemas that sessions remember.
    pub(crate) fn shared_schemas(&self) -> &SharedSchemas {
        &self.shared_schemas
    }
}
