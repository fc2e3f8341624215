//! An overview of a conversation: the two sides, the tools, and the size of their definitions and
//! results.

use std::collections::BTreeMap;

use mcp_core::{Era, Meta, Side};
use mcp_json::Node;
use mcp_rules::{Limits, LineReader};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    Log,
    frame::{Frame, Kind, Row},
    text::excerpt,
};

/// The content of the Session view.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    /// The revision that the last message was checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    client: Party,
    server: Party,
    tools: Vec<ToolView>,
    /// Requests without an answer, the newest last.
    pending: Vec<Row>,
    /// Subscriptions of the client: resources, and lists in a stateless revision.
    subscriptions: Vec<String>,
    /// Answers and how long they took, the newest last.
    latency: Vec<Answered>,
    /// The last messages.
    recent: Vec<Row>,
    /// How many HTTP requests there are.
    exchanges: u64,
}

/// How a side introduced itself.
#[derive(Debug, Default, Serialize)]
struct Party {
    /// The frame that contains the introduction.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Box<RawValue>>,
}

/// A tool as last listed, and the size of its results.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolView {
    name: String,
    /// The frame that lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    /// The definition as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<Box<RawValue>>,
    bytes: usize,
    tokens: usize,
    calls: u64,
    result_bytes: u64,
    result_tokens: u64,
}

/// An answer.
#[derive(Debug, Serialize)]
struct Answered {
    number: u64,
    method: String,
    took: i64,
    failed: bool,
}

/// Maximum number of tools, pending requests and subscriptions to show.
const MOST_TOOLS: usize = 1000;
const MOST_PENDING: usize = 200;
const MOST_ANSWERS: usize = 500;
const RECENT: usize = 24;
/// Maximum length of a definition to show, in bytes.
const LONGEST: usize = 64 << 10;
/// Estimated bytes per token of a model.
const BYTES_PER_TOKEN: usize = 4;

impl SessionView {
    /// Builds the overview of a log. Reads the frames that describe the sides and their tools
    /// again.
    pub(crate) fn of(log: &Log) -> SessionView {
        let mut reader = LineReader::new(&Limits::default());
        let mut view = SessionView::default();
        let mut tools = BTreeMap::new();
        log.visit(|frame| view.take(frame, &mut tools, &mut reader));
        view.pending.retain(|row| row.pair.is_none());
        keep_last(&mut view.pending, MOST_PENDING);
        keep_last(&mut view.latency, MOST_ANSWERS);
        view.tools = tools.into_values().collect();
        view
    }

