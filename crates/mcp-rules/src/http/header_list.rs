//! The headers of a request or a response.

use std::borrow::Cow;

use mcp_json::Node;

use super::is_media_type;

/// The headers of a request or of a response, in the order in which they were sent. A name may
/// come several times, in any case.
///
/// Collect them from whatever the HTTP library has; nothing is copied:
///
/// ```
/// use mcp_rules::Headers;
///
/// let sent = [("Accept", "application/json"), ("accept", "text/event-stream")];
/// let headers: Headers = sent.into_iter().collect();
/// assert_eq!(headers.get("ACCEPT").unwrap(), "application/json, text/event-stream");
/// ```
///
/// Headers that were not recorded are distinct from headers that were not sent: see
/// [`Headers::unrecorded`].
#[derive(Debug, Clone, Default)]
pub struct Headers<'a> {
    /// All headers, or only those that rules use if there is a recording to read the others from.
    list: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Positions of the headers that rules use, by `HeaderName as usize`.
    known: [Occurrence; HeaderName::COUNT],
    recorded: Option<Node<'a>>,
    unrecorded: bool,
}

/// The position of a header in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Occurrence {
    #[default]
    Nowhere,
    /// At this index, and nowhere else.
    Once(u32),
    /// At this index first, and again later.
    Several(u32),
}

/// The length of the longest header that rules use.
const MAX_NAME: usize = "mcp-protocol-version".len();

/// The headers that rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderName {
    Accept,
    Authorization,
    ContentType,
    LastEventId,
    Location,
    McpMethod,
    McpName,
    McpProtocolVersion,
    McpSessionId,
    Origin,
    WwwAuthenticate,
    XAccelBuffering,
}

impl<'a> Headers<'a> {
    /// An empty list: no headers were sent.
    pub fn new() -> Headers<'a> {
        Headers::default()
    }

    /// Reads the headers in an object of a recording, where repeated headers are an array. Values
    /// that are not strings are skipped. Most headers concern no rule, so only those that may are
    /// read up front.
    pub(crate) fn recorded(object: Node<'a>) -> Headers<'a> {
        let mut headers = Headers { recorded: Some(object), ..Headers::default() };
        for (name, value) in object.members() {
            let Some(known) = name.str_bytes().and_then(|name| HeaderName::of(&name)) else {
                continue;
            };
            for value in values_in(value) {
                headers.add(Some(known), known.as_str().into(), value);
            }
        }
        headers
    }

    /// Headers that were not recorded, so that rules report nothing as missing.
    pub fn unrecorded() -> Headers<'a> {
        Headers { unrecorded: true, ..Headers::default() }
    }

    /// Whether the headers were recorded at all.
    pub fn are_recorded(&self) -> bool {
        !self.unrecorded
    }

    /// Adds a header.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        if self.recorded.is_some() {
            let all: Vec<(String, String)> =
                self.iter().map(|(name, value)| (name.into(), value.into())).collect();
            *self = Headers { unrecorded: self.unrecorded, ..Headers::new() };
            self.extend(all);
        }
        let name = name.into();
        self.add(HeaderName::of(name.as_bytes()), name, value.into());
    }

    fn add(&mut self, known: Option<HeaderName>, name: Cow<'a, str>, value: Cow<'a, str>) {
        if let Some(known) = known {
            // An index over 32 bits does not fit; nobody sends that many headers.
            let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
            let place = &mut self.known[known as usize];
            *place = match *place {
                Occurrence::Nowhere => Occurrence::Once(index),
                Occurrence::Once(first) | Occurrence::Several(first) => Occurrence::Several(first),
            };
        }
        self.list.push((name, value));
    }

    /// Whether they say that an event stream follows.
    pub(crate) fn announce_events(&self) -> bool {
        let kind = self.value(HeaderName::ContentType).unwrap_or_default();
        is_media_type(&kind, "text/event-stream")
    }

    /// Every header as it was sent.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let list = if self.recorded.is_some() { &[] } else { self.list.as_slice() };
        let listed =
            list.iter().map(|(name, value)| (Cow::Borrowed(&**name), Cow::Borrowed(&**value)));
        listed.chain(self.recorded.into_iter().flat_map(Node::members).flat_map(|(name, value)| {
            let name = name.as_str().unwrap_or_default();
            values_in(value).map(move |value| (name.clone(), value))
        }))
    }

    /// The value of `name`, case-insensitively; repeated headers are joined with commas, as in
    /// HTTP.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        match HeaderName::of(name.as_bytes()) {
            Some(known) => self.value(known),
            None => joined(
                self.iter()
                    .filter_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value)),
            ),
        }
    }

    /// Like [`Headers::get`], for a known name, without searching.
    #[inline]
    pub(crate) fn value(&self, name: HeaderName) -> Option<Cow<'_, str>> {
        match self.known[name as usize] {
            Occurrence::Nowhere => None,
            Occurrence::Once(index) => {
                let (_, value) = self.list.get(index as usize)?;
                Some(Cow::Borrowed(value))
            }
            Occurrence::Several(_) => self.joined_values(name),
        }
    }

    #[cold]
    fn joined_values(&self, name: HeaderName) -> Option<Cow<'_, str>> {
        joined(self.values(name).map(Cow::Borrowed))
    }

    /// Whether a header of this name was sent.
    pub(crate) fn has(&self, name: HeaderName) -> bool {
        self.known[name as usize] != Occurrence::Nowhere
    }

    /// The values of `name`, one by one.
    pub(crate) fn values(&self, name: HeaderName) -> impl Iterator<Item = &str> {
        let range = match self.known[name as usize] {
            Occurrence::Nowhere => 0..0,
            Occurrence::Once(index) => index as usize..index as usize + 1,
            Occurrence::Several(index) => index as usize..self.list.len(),
        };
        let list = self.list.get(range).unwrap_or_default();
        list.iter()
            .filter(move |(found, _)| HeaderName::of(found.as_bytes()) == Some(name))
            .map(|(_, value)| &**value)
    }
}

