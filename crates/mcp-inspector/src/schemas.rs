//! The schemas that a message is checked against: those of its tool, and that of the revision.

use mcp_core::Revision;
use mcp_json::Node;
use mcp_rules::{Limits, LineReader};
use mcp_schema::Document;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Frame, Kind, Log};

/// A schema, and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct SchemaView {
    /// What it is about.
    title: String,
    /// The frame that contains it; `None` if it is from the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    schema: Value,
}

/// The schemas for a frame; `None` if it is gone.
pub(crate) fn schemas(log: &Log, number: u64) -> Option<Vec<SchemaView>> {
    let frame = log.frame(number, Frame::clone)?;
    let mut found = Vec::new();
    if let Some(method) = frame.row.method.as_deref() {
        found.extend(of_tool(log, &frame, method));
        found.extend(frame.revision.and_then(|revision| of_revision(&frame, revision, method)));
    }
    Some(found)
}

/// The input or output schema of a call's tool, as last listed.
fn of_tool(log: &Log, frame: &Frame, method: &str) -> Option<SchemaView> {
    let member = match (method, frame.row.kind) {
        ("tools/call", Kind::Request) => "inputSchema",
        ("tools/call", Kind::Result) => "outputSchema",
        _ => return None,
    };
    let name = frame.row.target.as_deref()?;
    let mut listings = Vec::new();
    log.visit(|other| {
        let is_listing = other.row.kind == Kind::Result
            && other.row.method.as_deref() == Some("tools/list")
            && other.row.session == frame.row.session;
        if is_listing && other.row.number < frame.row.number {
            listings.push(other.row.number);
        }
    });
    let mut reader = LineReader::new(&Limits::default());
    listings.into_iter().rev().find_map(|number| {
        let line = log.frame(number, |frame| frame.line.clone())?;
        let schema = reader.read(&line, |line| stated(line.message()?, name, member))?;
        let title = format!("{member} of {name}");
        Some(SchemaView { title, frame: Some(number), schema })
    })
}

/// A member of the definition of a tool, in an answer that lists it.
fn stated(message: Node<'_>, name: &str, member: &str) -> Option<Value> {
    let tools = message.get("result")?.get("tools")?;
    let is_meant = |tool: &Node<'_>| tool.get("name").is_some_and(|it| it.str_eq(name));
    let schema = tools.elements().find(is_meant)?.get(member)?;
    serde_json::from_slice(schema.raw()).ok()
}

/// The schema of the revision for the params or the result of a method.
fn of_revision(frame: &Frame, revision: Revision, method: &str) -> Option<SchemaView> {
    let method = mcp_schema::method(revision, method.as_bytes())?;
    let definition = match frame.row.kind {
        Kind::Request | Kind::Notification => method.params?,
        Kind::Result => method.result?,
        _ => return None,
    };
    let definitions = Document::of(revision).closure(&[definition.name])?;
    let title = format!("{} of {revision}", definition.name);
    let reference = format!("#/$defs/{}", definition.name);
    let schema = json!({ "$ref": reference, "$defs": definitions });
    Some(SchemaView { title, frame: None, schema })
}
