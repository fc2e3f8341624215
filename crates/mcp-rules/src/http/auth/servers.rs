//! What a recording shows of authorization servers: which ones the MCP server names, and their
//! metadata.

use mcp_json::Node;
use serde::{Deserialize, Serialize};

use crate::{
    conversation::{Bounded, Moment},
    http::url::Url,
};

/// Longest URL that is kept; longer ones are not meant to be used.
const LONGEST: usize = 4096;

/// The authorization servers of one MCP server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Servers {
    /// Resource metadata URLs named by challenges.
    resource_urls: Bounded<Box<str>, ()>,
    /// Identifiers from `authorization_servers`.
    identifiers: Bounded<Box<str>, ()>,
    /// Metadata by the URL it was fetched from.
    documents: Bounded<Box<str>, Metadata>,
}

/// The metadata of an authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Metadata {
    pub(super) at: Moment,
    pub(super) issuer: Option<Box<str>>,
    /// Whether the issuer differs from the identifier that the URL was built from.
    pub(super) is_of_other: bool,
    /// The authorization, token and registration endpoints.
    endpoints: [Option<Box<str>>; 3],
    pub(super) pkce: Pkce,
    /// Which faults were already reported.
    reported_pkce: bool,
    reported_issuer: bool,
}

/// What the metadata says about PKCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Pkce {
    NotMentioned,
    WithoutS256,
    S256,
}

/// The kind of metadata document requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    Resource,
    Server,
}

impl Servers {
    pub(super) fn is_empty(&self) -> bool {
        self.identifiers.is_empty() && self.documents.is_empty()
    }

    pub(super) fn note_resource_url(&mut self, url: &str, capacity: usize) {
        if url.len() <= LONGEST {
            self.resource_urls.insert(url.into(), (), capacity);
        }
    }

    pub(super) fn note_identifier(&mut self, identifier: &str, capacity: usize) {
        if identifier.len() <= LONGEST {
            self.identifiers.insert(identifier.into(), (), capacity);
        }
    }

    /// Returns the kind of metadata found at a URL.
    pub(super) fn document_at(&self, address: &str) -> Option<Document> {
        let path = Url::parse(address).path;
        let is_named = self.resource_urls.contains(address);
        if is_named || path.contains("/.well-known/oauth-protected-resource") {
            return Some(Document::Resource);
        }
        let of_server = path.contains("/.well-known/oauth-authorization-server")
            || path.contains("/.well-known/openid-configuration");
        of_server.then_some(Document::Server)
    }

    /// Records the metadata found at `address`.
    pub(super) fn note(&mut self, address: &str, document: Node<'_>, at: Moment, capacity: usize) {
        let text = |name| {
            let text = document.get(name).and_then(Node::as_str);
            text.filter(|text| text.len() <= LONGEST).map(|text| (*text).into())
        };
        let issuer: Option<Box<str>> = text("issuer");
        let pkce = match document.get("code_challenge_methods_supported") {
            None => Pkce::NotMentioned,
            Some(list) if list.elements().any(|method| method.str_eq("S256")) => Pkce::S256,
            Some(_) => Pkce::WithoutS256,
        };
        let metadata = Metadata {
            at,
            is_of_other: issuer.as_ref().is_some_and(|issuer| !self.fits(address, issuer)),
            issuer,
            endpoints: ["authorization_endpoint", "token_endpoint", "registration_endpoint"]
                .map(text),
            pkce,
            reported_pkce: false,
            reported_issuer: false,
        };
        self.documents.insert(address.into(), metadata, capacity);
    }

    /// Whether metadata at `address` may be that of `issuer`.
    fn fits(&self, address: &str, issuer: &str) -> bool {
        let built_from = |identifier: &&str| {
            addresses(identifier).is_some_and(|all| all.iter().any(|one| *one == address))
        };
        let identifiers = self.identifiers.iter().map(|(known, ())| &**known);
        let mut named = identifiers.filter(built_from).peekable();
        if named.peek().is_some() {
            return named.any(|identifier| identifier == issuer);
        }
        // The URL does not show whether the identifier ended with a slash.
        match identifier_of(address) {
            Some(identifier) => issuer.trim_end_matches('/') == identifier.trim_end_matches('/'),
            None => true,
        }
    }

    /// Whether a URL belongs to one of the servers.
    pub(super) fn owns(&self, url: Url<'_>) -> bool {
        let same_origin = |known: &str| {
            let origins = Url::parse(known).origin().zip(url.origin());
            origins.is_some_and(|(known, mine)| known.eq_ignore_ascii_case(mine))
        };
        self.identifiers.iter().any(|(identifier, ())| same_origin(identifier))
            || self.documents.iter().any(|(address, _)| same_origin(address))
            || self.with_endpoint(url).next().is_some()
    }

    /// The metadata that names this URL as an endpoint.
    pub(super) fn with_endpoint(&self, url: Url<'_>) -> impl Iterator<Item = &Metadata> {
        self.documents.iter().map(|(_, metadata)| metadata).filter(move |metadata| {
            let endpoints = metadata.endpoints.iter().flatten();
            endpoints.into_iter().any(|endpoint| url.is_same_place(Url::parse(endpoint)))
        })
    }

    /// Returns the first metadata with this endpoint, if all with it justify the objection and it
    /// was not raised before.
    pub(super) fn object(&mut self, url: Url<'_>, objection: Objection) -> Option<Metadata> {
        let first = self.with_endpoint(url).next()?.clone();
        if !self.with_endpoint(url).all(|metadata| metadata.justifies(objection)) {
            return None;
        }
        let addresses: Vec<Box<str>> = self
            .documents
            .iter()
            .filter(|(_, metadata)| metadata.endpoints == first.endpoints)
            .map(|(address, _)| address.clone())
            .collect();
        for address in addresses {
            if let Some(metadata) = self.documents.get_mut(&address) {
                metadata.note_told(objection);
            }
        }
        Some(first)
    }
}

/// A fault of a client in its use of metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objection {
    Pkce,
    Issuer,
}

impl Metadata {
    fn justifies(&self, objection: Objection) -> bool {
        match objection {
            Objection::Pkce => self.pkce == Pkce::NotMentioned && !self.reported_pkce,
            Objection::Issuer => self.is_of_other && !self.reported_issuer,
        }
    }

    fn note_told(&mut self, objection: Objection) {
        match objection {
            Objection::Pkce => self.reported_pkce = true,
            Objection::Issuer => self.reported_issuer = true,
        }
    }
}

/// The URLs where the metadata of an issuer is looked up.
fn addresses(identifier: &str) -> Option<[String; 3]> {
    let url = Url::parse(identifier);
    let origin = url.origin()?;
    let path = url.path.trim_end_matches('/');
    Some([
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ])
}

/// The issuer whose metadata a URL is for.
fn identifier_of(address: &str) -> Option<String> {
    let url = Url::parse(address);
    let origin = url.origin()?;
    let inserted = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
    let path = inserted
        .iter()
        .find_map(|prefix| url.path.strip_prefix(prefix))
        .or_else(|| url.path.strip_suffix("/.well-known/openid-configuration"))?;
    Some(format!("{origin}{path}"))
}
