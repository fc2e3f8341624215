use std::collections::HashMap;

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare, OutboundRole};
use mcp_json::Span;
use tokio::sync::mpsc;

use crate::{
    bridge::outline::{Located, Message, Reference},
    http::CROWDED_OUT,
    splice::with_parts,
};

/// A message for a caller.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) bytes: Bytes,
    pub(super) role: OutboundRole,
    /// Its shares of the budgets of its caller and of all callers.
    pub(super) held: Option<[MemoryShare; 2]>,
}

/// The callers that wait for answers of a shared child. They may use the same ids, so each request
/// gets a unique number instead of its id.
#[derive(Debug, Default)]
pub(super) struct Callers {
    next: i64,
    open: HashMap<i64, Caller>,
    /// Why the child serves no more callers, once that is so.
    over: Option<String>,
}

#[derive(Debug)]
struct Caller {
    /// The id of its request, as written.
    id: Bytes,
    /// The progress token that it requested.
    token: Option<Bytes>,
    deliveries: Inbox,
    /// Memory of its id and token.
    _held: MemoryShare,
}

/// A queue of messages for a caller.
#[derive(Debug, Clone)]
pub(super) struct Inbox {
    messages: mpsc::UnboundedSender<Delivery>,
    /// Budget of this caller; a single message may exceed it.
    own: MemoryBudget,
    /// Budget of all callers.
    room: MemoryBudget,
}

/// Maximum bytes queued for a caller.
const UNREAD: usize = 1 << 20;
/// Approximate memory of a message besides its text.
const OVERHEAD: usize = 128;

impl Inbox {
    pub(super) fn new(room: &MemoryBudget) -> (Inbox, mpsc::UnboundedReceiver<Delivery>) {
        let (messages, delivered) = mpsc::unbounded_channel();
        let (own, room) = (MemoryBudget::new(UNREAD), room.clone());
        (Inbox { messages, own, room }, delivered)
    }

    /// Adds a message, without waiting; `false` if there is no room for it.
    pub(super) fn put(&self, bytes: Bytes, role: OutboundRole) -> bool {
        let size = bytes.len() + OVERHEAD;
        let (Some(own), Some(room)) = (self.own.take(size), self.room.take(size)) else {
            return false;
        };
        // If the queue is closed, the caller has just disconnected.
        let _ = self.messages.send(Delivery { bytes, role, held: Some([own, room]) });
        true
    }
}

/// A request as sent to the child.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) number: i64,
    pub(super) text: Bytes,
}

/// A message of the child, rewritten for the caller that gets it.
#[derive(Debug)]
pub(super) struct Addressed {
    pub(super) number: i64,
    pub(super) text: Bytes,
    pub(super) deliveries: Inbox,
}

impl Callers {
    /// Registers a request, which must have an id.
    pub(super) fn begin(
        &mut self,
        text: &Bytes,
        request: &Message,
        id: &Located,
        deliveries: Inbox,
    ) -> Result<Numbered, String> {
        if let Some(reason) = &self.over {
            return Err(reason.clone());
        }
        let length = |located: &Located| located.span.end - located.span.start;
        let kept = length(id) + request.token.as_ref().map_or(0, length);
        let held = deliveries.room.take(kept).ok_or(CROWDED_OUT)?;
        self.next += 1;
        let number = self.next;
        let written = Bytes::from(number.to_string());
        let mut parts = vec![(id.span, written.clone())];
        parts.extend(request.token.as_ref().map(|token| (token.span, written)));
        let caller = Caller {
            id: part(text, id.span),
            token: request.token.as_ref().map(|token| part(text, token.span)),
            deliveries,
            _held: held,
        };
        self.open.insert(number, caller);
        Ok(Numbered { number, text: with_parts(text, parts) })
    }

    /// Takes the answer to a request.
    pub(super) fn answer(&mut self, text: &Bytes, response: &Message) -> Option<Addressed> {
        let id = response.id.as_ref()?;
        let number = id.id.as_i64()?;
        let caller = self.open.remove(&number)?;
        let mut parts = vec![(id.span, caller.id.clone())];
        // The answer to a subscription repeats its id.
        if let Some(Reference::Subscription(subscription)) = &response.reference
            && subscription.id.as_i64() == Some(number)
        {
            parts.push((subscription.span, caller.id));
        }
        let (text, deliveries) = (with_parts(text, parts), caller.deliveries);
        Some(Addressed { number, text, deliveries })
    }

    /// Finds the caller for a notification: that of the request it names, or the only one.
    pub(super) fn address(&self, text: &Bytes, message: &Message) -> Option<Addressed> {
        let (named, is_token) = match &message.reference {
            Some(Reference::Progress(token)) => (Some(token), true),
            Some(Reference::Subscription(id) | Reference::Cancelled(id)) => (Some(id), false),
            None => (None, false),
        };
        let Some(named) = named else {
            let mut open = self.open.iter();
            let (number, caller) = open.next()?;
            if open.next().is_some() {
                return None;
            }
            let deliveries = caller.deliveries.clone();
            return Some(Addressed { number: *number, text: text.clone(), deliveries });
        };
        let number = named.id.as_i64()?;
        let caller = self.open.get(&number)?;
        let own = if is_token { caller.token.clone()? } else { caller.id.clone() };
        let text = with_parts(text, vec![(named.span, own)]);
        Some(Addressed { number, text, deliveries: caller.deliveries.clone() })
    }

    /// Forgets a request; `false` if it was answered.
    pub(super) fn end(&mut self, number: i64) -> bool {
        self.open.remove(&number).is_some()
    }

    /// Whether a request waits for its answer.
    pub(super) fn is_open(&self, number: i64) -> bool {
        self.open.contains_key(&number)
    }

