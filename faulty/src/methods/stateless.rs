//! Requirements of 2026-07-28 on every request, and `server/discover`.

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    methods::handshake::{capabilities, instructions, server_info},
    reply::Failure,
    revision::Revision,
    server::Faults,
};

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Why a request is refused before dispatch.
pub(crate) fn refusal(params: &Value, faults: Faults) -> Option<Failure> {
    let meta = &params["_meta"];
    let Some(version) = meta[VERSION].as_str() else {
        return Some(Failure::params(format!("_meta lacks {VERSION}")));
    };
    if Revision::named(version).is_none_or(|revision| !revision.is_stateless())
        && !faults.has(Fault::StatelessVersionUnchecked)
    {
        let data = json!({"supported": [Revision::V2026_07_28.name()], "requested": version});
        return Some(Failure {
            code: if faults.has(Fault::VersionErrorWrongCode) { -32602 } else { -32022 },
            message: "unsupported protocol version".to_owned(),
            data: (!faults.has(Fault::VersionErrorWithoutData)).then_some(data),
        });
    }
    let lacks = !meta[CAPABILITIES].is_object() && !faults.has(Fault::MetaUnchecked);
    lacks.then(|| Failure::params(format!("_meta lacks {CAPABILITIES}")))
}

pub(crate) fn discover(faults: Faults) -> Value {
    let mut versions: Vec<_> = Revision::ALL.iter().map(|revision| revision.name()).collect();
    if faults.has(Fault::DiscoverOmitsVersion) {
        versions.pop();
    }
    let mut result = json!({
        "supportedVersions": versions,
        "capabilities": capabilities(Revision::V2026_07_28, faults),
        "instructions": instructions(faults),
    });
    if !faults.has(Fault::CacheHintsMissing) {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("public");
    }
    result
}

/// Completes a result for 2026-07-28.
pub(crate) fn complete(mut result: Value, faults: Faults) -> Value {
    if !faults.has(Fault::ResultTypeMissing) {
        result["resultType"] = json!("complete");
    }
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
    result
}
