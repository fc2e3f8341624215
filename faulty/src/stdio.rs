//! The server on standard input and output.

use std::{io::Write as _, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    sync::mpsc,
    task::JoinSet,
};

use crate::{
    fault::Carrier,
    faults::Fault,
    incoming::Incoming,
    outbox::{Outbox, Sink},
    server::{Conversation, Server, die},
};

/// Maximum length of a line.
const LONGEST: u64 = 64 * 1024 * 1024;

struct Lines(mpsc::UnboundedSender<String>);

impl Sink for Lines {
    fn send(&self, text: String) {
        // The writer only ends with the process.
        let _ = self.0.send(text);
    }
}

/// Serves until standard input ends; returns the exit code.
pub(crate) async fn serve(server: Arc<Server>) -> std::io::Result<u8> {
    let (lines, mut written) = mpsc::unbounded_channel::<String>();
    let writer = tokio::task::spawn_blocking(move || -> std::io::Result<()> {
        let mut stdout = std::io::stdout().lock();
        while let Some(line) = written.blocking_recv() {
            stdout.write_all(line.as_bytes())?;
            stdout.write_all(b"\n")?;
            stdout.flush()?;
        }
        Ok(())
    });
    let faults = server.faults;
    let outbox: Outbox = Arc::new(Lines(lines));
    if faults.has(Fault::StdoutNoise) {
        outbox.send("faulty-server is listening".to_owned());
    }
    let conversation = Conversation::new(&server, outbox.clone(), Carrier::Stdio);
    let mut calls = JoinSet::new();
    let mut input = BufReader::with_capacity(1 << 16, tokio::io::stdin());
    let mut line = Vec::new();
    while read(&mut input, &mut line, &server).await? {
        receive(&conversation, &line, &outbox, &mut calls).await;
        while calls.try_join_next().is_some() {}
    }
    // A call that never ends by itself is ended now.
    let _ = tokio::time::timeout(Duration::from_secs(3), async {
        while calls.join_next().await.is_some() {}
    })
    .await;
    conversation.abandon();
    calls.shutdown().await;
    match faults.0 {
        Some(Fault::LivesAfterClose) => std::future::pending::<()>().await,
        Some(Fault::PrintsAtExit) => outbox.send("faulty-server says goodbye".to_owned()),
        _ => {}
    }
    drop((conversation, outbox));
    writer.await.map_err(std::io::Error::other)??;
    if faults.has(Fault::UnterminatedLine) {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(br#"{"jsonrpc":"2.0","method":"notifications/mess"#)?;
        stdout.flush()?;
    }
    Ok(if faults.has(Fault::ExitsNonZero) { 3 } else { 0 })
}

async fn read(
    input: &mut BufReader<tokio::io::Stdin>,
    line: &mut Vec<u8>,
    server: &Server,
) -> std::io::Result<bool> {
    line.clear();
    if server.faults.has(Fault::SplitWriteBreaks)
        || server.faults.has(Fault::JoinedWriteLosesSecond)
    {
        let arrived = input.fill_buf().await?;
        let (length, end) = (arrived.len(), arrived.iter().position(|byte| *byte == b'\n'));
        let joined = server.faults.has(Fault::JoinedWriteLosesSecond);
        if joined && end.is_none() {
            return Ok(input.take(LONGEST).read_until(b'\n', line).await? > 0);
        }
        line.extend_from_slice(&arrived[..end.unwrap_or(length)]);
        let taken = if joined { length } else { end.map_or(length, |end| end + 1) };
        input.consume(taken);
        return Ok(length > 0);
    }
    Ok(input.take(LONGEST).read_until(b'\n', line).await? > 0)
}

async fn receive(
    conversation: &Arc<Conversation>,
    line: &[u8],
    outbox: &Outbox,
    calls: &mut JoinSet<()>,
) {
    let faults = conversation.server.faults;
    let Ok(text) = std::str::from_utf8(line) else {
        if faults.has(Fault::InvalidUtf8Dies) {
            die();
        }
        return conversation.serve(Incoming::NotJson, outbox).await;
    };
    if text.trim().is_empty() {
        if faults.has(Fault::BlankLineDies) {
            die();
        }
        return;
    }
    let too_large = faults.has(Fault::LargeMessageDies) && text.len() > 60_000;
    let too_deep = faults.has(Fault::DeepNestingDies)
        && (text.contains("[[[[[[[[[[[[[[[[") || text.matches(":{").count() > 16);
    if too_large || too_deep {
        die();
    }
    let message = conversation.read(text);
    let is_long = matches!(&message, Incoming::Request(request) if matches!(request.method.as_str(), "tools/call" | "subscriptions/listen"));
    if is_long && !faults.has(Fault::SlowToolBlocks) {
        let (conversation, outbox) = (conversation.clone(), outbox.clone());
        calls.spawn(async move { conversation.serve(message, &outbox).await });
        // Yield, so that a call is registered before its cancellation is read.
        tokio::task::yield_now().await;
    } else {
        conversation.serve(message, outbox).await;
    }
}
