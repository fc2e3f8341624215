//! A recording as a list of digests, small enough to be held in memory.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use mcp_core::Side;
use mcp_json::{Limits, Node};
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_proxy::Conversations;
use mcp_recording::{LineStream, MAX_LINE, Piece};
use mcp_rules::{LineReader, ReadLine};

use super::{digest::Digester, headers, terms::Scope};

/// Maximum number of messages in a recording.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// A message, or an HTTP part without one.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Counted from 1.
    pub(super) line: u64,
    offset: u64,
    length: usize,
    pub(super) from: Option<Side>,
    pub(super) kind: Kind,
    /// Digest of the method, or of the HTTP method and path.
    pub(super) method: u64,
    pub(super) id: Option<u64>,
    /// Digest of the content, without ids.
    pub(super) content: u64,
    /// Digest of everything that is compared.
    pub(super) whole: u64,
    /// Index of the request that it answers.
    pub(super) answers: Option<usize>,
    /// Digest of the content of the first answer to it.
    pub(super) answer: Option<u64>,
    pub(super) session: u64,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
    /// HTTP without a message.
    Http,
    /// A batch, or text that is no message.
    Other,
}

/// A recording whose lines can be read again.
#[derive(Debug)]
pub(crate) struct Recording {
    file: File,
    pub(super) entries: Vec<Entry>,
    /// Lines that were too long to be compared.
    pub(super) too_long: u64,
    has_http: bool,
}

/// Why a recording cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("could not read it")]
    Read(#[from] io::Error),
    #[error("it is not a regular file, so its lines cannot be read again")]
    NotRegular,
    #[error("it has more than {MAX_ENTRIES} messages")]
    TooMany,
}

impl Recording {
    pub(super) fn read(
        path: &Path,
        digester: &Digester,
        scope: Scope,
    ) -> Result<Recording, RecordingError> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(RecordingError::NotRegular);
        }
        let mut reading = Reading {
            digester,
            conversations: (scope != Scope::Everything).then(Conversations::default),
            requests: HashMap::new(),
            recording: Recording {
                file: file.try_clone()?,
                entries: Vec::new(),
                too_long: 0,
                has_http: false,
            },
        };
        let mut reader = reader();
        let mut lines = LineStream::new(file, MAX_LINE);
        let mut text = Vec::new();
        let (mut number, mut offset) = (0, 0);
        loop {
            let piece = match lines.next(&mut text)? {
                Some(piece) => piece,
                None => match lines.rest(&mut text) {
                    Some(piece) => piece,
                    None => break,
                },
            };
            number += u64::from(piece != Piece::LongRest);
            reading.recording.too_long += u64::from(piece == Piece::LongStart);
            let line = text.strip_suffix(b"\n").unwrap_or(&text);
            if piece == Piece::Line && !line.trim_ascii().is_empty() {
                if reading.recording.entries.len() == MAX_ENTRIES {
                    return Err(RecordingError::TooMany);
                }
                let place = (number, offset, line.len());
                reader.read(line, |line| reading.add(place, line));
            }
            offset += text.len() as u64;
        }
        Ok(reading.recording)
    }

    /// Whether the client sent anything.
    pub(crate) fn has_client(&self) -> bool {
        self.entries.iter().any(|entry| entry.from == Some(Side::Client))
    }

    /// Whether anything was sent over HTTP.
    pub(crate) fn has_http(&self) -> bool {
        self.has_http
    }

    /// Reads a line again and passes it to `visit`.
    pub(super) fn visit<R>(
        &mut self,
        index: usize,
        visit: impl FnOnce(&ReadLine<'_>) -> R,
    ) -> io::Result<R> {
        let entry = &self.entries[index];
        let mut text = vec![0; entry.length];
        self.file.seek(SeekFrom::Start(entry.offset))?;
        self.file.read_exact(&mut text)?;
        Ok(reader().read(&text, visit))
    }
}

