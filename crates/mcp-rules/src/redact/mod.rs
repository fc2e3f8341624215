//! Masks secrets in recordings. Lengths, types and positions are preserved; equal values stay equal
//! and different ones stay different, so that a masked recording has the findings of the original.

mod mask;
mod names;
mod pattern;
mod prose;
mod spots;
mod string;
mod web;

use std::hash::BuildHasher;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_json::{Limits, Tape};

pub use names::names_secret;
pub use pattern::{NoPointer, PointerPattern};

use self::{
    mask::mask,
    names::HeaderKind,
    spots::{Spot, Treatment},
    string::with_text,
};
use crate::wire::framing::BOM;

/// How many levels of JSON within strings are examined.
const LEVELS: u8 = 3;

const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };

/// Masks secrets. Nothing is remembered between lines; the same keys give the same replacements.
///
/// The keys are those of a hasher. Anyone who has them can undo the masking, so they should be random
/// and not stored, like those of a [`RandomState`](std::collections::hash_map::RandomState).
///
/// ```
/// use std::collections::hash_map::RandomState;
/// use mcp_rules::redact::Redactor;
///
/// let redactor = Redactor::new(RandomState::new()).pointer("/params/arguments/*/note".parse()?);
/// let mut line = br#"{"from":"client","msg":{"id":1,"method":"tools/call","params":{"token":"abcdefgh"}}}"#.to_vec();
/// let length = line.len();
/// redactor.line(&mut line);
/// assert_eq!(line.len(), length);
/// assert!(!String::from_utf8(line)?.contains("abcdefgh"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Redactor<S> {
    keys: S,
    wanted: Wanted,
}

/// What counts as a secret.
#[derive(Debug, Clone)]
struct Wanted {
    pointers: Vec<PointerPattern>,
    names: Vec<String>,
    headers: Vec<String>,
    /// Whether names that look like those of secrets count.
    guesses: bool,
}

impl<S: BuildHasher> Redactor<S> {
    /// Creates a redactor that masks values whose names indicate a secret.
    pub fn new(keys: S) -> Redactor<S> {
        Redactor { keys, wanted: Wanted::default() }
    }

    /// Also masks everything in messages that the pattern matches.
    #[must_use]
    pub fn pointer(mut self, pattern: PointerPattern) -> Redactor<S> {
        self.wanted.pointers.push(pattern);
        self
    }

    /// Also masks members with this name, case-insensitively.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Redactor<S> {
        self.wanted.names.push(name.into());
        self
    }

    /// Also masks headers with this name, case-insensitively.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>) -> Redactor<S> {
        self.wanted.headers.push(name.into());
        self
    }

    /// Masks only what was requested explicitly, without guessing from names.
    #[must_use]
    pub fn without_guesses(mut self) -> Redactor<S> {
        self.wanted.guesses = false;
        self
    }

    /// Masks secrets in a line of a recording, in place. The line may or may not end with a line
    /// break, and need not be JSON: other text is searched for secrets, too.
    pub fn line(&self, line: &mut [u8]) {
        let start = if line.starts_with(BOM) { BOM.len() } else { 0 };
        let line = &mut line[start..];
        let mut tape = Tape::new();
        let spots = match tape.parse(line, LIMITS) {
            Ok(document) => spots::of_line(document.root(), &self.wanted),
            Err(_) => return self.prose(line),
        };
        self.treat(line, spots, LEVELS);
    }

    /// Masks secrets in the text of a message, in place.
    pub fn message(&self, text: &mut [u8]) {
        self.text(text, LEVELS, Role::Message);
    }

    /// Masks the value of a header in place, if it is secret.
    pub fn header_value(&self, name: &str, value: &mut [u8]) {
        if let Some(kind) = self.wanted.header(name) {
            web::mask_header(&self.keys, kind, value);
        }
    }

    fn treat(&self, text: &mut [u8], spots: Vec<Spot>, levels: u8) {
        for Spot { span, treatment } in spots {
            let value = &mut text[span.start..span.end];
            let [b'"', content @ .., b'"'] = value else {
                mask(&self.keys, value);
                continue;
            };
            with_text(content, |content| self.treat_text(content, treatment, levels));
        }
    }

    fn treat_text(&self, text: &mut [u8], treatment: Treatment, levels: u8) {
        match treatment {
            Treatment::Mask => mask(&self.keys, text),
            Treatment::Search if levels == 0 || !may_hold_secrets(text) => {}
            Treatment::Search => self.text(text, levels - 1, Role::Other),
            Treatment::Message => self.text(text, levels, Role::Message),
            Treatment::Base64 => match BASE64_STANDARD.decode(&*text) {
                Ok(mut bytes) => {
                    self.text(&mut bytes, levels, Role::Message);
                    text.copy_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
                }
                // Its content is unknown, so all of it is masked.
                Err(_) => mask(&self.keys, text),
            },
            Treatment::Url => web::mask_url(&self.keys, text),
            Treatment::Header(kind) => web::mask_header(&self.keys, kind, text),
        }
    }

    /// Masks secrets in a text that is JSON, lines of JSON, a form or anything else.
    fn text(&self, text: &mut [u8], levels: u8, role: Role) {
        let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let text = &mut text[start..];
        let mut tape = Tape::new();
        let mut found = Vec::new();
        if let Ok(document) = tape.parse(text, LIMITS) {
            let pointers = match role {
                Role::Message => self.wanted.pointers.as_slice(),
                Role::Other => &[],
            };
            spots::of_message(document.root(), pointers, &self.wanted, &mut found);
            return self.treat(text, found, levels);
        }
        if role == Role::Message && memchr::memchr(b'\n', text).is_some() {
            for line in text.split_mut(|byte| *byte == b'\n') {
                self.text(line, levels, Role::Message);
            }
        } else if role == Role::Message && self.wanted.guesses && web::is_form(text) {
            web::mask_url(&self.keys, text);
        } else {
            self.prose(text);
        }
    }

    fn prose(&self, text: &mut [u8]) {
        for found in prose::secrets(text, &self.wanted) {
            let value = &mut text[found.range];
            if found.is_json {
                with_text(value, |value| mask(&self.keys, value));
            } else {
                mask(&self.keys, value);
            }
        }
    }
}

/// The role of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A message, so that pointers apply.
    Message,
    Other,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { pointers: Vec::new(), names: Vec::new(), headers: Vec::new(), guesses: true }
    }
}

impl Wanted {
    fn is_secret(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || self.guesses && names_secret(name)
    }

    fn header(&self, name: &str) -> Option<HeaderKind> {
        if self.headers.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Some(HeaderKind::of_named(name));
        }
        HeaderKind::of(name).filter(|_| self.guesses)
    }
}

/// Whether a string could contain a secret.
fn may_hold_secrets(text: &[u8]) -> bool {
    memchr::memchr2(b':', b'=', text).is_some() || memchr::memmem::find(text, b"earer ").is_some()
}
