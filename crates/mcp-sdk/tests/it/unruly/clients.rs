//! Clients that send arbitrary messages.

use std::time::Duration;

use mcp_sdk::{
    Severity, Validation,
    core::{Inbound, Outbound, OutboundRole, Side, Transport as _},
    transport::memory::{self, MemoryTransport},
};
use proptest::prelude::*;
use serde_json::Value;

use super::{
    LENIENT, Record, UNDECIDED, is_faultless,
    script::{Opening, Step},
    server,
};

async fn send(near: &MemoryTransport, message: &Value, record: &mut Record) {
    let bytes = message.to_string().into_bytes();
    record.push((Side::Client, bytes.clone()));
    let role = OutboundRole::Request;
    let sent = Outbound { bytes: bytes.into(), role, ticket: None, headers: None, parsed: None };
    near.send(sent).await.unwrap();
}

/// Receives until there is nothing more, and answers the server's requests as `step` says.
async fn listen(near: &MemoryTransport, step: &Step, record: &mut Record) {
    // Time is paused while any task can run.
    while let Ok(received) = tokio::time::timeout(Duration::from_millis(50), near.receive()).await {
        let Some(Inbound::Message { bytes, .. }) = received.unwrap() else {
            panic!("the server has ended the conversation");
        };
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        record.push((Side::Server, bytes.to_vec()));
        for answer in step.answers(&message) {
            send(near, &answer, record).await;
        }
    }
}

async fn converse(opening: Opening, steps: &[Step], validation: Validation) -> Record {
    let (near, far) = memory::pair(64);
    let server = server(validation);
    let serving = tokio::spawn(async move { server.serve(far).await });
    let mut record = Record::new();
    let calm = Step::default();
    for message in opening.messages() {
        send(&near, &message, &mut record).await;
        listen(&near, &calm, &mut record).await;
    }
    for (position, step) in steps.iter().enumerate() {
        send(&near, &step.message(opening, position), &mut record).await;
        if !step.hurries() {
            listen(&near, step, &mut record).await;
        }
    }
    listen(&near, &calm, &mut record).await;
    near.close().await;
    serving.await.unwrap().unwrap();
    record
}

fn holds(
    opening: Opening,
    steps: &[Step],
    validation: Validation,
    excused: &[&str],
) -> Result<(), TestCaseError> {
    let record = super::play(converse(opening, steps, validation));
    is_faultless(Side::Server, Severity::Warning, &record, excused)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn an_enforcing_server_is_never_at_fault(
        opening in Opening::any(), steps in prop::collection::vec(Step::any(), 1..10)
    ) {
        holds(opening, &steps, Validation::enforce(), &UNDECIDED)?;
    }

    #[test]
    fn an_observing_server_is_never_at_fault(
        opening in Opening::any(), steps in prop::collection::vec(Step::any(), 1..10)
    ) {
        let excused = [&UNDECIDED[..], &LENIENT].concat();
        holds(opening, &steps, Validation::observe(), &excused)?;
    }
}
