//! Log messages against the level in force.
//!
//! Up to 2025-11-25 `logging/setLevel` sets one for the session. Since 2026-07-28 every request
//! that wants logs carries its own, which applies until the request is answered.

use std::collections::VecDeque;

use mcp_core::{RequestId, Revision, Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{Family, cancellation};
use crate::{
    Level,
    conversation::{
        Bounded, Event, Known, LogLevel, META_SUBSCRIPTION, Moment, Notes, Remembered, Request,
        Topic, What,
    },
    findings::Fault,
};

rules! {
    LEVEL_INVALID: "log-level-invalid", Session, Level::Error, Revisions::ALL, "server/utilities/logging#log-levels";
    BELOW_LEVEL: "log-below-level", Session, Level::Warning, Revisions::ALL, "server/utilities/logging#message-flow";
    NOT_REQUESTED: "log-not-requested", Session, Level::Error, Revisions::only(Revision::V2026_07_28), "server/utilities/logging#per-request-log-level";
}

/// The member of a modern request's `_meta` that asks for logs.
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Maximum remembered `logging/setLevel` levels: the latest ones, as streams are not ordered.
const MAX_SET: usize = 8;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Logging {
    /// Levels requested but not yet confirmed.
    pending: Bounded<RequestId, LogLevel>,
    /// Levels confirmed, oldest first.
    set: VecDeque<(LogLevel, Moment)>,
    /// Unanswered requests that ask for logs (2026-07-28).
    asking: Bounded<RequestId, ()>,
}

impl Family for Logging {
    fn concerns(event: &Event<'_>) -> bool {
        event.topic == Topic::Logging || event.is_modern()
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
                if let Some(level) = asked_level(event) {
                    asked.remember().log_level = Some(level);
                    if event.is_modern() {
                        self.asking.insert(id.clone(), (), known.limits.pending);
                    } else {
                        self.pending.insert(id.clone(), level, known.limits.pending);
                    }
                }
            }
            What::Notification => {
                if event.name == "notifications/message" && event.from == Side::Server {
                    self.judge(event, known, notes);
                }
            }
            What::Answer(answer) => {
                if let (Some(id), Some(request)) = (answer.id, answer.request)
                    && let Some(level) = request.asked.log_level
                {
                    self.asking.remove(id);
                    self.pending.remove(id);
                    if event.name == "logging/setLevel" && event.result().is_some() {
                        self.set.push_back((level, event.at));
                        if self.set.len() > MAX_SET {
                            self.set.pop_front();
                        }
                    }
                }
            }
        }
    }
}

impl Logging {
    fn judge(&self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(node) = event.params().and_then(|params| params.get("level")) else { return };
        let Some(level) = LogLevel::of(node) else { return };
        if !event.is_modern() {
            if let Some((lowest, at)) = self.in_force(|at| at.surely_before(event.at))
                && level < lowest
                && let Some((lowest, _)) = self.in_force_for_all(event.at, known)
                && level < lowest
            {
                notes.note(below(level, lowest, at).at(node.span()));
            }
            return;
        }
        let on_subscription =
            event.meta().is_some_and(|meta| meta.get(META_SUBSCRIPTION).is_some());
        if on_subscription {
            return; // Reported by `request-scoped-on-subscription`.
        }
        if event.at.stream().is_some() {
            judge_on_stream(level, node, event, known, notes);
        } else {
            self.judge_on_channel(level, node, known, notes);
        }
    }

    /// Like `in_force`, for a message that may belong to any request in flight: a request made before
    /// the level changed may still log at the earlier level. So may a cancelled one, as the server may
    /// not know of the cancellation yet.
    #[cold]
    fn in_force_for_all(&self, now: Moment, known: &Known<'_>) -> Option<(LogLevel, Moment)> {
        let open = known.requests.iter_open(Side::Client);
        let open = open.filter(|(_, request)| request.name() != "logging/setLevel");
        let earliest = open.map(|(_, request)| request.at.line()).min();
        self.in_force(|at| {
            let is_first = earliest.is_none_or(|earliest| {
                // Without line numbers, it is unknown which of the two came first.
                earliest.zip(at.line()).is_some_and(|(request, set)| set < request)
            });
            is_first && at.surely_before(now)
        })
    }

