//! Limits on the number of sessions and on their memory.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::StatusCode;
use http_body_util::BodyExt as _;
use mcp_transport::http::server::{HttpService, HttpSettings, RemoteAddress};
use tower_service::Service;

use super::{
    client::{Ask, open_directly},
    toy::Toy,
    until,
};

fn service(change: impl FnOnce(&mut HttpSettings)) -> HttpService {
    let mut settings = HttpSettings::default();
    change(&mut settings);
    HttpService::new(Arc::new(Toy::default()), settings)
}

/// Opens a session from an address; gives the status, and the id of the session.
async fn open_from(service: &HttpService, address: &str) -> (StatusCode, String) {
    let mut request = Ask::post("init").request();
    let address: IpAddr = address.parse().unwrap();
    request.extensions_mut().insert(RemoteAddress(address));
    let response = service.clone().call(request).await.unwrap();
    let id = response.headers().get("mcp-session-id");
    let id = id.map(|id| id.to_str().unwrap().to_owned()).unwrap_or_default();
    (response.status(), id)
}

async fn is_open(service: &HttpService, id: &str) -> bool {
    Ask::post("tell hi").session(id).directly(service).await.status == StatusCode::ACCEPTED
}

/// Uses a session; the clock is paused, so it moves only here.
async fn visit(service: &HttpService, id: &str) {
    assert!(is_open(service, id).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_session_idle_for_longest_gives_way() {
    let service = service(|settings| settings.max_sessions = 3);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = open_directly(&service, "").await;
        visit(&service, &id).await;
        ids.push(id);
    }
    visit(&service, &ids[0]).await;
    open_directly(&service, "").await;
    assert_eq!(service.sessions(), 3);
    assert!(!is_open(&service, &ids[1]).await);
    assert!(is_open(&service, &ids[0]).await && is_open(&service, &ids[2]).await);
}

#[tokio::test(start_paused = true)]
async fn sessions_that_were_never_used_give_way_first() {
    let service = service(|settings| settings.max_sessions = 10);
    let used = open_directly(&service, "").await;
    visit(&service, &used).await;
    // A client that opens sessions and never uses them only displaces its own.
    for _ in 0..1000 {
        open_directly(&service, "").await;
    }
    assert_eq!(service.sessions(), 10);
    assert!(is_open(&service, &used).await);
}

#[tokio::test(start_paused = true)]
async fn sessions_in_use_do_not_give_way() {
    let service = service(|settings| settings.max_sessions = 2);
    let listening = open_directly(&service, "").await;
    let stream = Ask::get().session(&listening).directly(&service).await;
    let working = open_directly(&service, "").await;
    let pending = tokio::spawn({
        let (ask, service) = (Ask::post("never").session(&working), service.clone());
        async move { ask.directly(&service).await.status }
    });
    tokio::task::yield_now().await;
    let refused = Ask::post("init").directly(&service).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(stream);
    open_directly(&service, "").await;
    assert!(!is_open(&service, &listening).await && is_open(&service, &working).await);
    pending.abort();
}

#[tokio::test(start_paused = true)]
async fn an_address_has_a_quota_of_sessions() {
    let service = service(|settings| settings.max_sessions_per_address = 2);
    let (_, neighbour) = open_from(&service, "192.0.2.1").await;
    let mut ids = Vec::new();
    for index in 0..3 {
        // Addresses of one network are those of one client.
        let (status, id) = open_from(&service, &format!("2001:db8::{index}")).await;
        assert_eq!(status, StatusCode::OK);
        visit(&service, &id).await;
        ids.push(id);
    }
    assert_eq!(service.sessions(), 3);
    assert!(!is_open(&service, &ids[0]).await);
    assert!(is_open(&service, &ids[1]).await && is_open(&service, &ids[2]).await);
    assert!(is_open(&service, &neighbour).await);
    // When all of them are in use, there are no more for this address.
    let mut streams = Vec::new();
    for id in &ids[1..] {
        streams.push(Ask::get().session(id).directly(&service).await);
    }
    let (status, _) = open_from(&service, "2001:db8::9").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(open_from(&service, "192.0.2.1").await.0, StatusCode::OK);
    // What was closed counts no longer.
    Ask::delete().session(&ids[1]).directly(&service).await;
    assert_eq!(open_from(&service, "2001:db8::9").await.0, StatusCode::OK);
    for _ in 0..5 {
        assert_eq!(open_from(&service, "127.0.0.1").await.0, StatusCode::OK);
    }
    assert_eq!(service.sessions(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_principal_has_a_quota_of_sessions() {
    let service = service(|settings| {
        settings.max_sessions_per_principal = 2;
        settings.max_sessions_per_address = 0;
    });
    let ada = Ask::post("init").with("x-user", "ada");
    for _ in 0..5 {
        assert_eq!(ada.directly(&service).await.status, StatusCode::OK);
    }
    assert_eq!(service.sessions(), 2);
    let bob = Ask::post("init").with("x-user", "bob").directly(&service).await;
    assert_eq!(bob.status, StatusCode::OK);
    assert_eq!(service.sessions(), 3);
    let (nobody, _) = open_from(&service, "192.0.2.1").await;
    assert_eq!(nobody, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn large_requests_of_clients_that_left_are_cancelled_at_once() {
    let toy = Arc::new(Toy::default());
    let mut settings = HttpSettings::default();
    settings.max_abandoned = 1000;
    let service = HttpService::new(toy.clone(), settings);
    let id = open_directly(&service, "2025-11-25").await;
    let leave = async |message: String| {
        let ask = Ask::post(&message).session(&id);
        let asking = tokio::spawn({
            let service = service.clone();
            async move { ask.directly(&service).await.status }
        });
        until(|| toy.has_noted(&message)).await;
        asking.abort();
        let _ = asking.await;
    };
    let hold = |length: usize| format!("hold {}", "x".repeat(length - 5));
    // Together at the limit: both go on.
    leave(hold(400)).await;
    leave(hold(600)).await;
    tokio::task::yield_now().await;
    assert_eq!(toy.count("over"), 0);
    // A byte too many: the oldest goes.
    leave(hold(6)).await;
    until(|| toy.count("over") == 1).await;
    leave(hold(1001)).await;
    until(|| toy.count("over") == 4).await;
}

#[tokio::test]
async fn what_is_kept_for_resuming_is_freed_with_the_session() {
    let service = service(|settings| {
        settings.replay_total = 100_000;
        settings.replay_bytes = 1 << 20;
    });
    // Each session wants to keep more than half of the room.
    let mut kept = Vec::new();
    for _ in 0..2 {
        let id = open_directly(&service, "2025-11-25").await;
        let text = format!("echo {}", "x".repeat(60_000));
        let ask = Ask::post(&text).session(&id).with("accept", "text/event-stream");
        let events = ask.directly(&service).await.events().await;
        let resume = Ask::get().session(&id).with("last-event-id", &events[0].id.clone().unwrap());
        kept.push((id, resume));
    }
    assert_eq!(kept[0].1.directly(&service).await.events().await.len(), 1);
    assert_eq!(kept[1].1.directly(&service).await.status, StatusCode::BAD_REQUEST);
    Ask::delete().session(&kept[0].0).directly(&service).await;
    let (id, _) = &kept[1];
    let text = format!("echo {}", "x".repeat(60_000));
    let ask = Ask::post(&text).session(id).with("accept", "text/event-stream");
    let events = ask.directly(&service).await.events().await;
    let resume = Ask::get().session(id).with("last-event-id", &events[0].id.clone().unwrap());
    assert_eq!(resume.directly(&service).await.events().await.len(), 1);
}

#[tokio::test]
async fn responses_that_nobody_reads_share_a_budget() {
    let service = service(|settings| settings.max_unread = 100_000);
    let echo = |length: usize| Ask::post(&format!("echo {}", "x".repeat(length))).stateless();
    let unread = echo(50_000).directly(&service).await;
    let another = echo(50_000).directly(&service).await;
    assert_eq!((unread.status, another.status), (StatusCode::OK, StatusCode::OK));
    let refused = echo(20_000).directly(&service).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(echo(10).directly(&service).await.text().await.len(), 10);
    drop(unread);
    assert_eq!(echo(50_000).directly(&service).await.text().await.len(), 50_000);
}

#[tokio::test]
async fn events_count_until_they_are_written() {
    let service = service(|settings| settings.max_unread = 100_000);
    let text = format!("echo {}", "x".repeat(60_000));
    let ask = Ask::post(&text).stateless().with("accept", "text/event-stream");
    let first = async || {
        let response = service.clone().call(ask.request()).await.unwrap();
        let (status, mut body) = (response.status().as_u16(), response.into_body());
        // The body itself is gone, as it is in a server that has taken the last frame.
        (status, body.frame().await.map(|frame| frame.unwrap().into_data().unwrap()))
    };
    let (status, unwritten) = first().await;
    assert_eq!((status, unwritten.is_some()), (200, true));
    assert_eq!(first().await.0, 503);
    drop(unwritten);
    assert_eq!(first().await.0, 200);
}
