//! Digests that decide whether two requests are the same.

use std::hash::{BuildHasher as _, RandomState};

use mcp_core::Meta;
use mcp_json::Node;
use mcp_jsonrpc::Envelope;

use super::canonical;

const INITIALIZE: &str = "initialize";
/// Number of params compared to find the closest request.
const COMPARED: usize = 16;
const PROGRESS_TOKEN: &[u8] = b"progressToken";

/// Digests of a request. The keys are random, so that nobody can construct collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestKey {
    /// Of the method and the params without the progress token; for `initialize`, of the revision.
    pub(super) exact: u64,
    /// The same without the client's `_meta` about itself; for `initialize`, of nothing.
    pub(super) alike: u64,
}

/// Computes keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Keyer {
    keys: RandomState,
}

impl Keyer {
    pub(super) fn bytes(&self, bytes: &[u8]) -> u64 {
        self.keys.hash_one(bytes)
    }

    pub(super) fn request(&self, request: &Envelope<'_>) -> RequestKey {
        let method = request.method.and_then(Node::str_bytes).unwrap_or_default();
        let params = request.params.filter(|params| params.is_object());
        let (mut exact, mut alike) = (Vec::new(), Vec::new());
        if &*method == INITIALIZE.as_bytes() {
            if let Some(version) = params.and_then(|params| params.get("protocolVersion")) {
                canonical::write(version, &mut exact);
            }
        } else if let Some(params) = params {
            let meta = params.get("_meta").filter(|meta| meta.is_object());
            canonical::write_members(params, |name| name != b"_meta", &mut exact);
            alike.clone_from(&exact);
            if let Some(meta) = meta {
                canonical::write_members(meta, |name| name != PROGRESS_TOKEN, &mut exact);
            }
            let version = Meta::PROTOCOL_VERSION.as_bytes();
            match meta {
                Some(meta) => canonical::write_members(meta, |name| name == version, &mut alike),
                None => alike.extend_from_slice(b"{}"),
            }
        } else if let Some(params) = request.params {
            canonical::write(params, &mut exact);
            alike.clone_from(&exact);
        } else {
            // Missing params equal empty ones.
            alike.extend_from_slice(b"{}{}");
        }
        RequestKey {
            exact: self.keys.hash_one((true, &*method, exact)),
            alike: self.keys.hash_one((false, &*method, alike)),
        }
    }

    /// Digests of the single params, to find the closest request.
    pub(super) fn members(&self, request: &Envelope<'_>) -> Vec<u64> {
        let Some(params) = request.params else { return Vec::new() };
        let members = params.members().filter(|(name, _)| !name.str_eq("_meta"));
        members
            .take(COMPARED)
            .map(|(name, value)| {
                let mut text = name.str_bytes().unwrap_or_default().into_owned();
                text.push(0);
                canonical::write(value, &mut text);
                self.bytes(&text)
            })
            .collect()
    }
}

/// The progress token of a request.
pub(super) fn progress_token<'a>(request: &Envelope<'a>) -> Option<Node<'a>> {
    request.params?.get("_meta")?.get("progressToken")
}

/// Whether it is `initialize`.
pub(super) fn is_initialize(request: &Envelope<'_>) -> bool {
    request.method.is_some_and(|method| method.str_eq(INITIALIZE))
}
