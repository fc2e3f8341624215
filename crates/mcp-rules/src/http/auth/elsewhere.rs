//! Requests for metadata and to the authorization server.

use std::borrow::Cow;

use mcp_core::Revision;
use mcp_json::{Node, Tape};

use super::{
    AS_METADATA_NO_PKCE, Auth, DCR_APPLICATION_TYPE_MISSING, ENDPOINT_NOT_HTTPS, ISSUER_MISMATCH,
    OFFLINE_ACCESS_SCOPE, PKCE_MISSING, PRM_NO_SERVERS, REDIRECT_URI_INSECURE,
    RESOURCE_PARAM_MISSING, Role, capacity,
    servers::{Document, Objection, Pkce},
};
use crate::{
    Severity,
    conversation::{Known, Notes, digest::digest},
    findings::Fault,
    http::{
        Exchange, HeaderName, Headers, Observation,
        url::{Url, form_values},
    },
};

/// Grants whose token requests the specification describes.
const GRANTS: [&str; 3] = ["authorization_code", "refresh_token", "client_credentials"];

/// The parameters of a request to the authorization server.
#[derive(Clone, Copy)]
struct Parameters<'a> {
    query: &'a str,
    form: &'a str,
}

impl<'a> Parameters<'a> {
    fn all(self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        form_values(self.query, name).chain(form_values(self.form, name))
    }

    fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.all(name).next().filter(|value| !value.is_empty())
    }
}

impl Auth {
    pub(super) fn follow_other(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let url = Url::parse(&exchange.url);
        match self.servers.document_at(&exchange.url) {
            Some(Document::Resource) => exchange.auth.role = Role::ResourceMetadata,
            Some(Document::Server) => exchange.auth.role = Role::ServerMetadata,
            None if self.revision_stated && self.is_ours(url) => {
                let body = event.body.and_then(|body| std::str::from_utf8(body).ok());
                let form = body.filter(|_| exchange.is_post()).unwrap_or_default();
                let parameters = Parameters { query: url.query, form };
                if form_values(form, "grant_type").next().is_some() {
                    self.follow_token(url, parameters, known, notes);
                } else if parameters.get("response_type").is_some() {
                    exchange.auth.role = Role::Authorization;
                    self.follow_authorization(event, url, parameters, known, notes);
                } else if exchange.is_post() {
                    self.follow_registration(form, url, known, notes);
                }
            }
            None => {}
        }
    }

