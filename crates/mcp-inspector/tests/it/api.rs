use std::{sync::Arc, time::Duration};

use mcp_inspector::{InspectorClient, Log, LogLimits, PageAccess, Service, Target};
use mcp_rules::{Engine, Settings};
use mcp_schema::Schemas;
use mcp_transport::Allowed;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A page that is served.
pub(crate) struct Page {
    address: String,
    pub(crate) log: Log,
}

impl Page {
    pub(crate) async fn about(target: Target) -> Page {
        let log = Log::new(LogLimits::default());
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        let client = InspectorClient::new(log.clone(), Arc::new(engine), vec![target]);
        let (hosts, origins) = (Allowed::loopback(), Allowed::loopback());
        let access = PageAccess { token: "token".into(), hosts, origins };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let service = Service::new(log.clone(), access, "a test").with_client(client);
        tokio::spawn(service.serve(listener, std::future::pending()));
        Page { address, log }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, "").await.1
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("POST", path, &body.to_string()).await;
        assert_eq!(status, 200, "{path} {answer}");
        answer
    }

    pub(crate) async fn refused(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("POST", path, &body.to_string()).await
    }

    /// Whatever is at a path below the token, as it is.
    pub(crate) async fn fetch(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        // In this version the end of the body is that of the connection.
        let head = format!(
            "{method} /token/{path} HTTP/1.0\r\nhost: {}\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (status, answer.split_off(end + 4))
    }

    /// Waits until an error of the server is shown that has this message.
    pub(crate) async fn shown_refusal(&self, message: &str) {
        let message = format!(r#""message":"{message}""#);
        let mut number = 1;
        loop {
            match self.log.frame(number, |frame| frame.row.preview.contains(&message)) {
                Some(true) => break,
                Some(false) => number += 1,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
        let refused = self.frame(&json!(number)).await;
        assert_eq!(refused["row"]["from"], "server", "{refused:#}");
        assert_ne!(refused["row"]["byProxy"], true, "{refused:#}");
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!(
            "{method} /token/api/{path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let status = answer[9..12].parse().unwrap();
        let start = answer.find(['{', '[']).unwrap();
        let end = answer.rfind(['}', ']']).unwrap();
        (status, serde_json::from_str(&answer[start..=end]).unwrap())
    }

    pub(crate) async fn connect(&self, revision: Option<&str>) -> Value {
        self.post("speak/connect", json!({ "revision": revision })).await
    }

    /// Waits until the state is as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        loop {
            let state = self.get("speak").await;
            if wanted(&state) {
                return state;
            }
            assert!(tokio::time::Instant::now() < deadline, "{state:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the answer to a request is listed, and returns its call.
    pub(crate) async fn answered(&self, sent: &Value) -> Value {
        let id = sent["id"].clone();
        let find = |state: &Value| {
            let calls = state["calls"].as_array().unwrap().clone();
            calls.into_iter().rev().find(|call| call["id"] == id)
        };
        let state =
            self.until(|state| find(state).is_some_and(|call| call.get("answer").is_some())).await;
        find(&state).unwrap()
    }

    /// The text and findings of a frame.
    pub(crate) async fn frame(&self, number: &Value) -> Value {
        self.get(&format!("frames/{number}")).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments }).to_string();
        self.post("speak/request", json!({ "method": "tools/call", "params": params })).await
    }
}
