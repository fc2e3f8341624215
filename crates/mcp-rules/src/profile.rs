use std::{fmt, str::FromStr};

use mcp_schema::ErrorCodePolicy;

use crate::{Layer, Setting, Severity, rules::portability};

/// A named set of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The specification alone.
    #[default]
    Spec,
    /// Framing to schema; responses are matched to their requests, session rules are off.
    Schema,
    /// JSON-RPC 2.0 alone: null ids, positional params, batches and any method are fine.
    JsonRpc,
    /// The specification and stricter house rules: resource URIs are `resource://<provider>/…`.
    BaseStack,
    /// The specification, and the extra method names and error codes of the erlmcp stack.
    Erlmcp,
    /// The specification, and warnings for tools that well-known clients and model providers
    /// refuse or change although it allows them.
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

    /// Whether only base JSON-RPC 2.0 is wanted, without what MCP adds to it.
    pub(crate) const fn is_base_json_rpc(self) -> bool {
        matches!(self, Profile::JsonRpc)
    }

    /// The last layer that is looked at.
    pub(crate) const fn last_layer(self) -> Layer {
        match self {
            Profile::Schema => Layer::Schema,
            Profile::JsonRpc => Layer::JsonRpc,
            Profile::Spec | Profile::BaseStack | Profile::Erlmcp | Profile::Portability => {
                Layer::Http
            }
        }
    }

    pub(crate) fn rule(self, name: &str) -> Option<Setting> {
        match (self, name) {
            (Profile::BaseStack, "resource-uri-provider") => Some(Setting::On(Severity::Error)),
            (Profile::Portability, name) if name.starts_with(portability::PREFIX) => {
                Some(Setting::On(Severity::Warning))
            }
            _ => None,
        }
    }

    /// Whether `method` is a name this profile knows beyond the specification.
    pub(crate) fn knows_method(self, method: &[u8]) -> bool {
        self == Profile::Erlmcp && ERLMCP_METHODS.contains(&method)
    }

    /// Which error codes are accepted beyond what the revision says.
    pub(crate) fn error_codes(self) -> ErrorCodePolicy {
        match self {
            Profile::Erlmcp => ErrorCodePolicy::erlmcp(),
            _ => ErrorCodePolicy::SPEC,
        }
    }
}

/// Names that stack uses and no published revision defines; its notifications lack the prefix.
const ERLMCP_METHODS: [&[u8]; 9] = [
    b"prompts/list_changed",
    b"requests/cancel",
    b"resources/list_changed",
    b"resources/updated",
    b"roots/list_changed",
    b"tasks/create",
    b"tasks/progress",
    b"tasks/update",
    b"tools/list_changed",
];

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

/// A profile that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile: spec, schema, jsonrpc, base-stack, erlmcp, portability")]
pub struct UnknownProfile(Box<str>);
