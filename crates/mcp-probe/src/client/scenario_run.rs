//! One start of the client, from the first byte to its end.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_core::Revision;
use mcp_rules::Engine;
use tokio::{sync::Notify, time::Instant};

use super::{
    ClientSettings, ClientUnderTest, Meeting,
    door::Doors,
    play::{Play, Plays},
    process::{Exit, Process},
    scenario::Scenario,
};
use crate::Recording;

/// How long a visit may take at most.
const LONGEST: Duration = Duration::from_secs(60);
/// How long what is still on its way is waited for once a client has exited.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// How long a client that is met for the first time may take to exit.
const FIRST: Duration = Duration::from_secs(3);

/// What all visits of a run have in common.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) client: ClientUnderTest,
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: ClientSettings,
    pub(crate) recordings: Arc<Mutex<Vec<Arc<Recording>>>>,
}

/// What is known of a client that was met before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Habit {
    /// Nothing.
    Unknown,
    /// It exits by itself.
    Exits,
    /// It stays.
    Stays,
}

/// A visit that is over.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) plays: Vec<Arc<Play>>,
    /// How the client has ended by itself.
    pub(crate) exit: Option<Exit>,
    pub(crate) stderr: String,
    /// How long it was waited for at the end.
    pub(crate) waited: Duration,
}

impl Setup {
    /// Starts the client and plays the scenario until it has exited, or has nothing more to say.
    pub(crate) async fn visit(
        &self,
        scenario: &'static Scenario,
        revision: Revision,
        habit: Habit,
        is_quiet: bool,
    ) -> io::Result<Visit> {
        let plays = Arc::new(Plays {
            scenario,
            revision,
            engine: Arc::clone(&self.engine),
            limits: self.settings.limits,
            is_quiet,
            recordings: Arc::clone(&self.recordings),
            list: Mutex::default(),
            changed: Arc::new(Notify::new()),
        });
        let mut doors = Doors::open(&plays).await?;
        let launch = self.client.led_to(&doors.command(&self.client.server), &doors.url());
        let (meeting, stderr_bytes) = (self.client.meeting, self.settings.limits.stderr_bytes);
        let (process, streams) = Process::start(&launch, meeting, stderr_bytes)?;
        if let Some((input, output)) = streams
            && meeting == Meeting::Streams
        {
            doors.streams(&plays, input, output);
        }
        let patience = match habit {
            Habit::Unknown => self.settings.idle.max(FIRST),
            Habit::Exits => self.settings.limits.answer.max(FIRST),
            Habit::Stays => self.settings.idle,
        };
        tokio::select! {
            _ = process.wait() => self.let_finish(&plays).await,
            () = self.until_idle(&plays, patience) => {}
        }
        let exit = process.exit();
        let list = plays.all();
        // What comes from here on is our doing: the server goes away first.
        drop(doors);
        process.end(self.settings.limits.exit).await;
        for play in &list {
            play.close(false);
            play.recording.finish();
        }
        Ok(Visit { plays: list, exit, stderr: process.stderr(), waited: patience })
    }

    /// Waits until nothing has happened for a while.
    async fn until_idle(&self, plays: &Plays, patience: Duration) {
        let begun = Instant::now();
        loop {
            let changed = plays.changed.notified();
            let list = plays.all();
            let active = list.iter().filter_map(|play| play.last_activity()).max();
            let is_busy = list.iter().any(|play| play.is_busy());
            let deadline = match active {
                Some(active) => active + patience,
                None => begun + self.settings.limits.start,
            };
            let end = begun + LONGEST;
            let now = Instant::now();
            if now >= end || (now >= deadline && !is_busy) {
                return;
            }
            let wake = if is_busy { end } else { deadline.min(end) };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(wake) => {}
            }
        }
    }

    /// What the client said last may still be on its way.
    async fn let_finish(&self, plays: &Plays) {
        let is_over = || {
            plays
                .all()
                .iter()
                .all(|play| play.wire == crate::WireKind::Http || play.state().closed.is_some())
        };
        let end = Instant::now() + AFTER_EXIT;
        while !is_over() && Instant::now() < end {
            let changed = plays.changed.notified();
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
            }
        }
    }
}

impl Visit {
    /// Whether the client came at all.
    pub(crate) fn is_contact(&self) -> bool {
        self.plays.iter().any(|play| !play.recording.is_empty())
    }

    /// Whether a conversation was opened.
    pub(crate) fn is_open(&self) -> bool {
        self.plays.iter().any(|play| play.state().is_open)
    }

    /// The conversation in which the server did something unusual, else the last.
    pub(crate) fn main(&self) -> Option<&Arc<Play>> {
        let twisted = self.plays.iter().find(|play| play.state().twist.is_some());
        twisted.or(self.plays.last())
    }

    /// Whether the server did something unusual.
    pub(crate) fn is_twisted(&self) -> bool {
        self.plays.iter().any(|play| play.state().twist.is_some())
    }
}
