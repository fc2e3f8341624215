//! Event streams in sessions.

use std::{collections::HashSet, sync::Arc, time::Duration};

use http::StatusCode;
use mcp_transport::http::server::{HttpService, HttpSettings};

use super::{
    Server,
    client::{Ask, data, open_directly, open_session},
    soon,
    toy::Toy,
    until,
};

#[tokio::test]
async fn what_comes_before_the_answer_makes_a_stream_that_ends_with_it() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-06-18").await;
    let reply = Ask::post("stream 3").session(&id).to(&server).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    let events = soon(reply.events()).await;
    assert_eq!(data(&events), ["n0", "n1", "n2", "done"]);
    assert!(events.iter().all(|event| event.id.is_some() && event.retry.is_none()));
}

#[tokio::test]
async fn streams_are_primed_where_the_revision_knows_of_it() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let events = soon(Ask::post("stream 1").session(&id).to(&server).await.events()).await;
    assert_eq!(data(&events), ["", "n0", "done"]);
    assert_eq!(events[0].retry, Some(1000));
    let mut listening = Ask::get().session(&id).to(&server).await;
    assert_eq!(soon(listening.event()).await.unwrap().data, "");
}

#[tokio::test]
async fn event_ids_are_unique_in_a_session() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let mut seen = HashSet::new();
    for _ in 0..3 {
        for event in soon(Ask::post("stream 5").session(&id).to(&server).await.events()).await {
            assert!(seen.insert(event.id.unwrap()));
        }
    }
}

#[tokio::test]
async fn clients_that_take_only_events_get_the_answer_as_one() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let ask = Ask::post("echo hi").session(&id).with("accept", "text/event-stream");
    assert_eq!(data(&soon(ask.to(&server).await.events()).await), ["", "hi"]);
}

#[tokio::test]
async fn a_cancelled_request_ends_its_stream_without_an_answer() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let reply = Ask::post("settle").session(&id).to(&server).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(data(&soon(reply.events()).await), [""]);
}

