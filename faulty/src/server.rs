//! Conversations: negotiated state, calls under way, and dispatch of requests.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    fault::Carrier,
    faults::Fault,
    incoming::{Incoming, Lenience, Request},
    methods::{
        calls::Call,
        completion, handshake, listing, logging,
        stateless::{self, VERSION},
        subscriptions,
        tasks::{self, Tasks},
    },
    offer::{prompts, resources},
    outbox::{MessageLog, Outbox, notify},
    reply::{Failure, Reply},
    revision::Revision,
    world::{Listener, World, held},
};

/// The fault that is switched on, if any.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Faults(pub(crate) Option<Fault>);

/// State shared by all conversations.
pub(crate) struct Server {
    pub(crate) faults: Faults,
    pub(crate) world: World,
}

/// One conversation.
pub(crate) struct Conversation {
    pub(crate) server: Arc<Server>,
    revision: Mutex<Option<Revision>>,
    level: Mutex<Option<usize>>,
    listener: Arc<Listener>,
    /// The output for messages that answer no request.
    side: Outbox,
    carrier: Carrier,
    /// The number of calls so far.
    calls: AtomicUsize,
    /// Whether a subscription has ended.
    has_unsubscribed: AtomicBool,
    has_cancelled: AtomicBool,
    tasks: Tasks,
    has_listened: AtomicBool,
    /// Calls under way by id; sending true cancels one.
    running: Mutex<BTreeMap<String, watch::Sender<bool>>>,
}

impl Faults {
    pub(crate) fn has(self, fault: Fault) -> bool {
        self.0 == Some(fault)
    }
}

impl Conversation {
    pub(crate) fn new(server: &Arc<Server>, side: Outbox, carrier: Carrier) -> Arc<Self> {
        let listener = Arc::new(Listener {
            outbox: side.clone(),
            subscription: None,
            tools: true,
            resources: true,
            uris: Mutex::default(),
        });
        Arc::new(Self {
            server: server.clone(),
            revision: Mutex::new(None),
            level: Mutex::new(None),
            listener,
            side,
            carrier,
            calls: AtomicUsize::new(0),
            has_unsubscribed: AtomicBool::new(false),
            has_cancelled: AtomicBool::new(false),
            tasks: Tasks::default(),
            has_listened: AtomicBool::new(false),
            running: Mutex::default(),
        })
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        *held(&self.revision)
    }

    pub(crate) fn read(&self, text: &str) -> Incoming {
        let has = |fault| self.server.faults.has(fault);
        Incoming::read(
            text,
            Lenience {
                any_version: has(Fault::EnvelopeVersionUnchecked),
                null_id: has(Fault::IdNullAccepted),
            },
        )
    }

    /// Handles a message; completes when all resulting messages were sent.
    pub(crate) async fn serve(self: &Arc<Self>, message: Incoming, outbox: &Outbox) {
        let faults = self.server.faults;
        let anonymous = || self.anonymous(outbox);
        match message {
            Incoming::Request(request) => self.request(request, outbox).await,
            Incoming::Notification { method, params } => {
                self.notification(&method, &params.unwrap_or_default(), outbox);
            }
            Incoming::Response if faults.has(Fault::ResponseAnswered) => {
                anonymous().fail(&Failure::new(-32600, "nothing was asked"));
            }
            Incoming::Response if faults.has(Fault::CancelsCompleted) => {
                let params = json!({"requestId": "ping-1", "reason": "too late"});
                notify(outbox, "notifications/cancelled", &params);
            }
            Incoming::Response => {}
            Incoming::Batch(_) if faults.has(Fault::BatchDies) => die(),
            Incoming::Batch(entries) => Box::pin(self.batch(&entries, outbox)).await,
            Incoming::NotJson => match faults.0 {
                Some(Fault::MalformedJsonSilent) => {}
                Some(Fault::MalformedJsonDies) => die(),
                Some(Fault::MalformedJsonWrongCode) => {
                    anonymous().fail(&Failure::new(-32603, "internal error"));
                }
                _ => anonymous().fail(&Failure::new(-32700, "this is not JSON")),
            },
            Incoming::Invalid { why: "the method must be a string", .. }
                if faults.has(Fault::MethodNotStringDies) =>
            {
                die()
            }
            Incoming::Invalid { why: "params must be an object", .. }
                if faults.has(Fault::PositionalParamsDie) =>
            {
                die()
            }
            Incoming::Invalid { id, why } => {
                let reply = id.map_or_else(anonymous, |id| Reply::new(faults, outbox.clone(), &id));
                reply.fail(&Failure::new(-32600, why));
            }
        }
    }

