//! Requests to the MCP endpoint, and its answers to those it rejects.

use mcp_core::Side;

use super::{
    Accepted, Auth, HEADER_MISSING, INSUFFICIENT_SCOPE_CHALLENGE, INVALID_TOKEN_STATUS,
    OFFLINE_ACCESS_SCOPE, RESOURCE_METADATA_MISSING, Rejected, SCOPE_MISSING, TOKEN_IN_QUERY,
    WWW_AUTHENTICATE_MISSING, capacity, challenge::Challenge,
};
use crate::{
    Severity,
    conversation::{Known, Notes, digest::digest},
    findings::Fault,
    http::{Exchange, HeaderName, Headers, Observation, endpoints::Destination, url::Url},
};

const UNAUTHORIZED: u16 = 401;
const FORBIDDEN: u16 = 403;

impl Auth {
    pub(super) fn follow_request(
        &mut self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        self.revision_stated |=
            event.settled || exchange.posted.iter().any(|posted| &*posted.name == "initialize");
        let url = Url::parse(&exchange.url);
        if let Some(origin) = url.origin() {
            self.origins.insert(origin.into(), (), capacity(known));
        }
        let in_query = url.parameters("access_token").next().is_some();
        if in_query {
            notes.always(
                Fault::new(&TOKEN_IN_QUERY, "the URL of the request contains the access token")
                    .help("send it as `Authorization: Bearer …`; URLs end up in logs"),
            );
        }
        let authorization = headers.value(HeaderName::Authorization);
        // Preflight requests of browsers carry no credentials.
        let is_preliminary = || {
            let method = exchange.method.as_str();
            ["OPTIONS", "HEAD"].iter().any(|name| method.eq_ignore_ascii_case(name))
        };
        let lacks_token = authorization.is_none() && !in_query && !self.accepted.is_empty();
        if lacks_token && !is_preliminary() {
            exchange.auth.lacks_token = self.accepted.get(exchange.path()).copied();
        }
        if let Some(value) = authorization {
            let credentials = digest(value.as_bytes());
            // A client that sends the same token again had forgotten it; one with a new token has
            // authorized again.
            self.report_rejected(|before| before.credentials == credentials, notes);
            exchange.auth.bearer = is_bearer(&value).then_some(credentials);
        }
    }

    /// Reports the rejected requests for which `is_fault` holds, and forgets the others.
    pub(super) fn report_rejected(
        &mut self,
        is_fault: impl Fn(&Accepted) -> bool,
        notes: &mut Notes,
    ) {
        for (_, Rejected { line, before }) in std::mem::take(&mut self.rejected).iter() {
            if is_fault(before) {
                notes.always(header_missing(*line, before));
            }
        }
    }

    pub(super) fn follow_response(
        &mut self,
        status: u16,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if !exchange.seen || exchange.aim == Destination::Beside {
            return; // Unknown what is there.
        }
        if let Some(before) = exchange.auth.lacks_token.take() {
            let line = exchange.at.line();
            if status == UNAUTHORIZED {
                let refused = Rejected { line, before };
                self.rejected.insert(exchange.number, refused, capacity(known));
            } else {
                notes.always(header_missing(line, &before));
            }
        }
        if let Some(credentials) = exchange.auth.bearer
            && (200..300).contains(&status)
        {
            let accepted = Accepted { at: exchange.at, credentials };
            self.accepted.insert(exchange.path().into(), accepted, capacity(known));
        }
        self.challenged |= status == UNAUTHORIZED;
        let mut values = headers.values(HeaderName::WwwAuthenticate).peekable();
        if values.peek().is_none() {
            if status == UNAUTHORIZED && headers.are_recorded() {
                notes.always(self.no_challenge());
            }
            return;
        }
        let challenges: Vec<Challenge> = values.flat_map(Challenge::parse_all).collect();
        for url in challenges.iter().filter_map(|challenge| challenge.get("resource_metadata")) {
            self.servers.note_resource_url(url, capacity(known));
        }
        if status == UNAUTHORIZED && self.revision_stated {
            check_unauthorized(&challenges, notes);
        }
        for challenge in challenges.iter().filter(|challenge| challenge.is_oauth()) {
            check_challenge(challenge, status, notes);
        }
    }

