//! Content blocks: images, audio, and their annotations.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use super::walk::{self, Home};
use crate::{
    Findings, Level, Severity,
    findings::Fault,
    format::{
        base64::{self, Base64Fault},
        date_time, token,
    },
};

rules! {
    BASE64_INVALID: "content-base64-invalid", Schema, Level::Error, Revisions::ALL, "server/prompts#image-content";
    MIME_TYPE_INVALID: "content-mime-type-invalid", Schema, Level::Warning, Revisions::ALL, "server/prompts#image-content";
    PROMPT_RESOURCE_MIME_MISSING: "prompt-resource-mime-missing", Schema, Level::Warning, Revisions::ALL, "server/prompts#embedded-resources";
    LAST_MODIFIED_INVALID: "annotation-last-modified-invalid", Schema, Level::Warning, Revisions::from(Revision::V2025_06_18), "server/resources#annotations";
}

/// Checks the `data` of an image or audio block, or the `blob` of a resource.
pub(crate) fn check_base64(data: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = data.str_bytes() else { return };
    if let Err(fault) = base64::check(&text) {
        report_base64(data, &text, fault, findings);
    }
}

#[cold]
fn report_base64(data: Node<'_>, text: &[u8], fault: Base64Fault, findings: &mut Findings<'_>) {
    let fault = match fault {
        Base64Fault::Byte { position, byte } => {
            let message = if byte.is_ascii_graphic() || byte == b' ' {
                format!("'{}' at byte {position} is not base64", char::from(byte))
            } else {
                format!("the byte 0x{byte:02x} at {position} is not base64")
            };
            let help = match byte {
                b':' if text.starts_with(b"data:") => {
                    "send only what follows the comma of the data URI"
                }
                b'-' | b'_' => "use the standard alphabet, with `+` and `/`, not the one for URLs",
                _ => "encode the bytes as base64 (RFC 4648 §4), with padding",
            };
            let span = if byte.is_ascii() { walk::inside(data, position, 1) } else { data.span() };
            Fault::new(&BASE64_INVALID, message).at(span).help(help)
        }
        Base64Fault::Padding => Fault::new(&BASE64_INVALID, "the base64 padding is wrong")
            .at(data.span())
            .help("pad with `=` to a multiple of four characters"),
    };
    findings.report(fault);
}

/// Checks the `mimeType` of an image or audio block.
pub(crate) fn check_mime_type(mime_type: Node<'_>, home: Home, findings: &mut Findings<'_>) {
    let Some(text) = mime_type.str_bytes() else {
        return;
    };
    if token::is_media_type(&text) {
        return;
    }
    let severity = match home {
        Home::Prompt => Severity::Error,
        Home::Elsewhere => Severity::Warning,
    };
    findings.report(
        Fault::new(&MIME_TYPE_INVALID, "the MIME type is not of the form `type/subtype`")
            .at(mime_type.span())
            .severity(severity)
            .help("use the registered name, such as `image/png` or `audio/wav`"),
    );
}

/// Checks a resource embedded in a prompt.
pub(crate) fn check_prompt_resource(resource: Node<'_>, findings: &mut Findings<'_>) {
    if resource.get("mimeType").is_none() {
        findings.report(
            Fault::new(
                &PROMPT_RESOURCE_MIME_MISSING,
                "the resource embedded in the prompt has no MIME type",
            )
            .at(resource.span())
            .help("add `mimeType`, such as `text/plain`"),
        );
    }
}

/// Checks the `annotations` of content or of a resource.
pub(crate) fn check_annotations(annotations: Node<'_>, findings: &mut Findings<'_>) {
    let Some(node) = annotations.get("lastModified") else {
        return;
    };
    let Some(text) = node.str_bytes() else { return };
    if !date_time::is_iso8601(&text) {
        findings.report(
            Fault::new(&LAST_MODIFIED_INVALID, "`lastModified` is not an ISO 8601 date-time")
                .at(node.span())
                .help("write it as `2025-05-03T14:30:00Z`"),
        );
    }
}
