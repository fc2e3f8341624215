//! Any HTTP request to a server that enforces the rules: always an answer, never an internal
//! failure.

#![no_main]

use std::sync::OnceLock;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use libfuzzer_sys::fuzz_target;
use mcp_core::{Json, Tool};
use mcp_sdk::{Server, Validation};
use mcp_transport::http::server::{HttpService, HttpSettings};
use serde_json::json;
use tower_service::Service as _;

fuzz_target!(|input: &[u8]| {
    if let Some(request) = request(input) {
        let status = plumb_fuzz::run(answer(request));
        assert!(!status.is_server_error(), "{status}");
    }
});

/// A first line with method and path, lines of headers, an empty line, the body.
fn request(input: &[u8]) -> Option<Request<Full<Bytes>>> {
    let (first, mut rest) = split_line(input)?;
    let (method, path) = std::str::from_utf8(first).ok()?.split_once(' ')?;
    let mut request =
        Request::builder().method(Method::from_bytes(method.as_bytes()).ok()?).uri(path);
    while let Some((line, behind)) = split_line(rest) {
        rest = behind;
        if line.is_empty() {
            break;
        }
        let colon = line.iter().position(|byte| *byte == b':')?;
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    request.body(Full::new(Bytes::copy_from_slice(rest))).ok()
}

fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

async fn answer(request: Request<Full<Bytes>>) -> StatusCode {
    let mut service = service();
    let response = service.call(request).await.expect("infallible");
    // Sessions of earlier inputs would make the same input behave differently.
    service.close();
    response.status()
}

fn service() -> HttpService {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let number = json!({"type": "integer", "x-mcp-header": "N"});
        let schema = json!({"type": "object", "properties": {"n": number}});
        let tool = Tool::new("echo", schema.into());
        Server::builder("fuzzed", "1")
            .validation(Validation::enforce())
            .raw_tool(tool, async |arguments: Json, _| Ok(arguments.to_string()))
            .build()
            .expect("a server")
    });
    server.http_service(HttpSettings::default())
}
