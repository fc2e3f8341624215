//! Schemas from files and URLs.

use std::fs;
use std::path::Path;

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_schema::{
    LoadedOverride, Origin, Override, Schemas, Source, SourceError, SourceLimits, Violation,
    definition,
};
use serde_json::{Value, json};

/// A document in the official layout of the older revisions: params inline, draft-07.
fn inline_document() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "InitializeResult": {"type": "object"},
            "CallToolRequest": {
                "type": "object",
                "required": ["method", "params"],
                "properties": {
                    "method": {"const": "tools/call", "type": "string"},
                    "params": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "pattern": "^[a-z]+$"},
                            "arguments": {"$ref": "#/definitions/Arguments"}
                        }
                    }
                }
            },
            "Arguments": {"type": "object", "additionalProperties": {}},
            "EmptyResult": {"$ref": "#/definitions/Result"},
            "Result": {"type": "object"}
        }
    })
}

fn write(folder: &Path, name: &str, text: &str) -> Override {
    let path = folder.join(name);
    fs::write(&path, text).expect("a temporary file");
    Override { revision: None, source: Source::File(path) }
}

fn load(name: &str, text: &str) -> Result<LoadedOverride, SourceError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), name, text).load(&SourceLimits::default())
}

fn violations(schemas: &Schemas, revision: Revision, name: &str, input: &str) -> Vec<Violation> {
    let definition = definition(revision, name).expect("a definition");
    let mut tape = Tape::new();
    let document = tape.parse(input.as_bytes(), Limits::default()).expect("valid JSON");
    let found = schemas.violations(definition, document.root());
    assert_eq!(found.is_empty(), schemas.accepts(definition, document.root()), "{input}");
    found
}

#[test]
fn an_override_replaces_its_revision_and_no_other() {
    let loaded = load("2025-03-26.json", &inline_document().to_string()).unwrap();
    assert_eq!(loaded.revision(), Revision::V2025_03_26);
    let schemas = Schemas::embedded().with_override(loaded);
    assert!(matches!(schemas.origin(Revision::V2025_03_26), Origin::Override(Source::File(_))));
    assert_eq!(schemas.origin(Revision::V2025_06_18).to_string(), "embedded");

    let input = r#"{"name":"UPPER"}"#;
    let found = violations(&schemas, Revision::V2025_03_26, "CallToolRequestParams", input);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].schema_path,
        "#/definitions/CallToolRequest/properties/params/properties/name/pattern"
    );
    let found = violations(&schemas, Revision::V2025_06_18, "CallToolRequestParams", input);
    assert_eq!(found, []);
}

#[test]
fn missing_definitions_stay_embedded_and_are_listed() {
    let loaded = load("2025-03-26.json", &inline_document().to_string()).unwrap();
    let missing: Vec<&str> = loaded.missing().map(|definition| definition.name).collect();
    assert!(missing.contains(&"CallToolResult"), "{missing:?}");
    assert!(!missing.contains(&"CallToolRequestParams"), "{missing:?}");
    let schemas = Schemas::embedded().with_override(loaded);
    let found = violations(&schemas, Revision::V2025_03_26, "CallToolResult", r#"{"content":1}"#);
    assert_eq!(found[0].schema_path, "#/$defs/CallToolResult/properties/content/type");
}

#[test]
fn schemas_beyond_the_fast_path_work_too() {
    let mut document = inline_document();
    document["definitions"]["Arguments"]["not"] = json!({"required": ["secret"]});
    let loaded = load("2025-03-26.json", &document.to_string()).unwrap();
    let schemas = Schemas::embedded().with_override(loaded);
    let revision = Revision::V2025_03_26;
    let input = r#"{"name":"echo","arguments":{"secret":1}}"#;
    let found = violations(&schemas, revision, "CallToolRequestParams", input);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].instance_path, "/arguments");
    assert_eq!(found[0].schema_path, "#/definitions/Arguments/not");
    assert_eq!(&input[found[0].span.start..found[0].span.end], r#"{"secret":1}"#);
    let input = r#"{"name":"echo","arguments":{"open":1}}"#;
    assert_eq!(violations(&schemas, revision, "CallToolRequestParams", input), []);
}

