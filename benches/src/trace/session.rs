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
    /// How the client and the server write their messages.
    spelling: [Spelling; 2],
    /// Sent before anything else, one after the other.
    opening: VecDeque<Message>,
    /// Requests that still wait for their answer.
    pending: Vec<Pending>,
    subscribed: Vec<Json>,
    /// Of the client and of the server.
    next_id: [i64; 2],
    /// Exchanges still to begin.
    left: usize,
}

#[derive(Debug)]
struct Pending {
    exchange: Exchange,
    id: Json,
    /// The token and how far it is, if the request asked for progress.
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

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next message, or nothing when the session is over.
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

    /// Most are small, some as large as a file.
    fn exchange(&self, rng: &mut Rng) -> Exchange {
        match rng.below(1000) {
            0..=4 => base64::exchange(rng, self.tools, 100_000),
            5..=14 => text::exchange(rng, self.tools, 90_000),
            15..=140 => {
                let bytes = rng.between(1_000, 8_000);
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

    /// A step of a pending request, its answer, or that it is no longer wanted.
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
