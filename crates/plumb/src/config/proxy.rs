//! `[proxy]`: the servers behind `plumb proxy`, and what it does about findings.

use std::path::PathBuf;

use mcp_core::Side;
use mcp_proxy::{Action, BadTools, Prefix};
use toml::de::DeValue;

use super::{
    fault::Fault,
    reader::{Faults, Value, keep, levels, string, strings, table, unknown_key, word, wrong_type},
};
use crate::{args::Enforced, levels::Levels};

/// The table `[proxy]`; what it leaves out is `None` or empty.
#[derive(Debug, Default)]
pub(crate) struct ProxyConfig {
    pub(crate) upstreams: Vec<UpstreamConfig>,
    /// The sides whose messages are held back.
    pub(crate) enforce: Option<Enforced>,
    /// What to do about a list of tools if only some of them break a rule.
    pub(crate) bad_tools: Option<BadTools>,
    /// What to do about messages of either side.
    pub(crate) levels: Levels<Action>,
    /// What to do about messages of one side, by `Side as usize`.
    pub(crate) of_side: [Levels<Action>; 2],
}

/// An entry of `[[proxy.upstream]]`. Paths are relative to the file.
#[derive(Debug, Default)]
pub(crate) struct UpstreamConfig {
    pub(crate) prefix: Option<Prefix>,
    /// Empty if there is a command.
    pub(crate) url: String,
    /// Empty if there is a URL.
    pub(crate) command: Vec<String>,
    pub(crate) header_file: Option<PathBuf>,
    pub(crate) auth_token_file: Option<PathBuf>,
    pub(crate) ca: Option<PathBuf>,
}

const KEYS: [&str; 6] = ["bad_tools", "client", "enforce", "rules", "server", "upstream"];
const UPSTREAM_KEYS: [&str; 6] =
    ["auth_token_file", "ca", "command", "header_file", "prefix", "url"];

pub(super) fn read(value: &Value<'_>, faults: &mut Faults) -> ProxyConfig {
    let mut config = ProxyConfig::default();
    let Some(table) = keep(table(value), faults) else {
        return config;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "enforce" => config.enforce = keep(enforce(value), faults),
            "bad_tools" => config.bad_tools = keep(bad_tools(value), faults),
            "rules" => config.levels = levels(value, faults, action),
            "client" => config.of_side[Side::Client as usize] = of_side(value, faults),
            "server" => config.of_side[Side::Server as usize] = of_side(value, faults),
            "upstream" => match value.get_ref().as_array() {
                Some(array) => {
                    let read = array.iter().filter_map(|entry| upstream(entry, faults));
                    config.upstreams = read.collect();
                }
                None => faults.push(wrong_type(value, "tables: write `[[proxy.upstream]]`")),
            },
            unknown => faults.push(unknown_key(unknown, key.span(), &KEYS)),
        }
    }
    config
}

/// `[proxy.client]` or `[proxy.server]`.
fn of_side(value: &Value<'_>, faults: &mut Faults) -> Levels<Action> {
    let mut read = Levels::default();
    let Some(table) = keep(table(value), faults) else {
        return read;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "rules" => read = levels(value, faults, action),
            unknown => faults.push(unknown_key(unknown, key.span(), &["rules"])),
        }
    }
    read
}

fn enforce(value: &Value<'_>) -> Result<Enforced, Fault> {
    match value.get_ref() {
        DeValue::Boolean(true) => Ok(Enforced::Both),
        DeValue::Boolean(false) => Ok(Enforced::None),
        DeValue::String(_) => word(value, "side", &["client", "server"], |text| match text {
            "client" => Some(Enforced::Client),
            "server" => Some(Enforced::Server),
            _ => None,
        }),
        _ => Err(wrong_type(value, "true, false, \"client\" or \"server\"")),
    }
}

fn bad_tools(value: &Value<'_>) -> Result<BadTools, Fault> {
    word(value, "value of bad_tools", &["filter", "reject", "pass"], |text| match text {
        "filter" => Some(BadTools::Filter),
        "reject" => Some(BadTools::Reject),
        "pass" => Some(BadTools::Pass),
        _ => None,
    })
}

fn action(value: &Value<'_>) -> Result<Action, Fault> {
    word(value, "proxy level", &["off", "warn", "reject"], |text| match text {
        "off" => Some(Action::Off),
        "warn" => Some(Action::Warn),
        "reject" => Some(Action::Reject),
        _ => None,
    })
}

fn upstream(value: &Value<'_>, faults: &mut Faults) -> Option<UpstreamConfig> {
    let mut upstream = UpstreamConfig::default();
    for (key, value) in keep(table(value), faults)? {
        let mut text = || keep(string(value), faults).map(str::to_owned);
        match key.get_ref().as_ref() {
            "prefix" => {
                let prefix = text()?.parse();
                let prefix: Result<Prefix, _> = prefix.map_err(|error: mcp_proxy::PrefixError| {
                    Fault::new(value.span(), error.to_string())
                });
                upstream.prefix = keep(prefix, faults);
            }
            "url" => upstream.url = text()?,
            "header_file" => upstream.header_file = text().map(PathBuf::from),
            "auth_token_file" => upstream.auth_token_file = text().map(PathBuf::from),
            "ca" => upstream.ca = text().map(PathBuf::from),
            "command" => upstream.command = keep(strings(value), faults)?,
            unknown => faults.push(unknown_key(unknown, key.span(), &UPSTREAM_KEYS)),
        }
    }
    if upstream.url.is_empty() == upstream.command.is_empty() {
        let fault = Fault::new(value.span(), "an upstream has either a `url` or a `command`");
        faults.push(fault.help("write url = \"http://…\" or command = [\"my-server\"]"));
    }
    Some(upstream)
}
