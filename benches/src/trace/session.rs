use std::collections::VecDeque;

use mcp_core::Side;

use crate::corpus::json::Json;
use crate::corpus::rng::Rng;
use crate::corpus::tool_list::{self, Tool};
use crate::corpus::{Exchange, Message, Spelling, base64, small, text, tool_result};

/// One conversation between a client and a server.
#[derive(Debug)]
pub(super) struct Session<'a> {
    name: String,
    tools: &'a [Tool],
    /// The envelope spelling of the client and of the server.
    spelling: [Spelling; 2],
    /// Sent before anything else, in order.
    opening: VecDeque<Message>,
    /// Requests still waiting for their response.
    pending: Vec<Pending>,
    subscribed: Vec<Json>,
    /// The next id of the client and of the server.
    next_id: [i64; 2],
    /// Number of exchanges yet to begin.
    left: usize,
    /// Whether no message is as large as a file.
    is_small: bool,
}

#[derive(Debug)]
struct Pending {
    exchange: Exchange,
    id: Json,
    /// The token and current step, if the request asked for progress.
    progress: Option<(Json, i64)>,
}

impl<'a> Session<'a> {
    pub(super) fn start(rng: &mut Rng, tools: &'a [Tool]) -> Session<'a> {
        let mut session = Session {
            name: format!("{:016x}", rng.bits()),
            tools,
            spelling: [Spelling::any(rng), Spelling::any(rng)],
            opening: VecDeque::new(),
            pending: Vec::new(),
            subscribed: Vec::new(),
            next_id: [0, 0],
            left: rng.between(100, 900),
            is_small: false,
        };
        let handshake = small::initialize(rng);
        session.open_with(&handshake);
        session.opening.push_back(small::initialized().message(session.spelling(Side::Client)));
        session.open_with(&tool_list::exchange(tools));
        session
    }

    pub(super) fn endless(rng: &mut Rng, tools: &'a [Tool]) -> Session<'a> {
        Session { left: usize::MAX, ..Session::start(rng, tools) }
    }

    /// A short one, with a few of the tools and small messages.
    pub(super) fn short(rng: &mut Rng, tools: &'a [Tool]) -> Session<'a> {
        let tools = &tools[..tools.len().min(6)];
        let mut session = Session::start(rng, tools);
        session.left = rng.between(20, 120);
        session.is_small = true;
        session
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next message, or `None` when the session is over.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Message> {
        if let Some(message) = self.opening.pop_front() {
            return Some(message);
        }
        if self.left == 0 && self.pending.is_empty() {
            return None;
        }
        let busy = self.pending.len() >= 4 || self.left == 0;
        if busy || (!self.pending.is_empty() && rng.chance(55)) {
            return Some(self.go_on(rng));
        }
        if rng.chance(12) {
            let notice = small::notice(rng);
            return Some(notice.message(self.spelling(notice.from)));
        }
        if !self.subscribed.is_empty() && rng.chance(4) {
            let uri = rng.pick_from(&self.subscribed);
            return Some(small::updated(uri).message(self.spelling(Side::Server)));
        }
        Some(self.ask(rng))
    }

    fn spelling(&self, side: Side) -> Spelling {
        self.spelling[side as usize]
    }

    fn new_id(&mut self, side: Side) -> Json {
        let id = self.next_id[side as usize];
        self.next_id[side as usize] += 1;
        id.into()
    }

    fn open_with(&mut self, exchange: &Exchange) {
        let id = self.new_id(exchange.from);
        self.opening.push_back(exchange.request(self.spelling(exchange.from), &id));
        self.opening.push_back(exchange.response(self.spelling(exchange.from.other()), &id));
    }

    fn ask(&mut self, rng: &mut Rng) -> Message {
        self.left -= 1;
        let mut exchange = self.exchange(rng);
        let id = self.new_id(exchange.from);
        let mut progress = None;
        if exchange.params.is_some() && rng.chance(20) {
            exchange.expect_progress(&id);
            progress = Some((id.clone(), 0));
        }
        let message = exchange.request(self.spelling(exchange.from), &id);
        self.pending.push(Pending { exchange, id, progress });
        message
    }

    /// Most exchanges are small, some as large as a file.
    fn exchange(&self, rng: &mut Rng) -> Exchange {
        let least = if self.is_small { 100 } else { 0 };
        match rng.between(least, 999) {
            0..=4 => base64::exchange(rng, self.tools, 100_000),
            5..=14 => text::exchange(rng, self.tools, 90_000),
            15..=140 => {
                let bytes = rng.between(1_000, if self.is_small { 3_000 } else { 8_000 });
                tool_result::exchange(rng, self.tools, bytes)
            }
            141..=143 => tool_list::exchange(self.tools),
            _ => loop {
                let exchange = small::exchange(rng, self.tools);
                if exchange.method != "initialize" {
                    return exchange;
                }
            },
        }
    }

    /// Progress of a pending request, its response, or its cancellation.
    fn go_on(&mut self, rng: &mut Rng) -> Message {
        let position = rng.below(self.pending.len());
        let pending = &mut self.pending[position];
        let responder = pending.exchange.from.other();
        if let Some((token, step)) = &mut pending.progress
            && *step < 90
            && rng.chance(60)
        {
            *step += rng.integer(1, 10);
            let notice = small::progress(rng, responder, token, *step);
            return notice.message(self.spelling(responder));
        }
        let pending = self.pending.swap_remove(position);
        if pending.exchange.from == Side::Client && rng.chance(1) {
            let notice = small::cancelled(rng, &pending.id);
            return notice.message(self.spelling(Side::Client));
        }
        if pending.exchange.method == "resources/subscribe" {
            self.subscribed.extend(pending.exchange.params.as_ref().and_then(uri));
        }
        pending.exchange.response(self.spelling(responder), &pending.id)
    }
}

fn uri(params: &Json) -> Option<Json> {
    let Json::Object(members) = params else {
        return None;
    };
    members.iter().find(|(name, _)| name == "uri").map(|(_, uri)| uri.clone())
}
