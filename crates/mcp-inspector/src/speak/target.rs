//! The servers to connect to, and how to start a conversation.

use std::{ffi::OsString, path::PathBuf, process::ExitStatus, thread};

use mcp_proxy::{
    Access, Tap, UrlKind,
    bridge::remote::{self, Remote, RemoteError, RemoteSettings},
    shutdown::{Drain, Phase, Trigger},
    stdio::{self, StderrMode, StdioError, StdioSettings},
};
use tokio::sync::oneshot;

use super::{LONGEST, http_gateway, wire::ServerEnd};
use crate::{demo::Demo, frame::exit_of};

/// The taps of a conversation.
pub(super) struct Taps {
    /// Sees all traffic.
    pub(super) shown: Tap,
    /// Sees only messages, where whole exchanges are shown already.
    pub(super) aside: Tap,
}

/// A server to connect to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its display name.
    pub name: String,
    /// The command, the URL or another description.
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

/// How to start a server.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program; no shell is involved.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables added to its environment, which is otherwise ours.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory, if not ours.
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

    /// Renames the target.
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

    /// Starts a conversation. The first value ends it when told or dropped; the second resolves to
    /// how it ended.
    pub(super) fn begin(
        &self,
        ends: ServerEnd,
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
                settings.stderr = StderrMode::Recorded;
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
                    let how =
                        http_gateway::converse(server, streams, (&tap, &aside), longest, drain)
                            .await;
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
