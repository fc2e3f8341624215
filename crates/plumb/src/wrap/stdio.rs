//! Servers that the client starts as a process.

use mcp_json::{Node, Span};

use super::{
    Proxy,
    edits::Edits,
    shape::{Entry, Wrapped, gap_before, is_next},
};

/// Puts the proxy before the command. What the user wrote stays as it is: the command moves into the
/// arguments as it was spelled, and `undo` can tell from the white space whether there were any.
pub(super) fn wrap(text: &[u8], entry: &Entry<'_>, proxy: &Proxy) -> Result<Edits, String> {
    let command = entry.command.ok_or("it has neither `command` nor `url`")?;
    if !command.value.is_string() {
        return Err("its `command` is not a string".to_owned());
    }
    if entry.url.is_some() {
        return Err("it has both `command` and `url`".to_owned());
    }
    let mut arguments = proxy.arguments();
    arguments.push(b"\"--\"".to_vec());
    arguments.push(command.value.raw().to_vec());
    let mut arguments = arguments.join(&b", "[..]);
    let mut edits = Edits::default();
    let Span { start, end } = command.value.span();
    edits.replace(start, end, proxy.command());
    match entry.args {
        Some(args) if !args.value.is_array() => {
            return Err("its `args` are not an array".to_owned());
        }
        Some(args) => match args.value.elements().next() {
            Some(first) => {
                let at = first.span().start;
                arguments.push(b',');
                arguments.extend_from_slice(gap_before(text, at));
                edits.insert(at, arguments);
            }
            None => edits.insert(args.value.span().start + 1, arguments),
        },
        None => {
            let gap = gap_before(text, command.key.start);
            edits.insert(end, [b",", gap, b"\"args\": [ ", &arguments, b" ]"].concat());
        }
    }
    Ok(edits)
}

/// Removes the proxy again.
pub(super) fn undo(
    text: &[u8],
    wrapped: &Wrapped<'_>,
    command: Node<'_>,
    next: Option<Node<'_>>,
) -> Edits {
    let mut edits = Edits::default();
    let (outer, args) = (wrapped.command.value.span(), wrapped.args.value.span());
    edits.replace(outer.start, outer.end, command.raw());
    let first = wrapped.first.span();
    let is_ours = first.start > args.start + 1 && is_next(text, outer, wrapped.args.key);
    match next {
        Some(next) => edits.delete(first.start, next.span().start),
        None if is_ours => edits.delete(outer.end, args.end),
        None => edits.delete(first.start, command.span().end),
    }
    edits
}
