use std::{fmt, str::FromStr};

use mcp_core::Revision;
use mcp_schema::ErrorCodePolicy;

use crate::{Layer, Setting, Severity, envelope_policy::EnvelopePolicy, method_names::Naming};

/// The prefix of the names of portability rules.
const PORTABILITY_RULES: &str = "portable-";

/// A named set of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The specification alone.
    #[default]
    Spec,
    /// Framing to schema; responses are matched to their requests, session rules are off.
    Schema,
    /// JSON-RPC 2.0 alone: null ids, positional params, batches and any method are allowed.
    JsonRpc,
    /// Envelopes per JSON-RPC 2.0 alone and any method, but resource URIs are
    /// `resource://<provider>`; payloads, sessions and tool schemas per the specification.
    BaseStack,
    /// The specification with exactly the method names, ids and error codes of the erlmcp stack;
    /// 2025-11-25 unless another revision is chosen.
    Erlmcp,
    /// The specification, plus warnings about valid tools that well-known clients and model
    /// providers refuse or change.
    Portability,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 6] = [
        Profile::Spec,
        Profile::Schema,
        Profile::JsonRpc,
        Profile::BaseStack,
        Profile::Erlmcp,
        Profile::Portability,
    ];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Profile::Spec => "spec",
            Profile::Schema => "schema",
            Profile::JsonRpc => "jsonrpc",
            Profile::BaseStack => "base-stack",
            Profile::Erlmcp => "erlmcp",
            Profile::Portability => "portability",
        }
    }

    /// The revision it is for, unless another is chosen.
    pub const fn revision(self) -> Option<Revision> {
        match self {
            Profile::Erlmcp => Some(Revision::V2025_11_25),
            _ => None,
        }
    }

    /// Whether requests may have ids that MCP does not allow, such as null.
    pub const fn takes_any_id(self) -> bool {
        self.envelope().null_ids
    }

    /// The envelope rules.
    pub(crate) const fn envelope(self) -> EnvelopePolicy {
        match self {
            Profile::JsonRpc | Profile::BaseStack => EnvelopePolicy::JSON_RPC,
            Profile::Erlmcp => EnvelopePolicy::ERLMCP,
            Profile::Spec | Profile::Schema | Profile::Portability => EnvelopePolicy::MCP,
        }
    }

    /// The methods allowed besides those of the revision.
    pub(crate) const fn naming(self) -> Naming {
        match self {
            Profile::JsonRpc | Profile::BaseStack => Naming::Any,
            Profile::Erlmcp => Naming::ERLMCP,
            Profile::Spec | Profile::Schema | Profile::Portability => Naming::Open,
        }
    }

    /// The last layer that is checked.
    pub(crate) const fn last_layer(self) -> Layer {
        match self {
            Profile::Schema => Layer::Schema,
            Profile::JsonRpc => Layer::JsonRpc,
            Profile::Spec | Profile::BaseStack | Profile::Erlmcp | Profile::Portability => {
                Layer::Behaviour
            }
        }
    }

    pub(crate) fn rule(self, name: &str) -> Option<Setting> {
        match (self, name) {
            (
                Profile::BaseStack,
                "resource-uri-invalid" | "resource-uri-provider" | "tool-arguments-invalid",
            )
            | (
                Profile::Erlmcp,
                "error-code-not-permitted" | "method-not-in-revision" | "method-unknown",
            ) => Some(Setting::On(Severity::Error)),
            (Profile::Portability, name) if name.starts_with(PORTABILITY_RULES) => {
                Some(Setting::On(Severity::Warning))
            }
            _ => None,
        }
    }

    /// The accepted error codes.
    pub(crate) const fn error_codes(self) -> ErrorCodePolicy {
        match self {
            Profile::Erlmcp => ErrorCodePolicy::ERLMCP,
            Profile::JsonRpc | Profile::BaseStack => ErrorCodePolicy::JSON_RPC,
            _ => ErrorCodePolicy::SPEC,
        }
    }

    /// Whether error codes have meanings other than the revision's.
    pub(crate) const fn has_own_codes(self) -> bool {
        matches!(self, Profile::Erlmcp | Profile::JsonRpc | Profile::BaseStack)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        Profile::ALL
            .into_iter()
            .find(|profile| profile.as_str() == text)
            .ok_or_else(|| UnknownProfile(text.into()))
    }
}

/// The error for a profile that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile: spec, schema, jsonrpc, base-stack, erlmcp, portability")]
pub struct UnknownProfile(Box<str>);
