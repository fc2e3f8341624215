use std::collections::{HashMap, VecDeque};

use mcp_core::Ticket;
use mcp_jsonrpc::{JsonRpcId, MessageKind};

use super::outline::{Outline, Reference};

/// The open requests of a client, and the exchanges they belong to.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    exchanges: HashMap<Ticket, Exchange>,
    /// Several if the client reuses an id by mistake; the first gets the answer.
    by_id: HashMap<JsonRpcId, VecDeque<Ticket>>,
    by_token: HashMap<JsonRpcId, Ticket>,
    /// Bytes of ids and tokens.
    bytes: usize,
}

/// Maximum bytes of ids and progress tokens of open requests, except for a single larger one.
pub(super) const MAX_WAITING_BYTES: usize = 16 << 20;

/// Why another request cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("more than {0} requests are waiting")]
    Requests(usize),
    #[error("the ids of waiting requests take more than {MAX_WAITING_BYTES} bytes")]
    Ids,
}

/// The requests in one exchange: a single one, or those of a batch.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// How many answers are still due for each id.
    ids: HashMap<JsonRpcId, usize>,
    tokens: Vec<JsonRpcId>,
    /// Bytes of ids and tokens.
    bytes: usize,
    /// The id of its `initialize`.
    opening: Option<JsonRpcId>,
    /// Whether it uses a revision without sessions.
    pub(super) is_modern: bool,
}

impl Exchange {
    /// The ids that are still to be answered.
    pub(super) fn ids(&self) -> impl Iterator<Item = &JsonRpcId> {
        self.ids.iter().flat_map(|(id, count)| std::iter::repeat_n(id, *count))
    }
}

/// The effect of an answer on its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) ticket: Ticket,
    /// Whether the exchange has all of its answers.
    pub(super) is_last: bool,
    /// Whether it answers `initialize`.
    pub(super) opens: bool,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether there is room for the last request, if `most` may wait.
    pub(super) fn room_in(&self, most: usize) -> Result<(), Full> {
        if self.len() > most {
            return Err(Full::Requests(most));
        }
        if self.bytes > MAX_WAITING_BYTES && self.len() > 1 {
            return Err(Full::Ids);
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, ticket: Ticket, asked: &Outline, is_modern: bool) {
        let mut exchange = Exchange { is_modern, ..Exchange::default() };
        for request in asked.requests() {
            if let Some(token) = &request.token {
                exchange.bytes += size(&token.id);
                exchange.tokens.push(token.id.clone());
                self.by_token.insert(token.id.clone(), ticket);
            }
            let Some(id) = &request.id else { continue };
            if request.is(MessageKind::Request, "initialize") {
                exchange.opening = Some(id.id.clone());
            }
            exchange.bytes += size(&id.id);
            *exchange.ids.entry(id.id.clone()).or_default() += 1;
            self.by_id.entry(id.id.clone()).or_default().push_back(ticket);
        }
        self.bytes += exchange.bytes;
        self.exchanges.insert(ticket, exchange);
    }

    /// Takes the answer to `id`, in the exchange `ticket` if that is known.
    pub(super) fn answer(&mut self, ticket: Option<Ticket>, id: &JsonRpcId) -> Option<Answered> {
        let ticket = match ticket {
            Some(ticket) => ticket,
            None => *self.by_id.get(id)?.front()?,
        };
        let exchange = self.exchanges.get_mut(&ticket)?;
        let left = exchange.ids.get_mut(id)?;
        *left -= 1;
        if *left == 0 {
            exchange.ids.remove(id);
        }
        let opens = exchange.opening.as_ref() == Some(id);
        let is_last = exchange.ids.is_empty();
        self.forget_id(id, ticket);
        if is_last {
            self.end(ticket);
        }
        Some(Answered { ticket, is_last, opens })
    }

    /// The exchange of a request.
    pub(super) fn exchange_of(&self, id: &JsonRpcId) -> Option<Ticket> {
        self.by_id.get(id)?.front().copied()
    }

    /// Whether a text of the server contains only answers for one exchange.
    pub(super) fn answers_one(&self, outline: &Outline) -> bool {
        let mut tickets = outline.messages.iter().map(|message| {
            let is_response = message.kind == Some(MessageKind::Response);
            message.id.as_ref().filter(|_| is_response).and_then(|id| self.exchange_of(&id.id))
        });
        let Some(Some(first)) = tickets.next() else { return false };
        tickets.all(|ticket| ticket == Some(first))
    }

    /// The exchange that a message of the server belongs to, if that can be determined.
    pub(super) fn route(&self, reference: Option<&Reference>) -> Option<Ticket> {
        match reference {
            Some(Reference::Progress(token)) => return self.by_token.get(&token.id).copied(),
            Some(Reference::Subscription(id)) => return self.exchange_of(&id.id),
            Some(Reference::Cancelled(_)) | None => {}
        }
        let mut tickets = self.exchanges.keys();
        let only = tickets.next().copied();
        only.filter(|_| tickets.next().is_none())
    }

    /// Ends an exchange, and returns it if requests in it are unanswered.
    pub(super) fn end(&mut self, ticket: Ticket) -> Option<Exchange> {
        let exchange = self.exchanges.remove(&ticket)?;
        self.bytes = self.bytes.saturating_sub(exchange.bytes);
        for id in exchange.ids() {
            self.forget_id(id, ticket);
        }
        for token in &exchange.tokens {
            if self.by_token.get(token) == Some(&ticket) {
                self.by_token.remove(token);
            }
        }
        Some(exchange)
    }

    /// Ends all exchanges.
    pub(super) fn end_all(&mut self) -> Vec<(Ticket, Exchange)> {
        let mut ended: Vec<_> = std::mem::take(self).exchanges.into_iter().collect();
        ended.sort_by_key(|(ticket, _)| *ticket);
        ended
    }

    fn forget_id(&mut self, id: &JsonRpcId, ticket: Ticket) {
        let Some(tickets) = self.by_id.get_mut(id) else { return };
        if let Some(place) = tickets.iter().position(|other| *other == ticket) {
            tickets.remove(place);
        }
        if tickets.is_empty() {
            self.by_id.remove(id);
        }
    }
}

