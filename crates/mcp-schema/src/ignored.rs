//! The parts of a schema document that an override cannot change.
//!
//! The set of methods and the JSON-RPC envelope are not read from a schema: sessions, transports
//! and rules depend on them. A document that disagrees is still used for everything else, and the
//! user is told.

use std::fmt;

use jsonschema::Draft;
use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use serde_json::Value;

use crate::registry::method;
use crate::runtime::RuntimeSchema;
use crate::survey::{Names, Survey};

/// A part of a schema document that has no effect. Displays as a sentence about the document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// The definition belongs to a method that the revision does not have.
    Method {
        /// Its name in the document, such as `GrepRequest`.
        definition: String,
        /// The method, such as `tools/grep`.
        method: String,
        /// The revision that the document is for.
        revision: Revision,
    },
    /// The definition is part of the envelope and differs from the one in force.
    Envelope {
        /// Its name in the document, such as `RequestId`.
        definition: String,
        /// A JSON text for which its verdict differs.
        example: String,
    },
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ignored::Method { definition, method, revision } => write!(
                f,
                "`{definition}` has no effect: {revision} has no method `{method}`, and a schema cannot add one"
            ),
            Ignored::Envelope { definition, example } => write!(
                f,
                "`{definition}` does not change the envelope of messages: it judges {example} differently, and counts only inside payloads"
            ),
        }
    }
}

/// Everything among the definitions under `container` that has no effect.
pub(crate) fn ignored(
    names: &Names<'_>,
    document: &Value,
    container: &str,
    draft: Draft,
    revision: Revision,
) -> Vec<Ignored> {
    let mut found = Vec::new();
    let Some(definitions) = document[container].as_object() else {
        return found;
    };
    let mut seen = Vec::new();
    for (name, definition) in definitions {
        if let Some(unknown) = method_of(definition)
            && method(revision, unknown.as_bytes()).is_none()
            && !seen.contains(&unknown)
            && found.len() < MAX_IGNORED
        {
            seen.push(unknown);
            found.push(Ignored::Method {
                definition: name.clone(),
                method: unknown.to_owned(),
                revision,
            });
        }
    }
    for (name, probes) in envelope(revision) {
        if !definitions.contains_key(name) {
            continue;
        }
        let pointer = format!("/{container}/{name}");
        // A document that does not compile is not used anyway.
        let schema = Survey::of(names, &pointer)
            .ok()
            .and_then(|survey| RuntimeSchema::compile(document, &pointer, draft, survey).ok());
        let Some(schema) = schema else { continue };
        if let Some(example) = probes.iter().find(|probe| judged(&schema, probe.text) != probe.fits)
        {
            let example = example.text.to_owned();
            found.push(Ignored::Envelope { definition: name.to_owned(), example });
        }
    }
    found
}

/// Nobody reads more than this many unknown methods.
const MAX_IGNORED: usize = 100;

/// The method whose messages `definition` describes.
fn method_of(definition: &Value) -> Option<&str> {
    let name = &definition["properties"]["method"];
    match (&name["const"], name["enum"].as_array().map(Vec::as_slice)) {
        (Value::String(name), _) | (_, Some([Value::String(name)])) => Some(name),
        _ => None,
    }
}

fn judged(schema: &RuntimeSchema, text: &str) -> bool {
    let mut tape = Tape::new();
    tape.parse(text.as_bytes(), Limits::default())
        .is_ok_and(|document| schema.accepts(document.root()))
}

/// A JSON text, and whether it fits the definition in force.
#[derive(Clone, Copy)]
struct Probe {
    text: &'static str,
    fits: bool,
}

const fn fits(text: &'static str) -> Probe {
    Probe { text, fits: true }
}

const fn fails(text: &'static str) -> Probe {
    Probe { text, fits: false }
}

