use std::time::Duration;

use mcp_core::Json;
use serde::Deserialize;

use crate::ClientError;

/// Why a host call failed. As with [`ClientError`], the displayed text includes the causes, and
/// there is no [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HostError {
    /// No server has it. `unasked` lists the servers that could not be asked, and why.
    #[error("no server has the {what} `{name}`{}", aside(unasked))]
    Unknown { what: &'static str, name: String, unasked: Vec<(String, String)> },
    /// Several servers have it; `names` distinguish them.
    #[error("several servers have the {what} `{name}`; use {}", listed(names))]
    Ambiguous { what: &'static str, name: String, names: Vec<String> },
    /// The call to its server failed, or the server is gone.
    #[error("server `{server}`: {cause}")]
    Server { server: String, cause: Box<ClientError> },
    /// A list did not arrive in time.
    #[error("server `{server}` did not list its {what}s within {after:?}")]
    ListTimedOut { server: String, what: &'static str, after: Duration },
    #[error("server `{server}` lists more than {most} {what}s")]
    TooMany { server: String, what: &'static str, most: usize },
    /// The call was not made: its arguments break the schema that the server has listed.
    #[error("invalid arguments for tool `{tool}` of server `{server}`: {}", first(findings))]
    InvalidArguments { server: String, tool: String, findings: Vec<Json> },
    #[error("the arguments of `{name}` cannot be serialized as JSON: {cause}")]
    Unwritable { name: String, cause: serde_json::Error },
}

impl HostError {
    /// The server concerned, if there is one.
    pub fn server(&self) -> Option<&str> {
        match self {
            HostError::Server { server, .. }
            | HostError::ListTimedOut { server, .. }
            | HostError::TooMany { server, .. }
            | HostError::InvalidArguments { server, .. } => Some(server),
            _ => None,
        }
    }

    /// The code of the server's error, if it answered with one.
    pub fn code(&self) -> Option<i64> {
        match self {
            HostError::Server { cause, .. } => cause.code(),
            _ => None,
        }
    }
}

fn aside(unasked: &[(String, String)]) -> String {
    if unasked.is_empty() {
        return String::new();
    }
    let reasons: Vec<&str> = unasked.iter().map(|(_, reason)| reason.as_str()).collect();
    format!(" ({})", reasons.join("; "))
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// The first finding, with its position.
fn first(findings: &[Json]) -> String {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Finding {
        #[serde(default)]
        instance_path: String,
        message: String,
    }
    match findings.first().and_then(|finding| finding.read::<Finding>().ok()) {
        Some(finding) if finding.instance_path.is_empty() => finding.message,
        Some(finding) => format!("{} (at {})", finding.message, finding.instance_path),
        None => "they break the schema".to_owned(),
    }
}
