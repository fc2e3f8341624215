//! Writes HTTP exchanges as lines of a recording.

use http::{HeaderMap, StatusCode, request};
use mcp_core::Side;
use mcp_rules::{Headers, HttpEvent, HttpPart};

use super::Exchange;

/// Headers whose values are not recorded.
const SECRET: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

impl Exchange<'_> {
    pub(super) fn record_request(&self, url: &str, head: &request::Parts, body: &[u8]) -> u64 {
        let headers = noted(&head.headers);
        let url = format!("{url}{}", head.uri);
        let event = HttpEvent::request(self.number, head.method.as_str(), &url, &headers);
        self.play.recording.add_http(event, body, is_json(&head.headers))
    }

    pub(super) fn record_response(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> u64 {
        let noted = noted(headers);
        let part = HttpPart::Response { status: status.as_u16(), headers: &noted };
        let event = HttpEvent::new(self.number, Side::Server, part);
        self.play.recording.add_http(event, body, is_json(headers))
    }
}

fn noted(headers: &HeaderMap) -> Headers<'static> {
    let mut noted = Headers::new();
    for (name, value) in headers {
        if !SECRET.contains(&name.as_str()) {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            noted.push(name.as_str().to_owned(), value);
        }
    }
    noted
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
