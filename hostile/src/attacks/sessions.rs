//! Attacks on a server with sessions.

use crate::{
    healthy::Healthy,
    http::{self, CLIENT, Session},
    outcome::Outcome,
    process::Program,
    stage::Stage,
};

const SERVER: &str = "example-conformance-server";

/// A server, its address, and a well-behaved client.
fn start(stage: &Stage) -> anyhow::Result<(Program, String, Healthy)> {
    let mut server = Program::start(stage, SERVER, &["--port", "0"])?;
    let address = server.address()?;
    let healthy = Healthy::start(&address)?;
    Ok((server, address, healthy))
}

fn end(stage: &Stage, server: &Program, healthy: Healthy, budget: u64) -> anyhow::Result<Outcome> {
    // Quick attacks leave other clients little time.
    let wanted = stage.times(20, 3);
    Ok(Outcome::new().memory(server.peak()?, budget).answers(healthy.stop(), wanted))
}

/// Large client names, which a session keeps.
pub(crate) fn large_names(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let name = stage.big();
    let client = format!(r#""capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}"#);
    for _ in 0..stage.times(30, 10) {
        // It may be refused.
        let _ = Session::open(&address, &client);
    }
    let left = server.memory()?;
    Ok(end(stage, &server, healthy, 250)?.check(left <= 150, format!("{left} of 150 MB left")))
}

/// Errors that quote the request, kept for clients that resume.
pub(crate) fn large_errors(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let name = stage.big();
    let call =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let mut longest = 0;
    for _ in 0..stage.times(60, 15) {
        let answer = Session::plain(&address)?.post(&call)?;
        longest = longest.max(answer.len());
    }
    let left = server.memory()?;
    Ok(end(stage, &server, healthy, 300)?
        .check(left <= 150, format!("{left} of 150 MB left"))
        .check(longest < 10_000, format!("answers of up to {longest} bytes")))
}

/// Calls with a large question to the client, which is never answered.
pub(crate) fn open_questions(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let message = stage.big();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"test_elicitation","arguments":{{"message":"{message}"}}}}}}"#
    );
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let session = Session::plain(&address)?;
        for id in 0..stage.times(10, 5) {
            let call = call.replace(r#""id":1"#, &format!(r#""id":{id}"#));
            waiting.push(session.post_unread(&call)?);
        }
    }
    drop(waiting);
    end(stage, &server, healthy, 700)
}

/// Progress tokens, which are kept until their calls end.
pub(crate) fn large_tokens(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let token = stage.big();
    for _ in 0..3 {
        let session = Session::plain(&address)?;
        for id in 0..stage.times(20, 5) {
            session.post(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{{"progressToken":"{id}{token}"}}}}}}"#
            ))?;
        }
    }
    let left = server.memory()?;
    Ok(end(stage, &server, healthy, 250)?.check(left <= 150, format!("{left} of 150 MB left")))
}

/// Takes all sessions; other clients must still get one.
pub(crate) fn all_sessions(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let mut opened = 0;
    for _ in 0..stage.times(11_000, 1_500) {
        opened += usize::from(Session::open(&address, CLIENT).is_ok());
    }
    let is_served = Session::plain(&address).is_ok();
    Ok(end(stage, &server, healthy, 400)?
        .check(is_served, format!("a newcomer is served after {opened} sessions")))
}

/// Ids with lone surrogates, which are compared by spelling.
pub(crate) fn surrogates(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let entries = stage.times(200_000, 20_000);
    let entry = r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#;
    let batch = format!("[{}{entry}]", format!("{entry},").repeat(entries));
    let request = http::request(&batch, "mcp-protocol-version: 2025-03-26\r\n");
    http::exchange(&address, &request)?;
    end(stage, &server, healthy, 400)
}

/// Batch entries that are not messages.
pub(crate) fn zeros(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let batch = format!("[{}0]", "0,".repeat(1_000_000));
    for _ in 0..stage.times(20, 3) {
        http::exchange(&address, &http::request(&batch, ""))?;
        http::exchange(&address, &http::request(&batch, "mcp-protocol-version: 2025-03-26\r\n"))?;
    }
    end(stage, &server, healthy, 150)
}

/// Names similar to those of known notifications.
pub(crate) fn unknown(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let session = Session::plain(&address)?;
    for number in 0..stage.times(20_000, 1_000) {
        session.post(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/{}{number}"}}"#,
            "resources/list_changes".repeat(40)
        ))?;
    }
    end(stage, &server, healthy, 100)
}

/// Duplicate members, which readers may interpret differently.
pub(crate) fn duplicates(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let session = Session::plain(&address)?;
    let mut outcome = Outcome::new();
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    ] {
        let answer = session.post(message)?;
        outcome = outcome.check(answer.contains(r#""error""#), format!("{message} is refused"));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop((server, healthy.stop()));
    Ok(outcome)
}

/// An `initialize` without an id, to which there is no answer: the connection must not hang.
pub(crate) fn handshakes_without_id(stage: &Stage) -> anyhow::Result<Outcome> {
    let (server, address, healthy) = start(stage)?;
    let handshake = format!(
        r#"{{"jsonrpc":"2.0","method":"initialize","params":{{"protocolVersion":"2025-11-25",{}}}}}"#,
        http::CLIENT
    );
    let count = stage.times(200, 20);
    let is_answered =
        |answer: anyhow::Result<http::Response>| answer.is_ok_and(|answer| answer.status() == 400);
    let ask = || http::exchange(&address, &http::request(&handshake, ""));
    // Stop at the first that hangs, to save time.
    let answered = (0..count).take_while(|_| is_answered(ask())).count();
    let peak = server.peak()?;
    let answers = healthy.stop();
    Ok(Outcome::new()
        .memory(peak, 64)
        .check(answered == count, format!("{answered} of {count} are answered"))
        .check(answers > 0, "others are served"))
}
