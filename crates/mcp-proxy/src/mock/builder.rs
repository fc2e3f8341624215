//! Builds a script from the lines of a recording.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcp_core::{Meta, ResponseStatus, Side, excerpt};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, ErrorCode, MessageKind};
use mcp_rules::ReadLine;

use super::{
    canonical,
    key::{Keyer, RequestKey, progress_token},
    open::{OpenRequest, OpenRequests, Trait},
    script::{Script, ScriptError, Sketch, Step, Take},
    template::{Hole, Template},
};

/// Bytes of the params to show in errors.
const SHOWN_PARAMS: usize = 200;
/// Approximate memory of a request besides its answer.
const TAKE_OVERHEAD: usize = 512;

/// Builds a [`Script`] from a recording.
#[derive(Debug)]
pub struct ScriptBuilder {
    limit: usize,
    used: usize,
    keyer: Keyer,
    requests: Vec<Recorded>,
    open: OpenRequests,
    has_bare: bool,
}

#[derive(Debug)]
struct Recorded {
    method: String,
    key: RequestKey,
    take: Take,
}

/// The context of a message.
#[derive(Debug, Clone, Copy)]
struct Context {
    session: u64,
    exchange: Option<u64>,
    status: Option<u16>,
}

impl ScriptBuilder {
    /// Default memory limit, in bytes.
    pub const DEFAULT_LIMIT: usize = 256 << 20;

    /// An empty script, limited to `limit` bytes.
    pub fn new(limit: usize) -> ScriptBuilder {
        ScriptBuilder {
            limit,
            used: 0,
            keyer: Keyer::default(),
            requests: Vec::new(),
            open: OpenRequests::default(),
            has_bare: false,
        }
    }

