//! Sessions as a whole: how they open, carry messages, and end.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::StatusCode;
use mcp_transport::http::server::{HttpService, HttpSettings};

use super::{
    Server,
    client::{Ask, open_directly, open_session},
    soon,
    toy::Toy,
    until,
};

#[tokio::test]
async fn initialize_opens_a_session_with_an_id_nobody_can_guess() {
    let server = Server::start().await;
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let id = open_session(&server, "2025-06-18").await;
        assert_eq!(id.len(), 32);
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(ids.insert(id));
    }
    assert_eq!(server.service.sessions(), 20);
}

#[tokio::test]
async fn a_session_that_was_not_opened_properly_is_none() {
    let server = Server::start().await;
    for word in ["init badly", "init in vain"] {
        let reply = Ask::post(word).to(&server).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.header("mcp-session-id"), None);
        assert_eq!(reply.text().await, "no");
        assert_eq!(server.service.sessions(), 0);
        let reply = Ask::post(word).with("accept", "text/event-stream").to(&server).await;
        assert_eq!(reply.header("mcp-session-id"), None);
        assert!(soon(reply.text()).await.contains("data: no"));
        assert_eq!(server.service.sessions(), 0);
    }
}

#[tokio::test]
async fn a_session_is_found_only_by_whom_it_was_opened_for() {
    let server = Server::start().await;
    let opened = Ask::post("init 2025-11-25").with("x-user", "ada").to(&server).await;
    let id = opened.header("mcp-session-id").unwrap();
    for ask in [Ask::post("echo hi"), Ask::post("tell hi"), Ask::get(), Ask::delete()] {
        let ask = ask.session(id);
        for thief in [ask.clone(), ask.with("x-user", "eve")] {
            assert_eq!(thief.to(&server).await.status, StatusCode::NOT_FOUND);
        }
    }
    let own = Ask::post("echo hi").session(id).with("x-user", "ada").to(&server).await;
    assert_eq!(own.text().await, "hi");
    let nobodys = open_session(&server, "2025-11-25").await;
    let reply = Ask::post("echo hi").session(&nobodys).with("x-user", "eve").to(&server).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_answer_alone_is_plain_json() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let reply = Ask::post("echo {\"a\": 1}").session(&id).to(&server).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.text().await, "{\"a\": 1}");
}

#[tokio::test]
async fn errors_of_requests_are_answers_like_others() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    for word in ["bad", "unknown"] {
        let reply = Ask::post(word).session(&id).to(&server).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.text().await, word);
    }
}

#[tokio::test]
async fn what_wants_no_answer_is_accepted_without_a_body() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let reply = Ask::post("tell something").session(&id).to(&server).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED);
    assert_eq!(reply.header("content-type"), None);
    assert_eq!(reply.text().await, "");
    until(|| server.toy.has_noted("tell something")).await;
}

#[tokio::test]
async fn after_delete_the_session_is_unknown() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let waiting = tokio::spawn({
        let (ask, address) = (Ask::post("never").session(&id), server.address);
        async move { ask.to_address(address).await.status }
    });
    let mut listening = Ask::get().session(&id).to(&server).await;
    assert_eq!(Ask::delete().session(&id).to(&server).await.status, StatusCode::NO_CONTENT);
    for ask in [Ask::post("echo hi"), Ask::post("tell hi"), Ask::get(), Ask::delete()] {
        assert_eq!(ask.session(&id).to(&server).await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(soon(waiting).await.unwrap(), StatusCode::NOT_FOUND);
    while soon(listening.event()).await.is_some() {}
    until(|| server.toy.has_noted("end")).await;
}

#[tokio::test]
async fn a_session_ends_with_its_conversation() {
    let server = Server::start().await;
    for word in ["leave", "close", "panic"] {
        let id = open_session(&server, "2025-11-25").await;
        let reply = Ask::post(word).session(&id).to(&server).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{word}");
        until(|| server.service.sessions() == 0).await;
        let reply = Ask::post("echo hi").session(&id).to(&server).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{word}");
    }
}

#[tokio::test]
async fn there_are_only_so_many_pending_requests() {
    let mut settings = HttpSettings::default();
    settings.max_pending = 1;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let id = open_directly(&service, "").await;
    let pending = tokio::spawn({
        let (ask, service) = (Ask::post("never").session(&id), service.clone());
        async move { ask.directly(&service).await.status }
    });
    tokio::task::yield_now().await;
    let reply = Ask::post("echo hi").session(&id).directly(&service).await;
    assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
    pending.abort();
}

#[tokio::test]
async fn a_client_that_leaves_before_it_knows_its_session_leaves_none() {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy.clone(), HttpSettings::default());
    // The toy has no `init` that waits, so the request itself is dropped before it is answered.
    let opening = {
        let service = service.clone();
        async move { Ask::post("init").directly(&service).await.status }
    };
    let mut opening = Box::pin(opening);
    assert!(futures_util::poll!(&mut opening).is_pending());
    assert_eq!(service.sessions(), 1);
    drop(opening);
    assert_eq!(service.sessions(), 0);
    until(|| toy.has_noted("end")).await;
}

