//! A recording, served as a page.

use std::sync::Arc;

use mcp_core::Revision;
use mcp_inspector::{InspectorClient, Log, LogLimits, PageAccess, Service, Target};
use mcp_rules::{Engine, LineReader, Observer, RecordingInfo, Settings};
use mcp_schema::Schemas;
use mcp_transport::Allowed;
use tokio::net::TcpListener;

/// The page about these lines, which goes on growing while lines are added.
pub(crate) struct Served {
    pub(crate) log: Log,
    pub(crate) address: String,
    engine: Arc<Engine>,
    lines: Vec<String>,
}

impl Served {
    pub(crate) async fn new(lines: &[String]) -> Served {
        Served::keeping(lines, LogLimits::default().frames).await
    }

    /// The same, with that many frames at most.
    pub(crate) async fn keeping(lines: &[String], frames: usize) -> Served {
        let log = Log::new(LogLimits { frames, ..LogLimits::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let token = mcp_inspector::new_token().unwrap();
        let address = format!("http://{}/{token}/", listener.local_addr().unwrap());
        let access = PageAccess { token, hosts: Allowed::loopback(), origins: Allowed::loopback() };
        let service = Service::new(log.clone(), access, "trace.jsonl");
        tokio::spawn(service.serve(listener, std::future::pending()));
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let mut served = Served { log, address, engine, lines: Vec::new() };
        served.add(lines);
        served
    }

    /// The page of a conversation with the demonstration server.
    pub(crate) async fn speaking() -> Served {
        Served::speaking_at(None).await
    }

    /// The same at a revision.
    pub(crate) async fn speaking_at(revision: Option<Revision>) -> Served {
        Served::speaking_to(Target::demo(), revision).await
    }

    /// The page of a conversation with a server.
    pub(crate) async fn speaking_to(target: Target, revision: Option<Revision>) -> Served {
        Served::speaking_to_one_of(vec![target], revision).await
    }

    /// The page of a conversation with the first of several servers.
    pub(crate) async fn speaking_to_one_of(
        targets: Vec<Target>,
        revision: Option<Revision>,
    ) -> Served {
        let log = Log::new(LogLimits::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let token = mcp_inspector::new_token().unwrap();
        let address = format!("http://{}/{token}/", listener.local_addr().unwrap());
        let access = PageAccess { token, hosts: Allowed::loopback(), origins: Allowed::loopback() };
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let client =
            InspectorClient::new(log.clone(), Arc::clone(&engine), targets).with_revision(revision);
        let service = Service::new(log.clone(), access, "demo").with_client(client.clone());
        client.begin();
        tokio::spawn(service.serve(listener, std::future::pending()));
        Served { log, address, engine, lines: Vec::new() }
    }

    /// Shows more lines. All are followed again, so that nothing depends on how they come.
    pub(crate) fn add(&mut self, lines: &[String]) {
        let known = self.lines.len();
        self.lines.extend_from_slice(lines);
        let mut observer = Observer::new(&self.engine, RecordingInfo::default());
        let mut reader = LineReader::new(&self.engine.settings().limits);
        for (index, line) in self.lines.iter().enumerate() {
            let number = index as u64 + 1;
            reader.read(line.as_bytes(), |line| {
                let ruling = observer.decide(number, line, |_| Some(false));
                if index >= known {
                    self.log.append(number, line, &ruling.messages, |_| {});
                    self.log.add_findings(ruling.findings().cloned());
                }
            });
        }
    }
}
