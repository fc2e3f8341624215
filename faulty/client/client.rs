use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// A transport.
pub(crate) trait Wire {
    /// Sends a message. Over HTTP, the response is received next.
    fn send(&mut self, message: &Value) -> anyhow::Result<()>;
    /// Sends raw text.
    fn send_text(&mut self, text: &str) -> anyhow::Result<()>;
    /// The next message of the server; `None` if it is gone.
    fn receive(&mut self) -> anyhow::Result<Option<Value>>;
    /// Sets the negotiated revision.
    fn agree(&mut self, revision: &str);
    /// Called when the handshake is complete.
    fn open(&mut self) -> anyhow::Result<()>;
    /// Whether the session has ended; true only once.
    fn has_lost_session(&mut self) -> bool;
    /// Ends the conversation.
    fn close(&mut self) -> anyhow::Result<()>;
}

pub(crate) struct Client {
    fault: &'static str,
    is_modern: bool,
    wire: Box<dyn Wire>,
    last_id: u64,
    /// Unprocessed messages of a batch.
    waiting: Vec<Value>,
    pub(crate) speaks_batches: bool,
}

impl Client {
    pub(crate) fn new(fault: &'static str, is_modern: bool, wire: Box<dyn Wire>) -> Client {
        Client { fault, is_modern, wire, last_id: 0, waiting: Vec::new(), speaks_batches: false }
    }

    pub(crate) fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    pub(crate) fn wire(&mut self) -> &mut dyn Wire {
        &mut *self.wire
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        if !(self.has("id-reused") && self.last_id == 2) {
            self.last_id += 1;
        }
        self.last_id
    }

    /// The last id used.
    pub(crate) fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = json!(self.next_id());
        self.request_as(&id, method, params)
    }

    pub(crate) fn request_as(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> anyhow::Result<Value> {
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        message["params"] = params;
        if self.has("no-jsonrpc") && method == "tools/list" {
            message.as_object_mut().context("an object")?.remove("jsonrpc");
        }
        if self.has("two-lines") && method == "tools/list" {
            let text = serde_json::to_string_pretty(&message)?;
            self.wire.send_text(&text)?;
        } else {
            self.wire.send(&message)?;
        }
        self.answer_to(id, method)
    }

    /// Waits for the answer to a request, handling requests of the server meanwhile.
    pub(crate) fn answer_to(&mut self, id: &Value, method: &str) -> anyhow::Result<Value> {
        loop {
            let Some(message) = self.receive()? else {
                if self.has("gone-hangs") {
                    wait_for_ever();
                }
                bail!("the server exited before it answered {method}");
            };
            if message.get("method").is_some() {
                if self.has("ping-first-ignored") && method == "initialize" {
                    continue;
                }
                self.serve(&message)?;
            } else if message["id"] == *id {
                if self.has("null-result-hangs") && message.get("result") == Some(&Value::Null) {
                    continue;
                }
                return self.result_of(message, method);
            } else {
                assert!(!self.has("stray-panics"), "this was not asked for");
            }
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: Option<Value>) -> anyhow::Result<()> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.wire.send(&message)
    }

    pub(crate) fn close(&mut self) -> anyhow::Result<()> {
        self.wire.close()
    }

    fn receive(&mut self) -> anyhow::Result<Option<Value>> {
        if let Some(message) = self.waiting.pop() {
            return Ok(Some(message));
        }
        match self.wire.receive()? {
            Some(Value::Array(batch)) if self.speaks_batches => {
                self.waiting = batch;
                self.waiting.reverse();
                Ok(self.waiting.pop())
            }
            message => Ok(message),
        }
    }

    fn result_of(&self, mut message: Value, method: &str) -> anyhow::Result<Value> {
        if message.get("error").is_some() && method == "tools/list" && !self.is_modern {
            assert!(!self.has("error-panics"), "no error was expected");
            if self.has("error-hangs") {
                wait_for_ever();
            }
        }
        if message.get("error").is_some() {
            let is_opening = matches!(method, "initialize" | "server/discover");
            assert!(!(is_opening && self.has("refusal-panics")), "no refusal was expected");
            assert!(!(is_opening && self.has("version-refusal-panics")), "nor this one");
        }
        if let Some(error) = message.get("error") {
            bail!("{method}: {error}");
        }
        let result = message["result"].take();
        if !result.is_object() {
            bail!("{method}: the result is no object");
        }
        if self.has("members-strict") && result.get("plumbExtra").is_some() {
            bail!("{method}: unknown member");
        }
        Ok(result)
    }

    fn serve(&mut self, message: &Value) -> anyhow::Result<()> {
        let method = message["method"].as_str().unwrap_or_default();
        let Some(id) = message.get("id") else { return self.hear(method) };
        let is_ping = method == "ping";
        let mut answer = match method {
            "ping" if self.has("ping-ignored") => return Ok(()),
            "ping" if self.has("ping-not-empty") => json!({ "result": { "pong": true } }),
            "ping" => json!({ "result": {} }),
            "sampling/createMessage" if self.has("sampling-served") => {
                let content = json!({ "type": "text", "text": "Yes." });
                json!({ "result": { "role": "assistant", "content": content, "model": "none" } })
            }
            "elicitation/create" if self.has("elicitation-served") => {
                json!({ "result": { "action": "decline" } })
            }
            "roots/list" if self.has("roots-served") => json!({ "result": { "roots": [] } }),
            _ if self.has("unknown-ignored") => return Ok(()),
            _ if self.has("unknown-accepted") && method.starts_with("plumb/") => {
                json!({ "result": {} })
            }
            _ if self.has("unknown-code") => {
                json!({ "error": { "code": -32603, "message": "Internal error" } })
            }
            _ => json!({ "error": { "code": -32601, "message": "Method not found" } }),
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        if self.has("ping-id-changed") && is_ping && id.is_number() {
            answer["id"] = json!(id.to_string());
        }
        if self.has("ping-id-invented") && is_ping {
            answer["id"] = json!("mine");
        }
        self.wire.send(&answer)?;
        if self.has("answers-twice") {
            self.wire.send(&answer)?;
        }
        Ok(())
    }

    fn hear(&self, method: &str) -> anyhow::Result<()> {
        let fails = match method {
            "notifications/tools/list_changed" => self.has("list-changed-strict"),
            "notifications/message" => self.has("log-strict"),
            "notifications/cancelled" => self.has("cancelled-strict"),
            "notifications/progress" => self.has("progress-strict"),
            _ if method.contains("no-such") => self.has("notification-strict"),
            _ => false,
        };
        if fails {
            bail!("unexpected {method}");
        }
        Ok(())
    }
}

fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}
