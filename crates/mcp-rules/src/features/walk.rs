//! Parts shared by many payloads: content blocks, resource contents, and the `_meta`, `annotations`
//! and `icons` of objects.
//!
//! The walk finds them and passes each to the rules about it, so that a rule only has to judge one
//! object. Free-form data (`arguments`, `structuredContent`, schemas) is not entered.

use mcp_json::{Fingerprint, Node, Span};

use super::{content, icons, meta, resources};
use crate::Findings;

const META: Fingerprint = Fingerprint::of("_meta");
const ANNOTATIONS: Fingerprint = Fingerprint::of("annotations");
const BLOB: Fingerprint = Fingerprint::of("blob");
const CONTENT: Fingerprint = Fingerprint::of("content");
const DATA: Fingerprint = Fingerprint::of("data");
const ICONS: Fingerprint = Fingerprint::of("icons");
const MIME_TYPE: Fingerprint = Fingerprint::of("mimeType");
const RESOURCE: Fingerprint = Fingerprint::of("resource");
const TEXT: Fingerprint = Fingerprint::of("text");
const KIND: Fingerprint = Fingerprint::of("type");
const URI: Fingerprint = Fingerprint::of("uri");

/// Where a content block occurs, as far as rules distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// In a prompt message, where the specification demands more.
    Prompt,
    /// In a tool result or a sampling message.
    Elsewhere,
}

/// Walks content: a single block or a list of them.
pub(crate) fn content(content: Node<'_>, home: Home, findings: &mut Findings<'_>) {
    if content.is_array() {
        for element in content.elements() {
            block(element, home, findings);
        }
    } else {
        block(content, home, findings);
    }
}

/// Walks the `content` of each message.
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
        match name.fingerprint() {
            KIND if name.str_eq("type") => kind = value.str_bytes(),
            DATA if name.str_eq("data") => data = Some(value),
            MIME_TYPE if name.str_eq("mimeType") => mime_type = Some(value),
            URI if name.str_eq("uri") => uri = Some(value),
            RESOURCE if name.str_eq("resource") => resource = Some(value),
            CONTENT if name.str_eq("content") => inner = Some(value),
            ANNOTATIONS if name.str_eq("annotations") => annotations = Some(value),
            ICONS if name.str_eq("icons") => icons = Some(value),
            META if name.str_eq("_meta") => meta::check(value, findings),
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

/// Walks resource contents: an entry of a read resource, or an embedded one.
pub(crate) fn contents(item: Node<'_>, findings: &mut Findings<'_>) {
    let (mut text, mut blob) = (None, None);
    for (name, value) in item.members() {
        match name.fingerprint() {
            URI if name.str_eq("uri") => resources::check_uri(value, findings),
            TEXT if name.str_eq("text") => text = Some(value),
            BLOB if name.str_eq("blob") => blob = Some(value),
            META if name.str_eq("_meta") => meta::check(value, findings),
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

/// Kinds of listed objects, by the descriptive members they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A resource or a template: `_meta`, `annotations`, `icons`.
    Resource,
    /// A tool or a prompt: `_meta`, `icons`. A tool's `annotations` are something else.
    ToolOrPrompt,
    /// A root or a sampling message: `_meta` alone.
    Other,
}

/// Walks the descriptive members of an object.
pub(crate) fn described(thing: Node<'_>, kind: Thing, findings: &mut Findings<'_>) {
    for (name, value) in thing.members() {
        match name.fingerprint() {
            META if name.str_eq("_meta") => meta::check(value, findings),
            ICONS if name.str_eq("icons") && kind != Thing::Other => icons::check(value, findings),
            ANNOTATIONS if name.str_eq("annotations") && kind == Thing::Resource => {
                content::check_annotations(value, findings);
            }
            _ => {}
        }
    }
}

/// The span of `length` bytes from `position` in the text of a string, or all of it where escapes
/// make the position uncertain.
pub(crate) fn inside(string: Node<'_>, position: usize, length: usize) -> Span {
    let span = string.span();
    let escaped = string.raw().contains(&b'\\');
    let start = span.start + 1 + position;
    if escaped || start + length >= span.end {
        return span;
    }
    Span { start, end: start + length }
}
