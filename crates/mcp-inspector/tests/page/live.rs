//! A client, a misbehaving server, a tap between them, and the page about what passes.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
};

use mcp_core::Side;
use mcp_inspector::{Log, LogLimits, PageAccess, Service};
use mcp_proxy::{Observation, Tap, TapSettings};
use mcp_rules::{Engine, Settings};
use mcp_schema::Schemas;
use mcp_transport::Allowed;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) struct Live {
    pub(crate) address: String,
    /// Every line on the wire, in order.
    pub(crate) wire: Vec<Vec<u8>>,
    tap: Tap,
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Live {
    /// A conversation that has just begun.
    pub(crate) async fn begin() -> Live {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let log = Log::new(LogLimits::default());
        let watchers = vec![log.watcher(&engine.settings().limits)];
        let tap = Tap::new(engine, TapSettings { watchers, ..TapSettings::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let token = mcp_inspector::new_token().unwrap();
        let address = format!("http://{}/{token}/", listener.local_addr().unwrap());
        let access = PageAccess { token, hosts: Allowed::loopback(), origins: Allowed::loopback() };
        let service = Service::new(log, access, "misbehaving-server");
        tokio::spawn(service.serve(listener, std::future::pending()));
        let mut server = Command::new(env!("CARGO_BIN_EXE_misbehaving-server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let output = BufReader::new(output);
        let mut live = Live { address, wire: Vec::new(), tap, server, input, output, next_id: 1 };
        let client = json!({ "name": "tester", "version": "2.1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": {} }, "clientInfo": client });
        live.ask("initialize", &hello);
        live.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        live.ask("tools/list", &json!({}));
        live.ask("tools/list", &json!({ "cursor": "more" }));
        live
    }

    /// Calls a tool and hears everything that the server says about it. Returns the number of the
    /// frame with the call.
    pub(crate) fn call(&mut self, tool: &str) -> u64 {
        self.call_with(tool, &json!({}))
    }

    pub(crate) fn call_with(&mut self, tool: &str, arguments: &Value) -> u64 {
        let number = self.begin_call(tool, arguments);
        self.hear();
        self.ask("ping", &json!({}));
        number
    }

    /// Calls a tool that ends the server.
    pub(crate) fn call_last(&mut self, tool: &str) -> u64 {
        let number = self.begin_call(tool, &json!({}));
        while self.hear().is_some() {}
        number
    }

    fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", &params);
        self.wire.len() as u64
    }

    /// Sends a request and hears what comes until its answer.
    fn ask(&mut self, method: &str, params: &Value) {
        let id = self.request(method, params);
        loop {
            let line = self.hear().expect("the server has ended");
            let answer = serde_json::from_slice::<Value>(&line).ok();
            if answer.is_some_and(|answer| answer["id"] == id && answer["method"].is_null()) {
                return;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        id
    }

    fn send(&mut self, line: &str) {
        self.tap.observe(Observation::stdio(Side::Client, line.as_bytes().to_vec()));
        self.wire.push(line.as_bytes().to_vec());
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line of the server, if there is one.
    fn hear(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        if self.output.read_until(b'\n', &mut line).unwrap() == 0 {
            return None;
        }
        let observation = if line.ends_with(b"\n") {
            line.pop();
            Observation::stdio(Side::Server, line.clone())
        } else {
            Observation::unterminated(Side::Server, line.clone())
        };
        self.tap.observe(observation);
        self.wire.push(line.clone());
        Some(line)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
