//! The file format. Revisions with the same content share an entry, so that reviewers read it once.

use std::{collections::BTreeMap, fmt::Write as _};

use mcp_core::Revision;
use mcp_rules::lock::{Lock, LockedOffer, Part};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the file format.
const FORMAT: u64 = 1;
/// Maximum size of a lock file, in bytes.
pub const LOCK_BYTES: usize = 64 << 20;

/// Why a file cannot be used as a lock.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum LockError {
    #[error("it is larger than {} MiB", LOCK_BYTES >> 20)]
    TooLarge,
    #[error("it is not a lock file: {0}")]
    Content(#[source] serde_json::Error),
    #[error("it has format {0}, but this version of plumb only supports {FORMAT}")]
    Format(u64),
    #[error("it names revision {0} twice")]
    Twice(Revision),
    #[error("the digest of the {part} at {revision} does not match: the file was edited by hand")]
    Digest { revision: Revision, part: &'static str },
}

/// A lock in the order in which it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockDocument {
    #[serde(rename = "plumbLock")]
    format: u64,
    offers: Vec<Row>,
}

/// The only member that all versions of the format share.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "plumbLock")]
    format: u64,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Row {
    revisions: Vec<Revision>,
    server: Value,
    digests: Digests,
    capabilities: Value,
    instructions: Value,
    tools: Vec<Value>,
    prompts: Vec<Value>,
    resources: Vec<Value>,
    #[serde(rename = "resourceTemplates")]
    templates: Vec<Value>,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Digests {
    capabilities: String,
    instructions: String,
    tools: String,
    prompts: String,
    resources: String,
    #[serde(rename = "resourceTemplates")]
    templates: String,
}

impl LockDocument {
    /// Converts a lock for writing.
    pub fn of(lock: &Lock) -> LockDocument {
        let mut offers: Vec<Row> = Vec::new();
        let mut rows: Vec<(&LockedOffer, usize)> = Vec::new();
        for (revision, offer) in lock.iter() {
            if let Some((_, row)) = rows.iter().find(|(before, _)| *before == offer) {
                offers[*row].revisions.push(revision);
            } else {
                rows.push((offer, offers.len()));
                offers.push(Row::of(revision, offer));
            }
        }
        LockDocument { format: FORMAT, offers }
    }

    /// Parses a lock file.
    ///
    /// # Errors
    ///
    /// If it is not a lock file, has another format, or was modified.
    pub fn read(text: &[u8]) -> Result<Lock, LockError> {
        if text.len() > LOCK_BYTES {
            return Err(LockError::TooLarge);
        }
        let head: Head = serde_json::from_slice(text).map_err(LockError::Content)?;
        if head.format != FORMAT {
            return Err(LockError::Format(head.format));
        }
        let document: LockDocument = serde_json::from_slice(text).map_err(LockError::Content)?;
        let mut offers = BTreeMap::new();
        for row in document.offers {
            let revisions = row.revisions.clone();
            let offer = row.into_offer()?;
            for revision in revisions {
                if offers.insert(revision, offer.clone()).is_some() {
                    return Err(LockError::Twice(revision));
                }
            }
        }
        Ok(offers.into_iter().collect())
    }
}

impl Row {
    fn of(revision: Revision, offer: &LockedOffer) -> Row {
        let entries = |part| offer.entries(part).to_vec();
        let digest = |part| digest_of(offer.part(part));
        Row {
            revisions: vec![revision],
            server: offer.server().clone(),
            digests: Digests {
                capabilities: digest(Part::Capabilities),
                instructions: digest(Part::Instructions),
                tools: digest(Part::Tools),
                prompts: digest(Part::Prompts),
                resources: digest(Part::Resources),
                templates: digest(Part::Templates),
            },
            capabilities: offer.part(Part::Capabilities).clone(),
            instructions: offer.part(Part::Instructions).clone(),
            tools: entries(Part::Tools),
            prompts: entries(Part::Prompts),
            resources: entries(Part::Resources),
            templates: entries(Part::Templates),
        }
    }

    fn into_offer(self) -> Result<LockedOffer, LockError> {
        let Row { revisions, server, digests, .. } = self;
        let mut offer = LockedOffer::of(server);
        for (part, value, digest) in [
            (Part::Capabilities, self.capabilities, &digests.capabilities),
            (Part::Instructions, self.instructions, &digests.instructions),
            (Part::Tools, Value::Array(self.tools), &digests.tools),
            (Part::Prompts, Value::Array(self.prompts), &digests.prompts),
            (Part::Resources, Value::Array(self.resources), &digests.resources),
            (Part::Templates, Value::Array(self.templates), &digests.templates),
        ] {
            offer = offer.with(part, value);
            if digest_of(offer.part(part)) != *digest {
                let revision = revisions.first().copied().unwrap_or(Revision::LATEST);
                return Err(LockError::Digest { revision, part: part.as_str() });
            }
        }
        Ok(offer)
    }
}

/// The digest of a value as compact JSON with sorted members.
fn digest_of(value: &Value) -> String {
    let digest = digest(&SHA256, value.to_string().as_bytes());
    let mut text = "sha256:".to_owned();
    for byte in digest.as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