    /// Adds the next line.
    ///
    /// # Errors
    ///
    /// If the script exceeds its limit.
    pub fn add(&mut self, line: &ReadLine<'_>) -> Result<(), ScriptError> {
        let Some(message) = line.message() else { return Ok(()) };
        let Some(record) = line.record() else {
            self.has_bare = true;
            return Ok(());
        };
        if record.replaces.is_some() {
            // The server's own message is on another line.
            return Ok(());
        }
        let http = record.http.as_deref();
        let context = Context {
            session: self.keyer.bytes(&record.session),
            exchange: http.and_then(|http| http.exchange),
            status: http.and_then(|http| http.status),
        };
        if message.is_array() {
            message.elements().for_each(|entry| self.add_message(record.from, entry, context));
        } else {
            self.add_message(record.from, message, context);
        }
        if self.used > self.limit {
            return Err(ScriptError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// Returns the finished script.
    ///
    /// # Errors
    ///
    /// If it has no answers.
    pub fn finish(self) -> Result<Script, ScriptError> {
        let mut script = Script {
            keyer: self.keyer,
            takes: Vec::new(),
            exact: HashMap::new(),
            alike: HashMap::new(),
            methods: BTreeMap::new(),
            unanswered: HashSet::new(),
        };
        for Recorded { method, key, take } in self.requests {
            // Only a subscription is useful without its answer.
            if take.answer.is_none() && (take.steps.is_empty() || method != "subscriptions/listen")
            {
                script.unanswered.insert(key.alike);
                continue;
            }
            let index = script.takes.len();
            script.exact.entry(key.exact).or_default().push(index);
            script.alike.entry(key.alike).or_default().push(index);
            script.methods.entry(method).or_default().push(index);
            script.takes.push(take);
        }
        match script.takes.is_empty() {
            true if self.has_bare => Err(ScriptError::SendersUnknown),
            true => Err(ScriptError::Empty),
            false => Ok(script),
        }
    }

    fn add_message(&mut self, from: Side, message: Node<'_>, context: Context) {
        let envelope = Envelope::of(message);
        match (from, envelope.kind()) {
            (Side::Client, Some(MessageKind::Request)) => self.begin(&envelope, context),
            (Side::Client, Some(MessageKind::Notification)) => self.cancel(&envelope, context),
            (Side::Server, Some(MessageKind::Response)) => self.end(&envelope, context),
            (Side::Server, Some(MessageKind::Request | MessageKind::Notification)) => {
                self.add_step(&envelope, context);
            }
            (Side::Client, Some(MessageKind::Response)) | (_, None) => {}
        }
    }

    fn begin(&mut self, request: &Envelope<'_>, context: Context) {
        let Some(id) = request.id else { return };
        let method = request.method.and_then(Node::as_str).unwrap_or_default().into_owned();
        let shown = request.params.map(|params| String::from_utf8_lossy(params.raw()));
        let sketch = Sketch {
            params: shown.map(|text| excerpt(&text, SHOWN_PARAMS).into_owned()).unwrap_or_default(),
            members: self.keyer.members(request),
        };
        self.used += TAKE_OVERHEAD + method.len();
        let open = OpenRequest {
            session: context.session,
            id: self.digest(id),
            token: progress_token(request).map(|token| self.digest(token)),
            exchange: context.exchange,
        };
        self.open.open(self.requests.len(), open);
        self.requests.push(Recorded {
            method,
            key: self.keyer.request(request),
            take: Take {
                steps: Vec::new(),
                answer: None,
                status: ResponseStatus::Served,
                revision: None,
                sketch,
            },
        });
    }

    /// Handles a cancelled request, for which nothing more is expected.
    fn cancel(&mut self, notification: &Envelope<'_>, context: Context) {
        let is_cancel =
            notification.method.is_some_and(|method| method.str_eq("notifications/cancelled"));
        let id = notification.params.and_then(|params| params.get("requestId"));
        if let Some(id) = id.filter(|_| is_cancel)
            && let Some(index) = self.open.find(context.session, Trait::Id(self.digest(id)))
        {
            self.open.close(index);
        }
    }

    fn end(&mut self, response: &Envelope<'_>, context: Context) {
        let Some(id) = response.id else { return };
        let digest = self.digest(id);
        let session = context.session;
        let in_exchange = context
            .exchange
            .and_then(|exchange| self.open.find(session, Trait::IdInExchange(digest, exchange)));
        // A resumed stream, or one of 2024-11-05, is another exchange.
        let found = in_exchange.or_else(|| self.open.find(session, Trait::Id(digest)));
        let Some(index) = found else { return };
        self.open.close(index);
        let mut holes = vec![(id, Hole::RequestId)];
        let meta = response.result.and_then(|result| result.get("_meta"));
        if let Some(named) = meta.and_then(|meta| meta.get(Meta::SUBSCRIPTION_ID))
            && self.digest(named) == digest
        {
            holes.push((named, Hole::RequestId));
        }
        let answer = Template::new(response.object, &holes);
        self.used += answer.memory();
        let recorded = &mut self.requests[index];
        recorded.take.status = status(response, context.status);
        recorded.take.revision = (recorded.method == "initialize")
            .then(|| response.result?.get("protocolVersion")?.as_str()?.parse().ok())
            .flatten();
        recorded.take.answer = Some(answer);
    }

    /// Adds a message of the server to the request it belongs to.
    fn add_step(&mut self, message: &Envelope<'_>, context: Context) {
        let token = message.params.and_then(|params| params.get("progressToken"));
        let meta = message.params.and_then(|params| params.get("_meta"));
        let subscription = meta.and_then(|meta| meta.get(Meta::SUBSCRIPTION_ID));
        let wanted = if let Some(token) = token {
            vec![Trait::Token(self.digest(token))]
        } else if let Some(id) = subscription {
            vec![Trait::Id(self.digest(id))]
        } else {
            context.exchange.map(Trait::Exchange).into_iter().chain([Trait::Any]).collect()
        };
        let found = wanted.into_iter().find_map(|wanted| self.open.find(context.session, wanted));
        let Some((index, open)) = found.and_then(|index| Some((index, *self.open.get(index)?)))
        else {
            return;
        };
        let mut holes = Vec::new();
        holes.extend(token.map(|token| (token, Hole::ProgressToken)));
        let own = subscription.filter(|id| self.digest(*id) == open.id);
        holes.extend(own.map(|id| (id, Hole::RequestId)));
        holes.extend(message.id.map(|id| (id, Hole::OwnId)));
        let template = Template::new(message.object, &holes);
        self.used += template.memory() + size_of::<Step>();
        let step = match message.kind() {
            Some(MessageKind::Request) => {
                let method = message.method.and_then(Node::as_str).unwrap_or_default();
                Step::Request { method: method.into_owned(), message: template }
            }
            _ => Step::Notification(template),
        };
        self.requests[index].take.steps.push(step);
    }

    fn digest(&self, value: Node<'_>) -> u64 {
        let mut text = Vec::new();
        canonical::write(value, &mut text);
        self.keyer.bytes(&text)
    }
}

/// The status of an answer, if recorded over HTTP.
fn status(response: &Envelope<'_>, recorded: Option<u16>) -> ResponseStatus {
    let code = response.error.and_then(|error| error.get("code")?.as_i64());
    match (recorded, code) {
        (Some(400), Some(_)) => ResponseStatus::BadRequest,
        (Some(404), Some(_)) => ResponseStatus::UnknownMethod,
        (None, Some(code)) if code == ErrorCode::MethodNotFound.code() => {
            ResponseStatus::UnknownMethod
        }
        _ => ResponseStatus::Served,
    }
}
