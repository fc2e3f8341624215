//! Sends a recording to a server and compares what comes back.

mod findings;
mod report;

use std::{fs::File, io, path::Path};

use mcp_proxy::{
    Conversations,
    replay::{Player, ReplayError, ReplayStep},
};
use mcp_recording::{LineStream, MAX_LINE, Piece};
use mcp_rules::{Engine, LineReader, Observer, RecordingInfo};

pub(crate) use self::{
    findings::{FindingTally, Shift},
    report::{HumanReplay, JsonReplay, ReplayReport},
};

/// Why a recording could not be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error("could not read the recording")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Sends the client's side of the recording at `path`. Returns the findings of the recording
/// itself.
pub(crate) async fn play(
    path: &Path,
    player: &mut Player,
    engine: &Engine,
    info: RecordingInfo,
) -> Result<FindingTally, PlayError> {
    let mut lines = LineStream::new(File::open(path)?, MAX_LINE);
    let mut reader = LineReader::new(&engine.settings().limits);
    let mut observer = Observer::new(engine, info);
    let mut conversations = Conversations::default();
    let mut tally = FindingTally::default();
    let mut text = Vec::new();
    let mut number = 0;
    loop {
        let piece = match lines.next(&mut text)? {
            Some(piece) => piece,
            None => match lines.rest(&mut text) {
                Some(piece) => piece,
                None => break,
            },
        };
        number += u64::from(piece != Piece::LongRest);
        let line = text.trim_ascii();
        if piece != Piece::Line || line.is_empty() {
            continue;
        }
        let (ruling, step) = reader.read(line, |line| {
            let ruling = observer.decide(number, line, |_| Some(false));
            (ruling, ReplayStep::of(line, &mut conversations))
        });
        ruling.findings().for_each(|finding| tally.add(finding));
        if let Some(step) = step {
            player.play(step).await?;
        }
    }
    let mut judged = Vec::new();
    observer.finish(&mut judged);
    let findings = judged.iter().flat_map(|judged| &judged.findings);
    findings.for_each(|finding| tally.add(finding));
    Ok(tally)
}
