use std::sync::Arc;

use mcp_schema::{Schemas, ToolSchemas};

use crate::{Settings, lock::Lock, shared_schemas::SharedSchemas};

/// Everything messages are judged by: the schemas and settings in use, and the tool schemas compiled
/// so far.
#[derive(Debug)]
pub(crate) struct Criteria {
    schemas: Schemas,
    settings: Settings,
    tool_schemas: ToolSchemas,
    shared_schemas: SharedSchemas,
    lock: Option<Arc<Lock>>,
}

impl Criteria {
    pub(crate) fn new(schemas: Schemas, settings: Settings) -> Criteria {
        Criteria {
            schemas,
            settings,
            tool_schemas: ToolSchemas::default(),
            shared_schemas: SharedSchemas::default(),
            lock: None,
        }
    }

    /// The lock, if there is one: exactly what the server must offer.
    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.as_deref()
    }

    pub(crate) fn set_lock(&mut self, lock: Arc<Lock>) {
        self.lock = Some(lock);
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

    /// The tool schemas that sessions remember, shared between them.
    pub(crate) fn shared_schemas(&self) -> &SharedSchemas {
        &self.shared_schemas
    }
}