    /// A response that names no request: without an id where the revision or the transport allows
    /// that.
    fn anonymous(&self, outbox: &Outbox) -> Reply {
        let needs_id = self.carrier == Carrier::Stdio
            && self.revision().is_some_and(|revision| revision <= Revision::V2025_06_18);
        Reply::anonymous(self.server.faults, outbox.clone(), needs_id.then_some("null"))
    }

    /// Cancels all calls under way, since the client has disconnected.
    pub(crate) fn abandon(&self) {
        for call in held(&self.running).values() {
            call.send_replace(true);
        }
    }

    async fn batch(self: &Arc<Self>, entries: &[String], outbox: &Outbox) {
        let faults = self.server.faults;
        let served = (self.revision() == Some(Revision::V2025_03_26)
            && !faults.has(Fault::BatchRefused))
            || faults.has(Fault::BatchServed);
        if !served || entries.is_empty() {
            self.anonymous(outbox).fail(&Failure::new(-32600, "batches are not supported here"));
            return;
        }
        let answers = MessageLog::new();
        for entry in entries {
            let target: Outbox =
                if faults.has(Fault::BatchOneByOne) { outbox.clone() } else { answers.clone() };
            let message = match self.read(entry) {
                Incoming::Batch(_) => {
                    Incoming::Invalid { id: None, why: "a batch has no batches in it" }
                }
                message => message,
            };
            // An entry without a usable id still gets an answer among the others.
            if let Incoming::Invalid { id: None, why } = message {
                let reply = Reply::anonymous(faults, target.clone(), Some("null"));
                reply.fail(&Failure::new(-32600, why));
            } else {
                self.serve(message, &target).await;
            }
        }
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for index in 0..answers.length() {
            let Some(text) = answers.get(index) else { break };
            if text.contains("\"method\":") && !text.contains("\"id\":") {
                others.push(text);
            } else {
                own.push(text);
            }
        }
        for text in others {
            outbox.send(text);
        }
        if !own.is_empty() {
            outbox.send(format!("[{}]", own.join(",")));
        }
    }

    fn notification(self: &Arc<Self>, method: &str, params: &Value, outbox: &Outbox) {
        let faults = self.server.faults;
        let answer = |result: bool| {
            let reply = self.anonymous(outbox);
            if result {
                reply.succeed(&json!({}));
            } else {
                reply.fail(&Failure::new(-32601, "unknown notification"));
            }
        };
        match method {
            "notifications/initialized" => {
                if faults.has(Fault::InitializedAnswered) {
                    answer(true);
                }
                if faults.has(Fault::CancelsCompleted) {
                    let question = json!({"jsonrpc": "2.0", "id": "ping-1", "method": "ping"});
                    self.side.send(question.to_string());
                }
                self.server.world.listen(&self.listener);
            }
            "notifications/cancelled" => {
                if faults.has(Fault::CancellationAnswered) {
                    answer(true);
                }
                self.has_cancelled.store(true, Ordering::SeqCst);
                self.cancel(&params["requestId"].to_string());
            }
            "notifications/roots/list_changed" | "notifications/progress" => {}
            "tools/list" if faults.has(Fault::RequestNotificationServed) => {
                let listed = listing::list(
                    &self.server.world,
                    method,
                    params,
                    Revision::V2025_11_25,
                    faults,
                );
                self.anonymous(outbox).send(listed);
            }
            _ if faults.has(Fault::NotificationAnswered) => answer(false),
            _ if faults.has(Fault::NotificationDies) => die(),
            _ => {}
        }
    }

    fn cancel(&self, id: &str) {
        let faults = self.server.faults;
        let running = held(&self.running);
        match running.get(id) {
            None if faults.has(Fault::CancellationUnknownDies) => die(),
            _ if faults.has(Fault::CancellationIgnored) => {}
            Some(_) if faults.has(Fault::CancellationHitsAll) => {
                running.values().for_each(|call| {
                    call.send_replace(true);
                });
            }
            Some(call) => {
                call.send_replace(true);
            }
            None => {}
        }
    }

