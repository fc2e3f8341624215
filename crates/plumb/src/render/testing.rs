//! Findings for the tests of renderers: one of every kind that is hard to show.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use mcp_core::{Revision, Side};
use mcp_json::Span;
use mcp_rules::{Finding, Related, SchemaFault, Severity};
use serde_json::json;

use crate::report::{Excerpt, Located, Renderer, Summary};

/// The output of a renderer for [`findings`].
pub(super) fn rendered<R: Renderer>(make: impl FnOnce(Shared) -> R) -> String {
    render(make, &findings())
}

/// The output of a renderer for a clean run.
pub(super) fn rendered_empty<R: Renderer>(make: impl FnOnce(Shared) -> R) -> String {
    render(make, &[])
}

fn render<R: Renderer>(make: impl FnOnce(Shared) -> R, findings: &[Located]) -> String {
    let out = Shared::default();
    let mut renderer = make(out.clone());
    let mut summary = Summary { messages: 1204, files: 3, bytes: 500_000, ..Summary::default() };
    for located in findings {
        summary.add(&located.finding);
        renderer.finding(located).unwrap();
    }
    renderer.finish(&summary).unwrap();
    out.text()
}

/// A buffer that can still be read after a renderer has taken it.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// What was written so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In the order of their files.
pub(super) fn findings() -> Vec<Located> {
    vec![
        wrong_type(),
        missing_member(),
        emoji(),
        hostile(),
        whole_message(),
        unexpected_end(),
        long_value(),
        late(),
        related(),
        unseen(),
    ]
}

fn wrong_type() -> Located {
    let message = br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7,"arguments":{"city":"Oslo"}}}"#;
    let mut finding = found("params-invalid", Severity::Error, "7 is not of type \"string\"");
    finding.pointer = Some("/params/name".into());
    finding.from = Some(Side::Client);
    finding.code = Some(-32602);
    finding.schema = Some(SchemaFault {
        instance_path: "/params/name".into(),
        schema_path: "#/$defs/CallToolRequestParams/properties/name/type".into(),
        keyword: "type".into(),
        params: json!({ "type": "string" }),
    });
    finding.help = Some("`name` must be a string, for example \"7\"".into());
    locate("trace.jsonl", 12, message, Some("7"), finding, "tools/call id 3")
}

fn missing_member() -> Located {
    let message = br#"{"jsonrpc":"2.0","id":"a-1","result":{"tools":[{"name":"echo","description":"says it again"}]}}"#;
    let mut finding = found("result-invalid", Severity::Error, "\"inputSchema\" is missing");
    finding.pointer = Some("/result/tools/0".into());
    finding.from = Some(Side::Server);
    finding.schema = Some(SchemaFault {
        instance_path: "/result/tools/0".into(),
        schema_path: "#/$defs/Tool/required".into(),
        keyword: "required".into(),
        params: json!({ "missingProperty": "inputSchema" }),
    });
    let span = r#"{"name":"echo","description":"says it again"}"#;
    locate("trace.jsonl", 13, message, Some(span), finding, "answer to tools/list id \"a-1\"")
}

fn emoji() -> Located {
    let message = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/日本語🎉\",\"params\":{\"note\":\"天気は晴れ☀️ 🎉🎉\"}}";
    let mut finding = found(
        "method-unknown",
        Severity::Warning,
        "no revision knows the method \"notifications/日本語🎉\"",
    );
    finding.from = Some(Side::Server);
    finding.index = Some(2);
    let span = "\"notifications/日本語🎉\"";
    locate("trace.jsonl", 140, message.as_bytes(), Some(span), finding, "notifications/日本語🎉")
}

fn hostile() -> Located {
    let message = b"{\"jsonrpc\":\"2.0\",\"id\":\x1b[31m1,\xff\"method\":\"ping\"}";
    let mut finding = found(
        "stdout-non-json",
        Severity::Error,
        "unexpected \x1b[31m::error,file=x%0A]]>&<b>\r\nat offset 22\u{202e}",
    );
    finding.from = Some(Side::Server);
    finding.revision = None;
    finding.span = Some(Span { start: 22, end: 27 });
    let mut located = locate("odd, name: 100%.jsonl", 1, message, None, finding, "");
    located.excerpt = Some(Excerpt::new(message, Some(Span { start: 22, end: 27 }), String::new()));
    located
}

