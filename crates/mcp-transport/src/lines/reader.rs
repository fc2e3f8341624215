use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use mcp_core::{Inbound, MessageEnds, TransportError};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The size of one read: what a pipe holds on most systems.
const READ_SIZE: usize = 64 * 1024;
/// With less space left, a new buffer is better than a short read.
const LEAST_ROOM: usize = 8 * 1024;
/// A buffer that grew beyond this for one line is not reused.
const KEPT_SIZE: usize = 256 * 1024;

/// Splits a stream into lines.
///
/// All state lives here, so a read may be cancelled at any point. Lines are slices of the buffer
/// they were read into.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    buffer: BytesMut,
    /// There is no newline in the buffer before this offset.
    scanned: usize,
    /// What is known of an overlong line that has been discarded.
    skipped: Option<Skipped>,
    /// Why reading stopped: the end, or an error.
    ended: Option<Result<(), TransportError>>,
    limit: usize,
}

/// A line that is too long to be kept, as far as it has come.
#[derive(Debug, Default)]
struct Skipped {
    length: u64,
    ends: MessageEnds,
}

impl Skipped {
    fn push(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        self.ends.push(part);
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        LineReader { input, buffer: BytesMut::new(), scanned: 0, skipped: None, ended: None, limit }
    }

    /// The next line that is not blank; `None` at the end.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Inbound>, TransportError>> {
        loop {
            if let Some(inbound) = self.take_line() {
                return Poll::Ready(Ok(Some(inbound)));
            }
            if let Some(ended) = &self.ended {
                return Poll::Ready(ended.clone().map(|()| None));
            }
            match ready!(self.poll_fill(context)) {
                Ok(0) => self.ended = Some(Ok(())),
                Ok(_) => continue,
                Err(error) => self.ended = Some(Err(TransportError::Lost(error.to_string()))),
            }
            if let Some(rest) = self.take_rest() {
                return Poll::Ready(Ok(Some(rest)));
            }
        }
    }

    /// Whether more has been read than delivered.
    pub(crate) fn has_more(&self) -> bool {
        !self.buffer.is_empty()
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
            self.buffer.reserve(READ_SIZE);
        }
        pin!(self.input.read_buf(&mut self.buffer)).poll(context)
    }

    fn take_line(&mut self) -> Option<Inbound> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(found) = memchr(b'\n', unseen) else {
                self.scanned = self.buffer.len();
                self.drop_excess();
                return None;
            };
            let end = self.scanned + found;
            let mut line = self.buffer.split_to(end + 1);
            line.truncate(end);
            self.scanned = 0;
            if let Some(inbound) = self.finish_line(line) {
                return Some(inbound);
            }
        }
    }

    /// The rest when the stream has ended: a line without its newline.
    fn take_rest(&mut self) -> Option<Inbound> {
        let rest = self.buffer.split();
        self.scanned = 0;
        self.finish_line(rest)
    }

    fn finish_line(&mut self, line: BytesMut) -> Option<Inbound> {
        let skipped = self.skipped.take();
        if skipped.is_some() || self.is_too_long(line.len(), line.last().copied()) {
            let mut skipped = skipped.unwrap_or_default();
            skipped.push(&line);
            let Skipped { length, ends } = skipped;
            let limit = self.limit as u64;
            return Some(Inbound::TooLong { ticket: None, length, limit, ends });
        }
        if line.len() > KEPT_SIZE {
            self.buffer = BytesMut::from(self.buffer.as_ref());
        }
        let mut bytes: Bytes = line.freeze();
        if bytes.last() == Some(&b'\r') {
            bytes.truncate(bytes.len() - 1);
        }
        let is_blank = bytes.iter().all(u8::is_ascii_whitespace);
        (!is_blank).then_some(Inbound::Message { ticket: None, bytes })
    }

    fn is_too_long(&self, length: usize, last: Option<u8>) -> bool {
        let carriage_return = usize::from(last == Some(b'\r'));
        length - carriage_return > self.limit
    }

    /// Discards a line that is already too long. One byte beyond the limit may be a carriage
    /// return.
    fn drop_excess(&mut self) {
        if self.skipped.is_none() && self.buffer.len() <= self.limit.saturating_add(1) {
            return;
        }
        self.skipped.get_or_insert_default().push(&self.buffer);
        self.scanned = 0;
        if self.buffer.capacity() > KEPT_SIZE {
            self.buffer = BytesMut::new();
        } else {
            self.buffer.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::{Inbound, LineReader};

    async fn read_all(text: &[u8], limit: usize) -> Vec<String> {
        let mut reader = LineReader::new(text, limit);
        let mut found = Vec::new();
        while let Some(inbound) = poll_fn(|context| reader.poll_next(context)).await.unwrap() {
            found.push(match inbound {
                Inbound::Message { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
                Inbound::TooLong { length, .. } => format!("skipped {length}"),
                other => panic!("{other:?}"),
            });
        }
        found
    }

    #[tokio::test]
    async fn lines_end_with_a_newline_or_with_the_text() {
        assert_eq!(read_all(b"{}\n[]\r\n\n  \t\r\n1", 10).await, ["{}", "[]", "1"]);
        assert_eq!(read_all(b"", 10).await, [""; 0]);
        assert_eq!(read_all(b"\xEF\xBB\xBF{}\n", 10).await, ["\u{feff}{}"]);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_skipped_and_counted() {
        let text = b"1234\n12345\n1234\r\n12345\r\n123456789\n1\n12345";
        let found = read_all(text, 4).await;
        assert_eq!(
            found,
            ["1234", "skipped 5", "1234", "skipped 6", "skipped 9", "1", "skipped 5"]
        );
    }

    #[tokio::test]
    async fn how_a_skipped_line_begins_and_ends_is_kept() {
        let line = format!("begin{}end", "x".repeat(200_000));
        let text = format!("{line}\n");
        let mut reader = LineReader::new(text.as_bytes(), 10);
        let next = poll_fn(|context| reader.poll_next(context)).await;
        let Ok(Some(Inbound::TooLong { length, limit, ends, .. })) = next else {
            panic!("{next:?}")
        };
        assert_eq!((length, limit), (line.len() as u64, 10));
        assert!(ends.start().starts_with(b"beginx") && ends.end().ends_with(b"xend"));
    }
}
