//! How results are serialized in each era.

use serde::Serialize;
use serde_json::json;

use super::{Mcp, McpSettings};
use crate::{Era, Error, Implementation, Json, Meta, Revision};

/// The members that every result of a stateless revision has, serialized once.
#[derive(Debug)]
pub(super) struct Decoration {
    server_info: serde_json::Value,
    meta: String,
    cache: String,
}

/// Whether clients may cache a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caching {
    /// The result says for how long.
    Allowed,
    /// The result says nothing about caching.
    Unspecified,
}

impl Decoration {
    pub(super) fn new(info: &Implementation, settings: &McpSettings) -> Decoration {
        let server_info = serde_json::to_value(info).unwrap_or_default();
        let meta = json!({ (Meta::SERVER_INFO): server_info }).to_string();
        let scope = if settings.shared_cache { "public" } else { "private" };
        let milliseconds = settings.time_to_live.as_millis();
        let cache = format!(r#","ttlMs":{milliseconds},"cacheScope":"{scope}""#);
        Decoration { server_info, meta, cache }
    }
}

impl Mcp {
    /// Serializes `result`, whose `_meta` is given separately as `meta`.
    pub(super) fn write<T: Serialize + ?Sized>(
        &self,
        revision: Revision,
        result: &T,
        meta: Option<Meta>,
        caching: Caching,
    ) -> Result<Json, Error> {
        let kind = "complete";
        self.write_as(kind, revision, result, None, meta, caching)
    }

    /// Like [`Mcp::write`], for a result of another `kind` and with an additional `member`.
    pub(super) fn write_as<T: Serialize + ?Sized>(
        &self,
        kind: &str,
        revision: Revision,
        result: &T,
        member: Option<(&str, &Json)>,
        meta: Option<Meta>,
        caching: Caching,
    ) -> Result<Json, Error> {
        let not_serializable =
            |error| Error::internal(format!("a result cannot be serialized: {error}"));
        let mut text = serde_json::to_vec(result).map_err(not_serializable)?;
        if text.pop() != Some(b'}') {
            return Err(Error::internal("a result must be a JSON object"));
        }
        if let Some((name, value)) = member {
            let comma = if text == b"{" { "" } else { "," };
            text.extend_from_slice(format!("{comma}\"{name}\":").as_bytes());
            text.extend_from_slice(value.as_bytes());
        }
        let mut first = text == b"{";
        let mut add = |member: &str| {
            let member = if first { member.trim_start_matches(',') } else { member };
            text.extend_from_slice(member.as_bytes());
            first = false;
        };
        let decoration = self.decoration();
        if revision.era() == Era::Modern {
            add(&format!(r#","resultType":"{kind}""#));
            if caching == Caching::Allowed {
                add(&decoration.cache);
            }
            match meta {
                None => add(&format!(r#","_meta":{}"#, decoration.meta)),
                Some(mut meta) => {
                    meta.insert(Meta::SERVER_INFO, decoration.server_info.clone());
                    add(&format!(
                        r#","_meta":{}"#,
                        serde_json::to_string(&meta).map_err(not_serializable)?
                    ));
                }
            }
        } else if let Some(meta) = meta {
            add(&format!(
                r#","_meta":{}"#,
                serde_json::to_string(&meta).map_err(not_serializable)?
            ));
        }
        text.push(b'}');
        Ok(Json::already_parsed(text.into()))
    }
}