/// Headers are equal if their contents are, wherever they come from.
impl PartialEq for Headers<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.unrecorded == other.unrecorded && self.iter().eq(other.iter())
    }
}

impl Eq for Headers<'_> {}

/// The values of one recorded header.
fn values_in(value: Node<'_>) -> impl Iterator<Item = Cow<'_, str>> {
    value.as_str().into_iter().chain(value.elements().filter_map(Node::as_str))
}

fn joined<'h>(mut values: impl Iterator<Item = Cow<'h, str>>) -> Option<Cow<'h, str>> {
    let first = values.next()?;
    let Some(second) = values.next() else { return Some(first) };
    let mut joined = first.into_owned();
    for value in std::iter::once(second).chain(values) {
        joined.push_str(", ");
        joined.push_str(&value);
    }
    Some(Cow::Owned(joined))
}

impl<'a, N, V> FromIterator<(N, V)> for Headers<'a>
where
    N: Into<Cow<'a, str>>,
    V: Into<Cow<'a, str>>,
{
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Headers<'a> {
        let mut headers = Headers::new();
        headers.extend(pairs);
        headers
    }
}

impl<'a, N, V> Extend<(N, V)> for Headers<'a>
where
    N: Into<Cow<'a, str>>,
    V: Into<Cow<'a, str>>,
{
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, pairs: I) {
        let pairs = pairs.into_iter();
        self.list.reserve(pairs.size_hint().0);
        for (name, value) in pairs {
            self.push(name, value);
        }
    }
}

impl HeaderName {
    const COUNT: usize = 12;

    /// The known header with this name, case-insensitively.
    fn of(name: &[u8]) -> Option<HeaderName> {
        // HTTP/2 and most recorders write names in lower case.
        HeaderName::of_lower_case(name).or_else(|| {
            let is_mixed = name.len() <= MAX_NAME && name.iter().any(u8::is_ascii_uppercase);
            is_mixed.then(|| HeaderName::of_lower_case(&name.to_ascii_lowercase()))?
        })
    }

