//! Progress: which tokens may be reported on, and how the values change.

use std::fmt;

use mcp_core::{RequestId, Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{
    Family, cancellation, ids,
    tasks::{self, Report},
};
use crate::{
    Findings, Level,
    conversation::{
        Bounded, Event, Known, Moment, Notes, Remembered, Request, TaskStatus, Topic, What,
        digest::digest, request_id,
    },
    findings::Fault,
    wire::json,
};

rules! {
    TOKEN_TYPE: "progress-token-type", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#progress-flow";
    TOKEN_UNKNOWN: "progress-token-unknown", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#behavior-requirements";
    AFTER_COMPLETION: "progress-after-completion", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#behavior-requirements";
    NOT_INCREASING: "progress-not-increasing", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#progress-flow";
    TOKEN_REUSED: "progress-token-reused", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#progress-flow";
}

/// Checks the params of `notifications/progress` by themselves. A token of a wrong type is a schema
/// violation, which the refinement table maps to its rule.
pub(crate) fn check_message(params: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(token) = params.get("progressToken") {
        json::check_integer("progressToken", token, findings);
    }
}

/// The tokens of both sides, by the side whose requests carried them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    client: Tokens,
    server: Tokens,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Tokens {
    by_token: Bounded<RequestId, Token>,
    /// The tokens of tasks, by task.
    by_task: Bounded<Box<str>, RequestId>,
}

/// The state of a token since the last request that used it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Token {
    request: RequestId,
    at: Moment,
    life: Life,
    /// The last reported value.
    last: Option<(Amount, Moment)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Life {
    /// The request has not been answered.
    Request,
    /// The request has become a task.
    Task,
    Over(Moment),
    /// Unknown: two requests share the token, or the task may be gone.
    Unsure,
}

impl Family for Progress {
    fn concerns(event: &Event<'_>) -> bool {
        match event.what {
            What::Notification => matches!(event.topic, Topic::Progress | Topic::Tasks),
            What::Request(_) => event.params().is_some(),
            What::Answer(answer) => {
                let carried = |request: &Request| request.asked.progress.is_some();
                event.topic == Topic::Tasks || answer.request.is_some_and(carried)
            }
        }
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.what {
            What::Request(id) => {
                if let Some(node) = event.meta().and_then(|meta| meta.get("progressToken"))
                    && let Some(token) = token(node)
                {
                    self.of(event.from).begin(id, &token, node, event, known, notes);
                    asked.remember().progress = Some(Box::new(token));
                }
            }
            What::Notification if event.name == "notifications/progress" => {
                self.of(event.from.other()).judge(event, known, notes);
            }
            What::Notification => self.end_tasks(event),
            What::Answer(answer) => {
                if let (Some(id), Some(request)) = (answer.id, answer.request) {
                    if let Some(token) = &request.asked.progress {
                        self.of(event.from.other()).end(token, id, event, known);
                    }
                    self.end_tasks(event);
                }
            }
        }
    }
}

impl Progress {
    fn of(&mut self, asker: Side) -> &mut Tokens {
        match asker {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Ends the tokens of tasks that a message reports as ended.
    fn end_tasks(&mut self, event: &Event<'_>) {
        let tokens = self.of(event.from.other());
        if tokens.by_task.is_empty() {
            return;
        }
        for Report { id, status, .. } in tasks::reports(event) {
            if status.is_some_and(TaskStatus::is_final) {
                tokens.end_task(&id, Life::Over(event.at));
            }
        }
        if let Some(id) = event.answered().and_then(tasks::subject) {
            match (event.name, event.error()) {
                ("tasks/result", None) => tokens.end_task(id, Life::Over(event.at)),
                (_, Some(_)) => tokens.end_task(id, Life::Unsure),
                (_, None) => {}
            }
        }
    }
}

impl Tokens {
    /// Whether the token is taken by another request of `asker` for which `counts` holds, or by its
    /// task. A request with the same id is another matter.
    fn is_shared(
        &self,
        token: &RequestId,
        id: &RequestId,
        asker: Side,
        known: &Known<'_>,
        counts: impl Fn(&Request) -> bool,
    ) -> bool {
        let Some(earlier) = self.by_token.get(token) else { return false };
        let uses_it = |open: &Request| {
            let carries_it = open.asked.progress.as_ref().is_some_and(|it| **it == *token);
            carries_it && counts(open)
        };
        match earlier.life {
            Life::Request => {
                let open = known.requests.open(asker, &earlier.request);
                earlier.request != *id && open.is_some_and(uses_it)
            }
            Life::Task => true,
            Life::Over(_) => false,
            // Only the last of the requests that share it is remembered.
            Life::Unsure => {
                known.requests.iter_open(asker).any(|(other, open)| other != id && uses_it(open))
            }
        }
    }

    /// Records a request that carries the token.
    fn begin(
        &mut self,
        id: &RequestId,
        token: &RequestId,
        node: Node<'_>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let is_live = |request: &Request| request.cancelled.is_none();
        let in_use = self.is_shared(token, id, event.from, known, is_live);
        if in_use
            && !known.is_anonymous(event)
            && let Some(earlier) = self.by_token.get(token)
        {
            notes.note(earlier.reused(token).at(node.span()));
        }
        // When two requests share a token, reports on it are ambiguous, and reports on a cancelled
        // request may still be on their way.
        let is_unsure = in_use || self.is_shared(token, id, event.from, known, |_| true);
        let life = if is_unsure { Life::Unsure } else { Life::Request };
        let begun = Token { request: id.clone(), at: event.at, life, last: None };
        self.by_token.insert(token.clone(), begun, known.limits.remembered);
    }

    /// Records that the request of a token was answered.
    fn end(&mut self, token: &RequestId, id: &RequestId, event: &Event<'_>, known: &Known<'_>) {
        let Some(entry) = self.by_token.get_mut(token) else { return };
        if entry.request != *id || !matches!(entry.life, Life::Request) {
            return;
        }
        if let Some(task) = tasks::created(event) {
            entry.life = Life::Task;
            self.by_task.insert(task.id.into(), token.clone(), known.limits.remembered);
        } else {
            entry.life = Life::Over(event.at);
        }
    }

    fn end_task(&mut self, id: &str, life: Life) {
        if let Some(token) = self.by_task.remove(id)
            && let Some(entry) = self.by_token.get_mut(&token)
            && matches!(entry.life, Life::Task)
        {
            entry.life = life;
        }
    }

    fn judge(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(params) = event.params() else { return };
        let Some(node) = params.get("progressToken") else { return };
        let Some(token) = token(node) else { return };
        let asker = event.from.other();
        let Some(entry) = self.by_token.get_mut(&token) else {
            let unseen = !known.from_start || known.sent_unreadable(asker);
            if !unseen && !self.by_token.forgot() {
                notes.note(self.unknown(asker, &token, node));
            }
            return;
        };
        // An unreadable message may have been a request that uses the token again.
        if known.sent_unreadable(asker) {
            entry.life = Life::Unsure;
        }
        let is_open = matches!(entry.life, Life::Request);
        if event.is_modern() && is_open && event.at.stream() != entry.at.stream() {
            return; // Reported by `http-stream-unrelated`.
        }
        match entry.life {
            Life::Over(end) if end.surely_before(event.at) => {
                notes.note(
                    Fault::new(
                        &AFTER_COMPLETION,
                        format!(
                            "the request or task with the progress token {token} has already ended"
                        ),
                    )
                    .at(node.span())
                    .related(end.line(), "it ended here")
                    .help("stop reporting before the answer is sent"),
                );
                return;
            }
            Life::Request if event.is_modern() => {
                let open = known.requests.open(asker, &entry.request);
                if let Some(late) = open.and_then(cancellation::late) {
                    notes.note(late.at(node.span()));
                    return;
                }
            }
            Life::Request | Life::Task | Life::Over(_) | Life::Unsure => {}
        }
        if let Some(value) = params.get("progress") {
            entry.advance(value, event, notes);
        }
    }

    fn unknown(&self, asker: Side, token: &RequestId, node: Node<'_>) -> Fault {
        let fault = Fault::new(
            &TOKEN_UNKNOWN,
            format!("no request of the {asker} carried the progress token {token}"),
        )
        .at(node.span());
        let other = ids::converted(token).and_then(|other| self.by_token.get(&other));
        match other {
            Some(other) => fault
                .related(other.at.line(), "the token has another type here")
                .help("send the token back exactly as received: 1 and \"1\" are different tokens"),
            None => fault.help(
                "send progress only for requests with a `progressToken`, and repeat that token",
            ),
        }
    }
}

impl Token {
    fn reused(&self, token: &RequestId) -> Fault {
        let holder = match self.life {
            Life::Task => "a task that is still running",
            Life::Request | Life::Over(_) | Life::Unsure => "a request that is still open",
        };
        Fault::new(&TOKEN_REUSED, format!("{holder} already uses the progress token {token}"))
            .related(self.at.line(), "the token was used here")
            .help("use a new token for each request, such as the request's id")
    }

    fn advance(&mut self, node: Node<'_>, event: &Event<'_>, notes: &mut Notes) {
        let Some(now) = Amount::of(node) else { return };
        if let Some((before, at)) = self.last
            && at.surely_before(event.at)
            && !matches!(self.life, Life::Unsure)
            && !now.exceeds(before)
        {
            notes.note(
                Fault::new(
                    &NOT_INCREASING,
                    format!("progress is {now}, but the previous report had {before}"),
                )
                .at(node.span())
                .related(at.line(), "the previous report was here")
                .help("report progress only when the value has increased; it may be fractional"),
            );
        }
        self.last = Some((now, event.at));
    }
}

/// A longer token is remembered by its digest.
const LONGEST_TOKEN: usize = 256;

/// The token in `node`, as remembered.
fn token(node: Node<'_>) -> Option<RequestId> {
    if node.raw().len() <= LONGEST_TOKEN {
        return request_id(node);
    }
    let text = node.str_bytes();
    let bytes = text.as_deref().unwrap_or(node.raw());
    let token = format!("of {} bytes, {:016x}", bytes.len(), digest(bytes));
    (text.is_some() || node.is_integer()).then(|| RequestId::from(token.as_str()))
}

/// A progress value.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Amount {
    /// Exact where possible: large counts differ in digits beyond a float's precision.
    integer: Option<i64>,
    float: f64,
}

impl Amount {
    fn of(node: Node<'_>) -> Option<Amount> {
        let float = node.as_f64().filter(|float| float.is_finite())?;
        Some(Amount { integer: node.as_i64(), float })
    }

    fn exceeds(self, before: Amount) -> bool {
        match (self.integer, before.integer) {
            (Some(now), Some(before)) => now > before,
            _ => self.float > before.float,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer {
            Some(integer) => integer.fmt(f),
            None => self.float.fmt(f),
        }
    }
}