    fn no_challenge(&self) -> Fault {
        let fault = Fault::new(
            &WWW_AUTHENTICATE_MISSING,
            "the 401 response has no `WWW-Authenticate` header, so the client cannot tell where to authorize",
        )
        .help("send `WWW-Authenticate: Bearer resource_metadata=\"…\"`");
        // Only one revision requires it.
        if self.revision_stated { fault } else { fault.severity(Severity::Warning) }
    }
}

fn header_missing(line: Option<u64>, before: &Accepted) -> Fault {
    Fault::new(&HEADER_MISSING, "the request no longer has an `Authorization` header")
        .earlier(line, Side::Client)
        .related(before.at.line(), "a token was accepted here")
        .help("send the token with every request, even within a session")
}

/// Checks the challenges of a 401 together.
fn check_unauthorized(challenges: &[Challenge], notes: &mut Notes) {
    let more_scopes = |challenge: &&Challenge| challenge.has_error("insufficient_scope");
    let mut oauth = challenges.iter().filter(|challenge| challenge.is_oauth()).peekable();
    if oauth.peek().is_none() || oauth.any(|challenge| more_scopes(&challenge)) {
        return;
    }
    let has = |name: &str| challenges.iter().any(|challenge| challenge.get(name).is_some());
    if !has("resource_metadata") {
        notes.always(
            Fault::new(
                &RESOURCE_METADATA_MISSING,
                "the challenge has no `resource_metadata`, so the client has to guess where to authorize",
            )
            .help("add `resource_metadata=\"…\"` with the URL of the protected resource metadata"),
        );
    }
    if challenges.iter().any(|challenge| challenge.is("Bearer")) && !has("scope") {
        notes.always(
            Fault::new(&SCOPE_MISSING, "the challenge does not say which scopes the request needs")
                .help("add `scope=\"…\"`, so that clients ask for no more than that"),
        );
    }
}

fn check_challenge(challenge: &Challenge, status: u16, notes: &mut Notes) {
    if challenge.has_error("invalid_token") && status != UNAUTHORIZED {
        notes.always(
            Fault::new(
                &INVALID_TOKEN_STATUS,
                format!("the challenge says `invalid_token`, but the status is {status}"),
            )
            .help("answer 401, so that the client gets a new token"),
        );
    }
    if challenge.has_error("insufficient_scope") {
        let missing =
            ["scope", "resource_metadata"].into_iter().filter(|name| challenge.get(name).is_none());
        let mut faults: Vec<String> = missing.map(|name| format!("no `{name}`")).collect();
        if status != FORBIDDEN {
            faults.push(format!("status {status} instead of {FORBIDDEN}"));
        }
        if !faults.is_empty() {
            notes.always(
                Fault::new(
                    &INSUFFICIENT_SCOPE_CHALLENGE,
                    format!("the `insufficient_scope` challenge has {}", faults.join(" and ")),
                )
                .help(
                    "answer 403 with `scope` and `resource_metadata`, so that the client can get a token with more scopes",
                ),
            );
        }
    }
    if challenge.has_scope("offline_access") {
        notes.always(
            Fault::new(&OFFLINE_ACCESS_SCOPE, "the challenge asks for the scope `offline_access`")
                .help(
                    "omit it: refresh tokens concern only the client and the authorization server",
                ),
        );
    }
}

fn is_bearer(authorization: &str) -> bool {
    let scheme = authorization.split_ascii_whitespace().next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("Bearer") || scheme.eq_ignore_ascii_case("DPoP")
}