    fn take(
        &mut self,
        frame: &Frame,
        tools: &mut BTreeMap<String, ToolView>,
        reader: &mut LineReader,
    ) {
        let row = &frame.row;
        if let Some(revision) = frame.revision {
            self.revision = Some(revision.as_str());
            self.era = Some(match revision.era() {
                Era::Legacy => "begins with a handshake",
                Era::Modern => "stateless",
            });
        }
        self.exchanges += u64::from(row.http.is_some());
        let is_answer = matches!(row.kind, Kind::Result | Kind::Error);
        let is_said = matches!(
            row.kind,
            Kind::Request | Kind::Notification | Kind::Malformed | Kind::Batch | Kind::Text
        );
        if is_answer || is_said {
            self.recent.push(row.clone());
            keep_last(&mut self.recent, RECENT);
        }
        if row.kind == Kind::Request && row.pair.is_none() {
            self.pending.push(row.clone());
            // Keep no more than twice what is shown.
            if self.pending.len() > 2 * MOST_PENDING {
                keep_last(&mut self.pending, MOST_PENDING);
            }
        }
        if let (true, Some(took)) = (is_answer, row.took) {
            let method = row.method.clone().unwrap_or_default();
            let (number, failed) = (row.number, row.kind == Kind::Error);
            self.latency.push(Answered { number, method, took, failed });
            if self.latency.len() > 2 * MOST_ANSWERS {
                keep_last(&mut self.latency, MOST_ANSWERS);
            }
        }
        match (row.method.as_deref(), row.kind) {
            (Some("initialize" | "server/discover"), Kind::Request | Kind::Result) => {
                reader.read(&frame.line, |line| {
                    if let Some(message) = line.message() {
                        self.introduce(row, message);
                    }
                });
            }
            (Some("tools/list"), Kind::Result) => {
                reader.read(&frame.line, |line| {
                    let listed = line.message().and_then(|it| it.get("result")?.get("tools"));
                    for tool in listed.into_iter().flat_map(Node::elements) {
                        list(row.number, tool, tools);
                    }
                });
            }
            (Some("tools/call"), Kind::Result | Kind::Error) => {
                let name = row.target.clone().unwrap_or_default();
                if let Some(tool) = entry(tools, name) {
                    tool.calls += 1;
                    tool.result_bytes += row.bytes;
                    tool.result_tokens = tool.result_bytes.div_ceil(BYTES_PER_TOKEN as u64);
                }
            }
            (Some("resources/subscribe"), Kind::Request) => {
                let uri = row.target.clone().unwrap_or_default();
                if !self.subscriptions.contains(&uri) && self.subscriptions.len() < MOST_PENDING {
                    self.subscriptions.push(uri);
                }
            }
            // Open for as long as it is not answered.
            (Some("subscriptions/listen"), Kind::Request) if row.pair.is_none() => {
                let wanted = reader.read(&frame.line, |line| {
                    let wanted = line.message()?.get("params")?.get("notifications")?;
                    Some(excerpt(wanted.raw(), 200))
                });
                let words = format!("#{}: {}", row.number, wanted.unwrap_or_default());
                if self.subscriptions.len() < MOST_PENDING {
                    self.subscriptions.push(words);
                }
            }
            (Some("resources/unsubscribe"), Kind::Request)
            | (Some("resources/subscribe"), Kind::Error) => {
                self.subscriptions.retain(|uri| Some(uri) != row.target.as_ref());
            }
            _ => {}
        }
    }

    /// Takes the introduction of a side from a message.
    fn introduce(&mut self, row: &Row, message: Node<'_>) {
        let (party, stated, names) = match row.from {
            Some(Side::Client) => {
                let names = ["clientInfo", Meta::CLIENT_INFO, Meta::CLIENT_CAPABILITIES];
                (&mut self.client, message.get("params"), names)
            }
            Some(Side::Server) => {
                let names = ["serverInfo", Meta::SERVER_INFO, "capabilities"];
                (&mut self.server, message.get("result"), names)
            }
            None => return,
        };
        let Some(stated) = stated else { return };
        // Stateless revisions say it in `_meta`.
        let meta = |name| stated.get("_meta").and_then(|meta| meta.get(name));
        let [info, info_in_meta, capabilities_in_meta] = names;
        let capabilities = stated.get("capabilities");
        party.frame = Some(row.number);
        party.info = stated.get(info).or_else(|| meta(info_in_meta)).and_then(raw);
        party.capabilities = capabilities.or_else(|| meta(capabilities_in_meta)).and_then(raw);
    }
}

fn list(number: u64, tool: Node<'_>, tools: &mut BTreeMap<String, ToolView>) {
    let Some(name) = tool.get("name").and_then(Node::str_bytes) else { return };
    let Some(entry) = entry(tools, excerpt(&name, 120)) else { return };
    entry.frame = Some(number);
    entry.bytes = tool.raw().len();
    entry.tokens = entry.bytes.div_ceil(BYTES_PER_TOKEN);
    entry.definition = raw(tool);
}

fn entry(tools: &mut BTreeMap<String, ToolView>, name: String) -> Option<&mut ToolView> {
    if !tools.contains_key(&name) && tools.len() >= MOST_TOOLS {
        return None;
    }
    Some(tools.entry(name.clone()).or_insert_with(|| ToolView {
        name,
        frame: None,
        definition: None,
        bytes: 0,
        tokens: 0,
        calls: 0,
        result_bytes: 0,
        result_tokens: 0,
    }))
}

/// The text of a value, if it is short enough to be shown.
fn raw(node: Node<'_>) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(node.raw()).ok().filter(|text| text.len() <= LONGEST)?;
    RawValue::from_string(text.to_owned()).ok()
}

fn keep_last<T>(list: &mut Vec<T>, most: usize) {
    list.drain(..list.len().saturating_sub(most));
}