    async fn request(self: &Arc<Self>, request: Request, outbox: &Outbox) {
        let faults = self.server.faults;
        if self.server.world.requests.fetch_add(1, Ordering::SeqCst) >= 20
            && faults.has(Fault::DiesAfterTwenty)
        {
            die();
        }
        let reply = Reply::new(faults, outbox.clone(), &request.id);
        let params = request.params.clone().unwrap_or_default();
        let is_stateless = !params["_meta"][VERSION].is_null() && request.method != "initialize";
        let agreed = self.revision();
        let revision = match (is_stateless, agreed) {
            (true, _) => {
                if let Some(refusal) = stateless::refusal(&params, faults) {
                    return reply.fail(&refusal);
                }
                Revision::V2026_07_28
            }
            (false, Some(revision)) => revision,
            (false, None) => match request.method.as_str() {
                "initialize" => return self.initialize(request.params.as_ref(), &reply),
                "ping" if !faults.has(Fault::PingBeforeInitializeRefused) => {
                    return reply.succeed(&json!({}));
                }
                _ if faults.has(Fault::ServedBeforeInitialize) => Revision::V2025_11_25,
                _ => {
                    return reply.fail(&Failure::params(
                        "initialize comes first, or _meta says the version",
                    ));
                }
            },
        };
        match request.method.as_str() {
            "tools/call" => self.call(&request.id, &params, revision, &reply).await,
            "subscriptions/listen" if revision.is_stateless() => {
                self.listen(&request.id, &params, &reply).await;
            }
            _ => {
                let Some(outcome) = self.simple(&request, &params, revision) else { return };
                let outcome = outcome.map(|result| {
                    if revision.is_stateless() {
                        stateless::complete(result, faults)
                    } else {
                        result
                    }
                });
                if faults.has(Fault::AnswersTwice) && request.method == "tools/list" {
                    reply.send(outcome.clone());
                }
                reply.send(outcome);
            }
        }
    }

    fn initialize(&self, params: Option<&Value>, reply: &Reply) {
        match handshake::initialize(params, self.server.faults) {
            Ok((result, revision)) => {
                *held(&self.revision) = Some(revision);
                reply.succeed(&result);
                if self.server.faults.has(Fault::RequestBeforeInitialized) {
                    self.side.send(
                        json!({"jsonrpc": "2.0", "id": "early-1", "method": "roots/list"})
                            .to_string(),
                    );
                }
            }
            Err(failure) => reply.fail(&failure),
        }
    }

