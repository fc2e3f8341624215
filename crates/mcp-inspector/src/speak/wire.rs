//! The inspector's end of a conversation: lines out, lines in.

use std::io::{self, Read, Write};

use bytes::Bytes;
use tokio::sync::mpsc;

/// Maximum number of lines queued in either direction.
const QUEUE: usize = 256;

/// The server's end of a conversation.
#[derive(Debug)]
pub(crate) struct ServerEnd {
    /// Lines from the inspector, with line breaks.
    pub(crate) from_us: mpsc::Receiver<Bytes>,
    /// Takes lines from the server, without line breaks.
    pub(crate) to_us: mpsc::Sender<Bytes>,
}

/// The inspector's end. What cannot be sent at once is refused.
#[derive(Debug)]
pub(super) struct ClientEnd {
    pub(super) sender: mpsc::Sender<Bytes>,
    pub(super) lines: mpsc::Receiver<Bytes>,
}

pub(super) fn pair() -> (ClientEnd, ServerEnd) {
    let (sender, from_us) = mpsc::channel(QUEUE);
    let (to_us, lines) = mpsc::channel(QUEUE);
    (ClientEnd { sender, lines }, ServerEnd { from_us, to_us })
}

impl ServerEnd {
    /// Converts it to streams of a client, which block and must be used on blocking threads.
    pub(super) fn into_streams(self, longest: usize) -> (Outgoing, Incoming) {
        let outgoing = Outgoing { lines: self.from_us, rest: Bytes::new() };
        let line = Vec::new();
        (outgoing, Incoming { lines: self.to_us, line, is_overlong: false, longest })
    }
}

/// Reads the lines from the inspector.
#[derive(Debug)]
pub(super) struct Outgoing {
    lines: mpsc::Receiver<Bytes>,
    rest: Bytes,
}

impl Read for Outgoing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.lines.blocking_recv() {
                Some(line) => self.rest = line,
                None => return Ok(0),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// Splits the server's output into lines. Overlong lines are dropped: the tap has seen them.
#[derive(Debug)]
pub(super) struct Incoming {
    lines: mpsc::Sender<Bytes>,
    line: Vec<u8>,
    is_overlong: bool,
    longest: usize,
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.keep(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            if !std::mem::take(&mut self.is_overlong) {
                let sent = self.lines.blocking_send(line.into());
                sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            }
        }
        self.keep(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Incoming {
    fn keep(&mut self, part: &[u8]) {
        if self.is_overlong || self.line.len() + part.len() > self.longest {
            self.is_overlong = true;
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_comes_as_lines() {
        let (mut near, ends) = pair();
        let (_, mut incoming) = ends.into_streams(4);
        incoming.write_all(b"a\nbc").unwrap();
        incoming.write_all(b"d\n12345\n\nx").unwrap();
        let lines: Vec<Bytes> = std::iter::from_fn(|| near.lines.try_recv().ok()).collect();
        assert_eq!(lines, ["a", "bcd", ""]);
    }

    #[test]
    fn what_is_sent_can_be_read_in_pieces() {
        let (near, ends) = pair();
        let (mut outgoing, _) = ends.into_streams(4);
        near.sender.try_send(Bytes::from_static(b"hello\n")).unwrap();
        drop(near);
        let mut text = String::new();
        let mut piece = [0; 4];
        while let Ok(count @ 1..) = outgoing.read(&mut piece) {
            text.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        }
        assert_eq!(text, "hello\n");
    }
}
