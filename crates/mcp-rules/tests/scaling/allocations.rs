//! A message without faults is judged without asking for memory.

use mcp_core::Revision;
use mcp_json::Tape;
use mcp_rules::{Alone, Engine, Findings, Settings};
use mcp_schema::{Schemas, ToolSchemas};

const REVISION: Revision = Revision::V2025_11_25;

/// Messages, and what they answer.
const MESSAGES: &[(&str, Option<&str>)] = &[
    (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
    (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Some("ping")),
    (r#"{"jsonrpc":"2.0","id":"a-2","error":{"code":-32601,"message":"no such method"}}"#, None),
    (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
    (
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":3,"total":10,"message":"half \"done\""}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"db","data":{"rows":[1,2.5,null,true]}}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"a","version":"1","icons":[{"src":"https://a.example/i.png","sizes":["48x48"]}]}}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"progressToken":"t-1","com.example/trace":"x"},"name":"search","arguments":{"query":"größer","limit":20,"kind":"file"}}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"line\nline"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a/b.txt","name":"b","annotations":{"lastModified":"2025-05-03T14:30:00Z","priority":0.5}},{"type":"resource","resource":{"uri":"file:///a/c.txt","text":"c"}}],"structuredContent":{"found":[1,2,3]},"isError":false}}"#,
        Some("tools/call"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"https://example.com:8080/a%20b#c"}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"file:///a","blob":"aGVsbG8="}]}}"#,
        Some("resources/read"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":5,"result":{"resources":[{"uri":"file:///a","name":"a"},{"uri":"file:///b","name":"b"}],"nextCursor":"n"}}"#,
        Some("resources/list"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":6,"result":{"resourceTemplates":[{"uriTemplate":"file:///{+path}{?q*}","name":"t"}]}}"#,
        Some("resources/templates/list"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":7,"result":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}"#,
        Some("prompts/get"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"message":"Who are you?","requestedSchema":{"type":"object","properties":{"userName":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":0}},"required":["userName"]}}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":100,"modelPreferences":{"hints":[{"name":"m"}],"costPriority":0.3}}}"#,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}}"#,
        None,
    ),
];

const ARGUMENTS_SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string","maxLength":100,"pattern":"^[a-zß-ü]"},"limit":{"type":"integer","minimum":1},"kind":{"enum":["file","folder"]}},"required":["query"],"additionalProperties":false}"#;

#[test]
fn sound_messages_are_judged_without_allocating() {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let limits = engine.settings().limits.json();
    let mut tape = Tape::new();
    let schema = {
        let document = tape.parse(ARGUMENTS_SCHEMA.as_bytes(), limits).expect("JSON");
        ToolSchemas::default().compile(document.root()).expect("a schema")
    };
    let mut judge = |(message, answers): &(&str, Option<&str>)| {
        let document = tape.parse(message.as_bytes(), limits).expect("JSON");
        let answers = answers.and_then(|name| mcp_schema::method(REVISION, name.as_bytes()));
        let about = Alone { revision: REVISION, from: None, answers };
        let mut findings = Findings::new(engine.settings());
        engine.judge_alone(document.root(), about, &mut findings);
        assert!(findings.as_slice().is_empty(), "{message}");
        let arguments = document.root().get("params").and_then(|params| params.get("arguments"));
        assert!(arguments.is_none_or(|arguments| schema.accepts(arguments)), "{message}");
    };
    // The first time, the tape grows and caches are filled.
    MESSAGES.iter().for_each(&mut judge);
    for message in MESSAGES {
        let asked = allocation_counter::measure(|| judge(message));
        assert_eq!(asked.count_total, 0, "{}", message.0);
    }
}
