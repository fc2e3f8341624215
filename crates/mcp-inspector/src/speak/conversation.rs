//! One conversation with a server: calls, open calls, and questions of the server.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use mcp_core::{Era, Revision, Side};
use mcp_json::{Node, Tape};
use mcp_jsonrpc::Envelope;
use mcp_rules::{Carrier, Engine, Finding, Findings, Session};
use serde_json::{json, value::RawValue};
use tokio::sync::{mpsc, oneshot};

use super::{
    offer::Offering,
    refusal::Refusal,
    target::Ending,
    text::{self, LIMITS, MetaMembers},
    view::{Call, CallState},
};
use crate::{
    frame::{Kind, Row},
    text::excerpt,
};

/// Maximum number of requests to remember.
const MOST_CALLS: usize = 200;
/// Maximum number of questions waiting for the user.
const MOST_QUESTIONS: usize = 100;
/// Maximum bytes of params kept for a call that may have to be repeated with answers.
const KEPT_PARAMS: usize = 1 << 20;

/// What the server stated about itself.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) server_info: Option<Box<RawValue>>,
    pub(super) capabilities: Option<Box<RawValue>>,
    pub(super) instructions: Option<String>,
}

/// A question of the server.
#[derive(Debug)]
pub(super) struct Question {
    /// Its id in the API of the page.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) params: String,
    pub(super) frame: Option<u64>,
    asker: Asker,
}

#[derive(Debug)]
enum Asker {
    /// A request of the server.
    Request,
    /// The result of a call, which is repeated with the answers.
    Round { call: String, key: String, answer: Option<String> },
}

/// A call that the server has answered with questions.
#[derive(Debug)]
struct Round {
    method: String,
    params: String,
    state: Option<String>,
}

pub(super) struct Conversation {
    engine: Arc<Engine>,
    pub(super) session: Arc<str>,
    pub(super) revision: Option<Revision>,
    pub(super) facts: Facts,
    pub(super) calls: VecDeque<Call>,
    pub(super) questions: Vec<Question>,
    pub(super) offering: Offering,
    /// `None` once the conversation has ended.
    sender: Option<mpsc::Sender<Bytes>>,
    /// Ends the server when dropped.
    ending: Option<Ending>,
    next_id: u64,
    waiting: HashMap<String, oneshot::Sender<Bytes>>,
    /// Params of open calls, by id.
    params: HashMap<String, (String, String)>,
    rounds: HashMap<String, Round>,
    /// The state of the rules, to check messages before they are sent.
    rules: Session,
    pub(super) last_error: Option<String>,
    /// Whether the server announced changed lists.
    pub(super) has_news: bool,
}

impl Conversation {
    pub(super) fn new(
        engine: Arc<Engine>,
        session: Arc<str>,
        sender: mpsc::Sender<Bytes>,
        ending: Ending,
    ) -> Conversation {
        let rules = engine.session(None);
        Conversation {
            engine,
            session,
            revision: None,
            facts: Facts::default(),
            calls: VecDeque::new(),
            questions: Vec::new(),
            offering: Offering::default(),
            sender: Some(sender),
            ending: Some(ending),
            next_id: 1,
            waiting: HashMap::new(),
            params: HashMap::new(),
            rounds: HashMap::new(),
            rules,
            last_error: None,
            has_news: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.sender.is_some()
    }

    fn is_stateless(&self) -> bool {
        self.revision.is_some_and(|revision| revision.era() == Era::Modern)
    }

    /// Composes the next message with a method; returns its text, and its id if it is a request.
    pub(super) fn compose(&self, method: &str, params: Option<&str>) -> (Option<u64>, String) {
        let id = (!method.starts_with("notifications/")).then_some(self.next_id);
        (id, text::message(id, method, params, &self.meta(method, id)))
    }

    fn meta(&self, method: &str, id: Option<u64>) -> MetaMembers {
        let mut meta = MetaMembers::new();
        if method == "tools/call"
            && let Some(id) = id
        {
            meta.push(("progressToken", id.to_string()));
        }
        if let Some(revision) = self.revision.filter(|_| self.is_stateless() && id.is_some()) {
            meta.extend(text::stateless_meta(revision));
        }
        meta
    }

    /// The findings that a text would cause if it were sent next.
    pub(super) fn judge(&self, text: &str) -> Vec<Finding> {
        let mut rules = self.rules.clone();
        let mut findings = Findings::new(self.engine.settings());
        let mut tape = Tape::new();
        match tape.parse(text.as_bytes(), LIMITS) {
            Ok(document) => {
                let root = document.root();
                let followed = self.engine.follow(&mut rules, Some(Side::Client), root);
                self.engine.judge(root, &followed, &mut findings);
            }
            Err(error) => {
                let (from, carrier) = (Some(Side::Client), Carrier::Stdio);
                let bytes = text.as_bytes();
                let engine = &self.engine;
                engine.judge_unreadable(carrier, &mut rules, from, bytes, &error, &mut findings);
            }
        }
        findings.take()
    }

    /// Sends a request or a notification.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: Option<&str>,
    ) -> Result<(Option<String>, String), Refusal> {
        let (_, text) = self.compose(method, params);
        let id = self.send(&text, None)?;
        Ok((id, text))
    }

