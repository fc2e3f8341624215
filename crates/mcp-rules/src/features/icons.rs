//! Icons of tools, prompts, resources and implementations.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{Findings, Level, findings::Fault};

const WITH_ICONS: Revisions = Revisions::from(Revision::V2025_11_25);

rules! {
    SRC_INVALID: "icon-src-invalid", Schema, Level::Warning, WITH_ICONS, "basic#icons";
    SIZE_INVALID: "icon-size-invalid", Schema, Level::Warning, WITH_ICONS, "basic#icons";
}

/// Checks a list of icons. Earlier revisions have none, so there the member is free-form data.
pub(crate) fn check(icons: Node<'_>, findings: &mut Findings<'_>) {
    if !WITH_ICONS.contains(findings.revision()) {
        return;
    }
    for icon in icons.elements() {
        if let Some(src) = icon.get("src") {
            check_src(src, findings);
        }
        for size in icon.get("sizes").into_iter().flat_map(Node::elements) {
            check_size(size, findings);
        }
    }
}

/// Checks the icons of `clientInfo` or `serverInfo`.
pub(crate) fn check_implementation(implementation: Option<Node<'_>>, findings: &mut Findings<'_>) {
    if let Some(icons) = implementation.and_then(|implementation| implementation.get("icons")) {
        check(icons, findings);
    }
}

fn check_src(src: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = src.str_bytes() else { return };
    let known = [&b"https:"[..], b"http:", b"data:"].into_iter().any(|scheme| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    if !known {
        findings.report(
            Fault::new(&SRC_INVALID, "the icon is not an `https:`, `http:` or `data:` URI")
                .at(src.span())
                .help("clients reject every other scheme: serve the image over HTTPS, or embed it as `data:`"),
        );
    }
}

fn check_size(size: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = size.str_bytes() else { return };
    if !is_size(&text) {
        findings.report(
            Fault::new(&SIZE_INVALID, "the size is neither `any` nor of the form `48x48`")
                .at(size.span())
                .help("write width, `x` and height in pixels; one entry per size"),
        );
    }
}

fn is_size(text: &[u8]) -> bool {
    let number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    text == b"any"
        || text
            .iter()
            .position(|byte| *byte == b'x')
            .is_some_and(|x| number(&text[..x]) && number(&text[x + 1..]))
}

#[cfg(test)]
mod tests {
    use super::is_size;

    #[test]
    fn sizes_are_two_numbers_or_any() {
        for text in ["any", "48x48", "16x9", "1000x1"] {
            assert!(is_size(text.as_bytes()), "{text}");
        }
        for text in
            ["", "48", "48px", "48×48", "48x", "x48", "48x48x48", "48X48", "48x48 96x96", "ANY"]
        {
            assert!(!is_size(text.as_bytes()), "{text}");
        }
    }
}
