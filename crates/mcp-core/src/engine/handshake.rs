use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conversation, Mcp, result::Caching};
use crate::{
    ClientCapabilities, Era, Error, Implementation, Json, LogLevel, Revision, context::Caller,
    revision_shape,
};

/// The maximum length of a client's capabilities, which are kept as long as the conversation lasts.
const MAX_CAPABILITIES: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: String,
    #[serde(default)]
    capabilities: ClientCapabilities,
    client_info: Option<Implementation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialized<'a> {
    protocol_version: Revision,
    capabilities: Value,
    server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovered<'a> {
    supported_versions: Vec<Revision>,
    capabilities: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl Conversation {
    /// Opens a legacy conversation at the client's revision if we support it, otherwise at the
    /// newest legacy one that we do.
    pub(super) fn initialize(&self, params: Option<&Json>) -> (Revision, Result<Json, Error>) {
        let read =
            params.ok_or_else(|| super::params::missing("protocolVersion")).and_then(|params| {
                params
                    .read::<Initialize>()
                    .map_err(|error| Error::invalid_params(format!("invalid params: {error}")))
            });
        let request = match read {
            Ok(request) => request,
            Err(error) => return (Revision::LATEST_LEGACY, Err(error)),
        };
        let Some(revision) = self.mcp.negotiate(&request.protocol_version) else {
            let supported = self.mcp.supported();
            let requested = request.protocol_version;
            let error = Error::UnsupportedRevision { requested, supported };
            return (Revision::LATEST, Err(error));
        };
        if self.caller().is_some() {
            let message = "the conversation is already initialized".to_owned();
            return (revision, Err(Error::Coded { code: -32600, message, data: None }));
        }
        if Json::of(&request.capabilities)
            .is_ok_and(|text| text.as_bytes().len() > MAX_CAPABILITIES)
        {
            let message = format!("`params.capabilities` must not exceed {MAX_CAPABILITIES} bytes");
            return (revision, Err(Error::invalid_params(message)));
        }
        let capabilities = revision_shape::client_capabilities(revision, request.capabilities);
        self.set_caller(Caller {
            revision,
            capabilities: Arc::new(capabilities),
            info: request.client_info.map(|info| Arc::new(info.shortened())),
            log_level: self.mcp.shared.offer.logging.then_some(LogLevel::Info),
            principal: self.principal.clone(),
        });
        let result = Initialized {
            protocol_version: revision,
            capabilities: self.mcp.shared.offer.capabilities(revision),
            server_info: self.mcp.info(),
            instructions: self.mcp.shared.instructions.as_deref(),
        };
        (revision, self.mcp.write(revision, &result, None, Caching::Unspecified))
    }
}

impl Mcp {
    fn negotiate(&self, requested: &str) -> Option<Revision> {
        let legacy = || self.revisions().iter().filter(|revision| revision.era() == Era::Legacy);
        let requested = requested.parse().ok();
        legacy().find(|revision| Some(*revision) == requested).or_else(|| legacy().last())
    }

    pub(super) fn discover(&self, revision: Revision) -> Result<Json, Error> {
        let result = Discovered {
            supported_versions: self.supported(),
            capabilities: self.shared.offer.capabilities(revision),
            instructions: self.shared.instructions.as_deref(),
        };
        self.write(revision, &result, None, Caching::Allowed)
    }
}

impl Caller {
    /// A client that has sent no metadata.
    pub(super) fn anonymous(revision: Revision) -> Caller {
        let capabilities = Arc::default();
        Caller { revision, capabilities, info: None, log_level: None, principal: None }
    }
}
