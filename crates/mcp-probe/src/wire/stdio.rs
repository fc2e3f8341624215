//! The stdio transport: a server as a child process.

use std::{
    process::ExitStatus,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_core::Side;
use mcp_rules::TraceEntry;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::{Mutex as AsyncMutex, Notify, watch},
};

use super::processes::Processes;
use crate::{
    ConversationError, Launch, Limits, Recording,
    conversation::{Inbox, Kind, answering},
};

/// How long to wait for the exit of a server that has closed its output.
const EXIT_AFTER_OUTPUT: Duration = Duration::from_millis(500);

/// How long to wait for the rest of the output of a server that has exited.
const OUTPUT_AFTER_EXIT: Duration = Duration::from_millis(500);

/// The pause between two parts of a message, long enough for separate reads.
const BETWEEN_WRITES: Duration = Duration::from_millis(40);

#[derive(Debug)]
pub(crate) struct Stdio {
    shared: Arc<Shared>,
    exit: watch::Receiver<Option<String>>,
    /// Closed once all of its output was read.
    read: watch::Receiver<()>,
    kill: Arc<Notify>,
    processes: Arc<Processes>,
}

#[derive(Debug)]
struct Shared {
    stdin: AsyncMutex<Option<ChildStdin>>,
    stderr: Mutex<Vec<u8>>,
    recording: Arc<Recording>,
    inbox: Arc<Inbox>,
    limits: Limits,
    answers: bool,
    /// Whether reading its output is paused.
    paused: AtomicBool,
    resumed: Notify,
}

impl Stdio {
    pub(super) fn start(
        launch: &Launch,
        processes: &Arc<Processes>,
        recording: &Arc<Recording>,
        inbox: &Arc<Inbox>,
        answers: bool,
        limits: &Limits,
    ) -> Result<Stdio, ConversationError> {
        let mut child = processes.take(launch)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let shared = Arc::new(Shared {
            stdin: AsyncMutex::new(stdin),
            stderr: Mutex::default(),
            recording: Arc::clone(recording),
            inbox: Arc::clone(inbox),
            limits: *limits,
            answers,
            paused: AtomicBool::new(false),
            resumed: Notify::new(),
        });
        let (exited, exit) = watch::channel(None);
        let (reading, read) = watch::channel(());
        let kill = Arc::new(Notify::new());
        tokio::spawn(supervise(child, exited, Arc::clone(&kill)));
        if let Some(stderr) = stderr {
            tokio::spawn(keep_stderr(stderr, Arc::clone(&shared)));
        }
        if let Some(stdout) = stdout {
            tokio::spawn(listen(stdout, Arc::clone(&shared), exit.clone(), reading));
        }
        Ok(Stdio { shared, exit, read, kill, processes: Arc::clone(processes) })
    }

    pub(super) async fn send(&self, text: &[u8]) -> Result<u64, ConversationError> {
        match self.shared.send(text).await {
            // How the process exited says more than that its input is closed.
            Err(ConversationError::Ended(reason)) if self.shared.inbox.ended().is_none() => {
                let how = self.wait_exit(EXIT_AFTER_OUTPUT).await;
                Err(ConversationError::Ended(how.unwrap_or(reason)))
            }
            sent => sent,
        }
    }

    /// Sends a message in two writes, with a pause between them.
    pub(crate) async fn send_in_two(&self, text: &[u8]) -> Result<u64, ConversationError> {
        let (first, second) = text.split_at(text.len() / 2);
        // Hold the lock, so that nothing is written between the two.
        let mut stdin = self.shared.stdin.lock().await;
        let line = self.shared.recording.add(&TraceEntry::stdio(Side::Client, text));
        self.shared.write(&mut stdin, first, line).await?;
        tokio::time::sleep(BETWEEN_WRITES).await;
        self.shared.write(&mut stdin, &[second, b"\n"].concat(), line).await?;
        Ok(line)
    }

    /// Sends messages in one write. Returns the line of the last.
    pub(crate) async fn send_joined(&self, messages: &[String]) -> Result<u64, ConversationError> {
        let mut stdin = self.shared.stdin.lock().await;
        let (mut line, mut bytes) = (0, Vec::new());
        for text in messages {
            let entry = TraceEntry::stdio(Side::Client, text.as_bytes());
            line = self.shared.recording.add(&entry);
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(b'\n');
        }
        self.shared.write(&mut stdin, &bytes, line).await?;
        Ok(line)
    }

    /// Closes the server's input only.
    pub(crate) async fn close_input(&self) {
        self.shared.stdin.lock().await.take();
    }

    /// Pauses or resumes reading the server's output.
    pub(crate) fn pause(&self, paused: bool) {
        self.shared.paused.store(paused, Ordering::Release);
        self.shared.resumed.notify_waiters();
    }

    /// Waits for the exit of the server; describes it.
    pub(crate) async fn wait_exit(&self, within: Duration) -> Option<String> {
        let mut exit = self.exit.clone();
        let status = tokio::time::timeout(within, exit.wait_for(Option::is_some)).await.ok()?;
        status.ok()?.clone()
    }