fn whole_message() -> Located {
    let finding = found(
        "message-unclassifiable",
        Severity::Error,
        "this is neither a request, a notification nor a response: it has no `method`, no `result` and no `error`, so nobody can tell what it is about",
    );
    locate("odd, name: 100%.jsonl", 2, br#"{"jsonrpc":"2.0"}"#, None, finding, "")
}

fn unexpected_end() -> Located {
    let message = br#"{"jsonrpc":"2.0","id":1,"method":"#;
    let mut finding =
        found("stdin-non-json", Severity::Error, "the text ends where a value was expected");
    finding.from = Some(Side::Client);
    finding.code = Some(-32700);
    finding.span = Some(Span { start: message.len(), end: message.len() });
    let mut located = locate("odd, name: 100%.jsonl", 3, message, None, finding, "");
    located.excerpt = Some(Excerpt::new(message, located.finding.span, String::new()));
    located
}

fn long_value() -> Located {
    let text = "A".repeat(3000);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{{"uri":["{text}"]}}}}"#
    );
    let mut finding = found(
        "params-invalid",
        Severity::Error,
        "[\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA… is not of type \"string\"",
    );
    finding.pointer = Some("/params/uri".into());
    finding.from = Some(Side::Client);
    finding.schema = Some(SchemaFault {
        instance_path: "/params/uri".into(),
        schema_path: "#/$defs/ReadResourceRequestParams/properties/uri/type".into(),
        keyword: "type".into(),
        params: json!({ "type": "string" }),
    });
    let span = format!("[\"{text}\"]");
    locate(
        "odd, name: 100%.jsonl",
        100_204,
        message.as_bytes(),
        Some(&span),
        finding,
        "resources/read id 9",
    )
}

/// Noticed later, and not the fault of the message's sender.
fn late() -> Located {
    let message = br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow"}}"#;
    let mut finding = found("result-invalid", Severity::Warning, "the request was never answered");
    finding.from = Some(Side::Client);
    finding.at_fault = Some(Side::Server);
    locate("odd, name: 100%.jsonl", 7, message, None, finding, "tools/call, id 4")
}

/// Explained by another line, with a longer line number.
fn related() -> Located {
    let message = br#"{"jsonrpc":"2.0","id":4,"result":{}}"#;
    let mut finding = found("params-invalid", Severity::Error, "there are two answers to it");
    finding.from = Some(Side::Server);
    finding.related = Some(Related { line: 1207, reason: "the other answer was here" });
    finding.help = Some("answer once".into());
    let mut located = locate(
        "odd, name: 100%.jsonl",
        8,
        message,
        Some("4"),
        finding,
        "result of tools/call, id 4",
    );
    let other = br#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"It is not as if there were nothing to say about it."}]}}"#;
    located.related = Some(Excerpt::new(other, None, "result, id 4".to_owned()));
    located
}

/// From a pipe: neither its line nor the one that explains it is available.
fn unseen() -> Located {
    let mut finding = found("params-invalid", Severity::Error, "the id was used before");
    finding.from = Some(Side::Client);
    finding.method = Some("ping");
    finding.related = Some(Related { line: 3, reason: "the request was here" });
    Located { excerpt: None, ..locate("-", 9, b"", None, finding, "") }
}

fn found(rule: &str, severity: Severity, message: &str) -> Finding {
    let mut finding = Finding::new(mcp_rules::rule(rule).unwrap(), severity, message);
    finding.revision = Some(Revision::V2025_11_25);
    finding
}

fn locate(
    file: &str,
    line: u64,
    message: &[u8],
    marked: Option<&str>,
    mut finding: Finding,
    title: &str,
) -> Located {
    finding.line = Some(line);
    if let Some(marked) = marked {
        let text = std::str::from_utf8(message).unwrap();
        let start = text.find(marked).unwrap();
        finding.span = Some(Span { start, end: start + marked.len() });
    }
    let excerpt = Excerpt::new(message, finding.span, title.to_owned());
    finding.at_fault = finding.at_fault.or(finding.from);
    Located { file: file.into(), finding, excerpt: Some(excerpt), related: None }
}
