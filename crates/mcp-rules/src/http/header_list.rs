//! The headers of a request or of a response.

use std::borrow::Cow;

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
/// What a recording does not show is told apart from what was not sent: see
/// [`Headers::unrecorded`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers<'a> {
    list: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Where in the list the headers are that rules ask for, by `HeaderName as usize`.
    known: [Place; HeaderName::COUNT],
    unrecorded: bool,
}

/// Where the header of one name is in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Nowhere,
    /// At this index, and nowhere else.
    Once(u32),
    /// At this index first, and again later.
    Several(u32),
}

/// The headers that rules ask for.
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
    /// No headers: nothing was sent.
    pub fn new() -> Headers<'a> {
        Headers::default()
    }

    /// Headers that nobody has recorded. Rules say nothing then about what might be missing.
    pub fn unrecorded() -> Headers<'a> {
        Headers { unrecorded: true, ..Headers::default() }
    }

    /// Whether they were recorded at all.
    pub fn are_recorded(&self) -> bool {
        !self.unrecorded
    }

    /// Adds one more header.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        let name = name.into();
        if let Some(known) = HeaderName::of(&name) {
            // Beyond 32 bits there is no index; nobody has as many headers.
            let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
            let place = &mut self.known[known as usize];
            *place = match *place {
                Place::Nowhere => Place::Once(index),
                Place::Once(first) | Place::Several(first) => Place::Several(first),
            };
        }
        self.list.push((name, value.into()));
    }

    /// Every header as it was sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The value of `name`, written in any case; several are joined with commas, as HTTP says.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        match HeaderName::of(name) {
            Some(known) => self.value(known),
            None => joined(self.values_of(name)),
        }
    }

    /// As [`Headers::get`], for a name that is known beforehand, without searching.
    pub(crate) fn value(&self, name: HeaderName) -> Option<Cow<'_, str>> {
        joined(self.values(name))
    }

    /// Whether a header of this name was sent.
    pub(crate) fn has(&self, name: HeaderName) -> bool {
        self.known[name as usize] != Place::Nowhere
    }

    /// The values of `name`, one by one.
    pub(crate) fn values(&self, name: HeaderName) -> impl Iterator<Item = &str> {
        let range = match self.known[name as usize] {
            Place::Nowhere => 0..0,
            Place::Once(index) => index as usize..index as usize + 1,
            Place::Several(index) => index as usize..self.list.len(),
        };
        let list = self.list.get(range).unwrap_or_default();
        list.iter()
            .filter(move |(found, _)| HeaderName::of(found) == Some(name))
            .map(|(_, value)| &**value)
    }

    /// The values of a name that no table has, one by one.
    fn values_of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name)).map(|found| found.1)
    }
}

fn joined<'h>(mut values: impl Iterator<Item = &'h str>) -> Option<Cow<'h, str>> {
    let first = values.next()?;
    let Some(second) = values.next() else { return Some(Cow::Borrowed(first)) };
    let mut joined = first.to_owned();
    for value in std::iter::once(second).chain(values) {
        joined.push_str(", ");
        joined.push_str(value);
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

    /// The known header with this name, in any case.
    fn of(name: &str) -> Option<HeaderName> {
        let candidates: &[HeaderName] = match name.len() {
            6 => &[HeaderName::Accept, HeaderName::Origin],
            8 => &[HeaderName::McpName, HeaderName::Location],
            10 => &[HeaderName::McpMethod],
            12 => &[HeaderName::ContentType],
            13 => &[HeaderName::Authorization, HeaderName::LastEventId],
            14 => &[HeaderName::McpSessionId],
            16 => &[HeaderName::WwwAuthenticate],
            17 => &[HeaderName::XAccelBuffering],
            20 => &[HeaderName::McpProtocolVersion],
            _ => return None,
        };
        candidates.iter().copied().find(|known| known.as_str().eq_ignore_ascii_case(name))
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
            assert_eq!(HeaderName::of(name.as_str()), Some(name));
            assert_eq!(HeaderName::of(&name.as_str().to_ascii_uppercase()), Some(name));
            assert_eq!(HeaderName::of(&name.as_str()[1..]), None);
        }
        assert_eq!(HeaderName::of(""), None);
    }

    #[test]
    fn several_values_come_in_their_order() {
        let sent = [("Accept", "a"), ("X-Other", "1"), ("ACCEPT", "b"), ("x-other", "2")];
        let headers: Headers<'_> = sent.into_iter().collect();
        let values: Vec<&str> = headers.values(HeaderName::Accept).collect();
        assert_eq!(values, ["a", "b"]);
        assert_eq!(headers.value(HeaderName::Accept).unwrap(), "a, b");
        assert_eq!(headers.get("x-OTHER").unwrap(), "1, 2");
        assert!(headers.iter().eq(sent));
        assert!(!headers.has(HeaderName::Origin) && headers.get("origin").is_none());
    }

    #[test]
    fn headers_that_were_not_recorded_are_not_empty_ones() {
        assert!(Headers::new().are_recorded());
        assert!(!Headers::unrecorded().are_recorded());
        assert_eq!(Headers::unrecorded().get("accept"), None);
    }
}
