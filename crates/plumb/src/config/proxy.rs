//! `[proxy]`: what `plumb proxy` passes traffic to.

use std::path::PathBuf;

use mcp_proxy::Prefix;

use super::{
    fault::Fault,
    reader::{Faults, Value, keep, string, strings, table, unknown_key, wrong_type},
};

/// The table `[proxy]`.
#[derive(Debug, Default)]
pub(crate) struct ProxyConfig {
    pub(crate) upstreams: Vec<UpstreamConfig>,
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

const PROXY_KEYS: [&str; 1] = ["upstream"];
const UPSTREAM_KEYS: [&str; 6] =
    ["auth_token_file", "ca", "command", "header_file", "prefix", "url"];

pub(super) fn proxy(value: &Value<'_>, faults: &mut Faults) -> ProxyConfig {
    let mut config = ProxyConfig::default();
    let Some(entries) = keep(table(value), faults) else { return config };
    for (key, value) in entries {
        match key.get_ref().as_ref() {
            "upstream" => match value.get_ref().as_array() {
                Some(array) => {
                    let read = array.iter().filter_map(|entry| upstream(entry, faults));
                    config.upstreams = read.collect();
                }
                None => faults.push(wrong_type(value, "tables: write `[[proxy.upstream]]`")),
            },
            unknown => faults.push(unknown_key(unknown, key.span(), &PROXY_KEYS)),
        }
    }
    config
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