/// Memory of an id, which is stored twice.
fn size(id: &JsonRpcId) -> usize {
    match id {
        JsonRpcId::Null | JsonRpcId::Integer(_) => 0,
        JsonRpcId::Number(text) | JsonRpcId::String(text) => 2 * text.len(),
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::Limits;

    use super::*;

    fn waiting_for(texts: &[&str]) -> Waiting {
        let mut waiting = Waiting::default();
        for (number, text) in (0..).zip(texts) {
            let asked = Outline::at(text.as_bytes(), Limits::default()).unwrap();
            waiting.begin(Ticket(number), &asked, false);
        }
        waiting
    }

    #[test]
    fn an_exchange_ends_with_its_last_answer() {
        let batch = r#"[{"id":1,"method":"a"},{"method":"n"},{"id":"1","method":"initialize"}]"#;
        let mut waiting = waiting_for(&[batch]);
        let first = waiting.answer(None, &1.into()).unwrap();
        assert_eq!(first, Answered { ticket: Ticket(0), is_last: false, opens: false });
        assert_eq!(waiting.answer(None, &1.into()), None);
        let last = waiting.answer(Some(Ticket(0)), &"1".into()).unwrap();
        assert_eq!(last, Answered { ticket: Ticket(0), is_last: true, opens: true });
        assert_eq!(waiting.len(), 0);
        assert!(waiting.by_id.is_empty() && waiting.by_token.is_empty());
    }

    #[test]
    fn ids_have_room_up_to_a_limit_and_one_alone_beyond_it() {
        let ask = |id: usize, length: usize| {
            format!(r#"{{"id":"{id}{}","method":"a"}}"#, "x".repeat(length - 1))
        };
        let half = MAX_WAITING_BYTES / 4;
        let mut waiting = waiting_for(&[&ask(1, half), &ask(2, half)]);
        assert_eq!(waiting.room_in(2), Ok(()), "at the limit");
        assert_eq!(waiting.room_in(1), Err(Full::Requests(1)));
        let more = Outline::at(ask(3, 1).as_bytes(), Limits::default()).unwrap();
        waiting.begin(Ticket(7), &more, false);
        assert_eq!(waiting.room_in(3), Err(Full::Ids));
        waiting.end(Ticket(0));
        assert_eq!(waiting.room_in(3), Ok(()));
        waiting.end(Ticket(1));
        waiting.end(Ticket(7));
        assert_eq!(waiting.bytes, 0);
        let large = waiting_for(&[&ask(1, 3 * half)]);
        assert_eq!(large.room_in(1), Ok(()), "it is alone");
    }

    #[test]
    fn an_id_that_is_used_twice_is_answered_in_order() {
        let mut waiting = waiting_for(&[r#"{"id":1,"method":"a"}"#, r#"{"id":1,"method":"b"}"#]);
        assert_eq!(waiting.answer(None, &1.into()).unwrap().ticket, Ticket(0));
        assert_eq!(waiting.answer(None, &1.into()).unwrap().ticket, Ticket(1));
    }

    #[test]
    fn messages_go_to_the_request_they_belong_to() {
        let ask = r#"{"id":1,"method":"a","params":{"_meta":{"progressToken":"t"}}}"#;
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":"t"}}"#;
        let outline = Outline::at(progress.as_bytes(), Limits::default()).unwrap();
        let reference = outline.messages[0].reference.as_ref();
        let mut waiting = waiting_for(&[ask]);
        assert_eq!(waiting.route(None), Some(Ticket(0)));
        waiting.begin(Ticket(7), &Outline { messages: Vec::new(), is_batch: true }, false);
        assert_eq!(waiting.route(None), None, "there are two");
        assert_eq!(waiting.route(reference), Some(Ticket(0)));
        waiting.end(Ticket(0));
        assert_eq!(waiting.route(reference), None);
    }
}
