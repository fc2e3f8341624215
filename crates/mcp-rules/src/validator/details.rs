use mcp_json::SyntaxError;
use mcp_schema::{UriFault, Violation};

use super::FieldType;
use crate::Finding;

/// The facts behind a [`ValidationError`](super::ValidationError), by kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Details {
    /// Where the text stops being valid JSON, and why.
    Syntax(SyntaxError),
    /// Everything found in a message.
    Findings(Vec<Finding>),
    /// Every violation of a payload's schema.
    Violations(Vec<Violation>),
    /// An unknown name, and what may have been meant.
    Name {
        /// What kind of name: `method`, `notification` or `type`.
        kind: &'static str,
        /// The given name.
        given: String,
        /// The nearest known name.
        did_you_mean: Option<&'static str>,
    },
    /// An error code.
    Code(i64),
    /// A field of the wrong type.
    Field {
        /// Its name.
        name: String,
        /// The allowed types.
        expected: Vec<FieldType>,
        /// Its actual type.
        actual: FieldType,
    },
    /// Missing fields.
    Missing(Vec<String>),
    /// What is wrong with a URI.
    Uri(UriFault),
    /// Facts from the caller, by key.
    Pairs(Vec<(String, String)>),
    /// Nothing beyond the message.
    None,
}

/// One fact, as `key=value`.
pub(super) struct Fact {
    pub(super) key: String,
    pub(super) value: String,
    /// Whether the value may contain data sent by a peer.
    pub(super) shows_payload: bool,
}

impl Fact {
    fn plain(key: &str, value: impl Into<String>) -> Fact {
        Fact { key: key.to_owned(), value: value.into(), shows_payload: false }
    }

    fn payload(key: &str, value: impl Into<String>) -> Fact {
        Fact { key: key.to_owned(), value: value.into(), shows_payload: true }
    }
}

impl Details {
    /// The facts, one by one.
    pub(super) fn facts(&self) -> Vec<Fact> {
        match self {
            Details::Syntax(error) => vec![Fact::payload("message", error.to_string())],
            Details::Findings(findings) => findings.iter().flat_map(of_finding).collect(),
            Details::Violations(violations) => violations.iter().flat_map(of_violation).collect(),
            Details::Name { kind, given, did_you_mean } => {
                let near = did_you_mean.map(|near| Fact::plain("did_you_mean", near));
                [Fact::payload(kind, given)].into_iter().chain(near).collect()
            }
            Details::Code(code) => vec![Fact::plain("code", code.to_string())],
            Details::Field { name, expected, actual } => {
                let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
                vec![
                    Fact::plain("field", name),
                    Fact::plain("expected", expected.join(" or ")),
                    Fact::plain("actual", actual.to_string()),
                ]
            }
            Details::Missing(names) => {
                names.iter().map(|name| Fact::plain("missing", name)).collect()
            }
            Details::Uri(fault) => vec![Fact::payload("uri", fault.to_string())],
            Details::Pairs(pairs) => {
                pairs.iter().map(|(key, value)| Fact::payload(key, value)).collect()
            }
            Details::None => Vec::new(),
        }
    }
}

fn of_finding(finding: &Finding) -> Vec<Fact> {
    let mut facts = vec![Fact::plain("rule", finding.rule.name)];
    if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
        facts.push(Fact::plain("at", pointer));
    }
    if let Some(fault) = &finding.schema {
        facts.push(Fact::plain("schema", &fault.schema_path));
        facts.push(Fact::plain("keyword", &fault.keyword));
    }
    facts.push(Fact::payload("message", &finding.message));
    facts
}

fn of_violation(violation: &Violation) -> Vec<Fact> {
    let place = Some(&violation.instance_path).filter(|path| !path.is_empty());
    let facts = [
        place.map(|path| Fact::plain("at", path)),
        Some(Fact::plain("schema", &violation.schema_path)),
        Some(Fact::plain("keyword", &violation.keyword)),
        Some(Fact::payload("message", &violation.message)),
    ];
    facts.into_iter().flatten().collect()
}
