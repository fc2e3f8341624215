//! Finds the values to mask in a line or a message.

use std::{borrow::Cow, collections::HashSet};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_json::{Elements, Members, Node, Span, Tape};

use super::{
    LIMITS, PointerPattern, Wanted, names::HeaderKind, pattern::Progress, string::with_text,
};
use crate::decode_header_value;

/// A string or number, and how to treat it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) span: Span,
    pub(super) treatment: Treatment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It is a secret.
    Mask,
    /// It may contain secrets.
    Search,
    /// It is the text of a message.
    Message,
    /// It is the text of a message, in Base64.
    Base64,
    Url,
    Header(HeaderKind),
}

/// Names of conversations are masked if they have at least this length, as they may be session ids.
const LONG_NAME: usize = 16;

/// The values to mask in a line: a record, or a bare message.
pub(super) fn of_line(line: Node<'_>, wanted: &Wanted) -> Vec<Spot> {
    let mut spots = Vec::new();
    let has = |name: &str| line.get(name).is_some();
    let is_record = ["from", "msg", "raw", "rawBase64"].into_iter().any(has) && !has("jsonrpc");
    if !is_record {
        of_message(line, &wanted.pointers, wanted, &mut spots);
        return spots;
    }
    for (name, value) in line.members() {
        match &*name.str_bytes().unwrap_or_default() {
            b"msg" => of_message(value, &wanted.pointers, wanted, &mut spots),
            b"raw" | b"stderr" => add(value, Treatment::Message, &mut spots),
            b"rawBase64" | b"stderrBase64" => add(value, Treatment::Base64, &mut spots),
            b"http" => of_http(value, wanted, &mut spots),
            b"session" if wanted.guesses && value.raw().len() >= LONG_NAME + 2 => {
                add(value, Treatment::Mask, &mut spots);
            }
            b"from" | b"ts" | b"session" | b"transport" | b"end" | b"expect" => {}
            _ => of_value(Some(name), value, &[], wanted, &mut spots),
        }
    }
    let mirrored = of_mirrored(line, &spots, wanted);
    spots.extend(mirrored);
    spots
}

/// The headers that repeat a masked value of the message in the same line.
fn of_mirrored(line: Node<'_>, spots: &[Spot], wanted: &Wanted) -> Vec<Spot> {
    let headers = line.get("http").and_then(|http| http.get("headers"));
    let headers: Vec<Node<'_>> = headers
        .into_iter()
        .flat_map(Node::members)
        .filter(|(name, value)| value.is_string() && name.as_str().is_some_and(|it| mirrors(&it)))
        .map(|(_, value)| value)
        .collect();
    if headers.is_empty() {
        return Vec::new();
    }
    let masked = masked_texts(line, spots, wanted);
    let is_masked = |value: Node<'_>| {
        let text = value.as_str().unwrap_or_default();
        let decoded = decode_header_value(&text);
        masked.contains(decoded.as_deref().unwrap_or(&text).as_bytes())
    };
    // Those that are secrets by their own names have been found already.
    let known: HashSet<Span> = spots.iter().map(|spot| spot.span).collect();
    let is_new = |value: Node<'_>| !known.contains(&value.span());
    let treatment = Treatment::Header(HeaderKind::Parameter);
    let mirrored = headers.into_iter().filter(|value| is_masked(*value) && is_new(*value));
    mirrored.map(|value| Spot { span: value.span(), treatment }).collect()
}

/// The masked values in the message of a line, recorded as JSON or as text.
fn masked_texts(line: Node<'_>, spots: &[Spot], wanted: &Wanted) -> HashSet<Vec<u8>> {
    let texts = |spots: &[Spot], within: Span, input: &[u8]| -> Vec<Vec<u8>> {
        let is_within = |span: Span| within.start <= span.start && span.end <= within.end;
        let masked = spots.iter().filter(|spot| spot.treatment == Treatment::Mask);
        let masked = masked.filter(|spot| is_within(spot.span));
        masked.map(|spot| text_of(spot.span.slice(input)).into_owned()).collect()
    };
    if let Some(message) = line.get("msg") {
        return texts(spots, message.span(), line.document().input()).into_iter().collect();
    }
    let raw = line.get("raw").and_then(Node::str_bytes).or_else(|| {
        let encoded = line.get("rawBase64")?.str_bytes()?;
        BASE64_STANDARD.decode(encoded).ok().map(Cow::Owned)
    });
    let Some(raw) = raw else { return HashSet::new() };
    let mut tape = Tape::new();
    let Ok(document) = tape.parse(&raw, LIMITS) else { return HashSet::new() };
    let mut inner = Vec::new();
    of_message(document.root(), &wanted.pointers, wanted, &mut inner);
    texts(&inner, document.root().span(), &raw).into_iter().collect()
}

/// Whether a header repeats a part of the message.
fn mirrors(name: &str) -> bool {
    name.eq_ignore_ascii_case("mcp-name") || HeaderKind::is_parameter(name)
}

