//! Authorization, as far as the wire shows it.
//!
//! It is optional, so nothing is required until it is visibly used. Requests for metadata and to
//! the authorization server are judged where a recording includes them.

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
/// Where the challenge is the only way to find the metadata.
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

/// Maximum entries kept of each kind: nobody uses many authorization servers at once.
const KEPT: usize = 64;

/// Authorization state of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Auth {
    /// Whether either side has stated the revision.
    revision_stated: bool,
    /// Whether the MCP server has asked for a token.
    challenged: bool,
    /// The tokens last accepted in this session, by endpoint.
    accepted: Bounded<Box<str>, Accepted>,
    /// Requests without a token that were answered with 401, by exchange.
    rejected: Bounded<u64, Rejected>,
    /// Origins (scheme, host and port) of endpoints.
    origins: Bounded<Box<str>, ()>,
    servers: Servers,
    /// Redirect URIs that were reported.
    redirects: Bounded<Box<str>, ()>,
    /// Digests of codes, which are secret, that came from another issuer than the one asked.
    foreign_codes: Bounded<u64, Moment>,
}

/// An accepted token.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Accepted {
    at: Moment,
    /// Digest of the `Authorization` header, which is secret.
    credentials: u64,
}

/// A request without a token, answered with 401, where a token had been accepted before. What the
/// client does next shows whether that was intended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Rejected {
    line: Option<u64>,
    before: Accepted,
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Digest of the `Authorization` header, if it has a bearer token.
    bearer: Option<u64>,
    /// The token accepted before, if this request had none.
    lacks_token: Option<Accepted>,
    role: Role,
}

/// The purpose of a request that is not an MCP message.
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
                self.rejected.clear(); // The client may be authorizing.
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
    /// Called when a new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        self.accepted.clear();
    }

    /// Called at the end of the session: rejected clients have not tried to authorize.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.report_rejected(|_| true, notes);
    }
}

fn capacity(known: &Known<'_>) -> usize {
    known.limits.remembered.min(KEPT)
}