    /// Methods that are answered immediately. None if there is no answer.
    fn simple(
        &self,
        request: &Request,
        params: &Value,
        revision: Revision,
    ) -> Option<Result<Value, Failure>> {
        let (faults, world) = (self.server.faults, &self.server.world);
        let is_stateless = revision.is_stateless();
        let missing = || Some(Err(Failure::new(-32601, "there is no such method")));
        let declared_only = match request.method.as_str() {
            "logging/setLevel" => faults.has(Fault::LoggingDeclaredOnly),
            "completion/complete" => faults.has(Fault::CompletionsDeclaredOnly),
            "prompts/list" | "prompts/get" => faults.has(Fault::PromptsDeclaredOnly),
            "resources/subscribe" => faults.has(Fault::SubscribeDeclaredOnly),
            "server/discover" => faults.has(Fault::DiscoverMissing),
            _ => false,
        };
        if declared_only {
            return missing();
        }
        match request.method.as_str() {
            "initialize" if !is_stateless => {
                if faults.has(Fault::SecondInitializeDies) {
                    die();
                }
                Some(Err(Failure::new(-32600, "this conversation is initialised")))
            }
            "ping" if !is_stateless || faults.has(Fault::RemovedMethodsServed) => match faults.0 {
                Some(Fault::PingUnanswered) => None,
                Some(Fault::PingUnknown) => missing(),
                Some(Fault::PingNotEmpty) => Some(Ok(json!({"pong": true}))),
                _ => Some(Ok(json!({}))),
            },
            "server/discover" if is_stateless => Some(Ok(stateless::discover(faults))),
            "tools/list"
                if faults.has(Fault::ListAfterSubscribeDies)
                    && !held(&self.listener.uris).is_empty() =>
            {
                die()
            }
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                Some(listing::list(world, &request.method, params, revision, faults))
            }
            "resources/read"
                if faults.has(Fault::UnsubscribeWedges)
                    && self.has_unsubscribed.load(Ordering::SeqCst) =>
            {
                std::thread::park();
                None
            }
            "resources/read"
                if faults.has(Fault::ReadAfterCancelEmpty)
                    && self.has_cancelled.load(Ordering::SeqCst) =>
            {
                Some(Ok(json!({})))
            }
            "resources/read" => {
                Some(match (params["uri"].as_str(), faults.has(Fault::MissingUriAccepted)) {
                    (Some(uri), _) => {
                        resources::read(world, uri, revision, faults).map(|mut contents| {
                            if is_stateless {
                                contents["ttlMs"] = json!(0);
                                contents["cacheScope"] = json!("private");
                            }
                            contents
                        })
                    }
                    (None, true) => {
                        Ok(json!({"contents": [], "ttlMs": 0, "cacheScope": "private"}))
                    }
                    (None, false) => Err(self.lacking("uri")),
                })
            }
            "resources/subscribe" | "resources/unsubscribe" if !is_stateless => {
                if request.method == "resources/unsubscribe" {
                    self.has_unsubscribed.store(true, Ordering::SeqCst);
                }
                subscriptions::change(&self.listener, &self.side, &request.method, params, faults)
            }
            "prompts/get" => Some(match params["name"].as_str() {
                Some(name) => prompts::get(name, &params["arguments"], faults),
                None => Err(self.lacking("name")),
            }),
            "completion/complete" => Some(completion::complete(params, faults)),
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel"
                if revision == Revision::V2025_11_25 =>
            {
                Some(self.tasks.answer(&request.method, params, faults))
            }
            "logging/setLevel" if !is_stateless => {
                Some(logging::level(params, faults).map(|level| {
                    *held(&self.level) = Some(level);
                    json!({})
                }))
            }
            _ => match faults.0 {
                Some(Fault::UnknownMethodSucceeds) => Some(Ok(json!({}))),
                Some(Fault::UnknownMethodSilent) => None,
                Some(Fault::UnknownMethodDies) => die(),
                Some(Fault::UnknownMethodWrongCode) => {
                    Some(Err(Failure::new(-32603, "internal error")))
                }
                _ => missing(),
            },
        }
    }

    fn lacking(&self, name: &str) -> Failure {
        let code =
            if self.server.faults.has(Fault::MissingParamsInternalError) { -32603 } else { -32602 };
        Failure::new(code, format!("{name} must be a string"))
    }

    async fn call(&self, id: &str, params: &Value, revision: Revision, reply: &Reply) {
        let faults = self.server.faults;
        let level = if revision.is_stateless() {
            let asked = params["_meta"]["io.modelcontextprotocol/logLevel"].as_str();
            asked.and_then(|asked| logging::LEVELS.iter().position(|level| *level == asked))
        } else {
            Some(held(&self.level).unwrap_or(4))
        };
        let (end, mut ended) = watch::channel(false);
        held(&self.running).insert(id.to_owned(), end);
        let running = self.server.world.running.fetch_add(1, Ordering::SeqCst);
        let call = Call { server: &self.server, revision, params, outbox: reply.outbox(), level };
        let outcome = tokio::select! {
            outcome = call.run() => outcome,
            _ = ended.wait_for(|ended| *ended) => None,
        };
        held(&self.running).remove(id);
        self.server.world.running.fetch_sub(1, Ordering::SeqCst);
        if faults.has(Fault::LostUnderLoad) && running >= 4 {
            return;
        }
        let Some(outcome) = outcome else { return };
        let calls = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let outcome = outcome.map(|mut result| {
            if faults.has(Fault::ThirdCallEmpty) && calls >= 3 {
                result = json!({});
            }
            if tasks::is_asked_for(params, revision) {
                result = self.tasks.create(params, result);
            }
            if revision.is_stateless() { stateless::complete(result, faults) } else { result }
        });
        match (&outcome, faults.0) {
            (Ok(result), Some(Fault::QuoteBreaksJson)) => {
                let said = result["content"][0]["text"].as_str().unwrap_or_default();
                let content = format!(
                    r#"{{"content":[{{"type":"text","text":"{said}"}}],"resultType":"complete"}}"#
                );
                reply.outbox().send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{content}}}"#));
            }
            (Ok(result), Some(Fault::PrettyPrinted)) => {
                reply.outbox().send(format!(
                    "{{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {id},\n  \"result\": {result}\n}}"
                ));
            }
            _ => reply.send(outcome),
        }
        if faults.has(Fault::ProgressAfterEnd) && !params["_meta"]["progressToken"].is_null() {
            let late = json!({"progressToken": params["_meta"]["progressToken"], "progress": 100, "total": 100});
            notify(reply.outbox(), "notifications/progress", &late);
        }
    }

    async fn listen(&self, id: &str, params: &Value, reply: &Reply) {
        let is_second = self.has_listened.swap(true, Ordering::SeqCst);
        if is_second && self.server.faults.has(Fault::SecondListenDies) {
            die();
        }
        let (end, mut ended) = watch::channel(false);
        held(&self.running).insert(id.to_owned(), end);
        if let Some(_listener) = subscriptions::listen(&self.server, params, reply) {
            let _ = ended.wait_for(|ended| *ended).await;
        }
        held(&self.running).remove(id);
    }
}

/// Exits as if by an unhandled error.
pub(crate) fn die() -> ! {
    std::process::exit(101)
}
