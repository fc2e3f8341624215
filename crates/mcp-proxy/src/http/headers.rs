//! Hop-by-hop headers, which are not forwarded.

use http::{
    HeaderMap, HeaderName,
    header::{
        CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING,
        UPGRADE,
    },
};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Removes hop-by-hop headers: the standard ones, and those named in `Connection`. The others keep
/// their order.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let concerns_connection = |name: &HeaderName| USUAL.contains(name) || named.contains(name);
    if headers.keys().any(concerns_connection) {
        // Removing one from the map would move the last one to its position.
        let rest = headers.iter().filter(|(name, _)| !concerns_connection(name));
        *headers = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    }
}

const USUAL: [HeaderName; 9] = [
    CONNECTION,
    KEEP_ALIVE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    PROXY_CONNECTION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let mut headers: HeaderMap = [
            ("connection", "close, X-Mine"),
            ("keep-alive", "5"),
            ("x-mine", "1"),
            ("transfer-encoding", "chunked"),
            ("mcp-session-id", "a"),
        ]
        .into_iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["mcp-session-id"]);
    }
}
