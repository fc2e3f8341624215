//! The stream of new and changed rows, as JSON lines.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    extract::{Query, State},
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;

use super::State as Served;
use crate::{InspectorClient, Log, log::Since};

/// Maximum number of rows in one line.
const MOST_ROWS: usize = 500;
/// Interval of blank lines that keep the connection alive.
const SILENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize)]
pub(super) struct Position {
    #[serde(default)]
    cursor: u64,
}

/// The position of a reader. Readers pull, so a slow one costs nothing; one that falls too far
/// behind gets everything again.
struct Reader {
    log: Log,
    cursor: u64,
    retelling: Option<Retelling>,
    version: watch::Receiver<u64>,
    speaking: Option<Speaking>,
}

/// A resend of all rows in order, for a reader that fell behind.
struct Retelling {
    /// The number of the next row.
    next: u64,
    /// The cursor from which changes are sent after the resend.
    cursor: u64,
    has_begun: bool,
}

/// What a reader has seen of the client's state.
struct Speaking {
    client: InspectorClient,
    version: watch::Receiver<u64>,
}

/// Minimum interval between two states of the client.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn changes(
    State(served): State<Served>,
    Query(position): Query<Position>,
) -> Response {
    let version = served.log.subscribe();
    let speaking = served.client.map(|client| {
        let mut version = client.subscribe();
        version.mark_changed();
        Speaking { client, version }
    });
    let reader =
        Reader { log: served.log, cursor: position.cursor, retelling: None, version, speaking };
    let body = Body::from_stream(stream::unfold(reader, |mut reader| async move {
        let line = reader.next().await?;
        Some((Ok::<_, Infallible>(line), reader))
    }));
    ([(CONTENT_TYPE, "application/jsonl")], body).into_response()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        self.version.borrow_and_update();
        if let Some(line) = self.news() {
            return Some(line);
        }
        let spoken = async {
            match &mut self.speaking {
                Some(speaking) => speaking.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = self.version.changed() => {
                changed.ok()?;
                Some(self.news().unwrap_or_else(|| Bytes::from_static(b"\n")))
            }
            line = spoken => Some(line),
            () = tokio::time::sleep(SILENCE) => Some(Bytes::from_static(b"\n")),
        }
    }

    /// The next line of news for the reader, if any.
    fn news(&mut self) -> Option<Bytes> {
        if self.retelling.is_none() {
            let news = self.log.since(self.cursor, MOST_ROWS);
            if !news.is_behind {
                let has_news = news.cursor != self.cursor;
                self.cursor = news.cursor;
                return has_news.then(|| line(&news));
            }
            self.retelling = Some(Retelling { next: 1, cursor: news.cursor, has_begun: false });
        }
        let retelling = self.retelling.as_mut()?;
        let rows = self.log.rows_from(retelling.next, MOST_ROWS);
        let is_behind = !std::mem::replace(&mut retelling.has_begun, true);
        let is_last = rows.len() < MOST_ROWS;
        retelling.next = rows.last().map_or(retelling.next, |row| row.number + 1);
        // A reader disconnected in the middle starts over.
        let cursor = if is_last { retelling.cursor } else { 0 };
        if is_last {
            self.cursor = cursor;
            self.retelling = None;
        }
        Some(line(&Since { cursor, is_behind, rows }))
    }
}

impl Speaking {
    /// Waits for a change, and returns `{"speak":…}`.
    async fn changed(&mut self) -> Bytes {
        if self.version.changed().await.is_err() {
            return std::future::pending().await;
        }
        // Send changes that happen together in one line.
        tokio::time::sleep(PAUSE).await;
        self.version.borrow_and_update();
        let state = self.client.view();
        ended(serde_json::to_vec(&serde_json::json!({ "speak": state })).unwrap_or_default())
    }
}

fn line(news: &Since) -> Bytes {
    ended(serde_json::to_vec(news).unwrap_or_default())
}

fn ended(mut line: Vec<u8>) -> Bytes {
    line.push(b'\n');
    line.into()
}
