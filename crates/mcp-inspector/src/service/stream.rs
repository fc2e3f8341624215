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

/// A reader's place. It pulls: a slow reader costs nothing, and begins anew if it falls too far
/// behind.
struct Reader {
    log: Log,
    cursor: u64,
    version: watch::Receiver<u64>,
    speaking: Option<Speaking>,
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
    let reader = Reader { log: served.log, cursor: position.cursor, version, speaking };
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
        if !news.rows.is_empty() || news.cursor != self.cursor {
            return Some(self.line(&news));
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
                let news = self.log.since(self.cursor, MOST_ROWS);
                Some(self.line(&news))
            }
            line = spoken => Some(line),
            () = tokio::time::sleep(SILENCE) => Some(Bytes::from_static(b"\n")),
        }
    }

    fn line(&mut self, news: &Since) -> Bytes {
        self.cursor = news.cursor;
        ended(serde_json::to_vec(news).unwrap_or_default())
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

fn ended(mut line: Vec<u8>) -> Bytes {
    line.push(b'\n');
    line.into()
}