    fn of_lower_case(name: &[u8]) -> Option<HeaderName> {
        Some(match name {
            b"accept" => HeaderName::Accept,
            b"authorization" => HeaderName::Authorization,
            b"content-type" => HeaderName::ContentType,
            b"last-event-id" => HeaderName::LastEventId,
            b"location" => HeaderName::Location,
            b"mcp-method" => HeaderName::McpMethod,
            b"mcp-name" => HeaderName::McpName,
            b"mcp-protocol-version" => HeaderName::McpProtocolVersion,
            b"mcp-session-id" => HeaderName::McpSessionId,
            b"origin" => HeaderName::Origin,
            b"www-authenticate" => HeaderName::WwwAuthenticate,
            b"x-accel-buffering" => HeaderName::XAccelBuffering,
            _ => return None,
        })
    }

    fn as_str(self) -> &'static str {
        match self {
            HeaderName::Accept => "accept",
            HeaderName::Authorization => "authorization",
            HeaderName::ContentType => "content-type",
            HeaderName::LastEventId => "last-event-id",
            HeaderName::Location => "location",
            HeaderName::McpMethod => "mcp-method",
            HeaderName::McpName => "mcp-name",
            HeaderName::McpProtocolVersion => "mcp-protocol-version",
            HeaderName::McpSessionId => "mcp-session-id",
            HeaderName::Origin => "origin",
            HeaderName::WwwAuthenticate => "www-authenticate",
            HeaderName::XAccelBuffering => "x-accel-buffering",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [HeaderName; HeaderName::COUNT] = [
        HeaderName::Accept,
        HeaderName::Authorization,
        HeaderName::ContentType,
        HeaderName::LastEventId,
        HeaderName::Location,
        HeaderName::McpMethod,
        HeaderName::McpName,
        HeaderName::McpProtocolVersion,
        HeaderName::McpSessionId,
        HeaderName::Origin,
        HeaderName::WwwAuthenticate,
        HeaderName::XAccelBuffering,
    ];

    #[test]
    fn every_known_name_is_found_in_any_case() {
        for (index, name) in ALL.into_iter().enumerate() {
            assert_eq!(name as usize, index);
            let text = name.as_str().as_bytes();
            assert_eq!(HeaderName::of(text), Some(name));
            assert_eq!(HeaderName::of(&text.to_ascii_uppercase()), Some(name));
            assert_eq!(HeaderName::of(&text[1..]), None);
        }
        assert_eq!(HeaderName::of(b""), None);
    }

    #[test]
    fn several_values_come_in_their_order() {
        let sent = [("Accept", "a"), ("X-Other", "1"), ("ACCEPT", "b"), ("x-other", "2")];
        let headers: Headers<'_> = sent.into_iter().collect();
        let values: Vec<&str> = headers.values(HeaderName::Accept).collect();
        assert_eq!(values, ["a", "b"]);
        assert_eq!(headers.value(HeaderName::Accept).unwrap(), "a, b");
        assert_eq!(headers.get("x-OTHER").unwrap(), "1, 2");
        assert!(headers.iter().eq(sent.map(|(name, value)| (name.into(), value.into()))));
        assert!(!headers.has(HeaderName::Origin) && headers.get("origin").is_none());
    }

    #[test]
    fn recorded_headers_are_those_that_were_sent() {
        let text =
            br#"{"Accept":["a","b"],"x-other":"1","content-type":"c","x-no":7,"X-Other":"2"}"#;
        let mut tape = mcp_json::Tape::new();
        let document = tape.parse(text, mcp_json::Limits::default()).unwrap();
        let mut headers = Headers::recorded(document.root());
        let sent = [
            ("Accept", "a"),
            ("Accept", "b"),
            ("x-other", "1"),
            ("content-type", "c"),
            ("X-Other", "2"),
        ];
        assert_eq!(headers, sent.into_iter().collect());
        assert_eq!(headers.get("accept").unwrap(), "a, b");
        assert_eq!(headers.value(HeaderName::ContentType).unwrap(), "c");
        assert_eq!(headers.get("x-other").unwrap(), "1, 2");
        assert_eq!(headers.get("x-no"), None);
        headers.push("x-other", "3");
        assert_eq!(headers.get("x-other").unwrap(), "1, 2, 3");
        assert_eq!(headers, sent.into_iter().chain([("x-other", "3")]).collect());
    }

    #[test]
    fn headers_that_were_not_recorded_are_not_empty_ones() {
        assert!(Headers::new().are_recorded());
        assert!(!Headers::unrecorded().are_recorded());
        assert_eq!(Headers::unrecorded().get("accept"), None);
    }
}
