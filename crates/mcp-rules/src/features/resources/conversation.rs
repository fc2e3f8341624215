//! Subscriptions to resources, up to 2025-11-25.

use mcp_core::{Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use crate::{
    Level,
    conversation::{
        Bounded, Event, Flag, Known, Moment, Notes, Remembered, Topic, What,
        asked::AskedSubscription,
    },
    features::Family,
    findings::Fault,
};

rules! {
    UPDATED_NOT_SUBSCRIBED: "resource-updated-not-subscribed", Session, Level::Warning, Revisions::LEGACY, "server/resources#subscriptions";
    UNSUBSCRIBE_UNKNOWN: "resource-unsubscribe-unknown", Session, Level::Warning, Revisions::LEGACY, "server/resources#subscriptions";
}

/// URIs longer than this are not remembered.
const LONGEST: usize = 2048;

/// The subscriptions of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Resources {
    /// Keyed by the URI normalised by [`plain`].
    subscriptions: Bounded<Box<str>, Subscription>,
    /// Whether a URI was too long to remember.
    incomplete: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Subscription {
    /// How many times it was requested.
    requests: u64,
    confirmed: bool,
    /// When it was cancelled or refused. It counts from its request on, as an update may overtake
    /// the answer.
    ended: Option<Moment>,
}

impl Family for Resources {
    fn concerns(event: &Event<'_>) -> bool {
        event.topic == Topic::Resources && !event.is_modern()
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.name) {
            (What::Request(_), "resources/subscribe" | "resources/unsubscribe") => {
                if let Some(subscription) = self.follow_request(event, known, notes) {
                    asked.remember().resource = Some(Box::new(subscription));
                }
            }
            (What::Answer(answer), "resources/subscribe" | "resources/unsubscribe") => {
                if let Some(asked) =
                    answer.request.and_then(|request| request.asked.resource.as_ref())
                {
                    self.follow_answer(event, asked);
                }
            }
            (What::Notification, "notifications/resources/updated") => {
                self.check_update(event, known, notes);
            }
            _ => {}
        }
    }
}

impl Resources {
    fn follow_request(
        &mut self,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Option<AskedSubscription> {
        let node = event.params()?.get("uri")?;
        let Some(uri) = plain(node) else {
            self.incomplete = true;
            return None;
        };
        if event.name == "resources/unsubscribe" {
            let subscription = self.subscriptions.get(&*uri);
            if subscription.is_none() && self.can_tell(event, known) {
                notes.note(
                    Fault::new(
                        &UNSUBSCRIBE_UNKNOWN,
                        "the client has not subscribed to this resource in this session",
                    )
                    .at(node.span())
                    .help("unsubscribe with the URI that was used to subscribe"),
                );
            }
            return Some(AskedSubscription { requests: subscription?.requests, uri });
        }
        let mut subscription = self.subscriptions.remove(&*uri).unwrap_or_default();
        subscription.requests += 1;
        subscription.ended = None;
        let requests = subscription.requests;
        self.subscriptions.insert(uri.clone(), subscription, known.limits.remembered);
        Some(AskedSubscription { uri, requests })
    }

    fn follow_answer(&mut self, event: &Event<'_>, asked: &AskedSubscription) {
        let Some(subscription) = self.subscriptions.get_mut(&asked.uri) else {
            return;
        };
        match (event.name, event.result().is_some()) {
            ("resources/subscribe", true) => subscription.confirmed = true,
            ("resources/subscribe", false) if subscription.confirmed => {}
            ("resources/unsubscribe", false) => {}
            // Refused or cancelled, unless it was requested again in the meantime.
            _ if subscription.requests == asked.requests => {
                subscription.confirmed = false;
                subscription.ended = Some(event.at);
            }
            _ => {}
        }
    }

    fn check_update(&self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(node) = event.params().and_then(|params| params.get("uri")) else { return };
        let Some(uri) = plain(node) else { return };
        if event.from != Side::Server || !self.can_tell(event, known) {
            return;
        }
        let own = self.subscriptions.get(&*uri);
        if own.is_some_and(|subscription| subscription.ended.is_none()) {
            return; // The common case needs no search.
        }
        let mut ended = None;
        for subscription in self.above(&uri) {
            match subscription.ended {
                Some(at) if at.surely_before(event.at) => ended = ended.or(at.line()),
                _ => return,
            }
        }
        let message = match ended {
            Some(_) => "the client is no longer subscribed to this resource",
            None => "the client has not subscribed to this resource",
        };
        notes.note(
            Fault::new(&UPDATED_NOT_SUBSCRIBED, message)
                .at(node.span())
                .related(ended, "the subscription ended or was refused here")
                .help("notify only clients that have subscribed to it"),
        );
    }

    /// The subscriptions that cover `uri`: its own and those of its ancestors.
    fn above<'s>(&'s self, uri: &'s str) -> impl Iterator<Item = &'s Subscription> {
        let ends = uri.char_indices().map(|(position, _)| position).chain([uri.len()]);
        ends.filter_map(|end| self.subscriptions.get(&uri[..end]))
    }

    /// Whether every subscription is known and the server declared them: otherwise that is the
    /// fault. An observer that saw the server's capabilities has seen the session from its start.
    fn can_tell(&self, event: &Event<'_>, known: &Known<'_>) -> bool {
        !self.incomplete
            && !self.subscriptions.forgot()
            && known
                .capabilities(Side::Server, event)
                .is_some_and(|declared| declared.has(Flag::ResourcesSubscribe))
    }
}

/// Normalises the spelling differences between libraries: case, percent-encoding, a trailing slash.
/// `None` if the URI is too long.
fn plain(uri: Node<'_>) -> Option<Box<str>> {
    let text = uri.str_bytes().filter(|text| text.len() <= LONGEST)?;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = &*text;
    while let [first, after @ ..] = rest {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            bytes.push(high << 4 | low);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    Some(text.trim_end_matches('/').into())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: Option<&str>) {
        let text = serde_json::to_string(uri).unwrap();
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        assert_eq!(plain(document.root()).as_deref(), expected);
    }

    #[test]
    fn spelling_does_not_matter() {
        check("https://Example.com/A%20b/", Some("https://example.com/a b"));
        check("file:///", Some("file:"));
        check("x:%C3%A5%c3%a5", Some("x:\u{e5}\u{e5}"));
        check("x:%", Some("x:%"));
        check("x:%4", Some("x:%4"));
        check("x:%zz%41", Some("x:%zza"));
        check("x:%ff", Some("x:\u{fffd}"));
        check("x:face", Some("x:face"));
        check(&"x".repeat(3000), None);
    }
}
