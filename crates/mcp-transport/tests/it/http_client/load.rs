use std::{collections::BTreeSet, sync::Arc};

use mcp_core::{Inbound, Transport};

use super::{client_with, patiently, request, server::Server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_side_by_side_all_get_their_own_answer() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            let number: u32 = request.body.parse().unwrap();
            if number.is_multiple_of(2) {
                return peer.json(&request.body).await;
            }
            peer.stream().await;
            peer.chunk("id: x\ndata:\n\n").await;
            tokio::task::yield_now().await;
            peer.chunk(&format!("data: {number}\n\n")).await;
            peer.end().await;
        })
    })
    .await;
    let client = Arc::new(client_with(&server, |settings| {
        settings.max_exchanges = 200;
        settings.inbox = 4;
    }));
    for number in 0..1000 {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.send(request(number, &number.to_string())).await });
    }
    let mut answered = BTreeSet::new();
    while answered.len() < 1000 {
        match patiently(client.receive()).await.unwrap() {
            Some(Inbound::Message { ticket: Some(ticket), bytes }) => {
                assert_eq!(&bytes[..], ticket.0.to_string().as_bytes());
                assert!(answered.insert(ticket), "{ticket:?} twice");
                client.finish_exchange(ticket);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.requests().len(), 1000);
    assert!(server.connections() <= 1000);
}