/// The text of a string or number.
fn text_of(raw: &[u8]) -> Cow<'_, [u8]> {
    let Some(content) = raw.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return Cow::Borrowed(raw);
    };
    let mut content = content.to_vec();
    let mut text = Vec::new();
    with_text(&mut content, |decoded| text.extend_from_slice(decoded));
    Cow::Owned(text)
}

/// The values to mask in a message or a batch.
pub(super) fn of_message(
    message: Node<'_>,
    pointers: &[PointerPattern],
    wanted: &Wanted,
    spots: &mut Vec<Spot>,
) {
    let start: Vec<Progress<'_>> = pointers.iter().map(PointerPattern::start).collect();
    if !message.is_array() {
        return of_value(None, message, &start, wanted, spots);
    }
    for entry in message.elements() {
        of_value(None, entry, &start, wanted, spots);
    }
}

fn of_http(http: Node<'_>, wanted: &Wanted, spots: &mut Vec<Spot>) {
    for (name, value) in http.members() {
        match &*name.str_bytes().unwrap_or_default() {
            b"headers" => {
                for (name, value) in value.members() {
                    let name = name.as_str().unwrap_or_default();
                    let Some(kind) = wanted.header(&name) else { continue };
                    add(value, Treatment::Header(kind), spots);
                    for value in value.elements() {
                        add(value, Treatment::Header(kind), spots);
                    }
                }
            }
            b"url" if wanted.guesses => add(value, Treatment::Url, spots),
            b"body" => add(value, Treatment::Message, spots),
            b"bodyBase64" => add(value, Treatment::Base64, spots),
            b"sse" => {
                for (name, value) in value.members() {
                    if name.str_eq("data") {
                        add(value, Treatment::Message, spots);
                    }
                }
            }
            _ => {}
        }
    }
}

fn add(value: Node<'_>, treatment: Treatment, spots: &mut Vec<Spot>) {
    if value.is_string() {
        spots.push(Spot { span: value.span(), treatment });
    }
}

/// A container, and what is known about everything in it.
struct Level<'a, 'p> {
    children: Children<'a>,
    progress: Vec<Progress<'p>>,
    /// A pointer leads to it or to something around it.
    is_pointed_at: bool,
    /// It is an array, and its name is that of a secret.
    is_named: bool,
}

enum Children<'a> {
    Members(Members<'a>),
    Elements(usize, Elements<'a>),
}

impl<'a> Iterator for Children<'a> {
    type Item = (Option<Node<'a>>, Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Children::Members(members) => {
                let (name, value) = members.next()?;
                Some((Some(name), name.as_str().unwrap_or_default(), value))
            }
            Children::Elements(index, elements) => {
                let value = elements.next()?;
                *index += 1;
                Some((None, Cow::Owned((*index - 1).to_string()), value))
            }
        }
    }
}

/// The values to mask in a value. Not recursive, as peers choose the depth.
fn of_value(
    name: Option<Node<'_>>,
    value: Node<'_>,
    start: &[Progress<'_>],
    wanted: &Wanted,
    spots: &mut Vec<Spot>,
) {
    let is_named = name.and_then(Node::as_str).is_some_and(|name| wanted.is_secret(&name));
    let is_pointed_at = start.iter().any(|progress| progress.is_complete());
    let mut levels = Vec::new();
    enter(value, is_named, is_pointed_at, start.to_vec(), &mut levels, spots);
    while let Some(level) = levels.last_mut() {
        let Some((name, token, child)) = level.children.next() else {
            levels.pop();
            continue;
        };
        let progress: Vec<Progress<'_>> =
            level.progress.iter().filter_map(|progress| progress.step(&token)).collect();
        let is_named = match name {
            Some(_) => wanted.is_secret(&token),
            None => level.is_named,
        };
        let is_pointed_at =
            level.is_pointed_at || progress.iter().any(|progress| progress.is_complete());
        enter(child, is_named, is_pointed_at, progress, &mut levels, spots);
    }
}

fn enter<'a, 'p>(
    value: Node<'a>,
    is_named: bool,
    is_pointed_at: bool,
    progress: Vec<Progress<'p>>,
    levels: &mut Vec<Level<'a, 'p>>,
    spots: &mut Vec<Spot>,
) {
    if value.is_string() || value.is_number() {
        let is_secret = is_named || is_pointed_at;
        let treatment = if is_secret { Treatment::Mask } else { Treatment::Search };
        if value.is_string() || treatment == Treatment::Mask {
            spots.push(Spot { span: value.span(), treatment });
        }
        return;
    }
    let children = if value.is_object() {
        Children::Members(value.members())
    } else {
        Children::Elements(0, value.elements())
    };
    // An object under a secret's name is more likely its schema.
    let is_named = is_named && value.is_array();
    levels.push(Level { children, progress, is_pointed_at, is_named });
}
