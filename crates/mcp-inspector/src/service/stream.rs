//! Rows as they come and change: a line of JSON for every piece of news.

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
use crate::{Log, log::Since};

/// Rows in one line.
const MOST_ROWS: usize = 500;
/// A blank line shows that we are still there.
const SILENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize)]
pub(super) struct Position {
    #[serde(default)]
    cursor: u64,
}

/// A reader's place. It pulls: a slow reader costs nothing, and begins anew if it falls too far
/// behind.
struct Reader {
    log: Log,
    cursor: u64,
    version: watch::Receiver<u64>,
}

pub(super) async fn changes(
    State(served): State<Served>,
    Query(position): Query<Position>,
) -> Response {
    let version = served.log.subscribe();
    let reader = Reader { log: served.log, cursor: position.cursor, version };
    let body = Body::from_stream(stream::unfold(reader, |mut reader| async move {
        let line = reader.next().await?;
        Some((Ok::<_, Infallible>(line), reader))
    }));
    ([(CONTENT_TYPE, "application/jsonl")], body).into_response()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        self.version.borrow_and_update();
        let news = self.log.since(self.cursor, MOST_ROWS);
        if news.rows.is_empty() && news.cursor == self.cursor {
            match tokio::time::timeout(SILENCE, self.version.changed()).await {
                Err(_) => return Some(Bytes::from_static(b"\n")),
                Ok(Err(_)) => return None,
                Ok(Ok(())) => return Some(self.line(&self.log.since(self.cursor, MOST_ROWS))),
            }
        }
        Some(self.line(&news))
    }

    fn line(&mut self, news: &Since) -> Bytes {
        self.cursor = news.cursor;
        let mut line = serde_json::to_vec(news).unwrap_or_default();
        line.push(b'\n');
        line.into()
    }
}
