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
use crate::{Log, Speaker, log::Since};

/// Rows in one line.
const MOST_ROWS: usize = 500;
/// A blank line shows that we are still there.
const SILENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize)]
pub(super) struct Position {
    #[serde(default)]
    cursor: u64,
}

/// A reader's place. It pulls: a slow reader costs nothing, and is told everything anew if it falls
/// too far behind.
struct Reader {
    log: Log,
    cursor: u64,
    retelling: Option<Retelling>,
    version: watch::Receiver<u64>,
    speaking: Option<Speaking>,
}

/// All rows in order, for a reader that is behind.
struct Retelling {
    /// The number of the next row.
    next: u64,
    /// What has changed since then is told afterwards.
    cursor: u64,
    has_begun: bool,
}

/// What a reader knows of a speaker.
struct Speaking {
    speaker: Speaker,
    version: watch::Receiver<u64>,
}

/// The state of a speaker is told at most this often.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn changes(
    State(served): State<Served>,
    Query(position): Query<Position>,
) -> Response {
    let version = served.log.subscribe();
    let speaking = served.speaker.map(|speaker| {
        let mut version = speaker.subscribe();
        version.mark_changed();
        Speaking { speaker, version }
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

    /// What the reader does not know yet, if there is something.
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
        // Whoever is cut off in the middle begins again.
        let cursor = if is_last { retelling.cursor } else { 0 };
        if is_last {
            self.cursor = cursor;
            self.retelling = None;
        }
        Some(line(&Since { cursor, is_behind, rows }))
    }
}

impl Speaking {
    /// `{"speak":…}`, when there is something new.
    async fn changed(&mut self) -> Bytes {
        if self.version.changed().await.is_err() {
            return std::future::pending().await;
        }
        // What changes together is told together.
        tokio::time::sleep(PAUSE).await;
        self.version.borrow_and_update();
        let state = self.speaker.view();
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