const REQUEST_ID: &[Probe] = &[
    fits(r#""a""#),
    fits(r#""3f2504e0-4f89-11d3-9a0c-0305e82c3301""#),
    fits("0"),
    fits("-7"),
    fits("9007199254740991"),
    fails("null"),
    fails("1.5"),
    fails("true"),
    fails("[]"),
    fails("{}"),
];

const REQUEST: &[Probe] = &[
    fits(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#),
    fits(r#"{"jsonrpc":"2.0","id":"a","method":"any/name","params":{"any":[1]}}"#),
    fits(r#"{"jsonrpc":"2.0","id":1,"method":"x","more":1}"#),
    fails(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#),
    fails(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#),
    fails(r#"{"jsonrpc":"2.0","method":"x"}"#),
    fails(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#),
    fails(r#"{"id":1,"method":"x"}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"method":7}"#),
    fails(r#"{"jsonrpc":"2.0","id":1}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":"p"}"#),
];

const NOTIFICATION: &[Probe] = &[
    fits(r#"{"jsonrpc":"2.0","method":"x"}"#),
    fits(r#"{"jsonrpc":"2.0","method":"any/name","params":{"any":[1]}}"#),
    fits(r#"{"jsonrpc":"2.0","method":"x","more":1}"#),
    fails(r#"{"jsonrpc":"1.0","method":"x"}"#),
    fails(r#"{"method":"x"}"#),
    fails(r#"{"jsonrpc":"2.0"}"#),
    fails(r#"{"jsonrpc":"2.0","method":"x","params":[]}"#),
];

/// The member `resultType` is required of every result in 2026-07-28.
const RESULT: &[Probe] = &[
    fits(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#),
    fits(r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","any":[1]}}"#),
    fails(r#"{"jsonrpc":"2.0","id":null,"result":{"resultType":"complete"}}"#),
    fails(r#"{"jsonrpc":"2.0","result":{"resultType":"complete"}}"#),
    fails(r#"{"jsonrpc":"1.0","id":1,"result":{"resultType":"complete"}}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#),
    fails(r#"{"jsonrpc":"2.0","id":1}"#),
];

const ERROR: &[Probe] = &[
    fits(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}"#),
    fits(r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x","data":[1]}}"#),
    fails(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#),
    fails(r#"{"jsonrpc":"1.0","id":1,"error":{"code":1,"message":"x"}}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#),
    fails(r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#),
    fails(r#"{"jsonrpc":"2.0","id":1}"#),
];

const ERROR_WITHOUT_ID: &str = r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#;

const MESSAGE: &[Probe] = &[
    fits(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#),
    fits(r#"{"jsonrpc":"2.0","method":"x"}"#),
    fits(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#),
    fits(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#),
    fails(r#"{"jsonrpc":"2.0"}"#),
    fails("{}"),
    fails("7"),
];

const BATCH: &str = r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#;

/// The definitions of the envelope by their official names, with texts to try on them.
fn envelope(revision: Revision) -> [(&'static str, Vec<Probe>); 8] {
    let with = |probes: &[Probe], text, fits| {
        let mut probes = probes.to_vec();
        probes.push(Probe { text, fits });
        probes
    };
    let may_lack_id = revision >= Revision::V2025_11_25;
    let has_batches = revision == Revision::V2025_03_26;
    [
        ("RequestId", REQUEST_ID.to_vec()),
        ("JSONRPCRequest", REQUEST.to_vec()),
        ("JSONRPCNotification", NOTIFICATION.to_vec()),
        ("JSONRPCResponse", RESULT.to_vec()),
        ("JSONRPCResultResponse", RESULT.to_vec()),
        ("JSONRPCError", with(ERROR, ERROR_WITHOUT_ID, may_lack_id)),
        ("JSONRPCErrorResponse", with(ERROR, ERROR_WITHOUT_ID, may_lack_id)),
        ("JSONRPCMessage", with(MESSAGE, BATCH, has_batches)),
    ]
}