#[tokio::test]
async fn what_nobody_asked_for_leaves_on_the_newest_stream_only() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-06-18").await;
    let mut older = Ask::get().session(&id).to(&server).await;
    let mut newer = Ask::get().session(&id).to(&server).await;
    assert_eq!(newer.header("content-type"), Some("text/event-stream"));
    assert_eq!(Ask::post("unasked one").session(&id).to(&server).await.text().await, "Ok(())");
    assert_eq!(soon(newer.event()).await.unwrap().data, "one");
    drop(newer);
    // The server may need a moment to see that the newer stream is gone; what it sends there until
    // then could be fetched with `Last-Event-ID`.
    soon(async {
        loop {
            Ask::post("unasked more").session(&id).to(&server).await;
            let waited = tokio::time::timeout(Duration::from_millis(20), older.event()).await;
            if let Ok(event) = waited {
                assert_eq!(event.unwrap().data, "more");
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn notifications_wait_for_a_stream_and_the_oldest_go_first() {
    let mut settings = HttpSettings::default();
    settings.replay_events = 3;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let id = open_directly(&service, "2025-06-18").await;
    for index in 0..5 {
        let ask = Ask::post(&format!("unasked {index}")).session(&id);
        assert_eq!(ask.directly(&service).await.text().await, "Ok(())");
    }
    let mut listening = Ask::get().session(&id).directly(&service).await;
    for index in 2..5 {
        assert_eq!(soon(listening.event()).await.unwrap().data, index.to_string());
    }
}

#[tokio::test]
async fn a_request_of_the_server_waits_for_a_stream() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let id = open_directly(&service, "2025-06-18").await;
    let asking = tokio::spawn({
        let (ask, service) = (Ask::post("ask you").session(&id), service.clone());
        async move { ask.directly(&service).await.text().await }
    });
    tokio::task::yield_now().await;
    let mut listening = Ask::get().session(&id).directly(&service).await;
    assert_eq!(soon(listening.event()).await.unwrap().data, "you");
    assert_eq!(soon(asking).await.unwrap(), "Ok(())");
}

#[tokio::test(start_paused = true)]
async fn a_request_of_the_server_fails_without_a_stream() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let id = open_directly(&service, "2025-06-18").await;
    let answer = Ask::post("ask you").session(&id).directly(&service).await.text().await;
    assert!(answer.contains("no stream open"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn silent_streams_show_that_they_are_alive() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let id = open_directly(&service, "2025-06-18").await;
    let mut listening = Ask::get().session(&id).directly(&service).await;
    let start = tokio::time::Instant::now();
    listening.read_more().await;
    listening.read_more().await;
    assert_eq!(listening.unread(), ":\n\n:\n\n");
    assert_eq!(start.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn hanging_up_does_not_cancel_and_the_rest_can_be_fetched() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    server.toy.gate.add_permits(1);
    let mut reply = Ask::post("drip 3").session(&id).to(&server).await;
    assert_eq!(soon(reply.event()).await.unwrap().data, "");
    let last = soon(reply.event()).await.unwrap();
    assert_eq!(last.data, "n0");
    drop(reply);
    server.toy.gate.add_permits(2);
    let resumed = Ask::get().session(&id).with("last-event-id", &last.id.unwrap());
    let events = soon(resumed.to(&server).await.events()).await;
    let told: Vec<_> = events.iter().filter(|event| !event.data.is_empty()).collect();
    assert_eq!(told.iter().map(|event| &event.data).collect::<Vec<_>>(), ["n1", "n2", "done"]);
    assert!(!server.toy.has_noted("over"));
}

#[tokio::test]
async fn a_released_stream_ends_early_and_is_fetched_later() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let events = soon(Ask::post("release").session(&id).to(&server).await.events()).await;
    assert_eq!(data(&events), [""]);
    assert_eq!(events[0].retry, Some(1000));
    server.toy.gate.add_permits(1);
    let resumed = Ask::get().session(&id).with("last-event-id", events[0].id.as_ref().unwrap());
    let events = soon(resumed.to(&server).await.events()).await;
    let told: Vec<_> = data(&events).into_iter().filter(|data| !data.is_empty()).collect();
    assert_eq!(told, ["later", "done"]);
}

#[tokio::test]
async fn clients_of_older_revisions_keep_their_stream() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-06-18").await;
    server.toy.gate.add_permits(1);
    let events = soon(Ask::post("release").session(&id).to(&server).await.events()).await;
    assert_eq!(data(&events), ["later", "done"]);
}

#[tokio::test]
async fn unknown_events_cannot_be_resumed() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    for last in ["nonsense", "p99-0", "p0-99", "g0-0", ""] {
        let reply = Ask::get().session(&id).with("last-event-id", last).to(&server).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{last}");
    }
}

#[tokio::test]
async fn a_session_resumes_its_own_events_only() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let (ada, eve) =
        (open_directly(&service, "2025-11-25").await, open_directly(&service, "2025-11-25").await);
    for words in ["stream 3", "stream 3"] {
        let events = Ask::post(words).session(&ada).directly(&service).await.events().await;
        let first = events.iter().find_map(|event| event.id.clone()).unwrap();
        let forged = first.replace('p', "g");
        for last in [&first, &forged] {
            let resume = Ask::get().session(&eve).with("last-event-id", last);
            assert_eq!(resume.directly(&service).await.status, StatusCode::BAD_REQUEST, "{last}");
        }
        let resume = Ask::get().session(&ada).with("last-event-id", &first);
        assert!(data(&resume.directly(&service).await.events().await).contains(&"done"));
    }
}

#[tokio::test]
async fn a_client_that_comes_back_too_late_is_told() {
    let mut settings = HttpSettings::default();
    settings.replay_events = 3;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let id = open_directly(&service, "2025-06-18").await;
    let events = Ask::post("stream 1").session(&id).directly(&service).await.events().await;
    let first = events[0].id.clone().unwrap();
    let resume = Ask::get().session(&id).with("last-event-id", &first);
    assert_eq!(data(&resume.directly(&service).await.events().await), ["done"]);
    Ask::post("stream 5").session(&id).directly(&service).await.events().await;
    assert_eq!(resume.directly(&service).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_oldest_of_too_many_open_streams_ends() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-06-18").await;
    let mut oldest = Ask::get().session(&id).to(&server).await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(Ask::get().session(&id).to(&server).await);
    }
    assert_eq!(soon(oldest.event()).await, None);
}

#[tokio::test]
async fn a_client_that_vanishes_before_anything_was_sent_cancels_nothing() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let waiting = tokio::spawn({
        let (ask, address) = (Ask::post("hold on").session(&id), server.address);
        async move { ask.to_address(address).await }
    });
    until(|| server.toy.has_noted("hold on")).await;
    waiting.abort();
    server.toy.gate.add_permits(1);
    until(|| server.toy.gate.available_permits() == 0).await;
    let reply = Ask::post("echo still here").session(&id).to(&server).await;
    assert_eq!(reply.text().await, "still here");
}