    /// Sends a request of the inspector itself; the receiver gets the answer.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: Option<&str>,
    ) -> Result<(String, oneshot::Receiver<Bytes>), Refusal> {
        let (id, text) = self.compose(method, params);
        let id = id.map(|id| id.to_string()).unwrap_or_default();
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(id.clone(), answer);
        if let Err(refusal) = self.send(&text, None) {
            self.waiting.remove(&id);
            return Err(refusal);
        }
        Ok((id, answered))
    }

    /// Sends a text unchanged. Returns the id if it is a request.
    pub(super) fn send(
        &mut self,
        text: &str,
        replay: Option<(u64, Option<u64>)>,
    ) -> Result<Option<String>, Refusal> {
        let sender = self.sender.as_ref().ok_or_else(Refusal::not_connected)?;
        let mut line = text.as_bytes().to_vec();
        line.push(b'\n');
        sender.try_send(line.into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Refusal::stuck(),
            mpsc::error::TrySendError::Closed(_) => Refusal::not_connected(),
        })?;
        let sent = text::read(text, |root| {
            self.engine.follow(&mut self.rules, Some(Side::Client), root);
            let envelope = Envelope::of(root);
            let method = envelope.method?.as_str()?.into_owned();
            let id = String::from_utf8_lossy(envelope.id?.raw()).into_owned();
            let params = envelope.params.map(Node::raw).unwrap_or_default();
            let named = |name| envelope.params?.get(name)?.str_bytes();
            let target = named("name").or_else(|| named("uri")).map(|name| excerpt(&name, 120));
            Some((id, method, String::from_utf8_lossy(params).into_owned(), target))
        });
        let Some((id, method, params, target)) = sent.flatten() else { return Ok(None) };
        if let Ok(number) = id.parse::<u64>() {
            self.next_id = self.next_id.max(number.saturating_add(1));
        }
        let kept: usize = self.params.values().map(|(_, params)| params.len()).sum();
        if self.is_stateless() && kept + params.len() <= KEPT_PARAMS {
            self.params.insert(id.clone(), (method.clone(), params));
        }
        let (replay_of, first_answer) =
            replay.map_or((None, None), |(frame, answer)| (Some(frame), answer));
        self.note(Call {
            id: id.clone(),
            method: excerpt(method.as_bytes(), 120),
            target,
            frame: None,
            answer: None,
            sent_at: now(),
            took_ms: None,
            state: CallState::Pending,
            reason: None,
            replay_of,
            first_answer,
        });
        Ok(Some(id))
    }

    fn note(&mut self, call: Call) {
        if self.calls.len() >= MOST_CALLS {
            let done = self.calls.iter().position(|call| call.state != CallState::Pending);
            if let Some(gone) = self.calls.remove(done.unwrap_or(0)) {
                self.params.remove(&gone.id);
            }
        }
        self.calls.push_back(call);
    }

    /// Handles a line from the server.
    pub(super) fn hear(&mut self, line: &Bytes) {
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(line, LIMITS) else { return };
        let root = document.root();
        self.engine.follow(&mut self.rules, Some(Side::Server), root);
        if root.is_array() {
            for entry in root.elements().take(1000) {
                self.hear_message(entry);
            }
        } else {
            self.hear_message(root);
        }
    }

    fn hear_message(&mut self, message: Node<'_>) {
        let envelope = Envelope::of(message);
        let method = envelope.method.and_then(Node::as_str);
        match (method, envelope.id) {
            (Some(method), Some(id)) => self.take_question(&method, id, envelope.params),
            (Some(method), None) => {
                let changed = [
                    "notifications/tools/list_changed",
                    "notifications/resources/list_changed",
                    "notifications/prompts/list_changed",
                ];
                self.has_news |= changed.contains(&&*method);
            }
            (None, Some(id)) => self.take_answer(id, message, envelope.result),
            (None, None) => {}
        }
    }

    fn take_answer(&mut self, id: Node<'_>, message: Node<'_>, result: Option<Node<'_>>) {
        let id = String::from_utf8_lossy(id.raw()).into_owned();
        let open = |call: &&mut Call| call.id == id && call.state == CallState::Pending;
        let Some(call) = self.calls.iter_mut().rev().find(open) else { return };
        call.state = CallState::Answered;
        call.took_ms = Some((now() - call.sent_at).max(0));
        let asked = self.params.remove(&id);
        if let Some(waiter) = self.waiting.remove(&id) {
            let _ = waiter.send(Bytes::copy_from_slice(message.raw()));
        }
        if let (Some((method, params)), Some(result)) = (asked, result) {
            self.take_round(&id, method, params, result);
        }
    }

    /// Handles an input-required result of a stateless revision.
    fn take_round(&mut self, call: &str, method: String, params: String, result: Node<'_>) {
        let asks = result.get("resultType").is_some_and(|kind| kind.str_eq("input_required"));
        let Some(wanted) = result.get("inputRequests").filter(|it| asks && it.is_object()) else {
            return;
        };
        let room = MOST_QUESTIONS.saturating_sub(self.questions.len());
        if wanted.is_empty() || wanted.len() > room {
            return;
        }
        for (key, request) in wanted.members() {
            let Some(key) = key.as_str() else { continue };
            let envelope = Envelope::of(request);
            let method = envelope.method.and_then(Node::as_str).unwrap_or_default().into_owned();
            let params = envelope.params.map_or(&b"{}"[..], Node::raw);
            let asker = Asker::Round { call: call.to_owned(), key: key.to_string(), answer: None };
            self.questions.push(Question {
                id: json!(format!("{call}/{key}")).to_string(),
                method,
                params: String::from_utf8_lossy(params).into_owned(),
                frame: None,
                asker,
            });
        }
        let state = result.get("requestState");
        let state = state.map(|state| String::from_utf8_lossy(state.raw()).into_owned());
        self.rounds.insert(call.to_owned(), Round { method, params, state });
    }

    fn take_question(&mut self, method: &str, id: Node<'_>, params: Option<Node<'_>>) {
        let id = String::from_utf8_lossy(id.raw()).into_owned();
        let by_hand = ["sampling/createMessage", "elicitation/create", "roots/list"];
        let answer = match method {
            "ping" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
            method if by_hand.contains(&method) && self.questions.len() < MOST_QUESTIONS => {
                let params = params.map_or(&b"{}"[..], Node::raw);
                let params = String::from_utf8_lossy(params).into_owned();
                let (method, asker) = (method.to_owned(), Asker::Request);
                self.questions.push(Question { id, method, params, frame: None, asker });
                return;
            }
            method if by_hand.contains(&method) => {
                failure(&id, -32603, "too many questions are waiting for an answer")
            }
            _ => failure(&id, -32601, "the inspector does not know this method"),
        };
        // If the server does not read, the answer is dropped.
        let _ = self.send(&answer, None);
    }

    /// Answers a question. Once all questions of a call are answered, the call is repeated.
    pub(super) fn answer(
        &mut self,
        id: &str,
        result: Option<&str>,
        error: Option<&str>,
    ) -> Result<(Option<String>, String), Refusal> {
        let place = self.questions.iter().position(|question| question.id == id);
        let place = place.ok_or_else(|| {
            Refusal::unknown(
                "no such question is waiting",
                "it was answered, or the server has disconnected",
            )
        })?;
        let given = |text: &str| text::on_one_line(text.trim());
        match &mut self.questions[place].asker {
            Asker::Request => {
                let (name, value) = match (result, error) {
                    (Some(result), _) => ("result", given(result)),
                    (None, Some(error)) => ("error", given(error)),
                    (None, None) => {
                        let help = "send `result` or `error`";
                        return Err(Refusal::invalid("the answer is missing", help));
                    }
                };
                let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#);
                self.send(&text, None)?;
                self.questions.remove(place);
                Ok((None, text))
            }
            Asker::Round { call, answer, .. } => {
                let Some(result) = result else {
                    let help = "send a `result`, or cancel the call";
                    return Err(Refusal::invalid(
                        "this question cannot be answered with an error",
                        help,
                    ));
                };
                *answer = Some(given(result));
                let call = call.clone();
                self.go_on(&call)
            }
        }
    }

    /// Repeats a call once all its questions are answered.
    fn go_on(&mut self, call: &str) -> Result<(Option<String>, String), Refusal> {
        let mut answers = Vec::new();
        for question in &self.questions {
            if let Asker::Round { call: of, key, answer } = &question.asker
                && of == call
            {
                let Some(answer) = answer else {
                    return Ok((None, "the call continues once all questions are answered".into()));
                };
                answers.push((key.clone(), answer.clone()));
            }
        }
        let Some(round) = self.rounds.remove(call) else { return Err(Refusal::not_connected()) };
        let is_of = |asker: &Asker| matches!(asker, Asker::Round { call: of, .. } if of == call);
        self.questions.retain(|question| !is_of(&question.asker));
        let params = text::with_inputs(&round.params, &answers, round.state.as_deref());
        // The progress token belonged to the first call.
        let (id, text) = self.compose(&round.method, Some(&params));
        let text = id.map_or(text.clone(), |id| text::renewed(&text, id));
        let id = self.send(&text, None)?;
        Ok((id, text))
    }

    /// Cancels a call.
    pub(super) fn cancel(&mut self, id: &str) -> Result<String, Refusal> {
        let open = |call: &&mut Call| call.id == id && call.state == CallState::Pending;
        let Some(call) = self.calls.iter_mut().rev().find(open) else {
            let help = "only calls that are waiting for an answer can be cancelled";
            return Err(Refusal::unknown(
                format!("no call {} is waiting", excerpt(id.as_bytes(), 60)),
                help,
            ));
        };
        call.state = CallState::Cancelled;
        call.took_ms = Some((now() - call.sent_at).max(0));
        let params = format!(r#"{{"requestId":{id},"reason":"cancelled by hand"}}"#);
        let (_, text) = self.compose("notifications/cancelled", Some(&params));
        self.waiting.remove(id);
        self.params.remove(id);
        self.send(&text, None)?;
        Ok(text)
    }

    /// Sends an earlier message again.
    pub(super) fn replay(
        &mut self,
        text: &str,
        of: (u64, Option<u64>),
    ) -> Result<(Option<String>, String), Refusal> {
        let text = text::renewed(&text::on_one_line(text), self.next_id);
        let id = self.send(&text, Some(of))?;
        Ok((id, text))
    }

    /// Notes the frame number of a message.
    pub(super) fn place(&mut self, row: &Row) {
        let (Some(from), number) = (row.from, row.number) else { return };
        match (from, row.kind) {
            (Side::Server, Kind::Stderr) => self.last_error = Some(row.preview.clone()),
            (Side::Client, Kind::Request) => {
                let id = row.id.as_deref();
                let is_it = |call: &&mut Call| call.frame.is_none() && Some(&*call.id) == id;
                if let Some(call) = self.calls.iter_mut().find(is_it) {
                    call.frame = Some(number);
                }
            }
            (Side::Server, Kind::Request) => {
                let id = row.id.as_deref();
                let is_it = |it: &&mut Question| it.frame.is_none() && Some(&*it.id) == id;
                if let Some(question) = self.questions.iter_mut().find(is_it) {
                    question.frame = Some(number);
                }
            }
            (Side::Server, Kind::Result | Kind::Error | Kind::Malformed) => {
                let Some(id) = row.id.as_deref() else { return };
                let is_it = |call: &&mut Call| call.answer.is_none() && call.id == id;
                if let Some(call) = self.calls.iter_mut().find(is_it) {
                    call.answer = Some(number);
                }
                self.offering.place(id, number);
                for question in &mut self.questions {
                    if matches!(&question.asker, Asker::Round { call, .. } if call == id) {
                        question.frame = Some(number);
                    }
                }
            }
            _ => {}
        }
    }

    /// Asks the server to end; the end is reported later.
    pub(super) fn hang_up(&mut self) {
        self.sender = None;
        self.ending = None;
    }

    /// Ends the conversation: all waiting calls fail with `reason`.
    pub(super) fn end(&mut self, reason: &str) {
        self.hang_up();
        self.waiting.clear();
        self.params.clear();
        self.rounds.clear();
        self.questions.clear();
        for call in &mut self.calls {
            if call.state == CallState::Pending {
                call.state = CallState::Lost;
                call.took_ms = Some((now() - call.sent_at).max(0));
                call.reason = Some(reason.to_owned());
            }
        }
    }
}

fn failure(id: &str, code: i64, message: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#,
        json!(message)
    )
}

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "people want to know when and how long")]
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default()
}