    pub(super) fn follow_other_response(
        &mut self,
        event: &Observation<'_>,
        status: u16,
        headers: &Headers<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match exchange.auth.role {
            Role::Authorization => {
                if let Some(location) = headers.value(HeaderName::Location) {
                    self.note_code(event, &location, Url::parse(&exchange.url), known);
                }
            }
            Role::ResourceMetadata | Role::ServerMetadata if status == 200 => {
                let mut tape = Tape::new();
                let body = event.body.unwrap_or_default();
                let Ok(document) = tape.parse(body, known.limits.json()) else { return };
                let document = document.root();
                if !document.is_object() {
                    return;
                }
                if exchange.auth.role == Role::ResourceMetadata {
                    self.follow_resource(document, known, notes);
                } else {
                    self.servers.note(&exchange.url, document, event.at, capacity(known));
                    if self.revision_stated {
                        check_endpoints(document, notes);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a request may be part of authorizing for this MCP server: it goes to an
    /// authorization server known to belong to it, to its own host, or, if none is known, anywhere
    /// once the server has asked for a token.
    fn is_ours(&self, url: Url<'_>) -> bool {
        let Some(origin) = url.origin() else { return true };
        self.origins.iter().any(|(known, ())| origin.eq_ignore_ascii_case(known))
            || self.servers.owns(url)
            || (self.servers.is_empty() && self.challenged)
    }

    /// Follows the protected resource metadata.
    fn follow_resource(&mut self, document: Node<'_>, known: &Known<'_>, notes: &mut Notes) {
        let servers = document.get("authorization_servers");
        let mut named = false;
        for identifier in servers.into_iter().flat_map(Node::elements).filter_map(Node::as_str) {
            named = true;
            self.servers.note_identifier(&identifier, capacity(known));
        }
        if !self.revision_stated {
            return;
        }
        if !named {
            notes.always(
                Fault::new(
                    &PRM_NO_SERVERS,
                    "the protected resource metadata names no authorization server",
                )
                .help("list at least one in `authorization_servers`"),
            );
        }
        let scopes = document.get("scopes_supported");
        if scopes.into_iter().flat_map(Node::elements).any(|scope| scope.str_eq("offline_access")) {
            notes.always(
                Fault::new(
                    &OFFLINE_ACCESS_SCOPE,
                    "the protected resource metadata lists the scope `offline_access`",
                )
                .help(
                    "omit it: refresh tokens concern only the client and the authorization server",
                ),
            );
        }
    }

    fn follow_authorization(
        &mut self,
        event: &Observation<'_>,
        url: Url<'_>,
        parameters: Parameters<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        self.check_redirect(parameters.get("redirect_uri"), known, notes);
        self.check_issuer(url, notes);
        let response = parameters.get("response_type").unwrap_or_default();
        let for_code = response.split_ascii_whitespace().any(|kind| kind == "code");
        if for_code {
            self.check_announced_pkce(url, notes);
        }
        // The rest may be in a request object that was pushed or signed before.
        if parameters.get("request_uri").is_some() || parameters.get("request").is_some() {
            return;
        }
        check_resource(parameters, "authorization", notes);
        if for_code {
            self.check_pkce(event.revision, url, parameters, notes);
        }
    }

    fn follow_token(
        &mut self,
        url: Url<'_>,
        parameters: Parameters<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let grant = parameters.get("grant_type").unwrap_or_default();
        if !GRANTS.contains(&&*grant) {
            return;
        }
        self.check_redirect(parameters.get("redirect_uri"), known, notes);
        self.check_issuer(url, notes);
        check_resource(parameters, "token", notes);
        if grant != "authorization_code" {
            return;
        }
        self.check_announced_pkce(url, notes);
        let code = parameters.get("code").map(|code| digest(code.as_bytes()));
        if let Some(answer) = code.and_then(|code| self.foreign_codes.remove(&code)) {
            notes.always(
                Fault::new(
                    &ISSUER_MISMATCH,
                    "the client redeems a code that came with the name of another issuer",
                )
                .related(answer.line(), "the code was received here")
                .help("compare `iss` with the issuer of the metadata, and stop if they differ"),
            );
        }
    }

    /// Follows a dynamic client registration.
    fn follow_registration(
        &mut self,
        body: &str,
        url: Url<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(body.as_bytes(), known.limits.json()) else { return };
        let client = document.root();
        let Some(redirects) = client.get("redirect_uris") else { return };
        self.check_issuer(url, notes);
        for redirect in redirects.elements() {
            self.check_redirect(redirect.as_str(), known, notes);
        }
        if client.get("application_type").is_none() {
            notes.always(
                Fault::new(
                    &DCR_APPLICATION_TYPE_MISSING,
                    "the registration does not say what kind of application the client is",
                )
                .help("send `application_type`: `native` on the user's machine, `web` if hosted"),
            );
        }
    }

    fn check_redirect(
        &mut self,
        redirect: Option<Cow<'_, str>>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(redirect) = redirect else { return };
        let url = Url::parse(&redirect);
        if url.is_https() || url.is_local() || self.redirects.contains(&*redirect) {
            return;
        }
        notes.always(
            Fault::new(
                &REDIRECT_URI_INSECURE,
                format!("the redirect URI `{redirect}` is neither HTTPS nor on this machine"),
            )
            .help("use an `https:` address or `http://localhost`"),
        );
        self.redirects.insert(redirect.into(), (), capacity(known));
    }

    fn check_issuer(&mut self, url: Url<'_>, notes: &mut Notes) {
        let Some(metadata) = self.servers.object(url, Objection::Issuer) else { return };
        let issuer = metadata.issuer.unwrap_or_default();
        notes.always(
            Fault::new(
                &ISSUER_MISMATCH,
                format!("the client uses metadata whose issuer is `{issuer}`, not the one that it asked for"),
            )
            .related(metadata.at.line(), "the metadata was received here")
            .help("compare `issuer` with the identifier that the metadata URL was built from, and stop if they differ"),
        );
    }

    fn check_announced_pkce(&mut self, url: Url<'_>, notes: &mut Notes) {
        let Some(metadata) = self.servers.object(url, Objection::Pkce) else { return };
        notes.always(
            Fault::new(
                &AS_METADATA_NO_PKCE,
                "the client continues, although the authorization server does not announce PKCE",
            )
            .related(metadata.at.line(), "the metadata was received here")
            .help("stop if `code_challenge_methods_supported` is absent"),
        );
    }

    fn check_pkce(
        &self,
        revision: Revision,
        url: Url<'_>,
        parameters: Parameters<'_>,
        notes: &mut Notes,
    ) {
        let message = if parameters.get("code_challenge").is_none() {
            "the authorization request has no `code_challenge`"
        } else if revision >= Revision::V2025_11_25
            && parameters.get("code_challenge_method").as_deref() != Some("S256")
            && self.servers.with_endpoint(url).any(|metadata| metadata.pkce == Pkce::S256)
        {
            "the code challenge is not made with `S256`, which the authorization server offers"
        } else {
            return;
        };
        notes.always(
            Fault::new(&PKCE_MISSING, message)
                .help("send the SHA-256 of a verifier, with `code_challenge_method=S256`"),
        );
    }

    /// Records a code issued by another issuer than the one asked.
    fn note_code(
        &mut self,
        event: &Observation<'_>,
        location: &str,
        asked: Url<'_>,
        known: &Known<'_>,
    ) {
        let answer = Url::parse(location);
        let parameter = |name| answer.parameters(name).next();
        let (Some(code), Some(iss)) = (parameter("code"), parameter("iss")) else { return };
        let mut asked =
            self.servers.with_endpoint(asked).filter_map(|known| known.issuer.as_deref());
        let Some(first) = asked.next() else { return };
        if std::iter::once(first).chain(asked).all(|issuer| issuer != iss) {
            self.foreign_codes.insert(digest(code.as_bytes()), event.at, capacity(known));
        }
    }
}

fn check_resource(parameters: Parameters<'_>, kind: &str, notes: &mut Notes) {
    let mut values = parameters.all("resource").filter(|value| !value.is_empty()).peekable();
    let message = if values.peek().is_none() {
        format!("the {kind} request does not say which server the token is for")
    } else {
        let odd = values.find(|value| {
            let url = Url::parse(value);
            url.scheme.is_none() || url.has_fragment
        });
        let Some(odd) = odd else { return };
        format!("`{odd}` is not the address of a server: it needs a scheme and no fragment")
    };
    notes.always(
        Fault::new(&RESOURCE_PARAM_MISSING, message)
            .help("send `resource` with the URL of the MCP server, in both requests"),
    );
}

/// Checks the endpoints in authorization server metadata.
fn check_endpoints(document: Node<'_>, notes: &mut Notes) {
    let mut names = Vec::new();
    let mut all_local = true;
    for (name, value) in document.members() {
        let (Some(name), Some(address)) = (name.as_str(), value.as_str()) else { continue };
        let url = Url::parse(&address);
        if name.ends_with("_endpoint") && !url.is_https() {
            all_local &= url.is_local();
            names.push(format!("`{name}`"));
        }
    }
    if names.is_empty() {
        return;
    }
    let fault =
        Fault::new(&ENDPOINT_NOT_HTTPS, format!("not served over HTTPS: {}", names.join(", ")))
            .help("serve every endpoint of the authorization server over HTTPS");
    notes.always(if all_local { fault.severity(Severity::Warning) } else { fault });
}