    /// The lowest level a message may have, and where it was set. While a change is pending, or may
    /// have crossed with the message, the level before it counts too.
    fn in_force(&self, is_before: impl Fn(Moment) -> bool) -> Option<(LogLevel, Moment)> {
        let last = self.set.iter().rposition(|(_, at)| is_before(*at))?;
        let (_, at) = self.set[last];
        let agreed = self.set.iter().skip(last).map(|(level, _)| *level);
        let pending = self.pending.iter().map(|(_, level)| *level);
        Some((agreed.chain(pending).min()?, at))
    }

    /// On stdio all messages share one channel, so the message may belong to any request in flight.
    fn judge_on_channel(
        &self,
        level: LogLevel,
        node: Node<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let asking = || self.asking.iter().filter_map(|(id, ())| asking(known, id));
        let lowest = asking().min_by_key(|(_, lowest)| *lowest);
        let Some((request, lowest)) = lowest else {
            if known.from_start && !self.asking.forgot() && !known.sent_unreadable(Side::Client) {
                let message = "no request in flight asks for log messages";
                notes.note(not_requested(message).at(node.span()));
            }
            return;
        };
        let late = asking().find_map(|(request, _)| cancellation::late(request));
        let all_cancelled = asking().all(|(request, _)| request.cancelled.is_some());
        match late {
            Some(late) if all_cancelled => notes.note(late.at(node.span())),
            _ if level < lowest => notes.note(below(level, lowest, request.at).at(node.span())),
            _ => {}
        }
    }
}

/// On HTTP a message belongs to the request on whose stream it arrives.
fn judge_on_stream(
    level: LogLevel,
    node: Node<'_>,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let Some(id) = known.http.and_then(|http| http.request_id(event.at.stream())) else { return };
    // After the response, anything else on the stream breaks another rule.
    let request = known.requests.open(Side::Client, id);
    let Some(request) = request.filter(|request| request.at.stream() == event.at.stream()) else {
        return;
    };
    match request.asked.log_level {
        Some(lowest) if level < lowest => {
            notes.note(below(level, lowest, request.at).at(node.span()));
        }
        Some(_) => {}
        None if request.name() == "subscriptions/listen" => {}
        None => notes.note(
            not_requested("the request of this stream does not ask for log messages")
                .at(node.span())
                .related(request.at.line(), "the request was here"),
        ),
    }
}

/// The request with this id and the level it asks for, if still open.
fn asking<'s>(known: &Known<'s>, id: &RequestId) -> Option<(&'s Request, LogLevel)> {
    let request = known.requests.open(Side::Client, id)?;
    let level = request.asked.log_level?;
    Some((request, level))
}

/// The level a request asks for. An unknown level is reported elsewhere, and no message can be
/// blamed for ignoring it.
fn asked_level(event: &Event<'_>) -> Option<LogLevel> {
    if event.from != Side::Client {
        return None;
    }
    let node = if event.is_modern() {
        event.meta()?.get(META_LOG_LEVEL)?
    } else if event.name == "logging/setLevel" {
        event.params()?.get("level")?
    } else {
        return None;
    };
    Some(LogLevel::of(node).unwrap_or_default())
}

fn below(level: LogLevel, lowest: LogLevel, set: Moment) -> Fault {
    let (level, lowest) = (level.name(), lowest.name());
    Fault::new(&BELOW_LEVEL, format!("`{level}` is less severe than `{lowest}`"))
        .related(set.line(), "the level was set here")
        .help(format!("send only messages of `{lowest}` and above"))
}

fn not_requested(message: &str) -> Fault {
    Fault::new(&NOT_REQUESTED, message)
        .help(format!("log only for requests with `{META_LOG_LEVEL}` in their `_meta`"))
}
