//! The revisions a server supports, and the consequences for GET and DELETE.

use mcp_core::{Era, Revision};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::LEGACY_METHOD;
use crate::{
    conversation::Notes,
    findings::Fault,
    http::{Exchange, Observation},
};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Support {
    /// Whether the server listed only versions without a handshake, and where.
    modern_only: bool,
    listed: Option<u64>,
}

impl Support {
    /// Records what a message of the server says about versions.
    pub(super) fn record(&mut self, event: &Observation<'_>, exchange: &Exchange) {
        if exchange.posted.is_empty() {
            return;
        }
        event.each_message(|message| {
            let envelope = &message.envelope;
            let asked = message.id.as_ref().and_then(|id| exchange.asked(id));
            let asked = asked.map(|asked| &*asked.name);
            let versions = match (asked, envelope.result, envelope.error) {
                (Some("server/discover"), Some(result), _) => result.get("supportedVersions"),
                (_, None, Some(error)) if envelope.error_code() == Some(-32022) => {
                    error.get("data").and_then(|data| data.get("supported"))
                }
                _ => None,
            };
            if let Some(versions) = versions {
                self.modern_only = !versions.is_empty() && versions.elements().all(is_modern);
                self.listed = event.at.line();
            }
        });
    }

    /// Judges the answer to a GET or DELETE of the endpoint.
    pub(super) fn judge(&self, status: u16, exchange: &Exchange, notes: &mut Notes) {
        let removed = exchange.is_get() || exchange.is_delete();
        if !removed || !self.modern_only || is_excused(status) {
            return;
        }
        notes.always(
            Fault::new(
                &LEGACY_METHOD,
                format!(
                    "{} gets status {status} from a server whose revisions do not support it",
                    exchange.method
                ),
            )
            .related(self.listed, "the supported versions are listed here")
            .help("answer GET and DELETE with 405 Method Not Allowed"),
        );
    }
}

/// Whether a status is the right one, or means something other than "no such method".
fn is_excused(status: u16) -> bool {
    matches!(status, 300..=399 | 401 | 403 | 405 | 407 | 429) || status >= 500 && status != 501
}

fn is_modern(version: Node<'_>) -> bool {
    let revision = version.as_str().and_then(|version| version.parse::<Revision>().ok());
    revision.is_some_and(|revision| revision.era() == Era::Modern)
}
