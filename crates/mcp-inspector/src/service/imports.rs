//! Recordings imported by the user. Each is shown by its own service below
//! `/TOKEN/imports/NUMBER/`, while the original page goes on.

use std::{
    collections::VecDeque,
    io::{self, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, Request, State},
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use mcp_rules::Engine;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use super::State as Served;
use crate::{
    Log, LogLimits,
    import::{self, Imported, LARGEST},
    text::excerpt,
};

/// Maximum number of imports; the oldest are dropped for new ones.
const MOST: usize = 8;
/// Maximum size of all imports together, in bytes.
const MOST_BYTES: usize = 256 << 20;
/// Maximum length of a file name to show, in characters.
const NAME: usize = 200;
/// Maximum number of pieces of a file queued to be read.
const PIECES: usize = 4;

#[derive(Debug)]
pub(super) struct Imports {
    kept: Mutex<Kept>,
    /// Held while a file is read, so that one is read at a time.
    turn: Semaphore,
}

#[derive(Debug, Default)]
struct Kept {
    imports: VecDeque<Import>,
    /// The number of imports so far.
    count: u64,
}

#[derive(Debug)]
struct Import {
    number: u64,
    bytes: usize,
    router: Router,
}

impl Imports {
    pub(super) fn new() -> Imports {
        Imports { kept: Mutex::default(), turn: Semaphore::new(1) }
    }

    fn keep(&self, log: &Log, router: Router) -> u64 {
        let mut kept = self.lock();
        kept.count += 1;
        let number = kept.count;
        kept.imports.push_back(Import { number, bytes: log.summary().bytes, router });
        let is_over = |imports: &VecDeque<Import>| {
            let bytes: usize = imports.iter().map(|import| import.bytes).sum();
            imports.len() > MOST || bytes > MOST_BYTES && imports.len() > 1
        };
        while is_over(&kept.imports) {
            kept.imports.pop_front();
        }
        number
    }

    fn router(&self, number: u64) -> Option<Router> {
        let kept = self.lock();
        let import = kept.imports.iter().find(|import| import.number == number)?;
        Some(import.router.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    /// The name of the file.
    #[serde(default)]
    name: String,
}

/// The result of an import.
#[derive(Debug, Serialize)]
struct ImportView {
    /// The address of its page.
    address: String,
    frames: u64,
    /// Entries of a capture that are not MCP.
    skipped: usize,
}

/// Imports the file in the request body.
pub(super) async fn import(
    State(served): State<Served>,
    Path(token): Path<String>,
    Query(Named { name }): Query<Named>,
    body: Body,
) -> Response {
    let Some(imports) = served.imports.clone() else {
        return refused(
            "this page shows an imported file; import the other file on the original page",
        );
    };
    let Ok(_turn) = imports.turn.acquire().await else {
        return refused("the server is shutting down");
    };
    let log = Log::new(LogLimits { bytes: MOST_BYTES, ..LogLimits::default() });
    let imported = match read(&log, &served.engine, body).await {
        Ok(imported) => imported,
        Err(reason) => return refused(&reason),
    };
    let frames = log.summary().next - 1;
    let name = excerpt(name.as_bytes(), NAME);
    let name = if name.is_empty() { "a file".to_owned() } else { name };
    let router = super::routes(served.showing_import(log.clone(), name));
    let number = imports.keep(&log, router);
    let address = format!("/{token}/imports/{number}/");
    Json(ImportView { address, frames, skipped: imported.skipped }).into_response()
}

fn refused(reason: &str) -> Response {
    let help = "choose a recording written by plumb, or a HAR capture";
    let refusal = json!({ "error": reason, "help": help });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(refusal)).into_response()
}

/// Reads a body into a log as it arrives.
async fn read(log: &Log, engine: &Arc<Engine>, body: Body) -> Result<Imported, String> {
    let (sender, pieces) = mpsc::channel(PIECES);
    let (log, engine) = (log.clone(), Arc::clone(engine));
    let reading = tokio::task::spawn_blocking(move || {
        let source = Incoming { pieces, rest: Bytes::new(), is_over: false };
        import::read_into(&log, &engine, source)
    });
    feed(body, sender).await;
    match reading.await {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err("the file could not be read".to_owned()),
    }
}

/// A piece of a file; empty at its end, `Err` if the upload failed.
type Piece = io::Result<Option<Bytes>>;

async fn feed(body: Body, sender: mpsc::Sender<Piece>) {
    let mut stream = body.into_data_stream();
    let mut length = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(io::Error::other).and_then(|piece| {
            length += piece.len();
            let is_too_long = length > LARGEST;
            let reason = || io::Error::other(format!("it is larger than {LARGEST} bytes"));
            if is_too_long { Err(reason()) } else { Ok(Some(piece)) }
        });
        let is_over = piece.is_err();
        if sender.send(piece).await.is_err() || is_over {
            return;
        }
    }
    let _ = sender.send(Ok(None)).await;
}

/// Reads the pieces. Blocks, so it must be used on a blocking thread.
struct Incoming {
    pieces: mpsc::Receiver<Piece>,
    rest: Bytes,
    is_over: bool,
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.is_over {
            match self.pieces.blocking_recv() {
                Some(Ok(Some(piece))) => self.rest = piece,
                Some(Ok(None)) => self.is_over = true,
                Some(Err(error)) => return Err(error),
                // The uploader has disconnected.
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// Serves an import: the same page and API, for other lines.
pub(super) async fn imported(State(served): State<Served>, request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    // `/TOKEN/imports/NUMBER/REST`
    let mut parts = path.splitn(5, '/').skip(1);
    let (token, _, number) = (parts.next(), parts.next(), parts.next());
    let number = number.and_then(|number| number.parse().ok());
    let router = number.and_then(|number| served.imports.as_ref()?.router(number));
    let rest = parts.next().unwrap_or_default();
    let address = format!("/{}/{rest}", token.unwrap_or_default()).parse::<Uri>();
    let (Some(mut router), Ok(address)) = (router, address) else {
        let gone = "this file is no longer in memory; import it again";
        return (StatusCode::NOT_FOUND, gone).into_response();
    };
    // Drop the extensions that the outer router has set.
    let mut inner = Request::new(Body::empty());
    *inner.method_mut() = request.method().clone();
    *inner.uri_mut() = address;
    *inner.headers_mut() = request.headers().clone();
    *inner.body_mut() = request.into_body();
    match tower_service::Service::call(&mut router, inner).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