#[test]
fn the_revision_comes_from_the_argument_the_name_or_the_content() {
    let text = inline_document().to_string();
    let folder = tempfile::tempdir().unwrap();
    let mut given = write(folder.path(), "schema.json", &text);
    let revision = |given: &Override| given.load(&SourceLimits::default()).unwrap().revision();
    assert_eq!(revision(&given), Revision::V2024_11_05, "by its definitions");
    given.revision = Some(Revision::V2025_06_18);
    assert_eq!(revision(&given), Revision::V2025_06_18, "because it was said");
    fs::create_dir(folder.path().join("2025-11-25")).unwrap();
    let given = write(&folder.path().join("2025-11-25"), "schema.json", &text);
    assert_eq!(revision(&given), Revision::V2025_11_25, "by the folder");

    let unclear = load("x.json", r#"{"$defs": {"Thing": {}}}"#).unwrap_err().to_string();
    assert!(unclear.contains("specify it as REVISION="), "{unclear}");
}

#[track_caller]
fn check_error(name: &str, text: &str, expected: &str) {
    let error = load(name, text).expect_err(text).to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn unusable_documents_say_why() {
    check_error("a.json", "{", "is not JSON");
    check_error("a.json", "[]", "neither `$defs` nor `definitions`");
    check_error("a.json", r#"{"$schema":"urn:mine","$defs":{}}"#, "unknown `$schema`");
    check_error(
        "2025-11-25.json",
        r#"{"$defs":{"Thing":{}}}"#,
        "none of the definitions of 2025-11-25",
    );
    let with = |definition: Value| json!({"$defs": {"EmptyResult": definition}}).to_string();
    check_error("2025-11-25.json", &with(json!({"type": "objekt"})), "does not compile");
    check_error(
        "2025-11-25.json",
        &with(json!({"$ref": "https://example.com/x.json"})),
        "`https://example.com/x.json` is in another document, and references are never fetched",
    );
    check_error("2025-11-25.json", &with(json!({"$ref": "#/$defs/Nothing"})), "does not resolve");
    check_error("2025-11-25.json", &with(json!({"$ref": "#/$defs/EmptyResult"})), "endlessly");
}

#[test]
fn unreadable_and_oversized_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let absent = Override { revision: None, source: Source::File(folder.path().join("none.json")) };
    assert!(matches!(absent.load(&SourceLimits::default()), Err(SourceError::Read { .. })));
    let large = write(folder.path(), "large.json", &" ".repeat(2000));
    let limits = SourceLimits { max_bytes: 1000, ..SourceLimits::default() };
    assert!(matches!(large.load(&limits), Err(SourceError::TooLarge { limit: 1000, .. })));
}

/// The warnings about what a document cannot change.
fn ignored(loaded: &LoadedOverride) -> Vec<String> {
    loaded.ignored().map(ToString::to_string).collect()
}

#[test]
fn methods_that_a_document_adds_are_named_once() {
    let mut document = inline_document();
    for name in ["GrepRequest", "GrepRequestAgain"] {
        document["definitions"][name] = json!({
            "type": "object",
            "properties": {"method": {"const": "tools/grep", "type": "string"}},
        });
    }
    document["definitions"]["OldNotification"] =
        json!({"properties": {"method": {"enum": ["notifications/old"]}}});
    let loaded = load("2025-03-26.json", &document.to_string()).unwrap();
    assert_eq!(
        ignored(&loaded),
        [
            "`GrepRequest` has no effect: 2025-03-26 has no method `tools/grep`, and a schema cannot add one",
            "`OldNotification` has no effect: 2025-03-26 has no method `notifications/old`, and a schema cannot add one",
        ]
    );
    let loaded = load("2025-03-26.json", &inline_document().to_string()).unwrap();
    assert_eq!(loaded.ignored().next(), None);
}

#[test]
fn changes_of_the_envelope_are_named() {
    let request = |id: Value| {
        json!({
            "type": "object",
            "required": ["jsonrpc", "id", "method"],
            "properties": {
                "jsonrpc": {"const": "2.0"},
                "id": id,
                "method": {"type": "string"},
                "params": {"type": "object"},
            },
        })
    };
    let with = |name: &str, definition: Value| {
        let mut document = inline_document();
        document["definitions"][name] = definition;
        ignored(&load("2025-03-26.json", &document.to_string()).unwrap())
    };
    let id = json!({"type": ["integer", "string"]});
    assert!(with("RequestId", id.clone()).is_empty());
    assert!(
        with("RequestId", json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})).is_empty()
    );
    assert!(with("JSONRPCRequest", request(id)).is_empty());
    assert_eq!(
        with("RequestId", json!({"type": ["integer", "string", "null"]})),
        [
            "`RequestId` does not change the envelope of messages: it judges null differently, and counts only inside payloads"
        ]
    );
    for (name, definition) in [
        ("RequestId", json!({"type": "string"})),
        ("RequestId", json!({"type": ["string", "integer"], "maxLength": 8})),
        ("JSONRPCRequest", request(json!({"type": ["integer", "string", "null"]}))),
        ("JSONRPCRequest", json!({"$ref": "#/definitions/Result"})),
        ("JSONRPCError", json!({"type": "object", "required": ["error"]})),
        ("JSONRPCMessage", request(json!({"type": "integer"}))),
    ] {
        let found = with(name, definition.clone());
        assert_eq!(found.len(), 1, "{name} {definition}: {found:?}");
    }
}

