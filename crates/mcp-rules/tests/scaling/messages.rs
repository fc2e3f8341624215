//! One message of any size, through the gate: every rule that looks at it, and the explanation of
//! what is wrong with it.

use std::sync::Arc;

use mcp_core::{Revision, Side};
use mcp_json::{Limits, Parsed};
use mcp_jsonrpc::Gate as _;
use mcp_rules::{Carrier, Engine, SessionGate, Settings, Strictness};
use mcp_schema::Schemas;

use crate::law;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{"tools":{}},"roots":{}}}"#;

pub(crate) fn list(count: usize, entry: impl Fn(usize) -> String) -> String {
    (0..count).map(entry).collect::<Vec<_>>().join(",")
}

pub(crate) fn parsed(text: &str) -> Parsed {
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    Parsed::parse(text.to_owned().into(), limits).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn engine() -> Arc<Engine> {
    let mut settings = Settings::default();
    settings.limits.batch = 1_000_000;
    settings.limits.message_bytes = 1 << 30;
    Arc::new(Engine::new(Schemas::embedded(), settings))
}

/// What both sides say until they are free to work.
pub(crate) fn opening(revision: Revision) -> Vec<(Side, String)> {
    if revision == Revision::V2026_07_28 {
        return Vec::new();
    }
    let capabilities = r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    let client = r#"{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"roots":{},"tasks":{"list":{}}}"#;
    vec![
        (
            Side::Client,
            format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{client},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
            ),
        ),
        (
            Side::Server,
            format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            ),
        ),
        (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()),
    ]
}

/// Judges a conversation from its beginning, and everything in it.
pub(crate) fn judge(engine: &Arc<Engine>, strictness: Strictness, lines: &[(Side, Parsed)]) {
    let mut gate = SessionGate::new(Arc::clone(engine), strictness, Carrier::Stdio);
    for (from, message) in lines {
        gate.judge(*from, message);
    }
}

/// Holds a request with these params, and its answer, to the law.
#[track_caller]
fn exchange(
    what: &str,
    revision: Revision,
    size: usize,
    asker: Side,
    method: &str,
    params: impl Fn(usize) -> String,
    result: impl Fn(usize) -> String,
) {
    let meta = if revision == Revision::V2026_07_28 { META } else { r#""_meta":{}"# };
    let make = |n: usize| -> Vec<(Side, Parsed)> {
        let mut lines = opening(revision);
        let params = params(n);
        let comma = if params.is_empty() { "" } else { "," };
        lines.push((
            asker,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
            ),
        ));
        lines.push((
            asker.other(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{}}}}}"#, result(n)),
        ));
        lines.into_iter().map(|(from, text)| (from, parsed(&text))).collect()
    };
    for strictness in [Strictness::Observe, Strictness::Enforce] {
        let engine = engine();
        law(&format!("{what} ({strictness:?})"), size, make, |lines| {
            judge(&engine, strictness, lines);
        });
    }
}

const NEWEST: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn nothing(_: usize) -> String {
    String::new()
}