#[tokio::test]
async fn ten_thousand_pending_requests_of_one_session_are_all_answered() {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy.clone(), HttpSettings::default());
    let id = open_directly(&service, "2025-11-25").await;
    let requests: Vec<_> = (0..10_000)
        .map(|index| {
            let (ask, service) =
                (Ask::post(&format!("hold {index}")).session(&id), service.clone());
            tokio::spawn(async move { ask.directly(&service).await.text().await })
        })
        .collect();
    toy.gate.add_permits(10_000);
    for (index, answer) in soon(join_all(requests)).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), index.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_expires() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let id = open_directly(&service, "2025-11-25").await;
    for _ in 0..3 {
        let reply = Ask::post("tell hi").session(&id).directly(&service).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
        tokio::time::sleep(Duration::from_secs(29 * 60)).await;
    }
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(service.sessions(), 0);
    let reply = Ask::post("echo hi").session(&id).directly(&service).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn a_session_may_last_for_ever() {
    let mut settings = HttpSettings::default();
    settings.session_claim = Duration::MAX;
    settings.session_idle = Duration::MAX;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let id = open_directly(&service, "2025-11-25").await;
    tokio::time::sleep(Duration::from_secs(365 * 24 * 60 * 60)).await;
    let reply = Ask::post("echo hi").session(&id).directly(&service).await;
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_session_to_which_nobody_comes_back_makes_room_soon() {
    let mut settings = HttpSettings::default();
    settings.max_sessions = 2;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let used = open_directly(&service, "2025-11-25").await;
    open_directly(&service, "2025-11-25").await;
    let told = Ask::post("tell hi").session(&used).directly(&service).await;
    assert_eq!(told.status, StatusCode::ACCEPTED);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(service.sessions(), 1);
    let reply = Ask::post("echo hi").session(&used).directly(&service).await;
    assert_eq!(reply.status, StatusCode::OK);
    open_directly(&service, "2025-11-25").await;
}

#[tokio::test(start_paused = true)]
async fn a_session_with_an_open_stream_or_work_in_progress_is_not_idle() {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy.clone(), HttpSettings::default());
    let id = open_directly(&service, "2025-11-25").await;
    let listening = Ask::get().session(&id).directly(&service).await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(service.sessions(), 1);
    let working = tokio::spawn({
        let (ask, service) = (Ask::post("hold on").session(&id), service.clone());
        async move { ask.directly(&service).await.text().await }
    });
    tokio::task::yield_now().await;
    drop(listening);
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(service.sessions(), 1);
    toy.gate.add_permits(1);
    assert_eq!(working.await.unwrap(), "on");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(service.sessions(), 0);
}

#[tokio::test(start_paused = true)]
async fn work_for_a_client_that_has_vanished_does_not_keep_a_session() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let id = open_directly(&service, "2025-11-25").await;
    let vanishing = tokio::spawn({
        let (ask, service) = (Ask::post("hold on").session(&id), service.clone());
        async move { ask.directly(&service).await.status }
    });
    tokio::task::yield_now().await;
    vanishing.abort();
    tokio::time::sleep(Duration::from_secs(61 * 60)).await;
    assert_eq!(service.sessions(), 0);
}
