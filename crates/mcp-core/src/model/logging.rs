use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much a log message matters, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "the levels of syslog")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// A message for the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct LogMessage {
    pub level: LogLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    pub data: Value,
}

/// How far work is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Grows with every report.
    #[serde(serialize_with = "plain")]
    pub progress: f64,
    /// What it grows to, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "plain_option")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// So far.
    pub fn new(progress: f64) -> Progress {
        Progress { progress, total: None, message: None }
    }

    /// Of so much.
    #[must_use]
    pub fn total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// What is being done.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// Whole numbers are written without a fraction.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn plain<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with what it came from")]
    let integer = *value as i64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "exactly the integers")]
    if integer as f64 == *value {
        return serializer.serialize_i64(integer);
    }
    serializer.serialize_f64(*value)
}

#[expect(clippy::ref_option, reason = "serde wants it so")]
fn plain_option<S: serde::Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => plain(value, serializer),
        None => serializer.serialize_none(),
    }
}
