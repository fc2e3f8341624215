//! A recorded message with placeholders for the ids and tokens of the current client.

use std::ops::Range;

use bytes::Bytes;
use mcp_json::Node;

/// The kind of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hole {
    /// The id of the request that is answered.
    RequestId,
    /// The progress token of that request.
    ProgressToken,
    /// An id of our own.
    OwnId,
}

/// The values of the placeholders, as JSON texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fillings<'a> {
    pub(super) request_id: &'a [u8],
    pub(super) progress_token: Option<&'a [u8]>,
    pub(super) own_id: i64,
}

/// A message with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template {
    text: Bytes,
    /// In the order of the text.
    holes: Vec<(Range<usize>, Hole)>,
}

impl Template {
    /// Makes a template of `message`, with placeholders at `holes`.
    pub(super) fn new(message: Node<'_>, holes: &[(Node<'_>, Hole)]) -> Template {
        let start = message.span().start;
        let mut holes: Vec<_> = holes
            .iter()
            .map(|(node, hole)| {
                let span = node.span();
                (span.start - start..span.end - start, *hole)
            })
            .collect();
        holes.sort_by_key(|(range, _)| range.start);
        let mut text = message.raw().to_vec();
        // Line breaks are white space in JSON, but end a message on standard streams.
        for byte in text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        Template { text: text.into(), holes }
    }

    /// Fills in the template; `None` if it reports progress to a client that did not ask for it.
    pub(super) fn fill(&self, fillings: &Fillings<'_>) -> Option<Bytes> {
        if self.holes.is_empty() {
            return Some(self.text.clone());
        }
        let own_id = fillings.own_id.to_string();
        let mut out = Vec::with_capacity(self.text.len() + 32);
        let mut done = 0;
        for (range, hole) in &self.holes {
            out.extend_from_slice(&self.text[done..range.start]);
            out.extend_from_slice(match hole {
                Hole::RequestId => fillings.request_id,
                Hole::ProgressToken => fillings.progress_token?,
                Hole::OwnId => own_id.as_bytes(),
            });
            done = range.end;
        }
        out.extend_from_slice(&self.text[done..]);
        Some(out.into())
    }

    /// The maximum length of the filled-in message, in bytes.
    pub(super) fn length(&self, fillings: &Fillings<'_>) -> usize {
        let filling = |(_, hole): &(_, Hole)| match hole {
            Hole::RequestId => fillings.request_id.len(),
            Hole::ProgressToken => fillings.progress_token.map_or(0, <[u8]>::len),
            // The length of the longest `i64`.
            Hole::OwnId => 20,
        };
        self.text.len() + self.holes.iter().map(filling).sum::<usize>()
    }

    /// Memory use in bytes.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + size_of_val(&*self.holes)
    }
}
