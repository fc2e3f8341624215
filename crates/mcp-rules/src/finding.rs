use mcp_core::{Revision, Side};
use mcp_json::Span;
use serde::{Serialize, ser::SerializeMap as _};
use serde_json::Value;

use crate::{RuleMeta, Severity};

/// Something a peer got wrong, and where.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that was violated.
    pub rule: &'static RuleMeta,
    /// Its severity, under the user's settings.
    pub severity: Severity,
    /// The revision it was judged by; absent where no revision matters.
    pub revision: Option<Revision>,
    /// Who sent the message, if known.
    pub from: Option<Side>,
    /// Who is to blame. Usually the sender of the message, but a request that was never answered is
    /// not the requester's fault.
    pub at_fault: Option<Side>,
    /// Line number in its file, from 1; set by code that reads files.
    pub line: Option<u64>,
    /// Index in the batch, if the message is in one.
    pub index: Option<usize>,
    /// The method of the message, or of the request it answers, if a revision defines it.
    pub method: Option<&'static str>,
    /// Byte range inside the message.
    pub span: Option<Span>,
    /// JSON pointer to that place, from the root of the text that `span` refers to: for an entry of
    /// a batch it begins with the entry's index. Absent where there is no JSON to point into.
    pub pointer: Option<String>,
    /// The JSON-RPC error code a receiver replies with, if it replies.
    pub code: Option<i64>,
    /// The place in the payload, and the part of the schema that it violates.
    pub schema: Option<SchemaFault>,
    /// What is wrong with this message, in one sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Another message that explains this one, if observed.
    pub related: Option<Related>,
    /// Whether parsers may read the message differently, so that it must not pass a gate.
    pub(crate) ambiguous: bool,
}

/// Another line that helps to understand a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the reporting format is fixed")]
pub struct Related {
    /// Its number in the same file, from 1.
    pub line: u64,
    /// How it is related: "the request was here".
    pub reason: &'static str,
}

/// The schema violation behind a finding. The members have the same meaning as in `ajv`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the crate docs refer to ajv's")]
pub struct SchemaFault {
    /// Relative to the value that was validated: the message for a definition of the revision, the
    /// arguments or the structured content for a tool's own schema.
    pub instance_path: String,
    pub schema_path: String,
    pub keyword: String,
    pub params: Value,
}

impl Finding {
    /// Creates a finding with only rule, severity and message.
    pub fn new(rule: &'static RuleMeta, severity: Severity, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity,
            revision: None,
            from: None,
            at_fault: None,
            line: None,
            index: None,
            method: None,
            span: None,
            pointer: None,
            code: None,
            schema: None,
            message: message.into(),
            help: None,
            related: None,
            ambiguous: false,
        }
    }
}

/// The reporting format: members that do not apply are absent.
impl Serialize for Finding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rule", self.rule.name)?;
        map.serialize_entry("severity", self.severity.as_str())?;
        map.serialize_entry("layer", self.rule.layer.as_str())?;
        if let Some(revision) = self.revision {
            map.serialize_entry("revision", revision.as_str())?;
        }
        if let Some(side) = self.from {
            map.serialize_entry("from", side.as_str())?;
        }
        if let Some(side) = self.at_fault {
            map.serialize_entry("atFault", side.as_str())?;
        }
        if let Some(line) = self.line {
            map.serialize_entry("line", &line)?;
        }
        if let Some(index) = self.index {
            map.serialize_entry("index", &index)?;
        }
        if let Some(span) = self.span {
            map.serialize_entry("span", &[span.start, span.end])?;
        }
        if let Some(code) = self.code {
            map.serialize_entry("code", &code)?;
        }
        if let Some(pointer) = &self.pointer {
            map.serialize_entry("pointer", pointer)?;
        }
        if let Some(fault) = &self.schema {
            map.serialize_entry("instancePath", &fault.instance_path)?;
            map.serialize_entry("schemaPath", &fault.schema_path)?;
            map.serialize_entry("keyword", &fault.keyword)?;
            map.serialize_entry("params", &fault.params)?;
        }
        map.serialize_entry("message", &self.message)?;
        if let Some(help) = &self.help {
            map.serialize_entry("help", help)?;
        }
        if !self.rule.clause.is_empty() {
            map.serialize_entry("spec", self.rule.clause)?;
        }
        if let Some(related) = &self.related {
            map.serialize_entry("related", related)?;
        }
        map.end()
    }
}
