//! `initialize`, and what the server declares.

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    reply::Failure,
    revision::Revision,
    server::{Faults, die},
};

/// Returns the result and the negotiated revision.
pub(crate) fn initialize(
    params: Option<&Value>,
    faults: Faults,
) -> Result<(Value, Revision), Failure> {
    let empty = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "unknown", "version": "0"}});
    let params = match params {
        None | Some(Value::Null) if faults.has(Fault::InitializeUnchecked) => &empty,
        Some(params) => params,
        None => return Err(Failure::params("initialize needs params")),
    };
    let Some(asked) = params["protocolVersion"].as_str() else {
        return Err(Failure::params("protocolVersion must be a string"));
    };
    if !params["capabilities"].is_object()
        || !params["clientInfo"]["name"].is_string()
        || !params["clientInfo"]["version"].is_string()
    {
        return Err(Failure::params(
            "initialize needs capabilities, and clientInfo with name and version",
        ));
    }
    let known = Revision::named(asked).filter(|revision| !revision.is_stateless());
    if known.is_none() && faults.has(Fault::NewerVersionDies) {
        die();
    }
    let agreed = known.unwrap_or(Revision::V2025_11_25);
    let spoken = match faults.0 {
        Some(Fault::AnyVersionAccepted) => asked,
        Some(Fault::InventedVersion) => "2025-13-32",
        _ => agreed.name(),
    };
    let mut result = json!({
        "protocolVersion": spoken,
        "capabilities": capabilities(agreed, faults),
        "serverInfo": server_info(),
        "instructions": instructions(faults),
    });
    let members = result.as_object_mut();
    match faults.0 {
        Some(Fault::ServerInfoMissing) => members.map(|members| members.remove("serverInfo")),
        Some(Fault::CapabilitiesMissing) => members.map(|members| members.remove("capabilities")),
        _ => None,
    };
    Ok((result, agreed))
}

pub(crate) fn capabilities(revision: Revision, faults: Faults) -> Value {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {},
        "logging": {},
    });
    if revision >= Revision::V2025_03_26 && !faults.has(Fault::CompletionsUndeclared) {
        capabilities["completions"] = json!({});
    }
    if revision == Revision::V2025_11_25 {
        capabilities["tasks"] =
            json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    }
    match faults.0 {
        Some(Fault::CapabilityNotObject) => capabilities["tools"] = json!(true),
        Some(Fault::ToolsUndeclared) => {
            capabilities.as_object_mut().map(|capabilities| capabilities.remove("tools"));
        }
        _ => {}
    }
    capabilities
}

pub(crate) fn instructions(faults: Faults) -> Value {
    if faults.has(Fault::InstructionsNotString) {
        json!(["Ask", "for the weather."])
    } else {
        json!("Ask for the weather.")
    }
}

pub(crate) fn server_info() -> Value {
    json!({"name": "faulty-server", "version": env!("CARGO_PKG_VERSION")})
}
