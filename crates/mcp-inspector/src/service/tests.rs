use std::sync::Arc;

use axum::{body::Body, response::Response};
use http::{Request, StatusCode};
use mcp_rules::{Limits, LineReader};
use tower_service::Service as _;

use super::*;
use crate::LogLimits;

const TOKEN: &str = "0123456789abcdef";

fn log_of(lines: &[&str]) -> Log {
    let log = Log::new(LogLimits::default());
    let mut reader = LineReader::new(&Limits::default());
    for (index, line) in lines.iter().enumerate() {
        reader.read(line.as_bytes(), |line| log.append(index as u64 + 1, line, &[], |_| {}));
    }
    log
}

async fn ask(log: &Log, request: Request<Body>) -> Response {
    let (hosts, origins) = (Allowed::loopback(), Allowed::loopback());
    let access = PageAccess { token: Arc::from(TOKEN), hosts, origins };
    Service::new(log.clone(), access, "a test").router().call(request).await.unwrap()
}

fn get(path: &str) -> http::request::Builder {
    Request::get(path).header("host", "127.0.0.1:1")
}

async fn text(response: Response) -> String {
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

/// Everything that is served; a route that is missing here fails `every_route_is_listed`.
const ROUTES: &[&str] = &[
    "",
    "assets/x/main.js",
    "api/about",
    "api/frames/1",
    "api/frames/1/text",
    "api/frames/1/line",
    "api/frames/1/schemas",
    "api/search?words=[]&how=all",
    "api/problems",
    "api/session",
    "api/rules/stdout-non-json",
    "api/recording",
    "api/har",
    "api/report",
    "POST api/import",
    "imports/1/",
    "imports/1/api/about",
    "api/stream",
    "api/speak",
    "api/speak/offer",
    "POST api/speak/connect",
    "POST api/speak/disconnect",
    "POST api/speak/refresh",
    "POST api/speak/compose",
    "POST api/speak/request",
    "POST api/speak/raw",
    "POST api/speak/answer",
    "POST api/speak/cancel",
    "POST api/speak/replay",
    "POST api/speak/demo",
];

/// A request for an entry of [`ROUTES`], below a token.
fn to(token: &str, route: &str) -> http::request::Builder {
    match route.strip_prefix("POST ") {
        Some(route) => Request::post(format!("/{token}/{route}")),
        None => Request::get(format!("/{token}/{route}")),
    }
}

#[test]
fn every_route_is_listed() {
    let routes = include_str!("mod.rs").matches(".route(").count();
    assert_eq!(routes, ROUTES.len());
}

#[tokio::test]
async fn every_route_wants_the_token_and_refuses_foreign_hosts_and_pages() {
    let log = log_of(&[r#"{"from":"server","raw":"hello"}"#]);
    let local = |token: &str, route: &str| to(token, route).header("host", "127.0.0.1:1");
    for route in ROUTES {
        for token in ["", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"] {
            let response = ask(&log, local(token, route).body(Body::empty()).unwrap()).await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{token} {route}");
            assert!(!text(response).await.contains("hello"));
        }
        let foreign = to(TOKEN, route).header("host", "evil.example").body(Body::empty()).unwrap();
        assert_eq!(ask(&log, foreign).await.status(), StatusCode::FORBIDDEN, "{route}");
        let foreign = local(TOKEN, route).header("origin", "http://evil.example");
        let foreign = ask(&log, foreign.body(Body::empty()).unwrap()).await;
        assert_eq!(foreign.status(), StatusCode::FORBIDDEN, "{route}");
        let own = ask(&log, local(TOKEN, route).body(Body::empty()).unwrap()).await;
        let policy = own.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{route}");
        assert!(!policy.contains("unsafe"));
        let expected = match *route {
            route if route.starts_with("assets/x") => 404,
            // Nothing was imported, there is no HTTP, and nothing in the file.
            route if route.starts_with("imports/") || route == "api/har" => 404,
            "POST api/import" => 422,
            // Here is nobody to speak to.
            route if route.contains("api/speak") => 409,
            _ => 200,
        };
        assert_eq!(own.status().as_u16(), expected, "{route}");
    }
}

#[tokio::test]
async fn the_page_names_files_that_are_served() {
    let log = log_of(&[]);
    let page = ask(&log, get(&format!("/{TOKEN}/")).body(Body::empty()).unwrap()).await;
    let page = text(page).await;
    let files: Vec<&str> = page.split('"').filter(|part| part.starts_with("assets/")).collect();
    assert!(files.len() > 4, "{page}");
    for file in files {
        let response =
            ask(&log, get(&format!("/{TOKEN}/{file}")).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{file}");
        let kept = response.headers()["cache-control"].to_str().unwrap();
        assert!(kept.contains("immutable"), "{file}");
    }
}

#[tokio::test]
async fn a_frame_is_shown_byte_for_byte() {
    let spelt = r#"{"jsonrpc":"2.0", "id":9007199254740993,"method":"ping"}"#;
    let log = log_of(&[
        &format!(r#"{{"from":"client","msg":{spelt}}}"#),
        r#"{"from":"server","raw":"a \"log\" line"}"#,
        r#"{"from":"server","rawBase64":"/w=="}"#,
    ]);
    let wire = |number: u64| {
        let path = format!("/{TOKEN}/api/frames/{number}/text");
        let log = log.clone();
        async move {
            let response = ask(&log, get(&path).body(Body::empty()).unwrap()).await;
            axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap()
        }
    };
    assert_eq!(wire(1).await, spelt);
    assert_eq!(wire(2).await, "a \"log\" line");
    assert_eq!(&wire(3).await[..], b"\xff");
    let detail = ask(&log, get(&format!("/{TOKEN}/api/frames/1")).body(Body::empty()).unwrap());
    let detail: serde_json::Value = serde_json::from_str(&text(detail.await).await).unwrap();
    assert_eq!(detail["text"], spelt);
    assert_eq!(detail["row"]["id"], "9007199254740993");
    let gone = ask(&log, get(&format!("/{TOKEN}/api/frames/9")).body(Body::empty()).unwrap()).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn texts_are_searched() {
    let log = log_of(&[
        r#"{"from":"client","msg":{"a":"one two"}}"#,
        r#"{"from":"client","msg":{"a":"two"}}"#,
    ]);
    let search = |words: &str, how: &str| {
        let words = words.replace('"', "%22").replace(' ', "%20");
        let path = format!("/{TOKEN}/api/search?words={words}&how={how}");
        let log = log.clone();
        async move { text(ask(&log, get(&path).body(Body::empty()).unwrap()).await).await }
    };
    assert_eq!(search(r#"["two"]"#, "all").await, "[1,2]");
    assert_eq!(search(r#"["two","one"]"#, "all").await, "[1]");
    assert_eq!(search(r#"["one","nothing"]"#, "any").await, "[1]");
}

#[tokio::test]
async fn whoever_comes_late_is_told_everything_in_order() {
    use futures_util::StreamExt as _;

    let log = Log::new(LogLimits::default());
    let mut reader = LineReader::new(&Limits::default());
    let line = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
    // More than are remembered as changes.
    for number in 1..=70_000 {
        reader.read(line.as_bytes(), |line| log.append(number, line, &[], |_| {}));
    }
    let stream = ask(&log, get(&format!("/{TOKEN}/api/stream")).body(Body::empty()).unwrap()).await;
    let mut stream = stream.into_body().into_data_stream();
    let (mut next, mut cursor) = (1, 0);
    while cursor == 0 {
        let news = stream.next().await.unwrap().unwrap();
        let news: serde_json::Value = serde_json::from_slice(&news).unwrap();
        assert_eq!(news["is_behind"], next == 1);
        for row in news["rows"].as_array().unwrap() {
            assert_eq!(row["number"], next);
            next += 1;
        }
        cursor = news["cursor"].as_u64().unwrap();
    }
    assert_eq!((next, cursor), (70_001, 70_000));
}