/// A reader of lines without limits other than the length of a line.
fn reader() -> LineReader {
    let mut limits = mcp_rules::Limits::default();
    limits.message_bytes = MAX_LINE;
    limits.depth = Limits::default().max_depth;
    LineReader::new(&limits)
}

/// A recording that is being read.
struct Reading<'d> {
    digester: &'d Digester,
    /// `None` if the transport is compared too.
    conversations: Option<Conversations>,
    /// The last request of a side with an id, by conversation.
    requests: HashMap<(Option<Side>, u64, u64), usize>,
    recording: Recording,
}

impl Reading<'_> {
    fn add(&mut self, (number, offset, length): (u64, u64, usize), line: &ReadLine<'_>) {
        let digester = self.digester;
        let record = line.record();
        let from = record.map(|record| record.from);
        let conversation = self.conversations.as_mut().map(|conversations| conversations.of(line));
        let session = match conversation {
            Some(conversation) => digester.of(conversation),
            None => record.map_or(0, |record| digester.of(&*record.session)),
        };
        let http = record.and_then(|record| record.http.as_deref());
        let message = line.message();
        self.recording.has_http |= http.is_some();
        // Standard error and exits do not pass a middlebox.
        if record.is_some_and(|record| record.is_gap || record.process.is_some()) {
            return;
        }
        // Compare only MCP messages, not requests to an authorization server, for example.
        let is_message =
            |message: Node<'_>| message.is_array() || Envelope::of(message).kind().is_some();
        if conversation.is_some() && http.is_some() && !message.is_some_and(is_message) {
            return;
        }
        // Ends of streams depend on buffering, so they are not compared.
        if message.is_none()
            && http.is_some_and(|http| http.method.is_none() && http.status.is_none())
        {
            return;
        }
        let mut entry = Entry {
            line: number,
            offset,
            length,
            from,
            kind: Kind::Other,
            method: 0,
            id: None,
            content: 0,
            whole: 0,
            answers: None,
            answer: None,
            session,
        };
        let around = http.filter(|_| conversation.is_none()).map_or(0, |http| {
            let body = http.body.as_deref();
            digester.of((headers::digest(digester, &http.headers), http.status, body))
        });
        match (message, http) {
            (Some(message), _) => self.describe(message, &mut entry),
            (None, Some(http)) => {
                entry.kind = Kind::Http;
                entry.method = digester.of((http.method.as_deref(), http.status));
                entry.content = entry.method;
                entry.whole = entry.method;
            }
            (None, None) => {
                let text = record.and_then(|record| record.text()).unwrap_or(line.text());
                entry.content = digester.of(text);
                entry.whole = entry.content;
            }
        }
        entry.whole = digester.of((entry.whole, around));
        let index = self.recording.entries.len();
        if let Some(id) = entry.id {
            match entry.kind {
                Kind::Request => {
                    self.requests.insert((from, session, id), index);
                }
                Kind::Response => {
                    let requester = from.map(Side::other);
                    entry.answers = self.requests.get(&(requester, session, id)).copied();
                    if let Some(request) = entry.answers {
                        let request = &mut self.recording.entries[request];
                        request.answer.get_or_insert(entry.content);
                    }
                }
                Kind::Notification | Kind::Http | Kind::Other => {}
            }
        }
        self.recording.entries.push(entry);
    }

    fn describe(&self, message: Node<'_>, entry: &mut Entry) {
        let digester = self.digester;
        entry.whole = digester.value(message);
        entry.content = digester.content(message);
        let envelope = Envelope::of(message);
        entry.kind = match envelope.kind() {
            Some(MessageKind::Request) => Kind::Request,
            Some(MessageKind::Notification) => Kind::Notification,
            Some(MessageKind::Response) => Kind::Response,
            None => Kind::Other,
        };
        entry.id = message.get("id").map(|id| digester.value(id));
        entry.method = envelope.method.map_or(0, |method| digester.value(method));
        if !message.is_object() {
            entry.content = entry.whole;
        }
    }
}
