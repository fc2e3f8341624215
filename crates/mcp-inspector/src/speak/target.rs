//! The servers that can be spoken to, and how a conversation with one begins.

use std::{ffi::OsString, path::PathBuf, process::ExitStatus, thread};

use mcp_proxy::{
    Access, Tap, UrlKind,
    bridge::remote::{self, Remote, RemoteError, RemoteSettings},
    shutdown::{Drain, Phase, Trigger},
    stdio::{self, Errors, StdioError, StdioSettings},
};
use tokio::sync::oneshot;

use super::{LONGEST, door, wire::Ends};
use crate::{demo::Demo, frame::exit_of};

/// What is seen of a conversation.
pub(super) struct Taps {
    /// All that passes.
    pub(super) shown: Tap,
    /// The messages alone, where the exchanges that carry them are shown.
    pub(super) aside: Tap,
}

/// A server that can be spoken to.
#[derive(Debug, Clone)]
pub struct Target {
    /// What it is called.
    pub name: String,
    /// The command, URL, or what else there is to say about it.
    pub shown: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Command(Launch),
    Http(String, Access),
    WebSocket(Remote),
    Demo(Demo),
}

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// What is started; without a shell.
    pub program: OsString,
    /// What it is told.
    pub arguments: Vec<OsString>,
    /// What is set in its environment, beside what is in ours.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it is started, if not where we are.
    pub directory: Option<PathBuf>,
}

impl Target {
    /// A server that is started for each conversation.
    pub fn command(launch: Launch) -> Target {
        let Launch { program, arguments, .. } = &launch;
        let words = std::iter::once(program).chain(arguments);
        let shown: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let name = std::path::Path::new(program).file_name().unwrap_or(program);
        let name = name.to_string_lossy().into_owned();
        Target { name, shown: shown.join(" "), kind: Kind::Command(launch) }
    }

    /// A server at a URL: `http`, `https`, `ws` or `wss`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn url(url: &str, access: Access) -> Result<Target, RemoteError> {
        let remote = Remote::new(url, LONGEST, &access)?;
        let kind = match UrlKind::of(url)? {
            UrlKind::Http => Kind::Http(url.to_owned(), access),
            UrlKind::WebSocket => Kind::WebSocket(remote),
        };
        Ok(Target { name: url.to_owned(), shown: url.to_owned(), kind })
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: String) -> Target {
        Target { name, ..self }
    }

    /// The built-in server.
    pub fn demo() -> Target {
        let shown = "a built-in demonstration server".to_owned();
        Target { name: "demo".to_owned(), shown, kind: Kind::Demo(Demo::new()) }
    }

    pub(crate) fn as_demo(&self) -> Option<&Demo> {
        match &self.kind {
            Kind::Demo(demo) => Some(demo),
            Kind::Command(_) | Kind::Http(..) | Kind::WebSocket(_) => None,
        }
    }

    /// Begins a conversation. The first ends it when told or dropped, the second says how it ended.
    pub(super) fn begin(
        &self,
        ends: Ends,
        Taps { shown: tap, aside }: Taps,
        longest: usize,
    ) -> (Ending, oneshot::Receiver<String>) {
        let (trigger, drain) = Drain::new();
        let (ended, how) = oneshot::channel();
        match self.kind.clone() {
            Kind::Command(Launch { program, arguments, environment, directory }) => {
                let mut settings = StdioSettings::default();
                (settings.environment, settings.directory) = (environment, directory);
                (settings.max_line, settings.drain) = (longest, drain);
                settings.errors = Errors::Recorded;
                settings.exit_wait = std::time::Duration::from_secs(2);
                thread::spawn(move || {
                    let streams = ends.into_streams(longest);
                    let status = stdio::run_over(&program, &arguments, streams, &tap, &settings);
                    tap.finish();
                    let _ = ended.send(of_process(status));
                });
            }
            Kind::Http(url, access) => {
                tokio::spawn(async move {
                    let streams = ends.into_streams(longest);
                    let server = (&*url, &access);
                    let how = door::converse(server, streams, (&tap, &aside), longest, drain).await;
                    finish(tap).await;
                    finish(aside).await;
                    let _ = ended.send(how);
                });
            }
            Kind::WebSocket(remote) => {
                let mut settings = RemoteSettings::default();
                (settings.max_line, settings.drain) = (longest, drain);
                tokio::spawn(async move {
                    let streams = ends.into_streams(longest);
                    remote::run_over(remote, streams, &tap, &settings).await;
                    finish(tap).await;
                    let _ = ended.send("the connection was closed".to_owned());
                });
            }
            Kind::Demo(demo) => {
                tokio::spawn(async move {
                    let how = tokio::select! {
                        how = demo.converse(ends, &tap) => how,
                        () = drain.reached(Phase::Stopping) => "the server was stopped".to_owned(),
                    };
                    finish(tap).await;
                    let _ = ended.send(how);
                });
            }
        }
        (Ending(trigger), how)
    }
}

/// Ends a conversation when dropped.
#[derive(Debug)]
pub(super) struct Ending(Trigger);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.begin(Phase::Stopping);
    }
}

async fn finish(tap: Tap) {
    let _ = tokio::task::spawn_blocking(move || tap.finish()).await;
}

fn of_process(status: Result<ExitStatus, StdioError>) -> String {
    match status {
        Ok(status) => {
            let code = status.code().map(i64::from);
            format!("the server {}", exit_of(code, signal_of(status)))
        }
        Err(error) => error.to_string(),
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i64> {
    std::os::unix::process::ExitStatusExt::signal(&status).map(i64::from)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i64> {
    None
}
