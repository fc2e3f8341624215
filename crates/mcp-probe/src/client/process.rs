//! The running client.

use std::{
    io,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{Notify, watch},
};

use super::ConnectVia;
use crate::{Launch, wire::kill_group};

/// A client process. It and its children are killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    exit: watch::Receiver<Option<Exit>>,
    kill: Arc<Notify>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Closed once all of its standard error was read.
    read: watch::Receiver<()>,
}

/// How long to wait for its remaining standard error after its exit.
const STDERR_AFTER_EXIT: Duration = Duration::from_millis(500);

/// How a client exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Exit {
    pub(crate) fn is_success(self) -> bool {
        self.code == Some(0)
    }

    pub(crate) fn text(self) -> String {
        match (self.code, self.signal) {
            (_, Some(signal)) => format!("it was ended by signal {signal}"),
            (Some(code), None) => format!("it exited with code {code}"),
            (None, None) => "it exited".to_owned(),
        }
    }
}

impl Process {
    /// Starts the client. Returns its standard streams if it communicates over them.
    pub(crate) fn start(
        launch: &Launch,
        connect_via: ConnectVia,
        stderr_bytes: usize,
    ) -> io::Result<(Process, Option<(ChildStdin, ChildStdout)>)> {
        let pipe =
            || if connect_via == ConnectVia::OwnStreams { Stdio::piped() } else { Stdio::null() };
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(pipe())
            .stdout(pipe())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = &launch.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let stderr = Arc::new(Mutex::default());
        let (reading, read) = watch::channel(());
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            tokio::spawn(async move {
                keep(pipe, kept, stderr_bytes).await;
                drop(reading);
            });
        }
        let (exited, exit) = watch::channel(None);
        let kill = Arc::new(Notify::new());
        tokio::spawn(supervise(child, exited, Arc::clone(&kill)));
        Ok((Process { exit, kill, stderr, read }, streams))
    }

    /// How it exited, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for its end.
    pub(crate) async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        ended.ok().and_then(|exit| *exit).unwrap_or(Exit { code: None, signal: None })
    }

    /// Kills it, and waits until it has exited and its standard error was read.
    pub(crate) async fn end(&self, within: Duration) {
        self.kill.notify_one();
        // Do not wait forever for a process that cannot be killed.
        let _ = tokio::time::timeout(within, self.wait()).await;
        let mut read = self.read.clone();
        let _ = tokio::time::timeout(STDERR_AFTER_EXIT, read.changed()).await;
    }

    /// The end of its standard error.
    pub(crate) fn stderr(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill.notify_one();
    }
}

async fn supervise(mut child: Child, exited: watch::Sender<Option<Exit>>, kill: Arc<Notify>) {
    let id = child.id();
    let (status, is_killed) = tokio::select! {
        status = child.wait() => (status, false),
        () = kill.notified() => {
            kill_group(id);
            // It may have exited meanwhile.
            let _ = child.start_kill();
            (child.wait().await, true)
        }
    };
    let exit = status.map_or(Exit { code: None, signal: None }, |status| Exit {
        code: status.code(),
        signal: signal(status),
    });
    exited.send_replace(Some(exit));
    if !is_killed {
        // Its children may still write something before they end.
        kill.notified().await;
        kill_group(id);
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

async fn keep(mut pipe: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>, limit: usize) {
    let mut chunk = vec![0; 4096];
    while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..length]);
        let excess = kept.len().saturating_sub(limit);
        kept.drain(..excess);
    }
}
