use mcp_core::{Revision, Side};
use mcp_json::Span;
use serde::{Serialize, ser::SerializeMap as _};
use serde_json::Value;

use crate::{RuleMeta, Severity};

/// Something a peer got wrong, and where.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that was broken.
    pub rule: &'static RuleMeta,
    /// How bad it is, after the user's settings.
    pub severity: Severity,
    /// The revision it was judged by; absent where no revision matters.
    pub revision: Option<Revision>,
    /// Who sent the message, if that is known.
    pub from: Option<Side>,
    /// Who has to change something. Usually whoever sent the message, but a request that was never
    /// answered is not the asker's mistake.
    pub at_fault: Option<Side>,
    /// Number of the line in its file, from 1; set by whoever reads files.
    pub line: Option<u64>,
    /// Position in the batch, if the message is one.
    pub index: Option<usize>,
    /// The method of the message, or of the request it answers, if a revision knows it.
    pub method: Option<&'static str>,
    /// Byte range inside the message.
    pub span: Option<Span>,
    /// JSON pointer of that place, from the root of the text that `span` counts in: for an entry of
    /// a batch it begins with the entry's index. Absent where there is no JSON to point into.
    pub pointer: Option<String>,
    /// The JSON-RPC error code a receiver answers with, if it answers.
    pub code: Option<i64>,
    /// Where in a payload it broke which schema.
    pub schema: Option<SchemaFault>,
    /// What is wrong with this message, in one sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Another message that explains this one, if it was seen.
    pub related: Option<Related>,
}

/// Another line that helps to understand a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the reporting format is fixed")]
pub struct Related {
    /// Its number in the same file, from 1.
    pub line: u64,
    /// What it has to do with it: "the request was here".
    pub reason: &'static str,
}

/// The part of a finding that validators call an error object; the members mean what they mean
/// for `ajv`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the crate docs refer to ajv's")]
pub struct SchemaFault {
    /// From the value that the schema judges: the message for a definition of the revision, the
    /// arguments or the structured content for a tool's own schema.
    pub instance_path: String,
    pub schema_path: String,
    pub keyword: String,
    pub params: Value,
}

impl Finding {
    /// A finding that so far says only which rule was broken and how.
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
