//! The built-in demonstration server, running in this process.

mod faults;
mod tools;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use mcp_core::{Inbound, Outbound, OutboundRole, Side, Transport as _};
use mcp_proxy::{Observation, Tap};
use mcp_sdk::transport::memory;

use self::faults::{Faults, Output};
use crate::speak::wire::ServerEnd;

/// The built-in server. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Demo(Arc<Switches>);

#[derive(Debug, Default)]
struct Switches {
    misbehaves: AtomicBool,
    tool_results: AtomicBool,
}

/// Maximum number of messages queued in either direction.
const QUEUE: usize = 64;

impl Demo {
    pub(crate) fn new() -> Demo {
        Demo::default()
    }

    pub(crate) fn switch(&self, misbehave: Option<bool>, tool_results: Option<bool>) {
        if let Some(on) = misbehave {
            self.0.misbehaves.store(on, Ordering::Relaxed);
        }
        if let Some(on) = tool_results {
            self.0.tool_results.store(on, Ordering::Relaxed);
        }
    }

    /// Whether it misbehaves, and whether it answers invalid arguments with tool results.
    pub(crate) fn switches(&self) -> (bool, bool) {
        let Switches { misbehaves, tool_results } = &*self.0;
        (misbehaves.load(Ordering::Relaxed), tool_results.load(Ordering::Relaxed))
    }

    /// Serves one client until it disconnects, and returns how the conversation ended.
    pub(crate) async fn converse(&self, mut ends: ServerEnd, tap: &Tap) -> String {
        let server = match tools::server() {
            Ok(server) => server,
            Err(error) => return format!("the server cannot start: {error}"),
        };
        let (near, far) = memory::pair(QUEUE);
        let near = Arc::new(near);
        let serving = tokio::spawn(async move { server.serve(far).await });
        let mut faults = Faults::new(self.clone());
        let mut is_greeted = false;
        loop {
            tokio::select! {
                biased;
                inbound = near.receive() => match inbound {
                    Ok(Some(Inbound::Message { bytes, .. })) => {
                        for said in faults.said(&bytes) {
                            if let Err(how) = self.say(said, &ends, tap).await {
                                serving.abort();
                                return how;
                            }
                        }
                    }
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => break,
                },
                line = ends.from_us.recv() => match line {
                    Some(line) => {
                        if self.pass_on(&line, &near, &mut faults, tap).await.is_err() {
                            break;
                        }
                        if !std::mem::replace(&mut is_greeted, true) {
                            tap.observe(Observation::stderr("demo: a client has connected"));
                        }
                    }
                    None => break,
                },
            }
        }
        serving.abort();
        tap.observe(Observation::exit(Some(0), None));
        "the server exited with code 0".to_owned()
    }

    /// Forwards what the client sent, which may be several lines.
    async fn pass_on(
        &self,
        lines: &[u8],
        server: &memory::MemoryTransport,
        faults: &mut Faults,
        tap: &Tap,
    ) -> Result<(), mcp_core::TransportError> {
        let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
        for text in lines.split(|byte| *byte == b'\n') {
            tap.observe(Observation::stdio(Side::Client, text.to_vec()));
            faults.heard(text);
            let (bytes, role) = (text.to_vec().into(), OutboundRole::Notification);
            let (ticket, headers, parsed) = (None, None, None);
            server.send(Outbound { bytes, role, ticket, headers, parsed }).await?;
        }
        Ok(())
    }

    async fn say(&self, said: Output, ends: &ServerEnd, tap: &Tap) -> Result<(), String> {
        match said {
            Output::Line(text) => {
                tap.observe(Observation::stdio(Side::Server, text.clone()));
                let _ = ends.to_us.send(text.into()).await;
                Ok(())
            }
            Output::Error(text) => {
                tap.observe(Observation::stderr(text.into_bytes()));
                Ok(())
            }
            Output::Crash { cut, code } => {
                if let Some(cut) = cut {
                    tap.observe(Observation::unterminated(Side::Server, cut));
                }
                tap.observe(Observation::exit(Some(code), None));
                Err(format!("the server exited with code {code}"))
            }
        }
    }
}
