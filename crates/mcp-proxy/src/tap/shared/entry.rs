//! The format of session logs, and of the state that replaces a log.

use bytes::{BufMut as _, Bytes, BytesMut};
use mcp_rules::Session;

/// An entry of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// A line of a recording.
    Line(&'a [u8]),
    /// Lines are missing, or the entry is of an unknown kind: the state so far is invalid.
    Gap,
}

const LINE: u8 = b'l';
const GAP: u8 = b'g';

impl<'a> Entry<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Entry<'a> {
        match bytes.split_first() {
            Some((&LINE, line)) => Entry::Line(line),
            _ => Entry::Gap,
        }
    }

    pub(super) fn write(&self) -> Bytes {
        match self {
            Entry::Line(line) => {
                let mut bytes = BytesMut::with_capacity(1 + line.len());
                bytes.put_u8(LINE);
                bytes.put_slice(line);
                bytes.freeze()
            }
            Entry::Gap => Bytes::from_static(&[GAP]),
        }
    }
}

/// The stored state of a session.
#[derive(Debug)]
pub(super) enum SavedState {
    Known(Box<Session>),
    /// Nothing is known.
    Nothing,
    /// The state was written by another build.
    Foreign,
}

/// The state of a session of which nothing is known, the same in every version.
pub(super) const NOTHING: &[u8] = b"nothing";

impl SavedState {
    pub(super) fn read(bytes: &[u8]) -> SavedState {
        if bytes == NOTHING {
            return SavedState::Nothing;
        }
        let saved =
            bytes.strip_prefix(&*version()).and_then(|text| serde_json::from_slice(text).ok());
        saved.map_or(SavedState::Foreign, SavedState::Known)
    }
}

/// Saves a session in the format of [`SavedState::read`]; `None` if that is not possible.
pub(super) fn save(session: &Session) -> Option<Vec<u8>> {
    let mut bytes = version();
    serde_json::to_writer(&mut bytes, session).ok()?;
    Some(bytes)
}

/// The prefix of states written by this build.
fn version() -> Vec<u8> {
    format!("{} ", Session::SAVED_VERSION).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        for entry in [Entry::Line(b"{}"), Entry::Line(b""), Entry::Gap] {
            assert_eq!(Entry::read(&entry.write()), entry);
        }
    }

    #[test]
    fn what_another_build_has_written_counts_as_unknown() {
        assert_eq!(Entry::read(b"zsomething new"), Entry::Gap);
        let saved = save(&Session::new(None)).unwrap();
        assert!(matches!(SavedState::read(&saved), SavedState::Known(_)));
        let text = String::from_utf8(saved).unwrap();
        let newer = text.replacen(&Session::SAVED_VERSION.to_string(), "9999", 1);
        assert!(matches!(SavedState::read(newer.as_bytes()), SavedState::Foreign));
        assert!(matches!(SavedState::read(b"1 {}"), SavedState::Foreign));
        assert!(matches!(SavedState::read(NOTHING), SavedState::Nothing));
    }
}
