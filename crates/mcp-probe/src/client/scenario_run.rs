//! One run of the client, from its start to its end.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_core::Revision;
use mcp_rules::Engine;
use tokio::{sync::Notify, time::Instant};

use super::{
    ClientSettings, ClientUnderTest, ConnectVia,
    listeners::Listeners,
    play::{Play, Plays},
    process::{Exit, Process},
    scenario::Scenario,
};
use crate::Recording;

/// Time limit for a run.
const LONGEST: Duration = Duration::from_secs(60);
/// How long to wait for messages under way after a client has exited.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// Time for a client to exit in its first run.
const FIRST: Duration = Duration::from_secs(3);

/// What all runs of a test share.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) client: ClientUnderTest,
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: ClientSettings,
    pub(crate) recordings: Arc<Mutex<Vec<Arc<Recording>>>>,
}

/// What earlier runs have shown about the exit of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExitHabit {
    /// Nothing yet.
    Unknown,
    /// It exits by itself.
    Exits,
    /// It stays.
    Stays,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct ScenarioRun {
    pub(crate) plays: Vec<Arc<Play>>,
    /// How the client exited by itself, if it did.
    pub(crate) exit: Option<Exit>,
    pub(crate) stderr: String,
    /// How long the test waited for it at the end.
    pub(crate) waited: Duration,
}

impl Setup {
    /// Starts the client and plays the scenario until the client exits or falls silent.
    pub(crate) async fn run_scenario(
        &self,
        scenario: &'static Scenario,
        revision: Revision,
        habit: ExitHabit,
        is_quiet: bool,
    ) -> io::Result<ScenarioRun> {
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
        let mut listeners = Listeners::open(&plays).await?;
        let launch =
            self.client.launch_for(&listeners.command(&self.client.server), &listeners.url());
        let (connect_via, stderr_bytes) =
            (self.client.connect_via, self.settings.limits.stderr_bytes);
        let (process, streams) = Process::start(&launch, connect_via, stderr_bytes)?;
        if let Some((input, output)) = streams
            && connect_via == ConnectVia::OwnStreams
        {
            listeners.streams(&plays, input, output);
        }
        let patience = match habit {
            ExitHabit::Unknown => self.settings.idle.max(FIRST),
            ExitHabit::Exits => self.settings.limits.answer.max(FIRST),
            ExitHabit::Stays => self.settings.idle,
        };
        tokio::select! {
            _ = process.wait() => self.let_finish(&plays).await,
            () = self.until_idle(&plays, patience) => {}
        }
        let exit = process.exit();
        let list = plays.all();
        // From here on the server goes away, so what follows is not the client's doing.
        drop(listeners);
        process.end(self.settings.limits.exit).await;
        for play in &list {
            play.close(false);
            play.recording.finish();
        }
        Ok(ScenarioRun { plays: list, exit, stderr: process.stderr(), waited: patience })
    }

    /// Waits until the client has been idle for a while.
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

    /// Waits for the last messages of an exited client, which may still be under way.
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

impl ScenarioRun {
    /// Whether the client connected at all.
    pub(crate) fn is_contact(&self) -> bool {
        self.plays.iter().any(|play| !play.recording.is_empty())
    }

    /// Whether a conversation was opened.
    pub(crate) fn is_open(&self) -> bool {
        self.plays.iter().any(|play| play.state().is_open)
    }

    /// The conversation in which the server did something unusual, or the last one.
    pub(crate) fn main(&self) -> Option<&Arc<Play>> {
        let twisted = self.plays.iter().find(|play| play.state().twist.is_some());
        twisted.or(self.plays.last())
    }

    /// Whether the server did something unusual.
    pub(crate) fn is_twisted(&self) -> bool {
        self.plays.iter().any(|play| play.state().twist.is_some())
    }
}
