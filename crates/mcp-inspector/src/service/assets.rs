//! The files of the page, embedded in the program.

use axum::{
    extract::Path,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A file of the page.
struct Asset {
    path: &'static str,
    text: &'static str,
}

const INDEX: &str = "index.html";

/// The page itself. Its files are in a folder named after their hash, so that browsers can cache
/// them.
pub(super) async fn page() -> Response {
    let Some(page) = ASSETS.iter().find(|asset| asset.path == INDEX) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let text = page.text.replace("{assets}", &format!("assets/{HASH}"));
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

pub(super) async fn asset(Path((_, hash, path)): Path<(String, String, String)>) -> Response {
    let asset = ASSETS.iter().find(|asset| hash == HASH && asset.path == path);
    let Some(asset) = asset else { return StatusCode::NOT_FOUND.into_response() };
    let kind = match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=31536000, immutable")];
    (headers, asset.text).into_response()
}
