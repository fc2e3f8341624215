//! Authorization, as far as the wire shows it.
//!
//! It is optional, so that nothing is demanded before it is visibly used. Requests to metadata and
//! to the authorization server are judged where a recording has them.

mod challenge;
mod elsewhere;
mod endpoint;
mod servers;

use mcp_core::{Revision, Revisions};
use serde::{Deserialize, Serialize};

use self::servers::Servers;
use super::{Exchange, HttpFamily, HttpPart, Observation};
use crate::{
    Level,
    conversation::{Bounded, Known, Moment, Notes},
};

const FROM_2025_03: Revisions = Revisions::from(Revision::V2025_03_26);
const FROM_2025_06: Revisions = Revisions::from(Revision::V2025_06_18);
const FROM_2025_11: Revisions = Revisions::from(Revision::V2025_11_25);
const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);
/// Where the challenge is the only way to the metadata.
const CHALLENGE_ONLY: Level = Level::ErrorIn(Revisions::only(Revision::V2025_06_18));

rules! {
    WWW_AUTHENTICATE_MISSING: "auth-www-authenticate-missing", Http, CHALLENGE_ONLY, FROM_2025_03, "basic/authorization#authorization-server-location";
    RESOURCE_METADATA_MISSING: "auth-resource-metadata-missing", Http, CHALLENGE_ONLY, FROM_2025_06, "basic/authorization#authorization-server-location";
    SCOPE_MISSING: "auth-scope-missing", Http, Level::Warning, FROM_2025_11, "basic/authorization#scope-selection-strategy";
    OFFLINE_ACCESS_SCOPE: "auth-offline-access-scope", Http, Level::Warning, MODERN, "basic/authorization#refresh-tokens";
    TOKEN_IN_QUERY: "auth-token-in-query", Http, Level::Error, FROM_2025_03, "basic/authorization#token-requirements";
    HEADER_MISSING: "auth-header-missing", Http, Level::Error, FROM_2025_03, "basic/authorization#token-requirements";
    INVALID_TOKEN_STATUS: "auth-invalid-token-status", Http, Level::Error, FROM_2025_03, "basic/authorization#token-handling";
    INSUFFICIENT_SCOPE_CHALLENGE: "auth-insufficient-scope-challenge", Http, Level::Warning, FROM_2025_11, "basic/authorization#runtime-insufficient-scope-errors";
    PRM_NO_SERVERS: "auth-prm-no-servers", Http, Level::Error, FROM_2025_06, "basic/authorization#authorization-server-location";
    RESOURCE_PARAM_MISSING: "auth-resource-param-missing", Http, Level::Error, FROM_2025_06, "basic/authorization#resource-parameter-implementation";
    PKCE_MISSING: "auth-pkce-missing", Http, Level::Error, FROM_2025_03, "basic/authorization#authorization-code-protection";
    REDIRECT_URI_INSECURE: "auth-redirect-uri-insecure", Http, Level::Error, FROM_2025_03, "basic/authorization#communication-security";
    ENDPOINT_NOT_HTTPS: "auth-endpoint-not-https", Http, Level::Error, FROM_2025_03, "basic/authorization#communication-security";
    AS_METADATA_NO_PKCE: "auth-as-metadata-no-pkce", Http, Level::Error, FROM_2025_11, "basic/authorization#authorization-code-protection";
    ISSUER_MISMATCH: "auth-issuer-mismatch", Http, Level::Error, MODERN, "basic/authorization#authorization-response-validation";
    DCR_APPLICATION_TYPE_MISSING: "auth-dcr-application-type-missing", Http, Level::Error, MODERN, "basic/authorization/client-registration#application-type-and-redirect-uri-constraints";
}

/// Things of one kind that are kept: nobody deals with many authorization servers at once.
const KEPT: usize = 64;

/// What is remembered of authorization.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Auth {
    /// Whether anybody has said which revision is spoken.
    heard: bool,
    /// Whether the MCP server has asked for a token.
    challenged: bool,
    /// The tokens last accepted in this session, by endpoint.
    accepted: Bounded<Box<str>, Accepted>,
    /// Requests without a token that were answered with 401, by exchange.
    turned_away: Bounded<u64, TurnedAway>,
    /// Scheme, host and port of endpoints.
    origins: Bounded<Box<str>, ()>,
    servers: Servers,
    /// Redirect URIs that were objected to.
    redirects: Bounded<Box<str>, ()>,
    /// Codes that came from another issuer than asked. Kept as hashes: they are secrets.
    foreign_codes: Bounded<u64, Moment>,
}

/// A token that was accepted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Accepted {
    at: Moment,
    /// The `Authorization` header, as a hash: it is a secret.
    credentials: u64,
}

/// A request without a token, answered with 401, where a token had been accepted before. Whether
/// the client meant it is seen by what it does next.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct TurnedAway {
    line: Option<u64>,
    before: Accepted,
}

/// What is remembered of one exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Hash of the `Authorization` header, if it has a bearer token.
    bearer: Option<u64>,
    /// The token accepted before, if this request had none.
    lacks_token: Option<Accepted>,
    role: Role,
}

/// What a request that is none of MCP is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Role {
    #[default]
    Other,
    ResourceMetadata,
    ServerMetadata,
    Authorization,
}

impl HttpFamily for Auth {
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.part, exchange.is_elsewhere()) {
            (HttpPart::Request { headers, .. }, false) => {
                self.follow_request(event, headers, exchange, known, notes);
            }
            (HttpPart::Response { status, headers }, false) => {
                self.follow_response(status, headers, exchange, known, notes);
            }
            (HttpPart::Request { .. }, true) => {
                self.turned_away.clear(); // The client may be authorizing.
                self.follow_other(event, exchange, known, notes);
            }
            (HttpPart::Response { status, headers }, true) => {
                self.follow_other_response(event, status, headers, exchange, known, notes);
            }
            (HttpPart::Event(_) | HttpPart::End, _) => {}
        }
    }
}

impl Auth {
    /// A new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        self.accepted.clear();
    }

    /// The session has ended: who was turned away has not tried to authorize.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.report_turned_away(|_| true, notes);
    }
}

fn capacity(known: &Known<'_>) -> usize {
    known.limits.remembered.min(KEPT)
}
