use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The severity of a log message, from lowest to highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "self-explanatory")]
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

/// A log message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct LogMessage {
    pub level: LogLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    pub data: Value,
}

/// A progress report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Increases with every report.
    #[serde(serialize_with = "plain")]
    pub progress: f64,
    /// The final value, if known.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "plain_option")]
    pub total: Option<f64>,
    /// What is being done now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// The progress so far.
    pub fn new(progress: f64) -> Progress {
        Progress { progress, total: None, message: None }
    }

    /// Sets the total.
    #[must_use]
    pub fn total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets the message.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// Serializes whole numbers without a fraction.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde requires")]
fn plain<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let integer = *value as i64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "exactly the integers")]
    if integer as f64 == *value {
        return serializer.serialize_i64(integer);
    }
    serializer.serialize_f64(*value)
}

#[expect(clippy::ref_option, reason = "the signature serde requires")]
fn plain_option<S: serde::Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => plain(value, serializer),
        None => serializer.serialize_none(),
    }
}
