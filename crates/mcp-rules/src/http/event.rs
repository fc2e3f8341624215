use std::borrow::Cow;

use mcp_core::{Revision, Side};
use mcp_json::Node;

use super::exchange::messages;
use crate::conversation::Moment;

/// One observation of HTTP: a request, the head of a response, an event of a stream, its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpEvent<'a> {
    pub(crate) at: Moment,
    pub(crate) from: Side,
    pub(crate) exchange: u64,
    pub(crate) part: Part<'a>,
    /// The message it carries (or a batch), if that could be parsed.
    pub(crate) message: Option<Node<'a>>,
    /// The text of a body that is no message.
    pub(crate) body: Option<&'a [u8]>,
    /// The revision to judge by, and whether that is certain.
    pub(crate) revision: Revision,
    pub(crate) settled: bool,
}

impl<'a> HttpEvent<'a> {
    /// The messages it carries: one, or those of a batch.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Node<'a>> {
        self.message.into_iter().flat_map(messages)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Request { method: &'a str, url: &'a str, headers: Headers<'a> },
    Response { status: u16, headers: Headers<'a> },
    Event(Sse<'a>),
    End,
}

/// The members of an event of a stream. What is absent is `None`; an `id` of `""` is a string.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sse<'a> {
    pub(crate) node: Option<Node<'a>>,
}

impl<'a> Sse<'a> {
    pub(crate) fn id(self) -> Option<Cow<'a, str>> {
        self.text("id")
    }

    pub(crate) fn event(self) -> Option<Cow<'a, str>> {
        self.text("event")
    }

    pub(crate) fn data(self) -> Option<Cow<'a, str>> {
        self.text("data")
    }

    /// Whether there is anything to it. A block that has only `retry` is no event.
    pub(crate) fn is_event(self, event: &HttpEvent<'_>) -> bool {
        event.message.is_some()
            || event.body.is_some()
            || self.data().is_some()
            || self.id().is_some()
    }

    pub(crate) fn retry(self) -> Option<u64> {
        self.node?.get("retry")?.as_u64()
    }

    fn text(self, name: &str) -> Option<Cow<'a, str>> {
        self.node?.get(name)?.as_str()
    }
}

/// The headers of a message, by name in any case.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headers<'a> {
    pub(crate) node: Option<Node<'a>>,
}

impl<'a> Headers<'a> {
    /// Whether the recording has them at all. If not, nobody can say which are missing.
    pub(crate) fn are_known(self) -> bool {
        self.node.is_some()
    }

    /// Every header as it was sent: several values of one name come one by one. Values that are no
    /// text are left out.
    pub(crate) fn iter(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        self.node.into_iter().flat_map(Node::members).flat_map(|(name, value)| {
            let name = name.as_str().unwrap_or_default();
            let single = Some(value).filter(|value| !value.is_array());
            let several = value.elements();
            single
                .into_iter()
                .chain(several)
                .filter_map(move |value| Some((name.clone(), value.as_str()?)))
        })
    }

    /// The values of `name`, one by one.
    pub(crate) fn all(self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The value of `name`; several are joined with commas, as HTTP says.
    pub(crate) fn get(self, name: &str) -> Option<Cow<'a, str>> {
        let mut values = self.all(name);
        let first = values.next()?;
        let Some(second) = values.next() else { return Some(first) };
        let mut joined = first.into_owned();
        for value in std::iter::once(second).chain(values) {
            joined.push_str(", ");
            joined.push_str(&value);
        }
        Some(Cow::Owned(joined))
    }
}
