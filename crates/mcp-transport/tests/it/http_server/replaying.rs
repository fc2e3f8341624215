//! However often a client loses its stream, it gets every event once.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_transport::http::server::{HttpService, HttpSettings, ServeSettings};
use proptest::prelude::*;

use super::{
    Server,
    client::{Ask, open_directly, open_session},
    toy::Toy,
};

/// Reads a stream of `length` notifications, losing it at each of `cuts`: the number of events to
/// read, and of events that the server sends beyond these.
async fn told_in_pieces(length: usize, cuts: &[(usize, usize)], revision: &str) -> Vec<String> {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy.clone(), HttpSettings::default());
    let id = open_directly(&service, revision).await;
    toy.gate.add_permits(1);
    let mut reply = Ask::post(&format!("drip {length}")).session(&id).directly(&service).await;
    let mut permits = 1;
    let mut told = Vec::new();
    let mut last = None;
    for (read, ahead) in cuts {
        let wanted = (permits + read).min(length);
        toy.gate.add_permits(wanted - permits);
        permits = wanted;
        while told.len() < permits {
            let Some(event) = reply.event().await else { break };
            last = event.id.or(last);
            told.extend(Some(event.data).filter(|data| !data.is_empty()));
        }
        let wanted = (permits + ahead).min(length);
        toy.gate.add_permits(wanted - permits);
        permits = wanted;
        for _ in 0..*ahead {
            tokio::task::yield_now().await;
        }
        drop(reply);
        let last = last.clone().expect("something was read");
        reply = Ask::get().session(&id).with("last-event-id", &last).directly(&service).await;
        assert!(reply.status.is_success());
    }
    toy.gate.add_permits(length - permits);
    while let Some(event) = reply.event().await {
        told.extend(Some(event.data).filter(|data| !data.is_empty()));
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cuts_give_every_event_exactly_once(
        length in 1_usize..40,
        cuts in prop::collection::vec((0_usize..8, 0_usize..8), 0..8),
        revision in prop::sample::select(vec!["2025-03-26", "2025-06-18", "2025-11-25"]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let told = runtime.block_on(super::soon(told_in_pieces(length, &cuts, revision)));
        let expected: Vec<_> =
            (0..length).map(|index| format!("n{index}")).chain(["done".to_owned()]).collect();
        prop_assert_eq!(told, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_doubled_when_threads_race() {
    let mut settings = HttpSettings::default();
    settings.replay_events = 10_000;
    let server = Server::with(settings, ServeSettings::default()).await;
    let id = open_session(&server, "2025-11-25").await;
    server.toy.gate.add_permits(40 * 100);
    let readers = (0..40_usize).map(|reader| {
        let (ask, id, address) = (Ask::post("drip 100").session(&id), id.clone(), server.address);
        tokio::spawn(async move {
            let mut reply = ask.to_address(address).await;
            let mut told = Vec::new();
            let mut read = 0_usize;
            while told.last().is_none_or(|data| data != "done") {
                read += 1;
                let event = reply.event().await.expect("it does not end before the answer");
                told.extend(Some(event.data).filter(|data| !data.is_empty()));
                if read.is_multiple_of(reader + 3) {
                    let resume =
                        Ask::get().session(&id).with("last-event-id", event.id.as_ref().unwrap());
                    reply = resume.to_address(address).await;
                }
            }
            told
        })
    });
    for told in super::soon(join_all(readers)).await {
        let told = told.unwrap();
        assert_eq!(told.len(), 101);
        assert!((0..100).all(|index| told[index] == format!("n{index}")), "{told:?}");
    }
}

#[tokio::test]
async fn streams_opened_by_get_are_resumed_with_their_own_events_only() {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy, HttpSettings::default());
    let id = open_directly(&service, "2025-11-25").await;
    let mut listening = Ask::get().session(&id).directly(&service).await;
    let primed = listening.event().await.unwrap().id.unwrap();
    for index in 0..3 {
        Ask::post(&format!("unasked {index}")).session(&id).directly(&service).await;
        Ask::post("stream 2").session(&id).directly(&service).await.events().await;
    }
    drop(listening);
    Ask::post("unasked 3").session(&id).directly(&service).await;
    let resume = Ask::get().session(&id).with("last-event-id", &primed);
    let mut listening = resume.directly(&service).await;
    Ask::post("unasked 4").session(&id).directly(&service).await;
    let mut told = Vec::new();
    while told.len() < 5 {
        told.extend(Some(listening.event().await.unwrap().data).filter(|data| !data.is_empty()));
    }
    assert_eq!(told, ["0", "1", "2", "3", "4"]);
}