    /// Whether the child serves no more callers.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Accepts no more requests; returns the numbers of the open ones.
    pub(super) fn close(&mut self, reason: &str) -> Vec<i64> {
        self.over = Some(reason.to_owned());
        let mut numbers: Vec<i64> = self.open.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

fn part(text: &Bytes, span: Span) -> Bytes {
    Bytes::copy_from_slice(text.get(span.start..span.end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use mcp_json::Limits;

    use super::*;
    use crate::bridge::outline::Outline;

    fn begin(callers: &mut Callers, text: &'static str) -> Numbered {
        let text = Bytes::from(text);
        let outline = Outline::at(&text, Limits::default()).unwrap();
        let request = outline.single().unwrap();
        let (deliveries, _) = Inbox::new(&MemoryBudget::new(1 << 20));
        callers.begin(&text, request, request.id.as_ref().unwrap(), deliveries).unwrap()
    }

    fn seen(text: &str) -> (Bytes, Outline) {
        (text.to_owned().into(), Outline::at(text.as_bytes(), Limits::default()).unwrap())
    }

    #[test]
    fn what_waits_for_a_caller_has_a_limit_of_its_own_and_one_with_all_others() {
        let room = MemoryBudget::new(4 * UNREAD);
        let (inbox, mut delivered) = Inbox::new(&room);
        let put = |inbox: &Inbox, size: usize| {
            inbox.put(vec![b' '; size - OVERHEAD].into(), OutboundRole::Notification)
        };
        let small = MemoryBudget::SMALL;
        for _ in 0..UNREAD / small {
            assert!(put(&inbox, small));
        }
        assert!(!put(&inbox, OVERHEAD), "one is too many");
        drop(delivered.try_recv());
        assert!(put(&inbox, OVERHEAD), "there is room again");
        drop(delivered);
        assert_eq!(room.used(), 0);

        let (large, _delivered) = Inbox::new(&room);
        assert!(put(&large, 3 * UNREAD), "it is alone");
        assert!(!put(&large, OVERHEAD));
        let (other, _delivered) = Inbox::new(&room);
        assert!(!put(&other, UNREAD), "the last quarter is for small messages");
        assert!(put(&other, small));
    }

    #[test]
    fn a_request_whose_id_finds_no_room_is_refused() {
        let room = MemoryBudget::new(100);
        let mut callers = Callers::default();
        let mut ask = |length: usize| {
            let text =
                Bytes::from(format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(length - 2)));
            let outline = Outline::at(&text, Limits::default()).unwrap();
            let request = outline.single().unwrap();
            let (inbox, _) = Inbox::new(&room);
            callers.begin(&text, request, request.id.as_ref().unwrap(), inbox)
        };
        let first = ask(60).unwrap().number;
        assert_eq!(ask(41).unwrap_err(), CROWDED_OUT);
        let second = ask(40).unwrap().number;
        assert_eq!(room.used(), 100);
        assert!(callers.end(first) && callers.end(second));
        assert_eq!(room.used(), 0);
    }

    #[test]
    fn equal_ids_and_tokens_of_callers_are_told_apart() {
        let mut callers = Callers::default();
        let ask = r#"{"id":"a", "method":"m","params":{"_meta":{"progressToken":1.0}}}"#;
        let first = begin(&mut callers, ask);
        let second = begin(&mut callers, ask);
        assert_eq!(second.text, r#"{"id":2, "method":"m","params":{"_meta":{"progressToken":2}}}"#);
        let (text, outline) =
            seen(r#"{"method":"notifications/progress","params":{"progressToken":1}}"#);
        let found = callers.address(&text, &outline.messages[0]).unwrap();
        assert_eq!(found.number, first.number);
        assert!(found.text.ends_with(br#"{"progressToken":1.0}}"#), "{:?}", found.text);
        let (text, outline) = seen(r#"{"result":{},"id":2}"#);
        let found = callers.answer(&text, &outline.messages[0]).unwrap();
        assert_eq!((found.number, &found.text[..]), (2, &br#"{"result":{},"id":"a"}"#[..]));
        assert!(callers.answer(&text, &outline.messages[0]).is_none(), "it is answered");
    }

    #[test]
    fn what_names_nobody_goes_to_the_only_caller() {
        let mut callers = Callers::default();
        let first = begin(&mut callers, r#"{"id":1,"method":"m"}"#);
        let (text, outline) = seen(r#"{"method":"notifications/message"}"#);
        assert!(callers.address(&text, &outline.messages[0]).is_some());
        begin(&mut callers, r#"{"id":1,"method":"m"}"#);
        assert!(callers.address(&text, &outline.messages[0]).is_none(), "there are two");
        assert!(callers.end(first.number) && !callers.end(first.number));
    }

    #[test]
    fn a_subscription_keeps_the_id_of_its_caller() {
        let mut callers = Callers::default();
        begin(&mut callers, r#"{"id":77,"method":"subscriptions/listen"}"#);
        let key = mcp_core::Meta::SUBSCRIPTION_ID;
        let (text, outline) = seen(&format!(
            r#"{{"method":"notifications/tools/list_changed","params":{{"_meta":{{"{key}":1}}}}}}"#
        ));
        let found = callers.address(&text, &outline.messages[0]).unwrap();
        assert_eq!(found.text, String::from_utf8(text.to_vec()).unwrap().replace(":1}", ":77}"));
        let (text, outline) = seen(&format!(r#"{{"id":1,"result":{{"_meta":{{"{key}":1}}}}}}"#));
        let found = callers.answer(&text, &outline.messages[0]).unwrap();
        assert_eq!(found.text, String::from_utf8(text.to_vec()).unwrap().replace(":1", ":77"));
    }
}