/// The official files are not part of this repository; if they are present next to it, they must
/// load without warnings.
#[test]
fn official_documents_change_nothing_that_they_cannot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/schema");
    for revision in Revision::ALL {
        let path = folder.join(revision.as_str()).join("schema.json");
        if !path.exists() {
            continue;
        }
        let given = Override { revision: None, source: Source::File(path) };
        let loaded = given.load(&SourceLimits::default()).unwrap();
        assert_eq!(loaded.revision(), revision);
        assert_eq!(ignored(&loaded), Vec::<String>::new(), "{revision}");
    }
}

/// Whether `schemas` reject a name in capital letters.
fn refuses_capitals(schemas: &Schemas) -> bool {
    let revision = Revision::V2025_03_26;
    !violations(schemas, revision, "CallToolRequestParams", r#"{"name":"UPPER"}"#).is_empty()
}

#[test]
fn an_override_is_reloaded_and_a_broken_one_changes_nothing() {
    let limits = SourceLimits::default();
    let folder = tempfile::tempdir().unwrap();
    let strict = inline_document().to_string();
    let given = write(folder.path(), "2025-03-26.json", &strict);
    let (first, errors) = Schemas::load(std::slice::from_ref(&given), &limits);
    assert!(errors.is_empty() && refuses_capitals(&first));

    write(folder.path(), "2025-03-26.json", &strict.replace("^[a-z]+$", "^[A-Z]+$"));
    let second = first.reload(&limits).unwrap();
    assert!(!refuses_capitals(&second));
    assert!(refuses_capitals(&first), "who has the old one keeps it");
    let running = second.clone();

    write(folder.path(), "2025-03-26.json", "{");
    let error = second.reload(&limits).unwrap_err();
    assert!(matches!(error, SourceError::NotJson { .. }), "{error:?}");
    assert!(!refuses_capitals(&second), "nothing has changed");
    fs::remove_file(folder.path().join("2025-03-26.json")).unwrap();
    assert!(matches!(second.reload(&limits), Err(SourceError::Read { .. })));

    write(folder.path(), "2025-03-26.json", &strict);
    let third = second.reload(&limits).unwrap();
    assert!(refuses_capitals(&third) && !refuses_capitals(&running));
    assert_eq!(third.origin(Revision::V2025_03_26), Origin::Override(given.source));
}

#[test]
fn the_last_override_of_a_revision_counts_after_a_reload_as_well() {
    let limits = SourceLimits::default();
    let folder = tempfile::tempdir().unwrap();
    let strict = inline_document().to_string();
    let broken = write(folder.path(), "first-2025-03-26.json", "{");
    let good = write(folder.path(), "last-2025-03-26.json", &strict);
    let (first, errors) = Schemas::load(&[broken, good.clone()], &limits);
    assert_eq!(errors.len(), 1);
    let other = strict.replace("^[a-z]+$", "^[A-Z]+$");
    write(folder.path(), "first-2025-03-26.json", &other);
    let second = first.reload(&limits).unwrap();
    assert!(refuses_capitals(&first) && refuses_capitals(&second));
    assert_eq!(second.origin(Revision::V2025_03_26), Origin::Override(good.source));
}

#[test]
fn an_override_that_was_broken_at_first_is_tried_again() {
    let limits = SourceLimits::default();
    let folder = tempfile::tempdir().unwrap();
    let given = write(folder.path(), "2025-03-26.json", "{");
    let (first, errors) = Schemas::load(&[given], &limits);
    assert_eq!(errors.len(), 1);
    assert_eq!(first.origin(Revision::V2025_03_26), Origin::Embedded);
    assert!(first.reload(&limits).is_err());
    write(folder.path(), "2025-03-26.json", &inline_document().to_string());
    let second = first.reload(&limits).unwrap();
    assert!(refuses_capitals(&second) && !refuses_capitals(&first));
    assert!(second.reload(&limits).is_ok(), "it is an override like any other now");
}

#[test]
fn a_file_url_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my schema.json");
    fs::write(&path, inline_document().to_string()).unwrap();
    let url = format!("2025-03-26=file://{}", path.display()).replace(' ', "%20");
    let given: Override = url.parse().unwrap();
    assert_eq!(given.source, Source::File(path));
    let loaded = given.load(&SourceLimits::default()).unwrap();
    assert_eq!(loaded.revision(), Revision::V2025_03_26);
}

#[cfg(not(feature = "http"))]
#[test]
fn without_the_feature_urls_are_refused() {
    let given: Override = "http://127.0.0.1:1/2025-11-25/schema.json".parse().unwrap();
    assert!(matches!(given.load(&SourceLimits::default()), Err(SourceError::NoHttp { .. })));
}

