//! Requests that are rejected before any conversation, and how.

use std::sync::Arc;

use http::{Method, StatusCode};
use mcp_core::{Revision, Revisions};
use mcp_transport::{
    Allowed,
    http::server::{HttpService, HttpSettings, ServeSettings},
};
use proptest::prelude::*;

use super::{
    Server,
    client::{Ask, open_session},
    toy::Toy,
};

proptest! {
    #[test]
    fn whatever_the_headers_say_there_is_a_sensible_answer(
        method in prop::sample::select(vec!["POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "x"]),
        chosen in prop::collection::vec((0_usize..7, 0_usize..12, "[ -~\\t]{0,12}"), 0..6),
        body in prop::sample::select(vec!["init", "echo hi", "tell hi", "garbage", ""]),
    ) {
        const NAMES: [&str; 7] = [
            "host", "origin", "accept", "content-type", "mcp-session-id", "mcp-protocol-version",
            "last-event-id",
        ];
        const VALUES: [&str; 11] = [
            "localhost", "[::1]:1", "http://localhost", "*/*", "application/json", "text/event-stream",
            "2025-11-25", "2026-07-28", "p0-0", "g0-1", "",
        ];
        let mut ask = Ask::post(body).method(method.parse().unwrap());
        for (name, value, other) in &chosen {
            ask = ask.with(NAMES[*name], VALUES.get(*value).copied().unwrap_or(other));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let status = runtime.block_on(async {
            let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
            super::soon(ask.directly(&service)).await.status
        });
        prop_assert!(
            [200, 202, 204, 400, 403, 404, 405, 406, 415].contains(&status.as_u16()), "{}", status
        );
    }
}

#[track_caller]
fn check(outcome: (Ask, StatusCode)) -> impl Future<Output = ()> {
    let location = std::panic::Location::caller();
    async move {
        let server = Server::start().await;
        let (ask, status) = outcome;
        let reply = ask.to(&server).await;
        assert_eq!(reply.status, status, "{location}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{location}");
        assert_ne!(reply.text().await, "", "{location}: a refusal says why");
        assert_eq!(server.service.sessions(), 0, "{location}");
    }
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_forbidden_for_every_method() {
    for ask in [Ask::post("init"), Ask::get(), Ask::delete(), Ask::post("init").stateless()] {
        check((ask.clone().with("host", "evil.example"), StatusCode::FORBIDDEN)).await;
        check((ask.clone().with("origin", "http://evil.example"), StatusCode::FORBIDDEN)).await;
        check((ask.with("origin", "null"), StatusCode::FORBIDDEN)).await;
    }
}

#[tokio::test]
async fn local_hosts_and_origins_are_served() {
    let server = Server::start().await;
    for (host, origin) in [
        ("localhost:3000", "http://localhost:3000"),
        ("127.0.0.1", "https://127.0.0.1:1"),
        ("[::1]:80", "http://[::1]"),
    ] {
        let ask = Ask::post("echo hi").stateless().with("host", host).with("origin", origin);
        assert_eq!(ask.to(&server).await.status, StatusCode::OK, "{host} {origin}");
    }
}

#[tokio::test]
async fn allowed_names_replace_the_local_ones() {
    let mut settings = HttpSettings::default();
    settings.hosts = Allowed::nothing().and("mcp.example");
    settings.origins = Allowed::nothing().and("https://app.example");
    let server = Server::with(settings, ServeSettings::default()).await;
    let ask = Ask::post("echo hi").stateless();
    assert_eq!(ask.to(&server).await.status, StatusCode::FORBIDDEN);
    let ask = ask.with("host", "mcp.example").with("origin", "https://app.example");
    assert_eq!(ask.to(&server).await.status, StatusCode::OK);
}

#[tokio::test]
async fn other_content_types_are_unsupported() {
    let ask = Ask::post("init");
    check((ask.clone().with("content-type", "text/plain"), StatusCode::UNSUPPORTED_MEDIA_TYPE))
        .await;
    check((ask.without("content-type"), StatusCode::UNSUPPORTED_MEDIA_TYPE)).await;
}

#[tokio::test]
async fn clients_must_accept_some_form_of_answer() {
    check((Ask::post("init").with("accept", "text/html"), StatusCode::NOT_ACCEPTABLE)).await;
    check((Ask::get().with("accept", "application/json"), StatusCode::NOT_ACCEPTABLE)).await;
}

#[tokio::test]
async fn what_the_application_refuses_is_refused_its_way() {
    let server = Server::start().await;
    let reply = Ask::post("garbage").to(&server).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert_eq!(reply.text().await, "refused");
}

#[tokio::test]
async fn requests_need_a_session_that_exists() {
    check((Ask::post("echo hi"), StatusCode::BAD_REQUEST)).await;
    check((Ask::post("tell hi"), StatusCode::BAD_REQUEST)).await;
    check((Ask::get(), StatusCode::BAD_REQUEST)).await;
    check((Ask::delete(), StatusCode::BAD_REQUEST)).await;
    check((Ask::post("echo hi").session("none"), StatusCode::NOT_FOUND)).await;
    check((Ask::post("init").session("none"), StatusCode::NOT_FOUND)).await;
    check((Ask::get().session("none"), StatusCode::NOT_FOUND)).await;
    check((Ask::delete().session("none"), StatusCode::NOT_FOUND)).await;
}

#[tokio::test]
async fn unknown_protocol_versions_are_bad_requests() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    for version in ["1999-01-01", "", "2025-11-25, 2025-06-18"] {
        for ask in [Ask::post("echo hi"), Ask::get(), Ask::delete()] {
            let ask = ask.session(&id).with("mcp-protocol-version", version);
            assert_eq!(ask.to(&server).await.status, StatusCode::BAD_REQUEST, "{version}");
        }
    }
    for version in ["2025-06-18", "2025-11-25"] {
        let ask = Ask::post("echo hi").session(&id).with("mcp-protocol-version", version);
        assert_eq!(ask.to(&server).await.status, StatusCode::OK, "{version}");
    }
}

#[tokio::test]
async fn versions_that_are_not_offered_are_bad_requests() {
    let mut settings = HttpSettings::default();
    settings.revisions = Revisions::only(Revision::V2025_06_18);
    let server = Server::with(settings, ServeSettings::default()).await;
    let id = open_session(&server, "2025-06-18").await;
    let ask = Ask::post("echo hi").session(&id).with("mcp-protocol-version", "2025-11-25");
    assert_eq!(ask.to(&server).await.status, StatusCode::BAD_REQUEST);
    let ask = Ask::post("init").with("mcp-protocol-version", "2025-11-25");
    assert_eq!(ask.to(&server).await.status, StatusCode::OK, "to be negotiated");
}

#[tokio::test]
async fn headers_that_name_one_thing_must_not_be_repeated() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    for name in ["mcp-session-id", "mcp-protocol-version"] {
        let ask = Ask::post("echo hi").session(&id);
        let ask = ask.with("mcp-protocol-version", "2025-11-25").again(name, "2025-06-18");
        assert_eq!(ask.to(&server).await.status, StatusCode::BAD_REQUEST, "{name}");
    }
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let server = Server::start().await;
    let reply = Ask::post("init").method(Method::PUT).to(&server).await;
    assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(reply.header("allow"), Some("GET, POST, DELETE, OPTIONS"));
}

#[tokio::test]
async fn only_post_is_allowed_where_there_are_no_sessions() {
    let mut settings = HttpSettings::default();
    settings.revisions = Revisions::only(Revision::V2026_07_28);
    let modern_only = Server::with(settings, ServeSettings::default()).await;
    let both = Server::start().await;
    for ask in [Ask::get(), Ask::delete()] {
        for (server, ask) in [(&modern_only, ask.clone()), (&both, ask.stateless())] {
            let reply = ask.to(server).await;
            assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(reply.header("allow"), Some("POST, OPTIONS"));
        }
    }
}
