//! The structure of an entry of a configuration, before and after wrapping.

use mcp_json::{Node, Span};

use super::Proxy;
use crate::client_config::{Member, Server};

/// The members of an entry that matter here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) server: Server<'a>,
    pub(super) command: Option<Member<'a>>,
    pub(super) args: Option<Member<'a>>,
    pub(super) url: Option<Member<'a>>,
    pub(super) kind: Option<Member<'a>>,
}

/// The parts of an entry that runs the proxy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapped<'a> {
    pub(super) command: Member<'a>,
    pub(super) args: Member<'a>,
    /// The argument `proxy`.
    pub(super) first: Node<'a>,
    pub(super) inner: Inner<'a>,
}

/// What the proxy relays to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inner<'a> {
    /// A command, and the first of its own arguments.
    Command(Node<'a>, Option<Node<'a>>),
    Url(Node<'a>),
}

impl<'a> Entry<'a> {
    /// Reads an entry; `Err` with the name of a member that occurs twice.
    pub(super) fn of(server: Server<'a>) -> Result<Entry<'a>, &'static str> {
        Ok(Entry {
            server,
            command: server.member("command")?,
            args: server.member("args")?,
            url: server.member("url")?,
            kind: server.member("type")?,
        })
    }

    /// The parts of the entry, if it runs plumb as a proxy.
    pub(super) fn wrapped(&self, proxy: &Proxy) -> Option<Wrapped<'a>> {
        let (command, args) = (self.command?, self.args?);
        if !proxy.is(&command.value.as_str()?) {
            return None;
        }
        let mut arguments = args.value.elements();
        let first = arguments.next().filter(|first| first.str_eq("proxy"))?;
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            if argument.str_eq("--") {
                let inner = arguments.next().filter(|inner| inner.is_string())?;
                let inner = Inner::Command(inner, arguments.next());
                return Some(Wrapped { command, args, first, inner });
            }
            if argument.str_eq("--upstream")
                && let Some(url) = arguments.next().filter(|url| url.is_string())
                && arguments.peek().is_none()
            {
                return Some(Wrapped { command, args, first, inner: Inner::Url(url) });
            }
        }
        None
    }
}

/// The white space with a line break before `at`, or one space: the separator that matches the
/// layout there.
pub(super) fn gap_before(text: &[u8], at: usize) -> &[u8] {
    let start = text[..at].iter().rposition(|byte| !byte.is_ascii_whitespace());
    let gap = &text[start.map_or(0, |position| position + 1)..at];
    if gap.contains(&b'\n') { gap } else { b" " }
}

/// Whether only a comma and white space separate two parts.
pub(super) fn is_next(text: &[u8], before: Span, after: Span) -> bool {
    let between = text.get(before.end..after.start).unwrap_or_default();
    between.strip_prefix(b",").is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace))
}
