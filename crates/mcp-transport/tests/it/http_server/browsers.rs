//! Requests from web pages.

use http::{Method, StatusCode};
use mcp_core::{Revision, Revisions};
use mcp_transport::{
    Allowed,
    http::server::{HttpSettings, ServeSettings},
};

use super::{
    Server,
    client::{Ask, open_session},
};

const ORIGIN: &str = "http://localhost:6274";

fn preflight(origin: &str) -> Ask {
    Ask::get()
        .method(Method::OPTIONS)
        .without("accept")
        .with("origin", origin)
        .with("access-control-request-method", "POST")
}

async fn start(change: impl FnOnce(&mut HttpSettings)) -> Server {
    let mut settings = HttpSettings::default();
    change(&mut settings);
    Server::with(settings, ServeSettings::default()).await
}

#[tokio::test]
async fn a_page_from_an_allowed_origin_is_told_what_it_may_send() {
    let server = Server::start().await;
    let reply = preflight(ORIGIN).to(&server).await;
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    assert_eq!(reply.header("access-control-allow-origin"), Some(ORIGIN));
    assert_eq!(reply.header("access-control-allow-methods"), Some("GET, POST, DELETE, OPTIONS"));
    let allowed = reply.header("access-control-allow-headers").unwrap();
    for name in [
        "mcp-session-id",
        "mcp-protocol-version",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "authorization",
        "content-type",
    ] {
        assert!(allowed.split(", ").any(|allowed| allowed == name), "{name}");
    }
    let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
    assert_eq!(vary, ["access-control-request-headers", "origin"]);
    assert_eq!(reply.text().await, "");
}

#[tokio::test]
async fn headers_that_tools_have_named_may_be_sent() {
    let server = Server::start().await;
    let asked = "content-type,mcp-param-region,x-api-key";
    let reply = preflight(ORIGIN).with("access-control-request-headers", asked).to(&server).await;
    assert_eq!(reply.header("access-control-allow-headers"), Some(asked));
}

#[tokio::test]
async fn a_page_may_read_answers_refusals_and_streams() {
    let server = Server::start().await;
    let opened = Ask::post("init 2025-11-25").with("origin", ORIGIN).to(&server).await;
    assert_eq!(opened.header("access-control-allow-origin"), Some(ORIGIN));
    assert_eq!(opened.header("access-control-expose-headers"), Some("mcp-session-id"));
    let id = opened.header("mcp-session-id").unwrap();
    for (ask, status) in [
        (Ask::post("echo hi").session(id), StatusCode::OK),
        (Ask::post("stream 2").stateless(), StatusCode::OK),
        (Ask::get().session(id), StatusCode::OK),
        (Ask::post("tell hi").session(id), StatusCode::ACCEPTED),
        (Ask::post("echo hi").session("none"), StatusCode::NOT_FOUND),
        (
            Ask::post("echo hi").with("content-type", "text/plain"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (Ask::delete().session(id), StatusCode::NO_CONTENT),
    ] {
        let reply = ask.with("origin", ORIGIN).to(&server).await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("access-control-allow-origin"), Some(ORIGIN), "{status}");
        assert_eq!(reply.header("vary"), Some("origin"), "{status}");
    }
}

#[tokio::test]
async fn other_pages_are_told_nothing() {
    let server = Server::start().await;
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", ""] {
        for ask in [preflight(origin), Ask::post("echo hi").stateless().with("origin", origin)] {
            let reply = ask.to(&server).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{origin}");
            assert!(!reply.headers.keys().any(|name| name.as_str().starts_with("access-control")));
        }
    }
    // Through a host name that an attacker has pointed at this server.
    let rebound = preflight("http://evil.example").with("host", "evil.example").to(&server).await;
    assert_eq!(rebound.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn only_listed_origins_are_allowed_if_there_is_a_list() {
    let server = start(|settings| {
        settings.origins = Allowed::nothing().and("https://app.example");
    })
    .await;
    assert_eq!(preflight(ORIGIN).to(&server).await.status, StatusCode::FORBIDDEN);
    let reply = preflight("https://app.example").to(&server).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://app.example"));
}

#[tokio::test]
async fn without_sessions_a_page_may_post_alone() {
    let server = start(|settings| settings.revisions = Revisions::only(Revision::LATEST)).await;
    let reply = preflight(ORIGIN).to(&server).await;
    assert_eq!(reply.header("access-control-allow-methods"), Some("POST, OPTIONS"));
}

#[tokio::test]
async fn somebody_else_may_speak_to_browsers() {
    let server = start(|settings| settings.cors = false).await;
    for ask in [preflight(ORIGIN), Ask::post("init").with("origin", ORIGIN)] {
        let reply = ask.to(&server).await;
        assert!(reply.status.is_success());
        assert!(!reply.headers.keys().any(|name| name.as_str().starts_with("access-control")));
        assert_eq!(reply.header("vary"), None);
    }
}

#[tokio::test]
async fn who_is_no_browser_sees_nothing_of_it() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let reply = Ask::post("echo hi").session(&id).to(&server).await;
    assert_eq!((reply.header("vary"), reply.header("access-control-allow-origin")), (None, None));
    let reply = Ask::get().method(Method::OPTIONS).to(&server).await;
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    assert_eq!(reply.header("allow"), Some("GET, POST, DELETE, OPTIONS"));
    assert_eq!(reply.header("access-control-allow-methods"), None);
}
