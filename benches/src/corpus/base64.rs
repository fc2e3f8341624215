//! Images, audio and blobs in base64: about 100 KB.

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;
use super::tool_list::Tool;
use super::tools_call::{params, plain_tool, text_content};
use super::wire::{Answer, Exchange};
use super::words;

/// An image returned by a tool, or a blob read as a resource, of about `bytes` bytes on the wire.
pub fn exchange(rng: &mut Rng, tools: &[Tool], bytes: usize) -> Exchange {
    let data = encoded(rng, bytes);
    if rng.chance(40) {
        let uri = words::uri(rng);
        let contents = Json::object([
            ("uri", uri.as_str().into()),
            ("mimeType", "application/octet-stream".into()),
            ("blob", data.into()),
        ]);
        return Exchange {
            from: Side::Client,
            method: "resources/read",
            params: Some(Json::object([("uri", uri.into())])),
            answer: Answer::Result(Json::object([("contents", Json::Array(vec![contents]))])),
        };
    }
    let (kind, mime_type) =
        rng.pick(&[("image", "image/png"), ("image", "image/jpeg"), ("audio", "audio/wav")]);
    let block = Json::object([
        ("type", kind.into()),
        ("data", data.into()),
        ("mimeType", mime_type.into()),
    ]);
    let mut content = vec![block];
    if rng.chance(50) {
        content.insert(0, text_content(words::sentence(rng, 8)));
    }
    let tool = plain_tool(rng, tools);
    Exchange {
        from: Side::Client,
        method: "tools/call",
        params: Some(params(rng, tool)),
        answer: Answer::Result(Json::object([
            ("content", Json::Array(content)),
            ("isError", false.into()),
        ])),
    }
}

/// Random bytes in base64, with random padding.
fn encoded(rng: &mut Rng, bytes: usize) -> String {
    static ALPHABET: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes + 4);
    while text.len() + 4 < bytes {
        let mut bits = rng.bits();
        for _ in 0..8 {
            let digit = usize::try_from(bits & 63).unwrap_or(0);
            text.push(char::from(ALPHABET[digit]));
            bits >>= 6;
        }
    }
    // Four bits of the last digit must be zero before `==`, two before `=`.
    text.push_str(rng.pick(&["kAo7", "kA==", "kAo="]));
    text
}