#[cfg(feature = "http")]
mod http {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A server on the loopback interface that answers `count` requests by their path.
    struct Server {
        address: String,
        requests: Arc<AtomicUsize>,
    }

    impl Server {
        fn start(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Server {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let address = format!("http://{}", listener.local_addr().expect("bound"));
            let requests = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&requests);
            // The thread ends with the test process.
            thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    counter.fetch_add(1, Ordering::SeqCst);
                    serve(stream, &answer);
                }
            });
            Server { address, requests }
        }

        fn load(&self, path: &str, limits: SourceLimits) -> Result<LoadedOverride, SourceError> {
            let given: Override = format!("{}{path}", self.address).parse()?;
            given.load(&limits)
        }
    }

    fn serve(mut stream: TcpStream, answer: &impl Fn(&str, &mut TcpStream)) {
        let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
        let Some(Ok(request)) = lines.next() else {
            return;
        };
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        answer(&path, &mut stream);
    }

    fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
        let length = body.len();
        // The client may have hung up, which is what some tests are about.
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
    }

    #[test]
    fn a_url_is_downloaded_and_used() {
        let server = Server::start(|path, stream| {
            assert_eq!(path, "/schema/2025-03-26/schema.json");
            respond(stream, "200 OK", "", &inline_document().to_string());
        });
        let loaded =
            server.load("/schema/2025-03-26/schema.json", SourceLimits::default()).unwrap();
        assert_eq!(loaded.revision(), Revision::V2025_03_26);
        assert!(loaded.source().to_string().starts_with("http://127.0.0.1"));
    }

    #[test]
    fn three_redirects_are_followed_and_four_are_not() {
        let server = Server::start(|path, stream| {
            let left: u32 = path.trim_start_matches("/2025-03-26/").parse().expect("a number");
            if left == 0 {
                respond(stream, "200 OK", "", &inline_document().to_string());
            } else {
                let location = format!("Location: /2025-03-26/{}\r\n", left - 1);
                respond(stream, "302 Found", &location, "");
            }
        });
        assert!(server.load("/2025-03-26/3", SourceLimits::default()).is_ok());
        let error = server.load("/2025-03-26/4", SourceLimits::default()).unwrap_err();
        assert!(matches!(error, SourceError::Redirects { limit: 3, .. }), "{error:?}");
    }

    #[test]
    fn large_answers_are_cut_off() {
        let server = Server::start(|path, stream| {
            if path == "/declared" {
                respond(stream, "200 OK", "", &" ".repeat(5_000));
                return;
            }
            // Without a length: until the connection closes, or the client gives up.
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
            while stream.write_all(&[b' '; 1000]).is_ok() {}
        });
        let limits = SourceLimits { max_bytes: 3_000, ..SourceLimits::default() };
        for path in ["/declared", "/endless"] {
            let error = server.load(path, limits).unwrap_err();
            assert!(matches!(error, SourceError::TooLarge { limit: 3_000, .. }), "{error:?}");
        }
    }

    #[test]
    fn slow_answers_time_out() {
        let server = Server::start(|_, stream| {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            // A byte now and then keeps the connection alive, but must not extend the timeout.
            while stream.write_all(b" ").and_then(|()| stream.flush()).is_ok() {
                thread::park_timeout(Duration::from_millis(20));
            }
        });
        let limits =
            SourceLimits { timeout: Duration::from_millis(200), ..SourceLimits::default() };
        let error = server.load("/2025-03-26/slow", limits).unwrap_err();
        assert!(matches!(error, SourceError::Timeout { .. }), "{error:?}");
    }

    #[test]
    fn failures_are_told_apart() {
        let server = Server::start(|_, stream| respond(stream, "404 Not Found", "", "no"));
        let error = server.load("/2025-03-26/none", SourceLimits::default()).unwrap_err();
        assert!(matches!(error, SourceError::Status { status: 404, .. }), "{error:?}");

        let closed: Override = "http://127.0.0.1:9/2025-03-26".parse().unwrap();
        let error = closed.load(&SourceLimits::default()).unwrap_err();
        assert!(matches!(error, SourceError::Download { .. }), "{error:?}");
    }

    #[test]
    fn references_in_a_document_are_not_fetched() {
        let bait = Server::start(|_, stream| respond(stream, "200 OK", "", "{}"));
        let document = json!({"$defs": {
            "EmptyResult": {"$ref": format!("{}/bait.json", bait.address)}}});
        let error = load("2025-11-25.json", &document.to_string()).unwrap_err();
        assert!(matches!(error, SourceError::DoesNotCompile { .. }), "{error:?}");
        assert_eq!(bait.requests.load(Ordering::SeqCst), 0);
    }
}
