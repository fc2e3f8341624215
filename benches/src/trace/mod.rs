//! Long recorded traces, for measuring the command on what people give it.
//!
//! Every line is one message as `plumb check` reads it: `from`, `ts`, `session`, `msg`. Several
//! sessions run at once; each begins with its handshake, every request gets its answer, and no
//! rule is broken.

mod clock;
mod session;

use std::io::{self, Write};

use self::clock::Clock;
use self::session::Session;
use crate::corpus::Message;
use crate::corpus::rng::Rng;
use crate::corpus::tool_list::{self, Tool};

/// So many servers are in use; sessions with the same one list the same tools.
const SERVERS: usize = 12;

/// So many sessions are open at a time.
const OPEN: usize = 4;

/// One conversation of any length: a handshake, then whatever a client and a server say, for ever.
#[derive(Debug)]
pub struct Conversation<'a> {
    rng: Rng,
    session: Session<'a>,
}

impl<'a> Conversation<'a> {
    /// A conversation with a server that has these tools.
    pub fn start(tools: &'a [Tool]) -> Conversation<'a> {
        let mut rng = Rng::new(0x0073_6573_7369_6f6e);
        let session = Session::endless(&mut rng, tools);
        Conversation { rng, session }
    }
}

impl Iterator for Conversation<'_> {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        self.session.next(&mut self.rng)
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Written {
    pub bytes: u64,
    pub lines: u64,
    pub sessions: u64,
}

/// Writes sessions until there are at least `bytes` bytes and all of them have ended.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn write(out: &mut impl Write, bytes: u64) -> io::Result<Written> {
    let mut rng = Rng::new(0x7472_6163_6500);
    let servers: Vec<Vec<Tool>> = (0..SERVERS).map(|_| tool_list::tools(&mut rng)).collect();
    let mut clock = Clock::default();
    let mut written = Written::default();
    let mut open: Vec<Session<'_>> = Vec::new();
    let mut line = Vec::new();
    loop {
        while open.len() < OPEN && written.bytes < bytes {
            let server = rng.below(SERVERS);
            open.push(Session::start(&mut rng, &servers[server]));
            written.sessions += 1;
        }
        if open.is_empty() {
            return Ok(written);
        }
        let turn = rng.below(open.len());
        let Some(message) = open[turn].next(&mut rng) else {
            open.swap_remove(turn);
            continue;
        };
        clock.advance(&mut rng);
        line.clear();
        let (from, session) = (message.from.as_str(), open[turn].name());
        write!(line, r#"{{"from":"{from}","ts":"{clock}","session":"{session}","msg":"#)?;
        line.extend_from_slice(&message.bytes);
        line.extend_from_slice(b"}\n");
        out.write_all(&line)?;
        written.bytes += u64::try_from(line.len()).unwrap_or(0);
        written.lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::Value;

    use super::write;

    #[test]
    fn every_session_opens_with_the_handshake_and_every_request_is_answered_or_cancelled() {
        let mut text = Vec::new();
        let written = write(&mut text, 3_000_000).unwrap();
        assert_eq!(written.bytes, u64::try_from(text.len()).unwrap());

        let mut open: HashMap<(String, String, String), String> = HashMap::new();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: Value = serde_json::from_slice(line).unwrap();
            let session = line["session"].as_str().unwrap().to_owned();
            let message = &line["msg"];
            let from = line["from"].as_str().unwrap().to_owned();
            let other = if from == "client" { "server" } else { "client" }.to_owned();
            let id = message["id"].to_string();
            let count = seen.entry(session.clone()).or_default();
            *count += 1;
            match message.get("method").map(|method| method.as_str().unwrap()) {
                Some(method) if *count == 1 => {
                    assert_eq!((method, from.as_str()), ("initialize", "client"));
                    open.insert((session, from, id), method.to_owned());
                }
                Some("notifications/cancelled") => {
                    let id = message["params"]["requestId"].to_string();
                    assert!(open.remove(&(session, from, id)).is_some(), "{line}");
                }
                Some("notifications/initialized") => assert_eq!(*count, 3),
                Some(method) if message.get("id").is_some() => {
                    let known = open.insert((session, from, id), method.to_owned());
                    assert_eq!(known, None);
                }
                Some(_) => {}
                None => assert!(open.remove(&(session, other, id)).is_some(), "{line}"),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(seen.len() >= 4);
    }
}
