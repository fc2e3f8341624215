//! The headers that are compared.

use std::collections::BTreeMap;

use mcp_rules::Headers;

use super::digest::Digester;

/// Headers that every hop sets for itself.
const OF_ONE_HOP: [&str; 15] = [
    "connection",
    "content-length",
    "date",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "server",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// The headers by lower-case name, without hop-by-hop headers. `None` if they were not recorded.
pub(super) fn compared(headers: &Headers<'_>) -> Option<BTreeMap<String, String>> {
    if !headers.are_recorded() {
        return None;
    }
    let mut compared: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers.iter() {
        let name = name.to_lowercase();
        if OF_ONE_HOP.contains(&&*name) || name.starts_with("x-forwarded-") {
            continue;
        }
        compared
            .entry(name)
            .and_modify(|all| {
                all.push_str(", ");
                all.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    Some(compared)
}

pub(super) fn digest(digester: &Digester, headers: &Headers<'_>) -> u64 {
    digester.of(compared(headers))
}