/// The members that every list of 2026-07-28 has.
fn listed(revision: Revision, rest: &str) -> String {
    match revision {
        Revision::V2026_07_28 => {
            format!(r#""resultType":"complete","ttlMs":0,"cacheScope":"private",{rest}"#)
        }
        _ => rest.to_owned(),
    }
}

#[test]
fn lists() {
    for revision in NEWEST {
        for (what, method, member, entry) in [
            (
                "tools",
                "tools/list",
                "tools",
                r#"{"name":"NAME","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}},"outputSchema":{"type":"object"},"icons":[{"src":"https://a.example/NAME.png"}]}"#,
            ),
            ("one tool", "tools/list", "tools", r#"{"name":"a","inputSchema":{"type":"object"}}"#),
            ("broken tools", "tools/list", "tools", r#"{"name":7,"inputSchema":{"type":"NAME"}}"#),
            (
                "prompts",
                "prompts/list",
                "prompts",
                r#"{"name":"NAME","arguments":[{"name":"a","required":true},{"name":"a"}]}"#,
            ),
            ("resources", "resources/list", "resources", r#"{"uri":"file:///NAME","name":"NAME"}"#),
            (
                "templates",
                "resources/templates/list",
                "resourceTemplates",
                r#"{"uriTemplate":"file:///{+a}/NAME","name":"NAME"}"#,
            ),
        ] {
            exchange(what, revision, 300, Side::Client, method, nothing, |n| {
                let entries = list(n, |i| entry.replace("NAME", &format!("name{i}")));
                listed(revision, &format!(r#""{member}":[{entries}]"#))
            });
        }
        let prompt = |n| {
            let arguments = list(n, |i| format!(r#"{{"name":"a{i}","required":true}}"#));
            listed(revision, &format!(r#""prompts":[{{"name":"p","arguments":[{arguments}]}}]"#))
        };
        exchange("arguments", revision, 1000, Side::Client, "prompts/list", nothing, prompt);
    }
}

#[test]
fn contents() {
    for revision in NEWEST {
        for (what, block) in [
            ("text", r#"{"type":"text","text":"a"}"#),
            ("unknown blocks", r#"{"type":"nonsense"}"#),
            ("broken blocks", r#"{"type":"image","data":"!","mimeType":7}"#),
            ("numbers", "7"),
            (
                "links",
                r#"{"type":"resource_link","uri":"no uri","name":"a","icons":[{"src":"x:"}]}"#,
            ),
            ("keys", r#"{"type":"text","text":"a","_meta":{"no key":1,"no key":2}}"#),
        ] {
            exchange(
                what,
                revision,
                500,
                Side::Client,
                "tools/call",
                |n| format!(r#""name":"t","arguments":{{{}}}"#, list(n, |i| format!("\"a{i}\":1"))),
                |n| listed(revision, &format!(r#""content":[{}]"#, list(n, |_| block.into()))),
            );
        }
        let read = |n| {
            let contents = list(n, |i| format!(r#"{{"uri":"file:///{i}","blob":"!!"}}"#));
            listed(revision, &format!(r#""contents":[{contents}]"#))
        };
        let uri = |_| r#""uri":"file:///a""#.to_owned();
        exchange("contents", revision, 500, Side::Client, "resources/read", uri, read);
        let messages = |n| {
            let message = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;
            listed(revision, &format!(r#""messages":[{}]"#, list(n, |_| message.into())))
        };
        let prompt = |n| {
            let arguments = list(n, |i| format!("\"a{i}\":\"b\""));
            format!(r#""name":"p","arguments":{{{arguments}}}"#)
        };
        exchange("prompt", revision, 500, Side::Client, "prompts/get", prompt, messages);
        let values = |n| {
            let values = list(n, |i| format!("\"{i}\""));
            listed(revision, &format!(r#""completion":{{"values":[{values}]}}"#))
        };
        let argument = |n| {
            let given = list(n, |i| format!("\"a{i}\":\"b\""));
            format!(
                r#""ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"a","value":""}},"context":{{"arguments":{{{given}}}}}"#
            )
        };
        exchange("values", revision, 500, Side::Client, "completion/complete", argument, values);
    }
}

#[test]
fn keys_and_names() {
    for revision in NEWEST {
        let keys =
            |n| format!(r#""name":"t","a":{{{}}}"#, list(n, |i| format!("\"bad key {i}\":1")));
        let empty = |_| listed(revision, r#""content":[]"#);
        exchange("keys", revision, 500, Side::Client, "tools/call", keys, empty);
        let long = |n: usize| format!(r#""name":"{}""#, "x".repeat(n));
        exchange("long name", revision, 100_000, Side::Client, "tools/call", long, empty);
        // Everything below a long name is wrong.
        let below = |n: usize| {
            let content = list(n / 100, |_| r#"{"type":7}"#.into());
            listed(revision, &format!(r#""{}":{{"a":1}},"content":[{content}]"#, "x".repeat(n)))
        };
        let name = |_| r#""name":"t""#.to_owned();
        exchange("below", revision, 100_000, Side::Client, "tools/call", name, below);
        let method = "x".repeat(10);
        exchange("unknown method", revision, 500, Side::Client, &method, keys, empty);
        let twice = |n| format!(r#""name":"t","b":{{{}}}"#, list(n, |_| "\"a\":1".into()));
        exchange("duplicates", revision, 500, Side::Client, "tools/call", twice, empty);
        let broken = |n| format!(r#""name":"t","b":[{}]"#, list(n, |_| "\"\\ud800\"".into()));
        exchange("surrogates", revision, 500, Side::Client, "tools/call", broken, empty);
    }
}

#[test]
fn questions_to_the_client() {
    let revision = Revision::V2025_11_25;
    let uses =
        |n| list(n, |i| format!(r#"{{"type":"tool_use","id":"u{i}","name":"t","input":{{}}}}"#));
    let results = |n: usize| {
        list(n, |i| {
            let id = n - i - 1;
            format!(
                r#"{{"type":"tool_result","toolUseId":"u{id}","content":[],"structuredContent":{{}}}}"#
            )
        })
    };
    let dialogue = |n| {
        format!(
            r#""maxTokens":1,"messages":[{{"role":"assistant","content":[{}]}},{{"role":"user","content":[{}]}}],"tools":[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{{"type":"object"}}}}]"#,
            uses(n),
            results(n)
        )
    };
    let said = |n| {
        format!(r#""model":"m","role":"assistant","stopReason":"toolUse","content":[{}]"#, uses(n))
    };
    exchange("dialogue", revision, 300, Side::Server, "sampling/createMessage", dialogue, said);
    let messages = |n| {
        let message =
            r#"{"role":"user","content":{"type":"tool_use","id":"a","name":"b","input":{}}}"#;
        format!(r#""maxTokens":1,"messages":[{}]"#, list(n, |_| message.into()))
    };
    exchange("messages", revision, 300, Side::Server, "sampling/createMessage", messages, said);
    let tools = |n| {
        let tools = list(n, |i| format!(r#"{{"name":"t{i}","inputSchema":{{"type":"object"}}}}"#));
        format!(r#""maxTokens":1,"messages":[],"tools":[{tools}]"#)
    };
    exchange("tools", revision, 300, Side::Server, "sampling/createMessage", tools, said);
    let form = |n| {
        let fields = list(n, |i| format!(r#""f{i}":{{"type":"string","enum":["a","b"]}}"#));
        let required = list(n, |i| format!("\"f{i}\""));
        format!(
            r#""message":"m","requestedSchema":{{"type":"object","properties":{{{fields}}},"required":[{required}]}}"#
        )
    };
    let filled = |n| {
        format!(r#""action":"accept","content":{{{}}}"#, list(n, |i| format!("\"f{i}\":\"c\"")))
    };
    exchange("form", revision, 300, Side::Server, "elicitation/create", form, filled);
    let options = |n| {
        let options = list(n, |i| format!("\"o{i}\""));
        format!(
            r#""message":"m","requestedSchema":{{"type":"object","properties":{{"a":{{"type":"array","items":{{"type":"string","enum":[{options}]}}}}}}}}"#
        )
    };
    let chosen = |n: usize| {
        let chosen = list(n.min(100), |_| "\"p\"".into());
        format!(r#""action":"accept","content":{{"a":[{chosen}]}}"#)
    };
    exchange("options", revision, 2000, Side::Server, "elicitation/create", options, chosen);
    let roots = |n| format!(r#""roots":[{}]"#, list(n, |i| format!(r#"{{"uri":"http://{i}"}}"#)));
    exchange("roots", revision, 500, Side::Server, "roots/list", nothing, roots);
}

#[test]
fn tasks() {
    let revision = Revision::V2025_11_25;
    let tasks = |n| {
        let task = |i| {
            format!(
                r#"{{"taskId":"t{i}","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}"#
            )
        };
        format!(r#""tasks":[{}]"#, list(n, task))
    };
    exchange("tasks", revision, 300, Side::Client, "tasks/list", nothing, tasks);
}

#[test]
fn inputs_and_subscriptions() {
    let revision = Revision::V2026_07_28;
    let questions = |n| {
        let question = |i| {
            format!(
                r#""q{i}":{{"method":"elicitation/create","params":{{"mode":"form","message":"m","requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#
            )
        };
        format!(r#""resultType":"input_required","inputRequests":{{{}}}"#, list(n, question))
    };
    let answers = |n| {
        let answer = |i| format!(r#""q{i}":{{"action":"accept","content":{{}}}}"#);
        format!(r#""name":"t","inputResponses":{{{}}}"#, list(n, answer))
    };
    exchange("inputs", revision, 300, Side::Client, "tools/call", answers, questions);
    let filter = |n| {
        let uris = list(n, |i| format!("\"file:///{i}\""));
        format!(r#""notifications":{{"toolsListChanged":true,"resourceSubscriptions":[{uris}]}}"#)
    };
    let end = |_| r#""resultType":"complete""#.to_owned();
    exchange("listen", revision, 500, Side::Client, "subscriptions/listen", filter, end);
}

#[test]
fn capabilities() {
    let engine = engine();
    let make = |n| {
        let mut lines = opening(Revision::V2025_11_25);
        let names = list(n, |i| format!(r#""example.com/e{i}":{{}}"#));
        for (_, line) in &mut lines {
            *line = line.replace(
                r#""capabilities":{"#,
                &format!(
                    r#""capabilities":{{"experimental":{{{names}}},"extensions":{{{names}}},"#
                ),
            );
        }
        lines.iter().map(|(from, text)| (*from, parsed(text))).collect::<Vec<_>>()
    };
    law("capabilities", 500, make, |lines| judge(&engine, Strictness::Enforce, lines));
}

#[test]
fn batches() {
    for (what, entry) in [
        ("pings", r#"{"jsonrpc":"2.0","id":NUMBER,"method":"ping"}"#),
        ("no messages", "0"),
        (
            "broken calls",
            r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":7}}"#,
        ),
        ("answers to nothing", r#"{"jsonrpc":"2.0","id":NUMBER,"result":{}}"#),
        ("openings", r#"{"jsonrpc":"2.0","id":NUMBER,"method":"initialize"}"#),
        ("two ids", r#"{"jsonrpc":"2.0","id":NUMBER,"id":NUMBER,"method":"ping"}"#),
        ("surrogates", r#"{"jsonrpc":"2.0","id":"NUMBER\ud800","method":"ping"}"#),
        ("notes", r#"{"jsonrpc":"2.0","method":"notifications/nonsense"}"#),
    ] {
        for strictness in [Strictness::Observe, Strictness::Enforce] {
            let engine = engine();
            let make = |n: usize| {
                let mut lines = opening(Revision::V2025_03_26);
                let entries = list(n, |i| entry.replace("NUMBER", &(i + 1).to_string()));
                lines.push((Side::Client, format!("[{entries}]")));
                lines.into_iter().map(|(from, text)| (from, parsed(&text))).collect::<Vec<_>>()
            };
            law(what, 500, make, |lines| judge(&engine, strictness, lines));
        }
    }
}
