use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_rules::{Identity, Limits, LineReader, ReadLine};
use serde_json::json;

use super::{
    context::{Ids, TraceContext},
    exporter::SpanQueue,
    span::Span,
};
use crate::{Observation, TapEvent, pairs::Pairs};

/// Maximum length of names chosen by peers.
const MAX_NAME: usize = 128;

/// Makes spans from requests and their answers.
pub(super) struct Spans {
    reader: LineReader,
    open: Pairs<Box<Span>>,
    ids: Ids,
    queue: SpanQueue,
}

impl Spans {
    pub(super) fn new(queue: SpanQueue) -> Spans {
        let mut limits = Limits::default();
        // Anything that was judged can be read again.
        limits.message_bytes = usize::MAX / 4;
        let reader = LineReader::new(&limits);
        Spans { reader, open: Pairs::default(), ids: Ids::default(), queue }
    }

    pub(super) fn take(&mut self, event: &TapEvent<'_>) {
        let Some(observation) = event.observation else { return };
        let is_of_interest = |message: &Identity| {
            matches!(message.kind, Some(MessageKind::Request | MessageKind::Response))
        };
        if !event.messages.iter().any(is_of_interest) {
            return;
        }
        let Spans { reader, open, ids, queue } = self;
        reader.read(event.line, |line| {
            let Some(root) = line.message() else { return };
            let nodes: Vec<Node<'_>> =
                if root.is_array() { root.elements().collect() } else { vec![root] };
            for (index, (node, message)) in nodes.iter().zip(event.messages).enumerate() {
                let envelope = Envelope::of(*node);
                let begin = || {
                    let mut span = Box::new(begin(line, &envelope, message, observation, ids));
                    note_findings(&mut span, event, index, nodes.len() > 1);
                    span
                };
                if let Some(mut span) = open.note(observation, message, begin) {
                    end(&mut span, &envelope, observation);
                    note_findings(&mut span, event, index, nodes.len() > 1);
                    queue.push(span);
                }
            }
        });
    }
}

fn begin(
    line: &ReadLine<'_>,
    envelope: &Envelope<'_>,
    message: &Identity,
    observation: &Observation,
    ids: &mut Ids,
) -> Span {
    let params = envelope.params;
    let meta = params.and_then(|params| params.get("_meta"));
    let stated = |name| meta.and_then(|meta| meta.get(name)).and_then(Node::as_str);
    let context = stated("traceparent")
        .and_then(|parent| TraceContext::read(&parent, stated("tracestate").as_deref()))
        .unwrap_or_else(|| ids.trace());
    let method = short(message.method.as_deref().unwrap_or("unknown"));
    let subject = match &*method {
        "tools/call" | "prompts/get" => params.and_then(|params| params.get("name")),
        _ => None,
    };
    let subject = subject.and_then(Node::as_str).map(|name| short(&name));
    let mut attributes = vec![
        ("mcp.method.name", json!(method)),
        ("mcp.protocol.version", json!(message.revision.as_str())),
        ("plumb.from", json!(observation.from().as_str())),
    ];
    if let Some(id) = &message.id {
        attributes.push(("jsonrpc.request.id", json!(short(id.to_string().trim_matches('"')))));
    }
    match (&*method, &subject) {
        ("tools/call", Some(name)) => attributes.push(("gen_ai.tool.name", json!(name))),
        ("prompts/get", Some(name)) => attributes.push(("gen_ai.prompt.name", json!(name))),
        _ => {}
    }
    let http = line.record().and_then(|record| record.http.as_deref());
    let session = http.and_then(|http| http.headers.get("mcp-session-id"));
    match (observation.session(), session) {
        (Some(name), _) => attributes.push(("mcp.session.id", json!(short(name)))),
        (None, Some(id)) => attributes.push(("mcp.session.id", json!(short(&id)))),
        (None, None) => {}
    }
    if let Some(upstream) = observation.upstream() {
        attributes.push(("plumb.upstream", json!(short(upstream))));
    }
    Span {
        id: ids.span(),
        context,
        method,
        subject,
        from: observation.from(),
        begin: observation.at(),
        end: observation.at(),
        attributes,
        events: Vec::new(),
        dropped_events: 0,
        error: None,
    }
}

fn end(span: &mut Span, envelope: &Envelope<'_>, observation: &Observation) {
    span.end = observation.at();
    let is_error = |result: Node<'_>| result.get("isError").and_then(Node::as_bool);
    if let Some(code) = envelope.error_code() {
        span.attributes.push(("rpc.response.status_code", json!(code.to_string())));
        span.error = Some(code.to_string());
    } else if envelope.error.is_some() {
        span.error = Some("invalid".to_owned());
    } else if envelope.result.and_then(is_error) == Some(true) {
        span.error = Some("tool_error".to_owned());
    }
    if let Some(error) = &span.error {
        span.attributes.push(("error.type", json!(error)));
    }
    if observation.is_by_proxy() {
        span.attributes.push(("plumb.answered_by", json!("proxy")));
    }
}

/// Adds the findings of the line that are about this message.
fn note_findings(span: &mut Span, event: &TapEvent<'_>, index: usize, is_batch: bool) {
    let Some(observation) = event.observation else { return };
    let own = event.findings.iter().filter(|finding| {
        finding.line == Some(event.number) && (!is_batch || finding.index == Some(index))
    });
    for finding in own {
        span.found(finding, observation.at());
    }
}

/// Truncates a name.
fn short(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}
