//! What many payloads share: content blocks, resource contents, and the `_meta`, `annotations`
//! and `icons` of things.
//!
//! The walk finds them and hands each to the rules about it, so that a rule says only what is
//! wrong with one object. Free data (`arguments`, `structuredContent`, schemas) is not entered.

use mcp_json::{Node, Span};

use super::{content, icons, meta, resources};
use crate::Findings;

/// Where a content block stands, as far as rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// In a message of a prompt, of which the specification demands more.
    Prompt,
    /// In a tool result or a sampling message.
    Elsewhere,
}

/// Content: one block or a list of them.
pub(crate) fn content(content: Node<'_>, home: Home, findings: &mut Findings<'_>) {
    if content.is_array() {
        for element in content.elements() {
            block(element, home, findings);
        }
    } else {
        block(content, home, findings);
    }
}

/// The `content` of each message.
pub(crate) fn messages(messages: Option<Node<'_>>, home: Home, findings: &mut Findings<'_>) {
    for message in messages.into_iter().flat_map(Node::elements) {
        if let Some(node) = message.get("content") {
            content(node, home, findings);
        }
    }
}

fn block(block: Node<'_>, home: Home, findings: &mut Findings<'_>) {
    let mut kind = None;
    let (mut data, mut mime_type) = (None, None);
    let (mut uri, mut resource, mut inner) = (None, None, None);
    let (mut annotations, mut icons) = (None, None);
    for (name, value) in block.members() {
        let Some(name) = name.str_bytes() else {
            continue;
        };
        match &*name {
            b"type" => kind = value.str_bytes(),
            b"data" => data = Some(value),
            b"mimeType" => mime_type = Some(value),
            b"uri" => uri = Some(value),
            b"resource" => resource = Some(value),
            b"content" => inner = Some(value),
            b"annotations" => annotations = Some(value),
            b"icons" => icons = Some(value),
            b"_meta" => meta::check(value, findings),
            _ => {}
        }
    }
    match kind.as_deref() {
        Some(b"image" | b"audio") => {
            if let Some(data) = data {
                content::check_base64(data, findings);
            }
            if let Some(mime_type) = mime_type {
                content::check_mime_type(mime_type, home, findings);
            }
        }
        Some(b"resource_link") => {
            if let Some(uri) = uri {
                resources::check_uri(uri, findings);
            }
            if let Some(icons) = icons {
                icons::check(icons, findings);
            }
        }
        Some(b"resource") => {
            if let Some(resource) = resource {
                contents(resource, findings);
                if home == Home::Prompt {
                    content::check_prompt_resource(resource, findings);
                }
            }
        }
        Some(b"tool_result") => {
            if let Some(inner) = inner {
                content(inner, Home::Elsewhere, findings);
            }
            return;
        }
        Some(b"tool_use") => return,
        _ => {}
    }
    if let Some(annotations) = annotations {
        content::check_annotations(annotations, findings);
    }
}

/// Resource contents: an entry of a read resource, or an embedded one.
pub(crate) fn contents(item: Node<'_>, findings: &mut Findings<'_>) {
    let (mut text, mut blob) = (None, None);
    for (name, value) in item.members() {
        let Some(name) = name.str_bytes() else {
            continue;
        };
        match &*name {
            b"uri" => resources::check_uri(value, findings),
            b"text" => text = Some(value),
            b"blob" => blob = Some(value),
            b"_meta" => meta::check(value, findings),
            _ => {}
        }
    }
    if let Some(blob) = blob {
        content::check_base64(blob, findings);
        if text.is_some() {
            resources::report_text_and_blob(blob, findings);
        }
    }
}

/// Things that are listed, by what is said about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A resource or a template: `_meta`, `annotations`, `icons`.
    Resource,
    /// A tool or a prompt: `_meta`, `icons`. What tools call annotations is something else.
    ToolOrPrompt,
    /// A root or a sampling message: `_meta` alone.
    Other,
}

/// What is said about a thing besides what makes it one.
pub(crate) fn described(thing: Node<'_>, kind: Thing, findings: &mut Findings<'_>) {
    for (name, value) in thing.members() {
        let Some(name) = name.str_bytes() else {
            continue;
        };
        match &*name {
            b"_meta" => meta::check(value, findings),
            b"icons" if kind != Thing::Other => icons::check(value, findings),
            b"annotations" if kind == Thing::Resource => {
                content::check_annotations(value, findings);
            }
            _ => {}
        }
    }
}

/// The bytes from `position` on in the text of a string, or all of it where escapes make it
/// impossible to tell.
pub(crate) fn inside(string: Node<'_>, position: usize, length: usize) -> Span {
    let span = string.span();
    let escaped = string.raw().contains(&b'\\');
    let start = span.start + 1 + position;
    if escaped || start + length >= span.end {
        return span;
    }
    Span { start, end: start + length }
}
