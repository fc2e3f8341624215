//! The methods and definitions of a revision, as lists.

use std::fmt::Write as _;

use mcp_core::Revision;
use mcp_schema::{Capability, Declarer, Definition, Method, MethodKind, Sender};
use serde_json::{Map, Value, json};

use super::reference;
use crate::style::Palette;

/// Everything a revision has; without a width, one name per line.
pub(super) fn listing(revision: Revision, palette: &Palette, width: Option<usize>) -> String {
    let Palette { bold, dim, .. } = palette;
    let mut out = String::new();
    for (kind, title) in
        [(MethodKind::Request, "Requests"), (MethodKind::Notification, "Notifications")]
    {
        let methods: Vec<&Method> =
            (mcp_schema::methods(revision).iter()).filter(|method| method.kind == kind).collect();
        let _ = writeln!(out, "{bold}{title}{bold:#} {dim}({revision}){dim:#}");
        table(&methods, palette, width.unwrap_or(usize::MAX), &mut out);
        out.push('\n');
    }
    let _ = writeln!(out, "{bold}Definitions{bold:#} {dim}({revision}){dim:#}");
    let names: Vec<&str> =
        (mcp_schema::definitions(revision).iter()).map(|definition| definition.name).collect();
    columns(&names, width.unwrap_or(0), &mut out);
    out
}

/// The same as JSON.
pub(super) fn json(revision: Revision) -> Value {
    let methods = mcp_schema::methods(revision).iter();
    let definitions = mcp_schema::definitions(revision).iter();
    json!({
        "revision": revision.as_str(),
        "methods": methods.map(|method| Value::Object(row(method))).collect::<Vec<_>>(),
        "definitions": definitions.map(|definition| definition.name).collect::<Vec<_>>(),
    })
}

/// One line per method, or two where one is too long.
fn table(methods: &[&Method], palette: &Palette, width: usize, out: &mut String) {
    let Palette { accent, dim, .. } = palette;
    let longest = |measure: fn(&Method) -> usize| {
        methods.iter().map(|method| measure(method)).max().unwrap_or(0)
    };
    let names = longest(|method| method.name.len());
    let needs = longest(|method| capability(method).len());
    let payloads = longest(|method| payload(method).chars().count());
    let one_line = 2 + names + 2 + 6 + 2 + needs + 2 + payloads <= width;
    for method in methods {
        let name = method.name;
        let sender = sender(method.sender);
        let capability = capability(method);
        let payload = payload(method);
        let mut line =
            format!("  {accent}{name:names$}{accent:#}  {sender:6}  {capability:needs$}");
        if one_line {
            let _ = write!(line, "  {dim}{payload}{dim:#}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
        if !one_line && !payload.is_empty() {
            let _ = writeln!(out, "      {dim}{payload}{dim:#}");
        }
    }
}

/// The facts about a method, in sentences.
pub(super) fn facts(method: &Method) -> String {
    let mut out = String::new();
    let kind = match method.kind {
        MethodKind::Request => "a request",
        MethodKind::Notification => "a notification",
    };
    let from = match method.sender {
        Sender::Client => "from client to server",
        Sender::Server => "from server to client",
        Sender::Both => "from either side",
    };
    let _ = writeln!(out, "  {kind} {from}");
    if method.input_request_only {
        let _ = writeln!(out, "  only inside `inputRequests` of a result, not as a message");
    }
    if let Some(Capability { declared_by, path }) = method.capability {
        let who = match declared_by {
            Declarer::Client => "the client",
            Declarer::Server => "the server",
            Declarer::Receiver => "the receiver",
            Declarer::Sender => "the sender",
        };
        let _ = writeln!(out, "  {who} must have declared the capability `{}`", path.join("."));
    }
    if method.params.is_some() && !method.params_required {
        let _ = writeln!(out, "  `params` may be left out");
    }
    if method.cacheable {
        let _ = writeln!(out, "  a complete result carries cache hints");
    }
    out
}

/// The row as JSON; members that do not apply are absent.
pub(super) fn row(method: &Method) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("method".into(), method.name.into());
    let kind = match method.kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
    };
    row.insert("kind".into(), kind.into());
    row.insert("sender".into(), sender(method.sender).into());
    if let Some(Capability { declared_by, path }) = method.capability {
        let capability = json!({ "declaredBy": declarer(declared_by), "path": path.join(".") });
        row.insert("capability".into(), capability);
    }
    let mut refer = |name: &str, definition: Option<&Definition>| {
        if let Some(definition) = definition {
            row.insert(name.into(), json!({ "$ref": reference(definition) }));
        }
    };
    refer("params", method.params);
    refer("result", method.result);
    refer("taskResult", method.task_result);
    refer("inputRequiredResult", method.input_required);
    row.insert("paramsRequired".into(), method.params_required.into());
    if method.input_request_only {
        row.insert("inputRequestOnly".into(), true.into());
    }
    row
}

fn sender(sender: Sender) -> &'static str {
    match sender {
        Sender::Client => "client",
        Sender::Server => "server",
        Sender::Both => "both",
    }
}

fn declarer(declarer: Declarer) -> &'static str {
    match declarer {
        Declarer::Client => "client",
        Declarer::Server => "server",
        Declarer::Receiver => "receiver",
        Declarer::Sender => "sender",
    }
}

/// `server: resources.subscribe`.
fn capability(method: &Method) -> String {
    method.capability.map_or_else(String::new, |capability| {
        format!("{}: {}", declarer(capability.declared_by), capability.path.join("."))
    })
}

/// `CallToolRequestParams → CallToolResult`.
fn payload(method: &Method) -> String {
    match (method.params, method.result) {
        (Some(params), Some(result)) => format!("{} → {}", params.name, result.name),
        (Some(params), None) => params.name.to_owned(),
        (None, Some(result)) => format!("→ {}", result.name),
        (None, None) => String::new(),
    }
}

/// `names` side by side, read downwards.
fn columns(names: &[&str], width: usize, out: &mut String) {
    let cell = names.iter().map(|name| name.len()).max().unwrap_or(0) + 2;
    let across = (width.saturating_sub(2) / cell).max(1);
    let rows = names.len().div_ceil(across);
    for row in 0..rows {
        let mut line = String::from("  ");
        for name in names.iter().skip(row).step_by(rows) {
            let _ = write!(line, "{name:cell$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_a_revision() {
        insta::assert_snapshot!(listing(Revision::V2025_11_25, &Palette::plain(), Some(80)));
    }

    #[test]
    fn a_pipe_gets_a_name_per_line() {
        let text = listing(Revision::V2025_11_25, &Palette::plain(), None);
        for definition in mcp_schema::definitions(Revision::V2025_11_25) {
            assert!(text.lines().any(|line| line.trim() == definition.name));
        }
    }

    #[test]
    fn columns_read_downwards() {
        let mut out = String::new();
        columns(&["a", "b", "c", "d", "e"], 9, &mut out);
        assert_eq!(out, "  a  d\n  b  e\n  c\n");
    }
}