    pub(super) fn stderr(&self) -> String {
        let kept = self.shared.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Ends it without waiting long for the server.
    pub(super) async fn close_soon(&self) {
        if !self.close(self.processes.patience()).await {
            self.processes.note_stayed();
        }
    }

    /// Whether it exited by itself after its input was closed.
    pub(super) async fn close(&self, within: Duration) -> bool {
        self.pause(false);
        // Another task may be blocked writing to it.
        if tokio::time::timeout(within, self.close_input()).await.is_err() {
            self.kill.notify_one();
            return false;
        }
        let exited = self.wait_exit(within).await.is_some();
        if !exited {
            self.kill.notify_one();
            self.wait_exit(self.shared.limits.exit).await;
        }
        self.read_all().await;
        exited
    }

    /// Waits until the output written before the exit was read, but not for other processes that
    /// hold it open.
    async fn read_all(&self) {
        let mut read = self.read.clone();
        let _ = tokio::time::timeout(OUTPUT_AFTER_EXIT, read.changed()).await;
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.kill.notify_one();
    }
}

impl Shared {
    async fn send(&self, text: &[u8]) -> Result<u64, ConversationError> {
        let mut stdin = self.stdin.lock().await;
        if stdin.is_none() {
            return Err(ConversationError::Ended("its input was closed".to_owned()));
        }
        let line = self.recording.add(&TraceEntry::stdio(Side::Client, text));
        let mut bytes = text.to_vec();
        bytes.push(b'\n');
        self.write(&mut stdin, &bytes, line).await?;
        Ok(line)
    }

    async fn write(
        &self,
        stdin: &mut Option<ChildStdin>,
        bytes: &[u8],
        line: u64,
    ) -> Result<(), ConversationError> {
        let Some(pipe) = stdin.as_mut() else {
            return Err(ConversationError::Ended("its input was closed".to_owned()));
        };
        let within = self.limits.answer;
        let written = async {
            pipe.write_all(bytes).await?;
            pipe.flush().await
        };
        match tokio::time::timeout(within, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                let reason = self.inbox.ended().unwrap_or_else(|| error.to_string());
                Err(ConversationError::Ended(reason))
            }
            Err(_) => {
                // A partial line was written, so nothing can follow it.
                stdin.take();
                let what = "a message that the server does not read".to_owned();
                Err(ConversationError::Unanswered { what, within, line })
            }
        }
    }

    fn take(self: &Arc<Self>, text: &[u8], is_last: bool) {
        let entry = if is_last {
            TraceEntry::unterminated(Side::Server, text)
        } else {
            TraceEntry::stdio(Side::Server, text)
        };
        let line = self.recording.add(&entry);
        if text.trim_ascii().is_empty() {
            return;
        }
        for message in self.inbox.add(line, text, None) {
            if self.answers && message.kind == Kind::Request {
                let (shared, answer) = (Arc::clone(self), answering::answer(&message.value));
                // Keep reading while the answer is written.
                tokio::spawn(async move { shared.send(answer.to_string().as_bytes()).await });
            }
        }
    }
}

async fn supervise(mut child: Child, exited: watch::Sender<Option<String>>, kill: Arc<Notify>) {
    let id = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        () = kill.notified() => {
            kill_group(id);
            // It may have exited meanwhile.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    // Its children may still be running.
    kill_group(id);
    let how = match status {
        Ok(status) => exit_text(status),
        Err(error) => error.to_string(),
    };
    exited.send_replace(Some(how));
}

fn exit_text(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it exited with code {code}"),
        None => "it exited".to_owned(),
    }
}

#[cfg(unix)]
pub(crate) fn kill_group(id: Option<u32>) {
    let group = id.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It is fine if no process is left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
pub(crate) fn kill_group(_id: Option<u32>) {}

async fn keep_stderr(mut stderr: ChildStderr, shared: Arc<Shared>) {
    let mut chunk = vec![0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
        let mut kept = shared.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..length]);
        let excess = kept.len().saturating_sub(shared.limits.stderr_bytes);
        kept.drain(..excess);
    }
}

async fn listen(
    stdout: ChildStdout,
    shared: Arc<Shared>,
    mut exit: watch::Receiver<Option<String>>,
    reading: watch::Sender<()>,
) {
    let mut reader = BufReader::with_capacity(64 << 10, stdout);
    let limit = shared.limits.message_bytes;
    let mut line = Vec::new();
    let mut skipped: u64 = 0;
    loop {
        while shared.paused.load(Ordering::Acquire) {
            let resumed = shared.resumed.notified();
            if shared.paused.load(Ordering::Acquire) {
                resumed.await;
            }
        }
        let Ok(chunk) = reader.fill_buf().await else { break };
        if chunk.is_empty() {
            break;
        }
        let end = memchr::memchr(b'\n', chunk);
        let part = &chunk[..end.unwrap_or(chunk.len())];
        let consumed = part.len() + usize::from(end.is_some());
        if line.len() + part.len() > limit {
            skipped += (line.len() + part.len()) as u64;
            line.clear();
        } else if skipped > 0 {
            skipped += part.len() as u64;
        } else {
            line.extend_from_slice(part);
        }
        reader.consume(consumed);
        if end.is_none() {
            continue;
        }
        if skipped > 0 {
            let entry = TraceEntry::stdio(Side::Server, b"").skipping(skipped);
            shared.recording.add(&entry);
            skipped = 0;
        } else {
            shared.take(line.strip_suffix(b"\r").unwrap_or(&line), false);
        }
        line.clear();
        if shared.recording.bytes() > shared.limits.recording_bytes {
            shared.inbox.end("it sent more than can be recorded");
            return;
        }
    }
    if !line.is_empty() {
        shared.take(&line, true);
    }
    drop(reading);
    let how = tokio::time::timeout(EXIT_AFTER_OUTPUT, exit.wait_for(Option::is_some)).await;
    let how = match how {
        Ok(Ok(status)) => status.clone(),
        _ => None,
    };
    shared.inbox.end(how.unwrap_or_else(|| "it closed its output".to_owned()));
}
