//! The stdio transport.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio as Pipe},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::client::Wire;

/// Buffer size of a client with a short buffer.
const SHORT: usize = 64 << 10;

pub(crate) struct Stdio {
    fault: &'static str,
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    /// For an impatient client: whether the first list was answered, and whether it was cancelled.
    patience: Option<Arc<Patience>>,
    output: BufReader<ChildStdout>,
    has_complained: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Patience {
    is_answered: AtomicBool,
    is_over: AtomicBool,
}

/// How long an impatient client waits.
const PATIENCE: Duration = Duration::from_secs(1);

impl Stdio {
    pub(crate) fn start(
        program: &str,
        arguments: &[String],
        fault: &'static str,
    ) -> anyhow::Result<Stdio> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let output = BufReader::new(child.stdout.take().context("an output")?);
        let mut errors = child.stderr.take().context("standard error")?;
        let has_complained = Arc::new(AtomicBool::new(false));
        let complains = Arc::clone(&has_complained);
        let listening = std::thread::spawn(move || {
            let mut chunk = [0; 256];
            while let Ok(1..) = errors.read(&mut chunk) {
                complains.store(true, Ordering::Release);
            }
        });
        let (input, listening) = (Arc::new(Mutex::new(child.stdin.take())), Some(listening));
        let patience = None;
        Ok(Stdio { fault, child, input, patience, output, has_complained, listening })
    }

    /// Cancels the first list if it takes too long.
    fn lose_patience(&mut self, message: &Value) {
        let params = match self.fault {
            "late-answer-panics" | "impatient" => json!({ "requestId": message["id"] }),
            "cancels-unknown" => json!({ "requestId": 4711 }),
            "cancels-nothing" => json!({ "reason": "it takes too long" }),
            _ => return,
        };
        if self.patience.is_some() || message["method"] != "tools/list" {
            return;
        }
        let patience = Arc::new(Patience::default());
        self.patience = Some(Arc::clone(&patience));
        let input = Arc::clone(&self.input);
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !patience.is_answered.load(Ordering::Acquire) {
                patience.is_over.store(true, Ordering::Release);
                let mut message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
                message["params"] = params;
                write(&input, &message.to_string());
            }
        });
    }
}

fn write(input: &Mutex<Option<ChildStdin>>, text: &str) {
    // A server that has exited is noticed when reading.
    if let Some(input) = &mut *input.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = input.write_all(format!("{text}\n").as_bytes());
    }
}

impl Wire for Stdio {
    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.send_text(&message.to_string())?;
        self.lose_patience(message);
        Ok(())
    }

    fn send_text(&mut self, text: &str) -> anyhow::Result<()> {
        write(&self.input, text);
        Ok(())
    }

    fn receive(&mut self) -> anyhow::Result<Option<Value>> {
        loop {
            let mut line = Vec::new();
            if self.fault == "reads-once" {
                let chunk = self.output.fill_buf()?;
                line.extend_from_slice(chunk);
                let length = line.len();
                self.output.consume(length);
                if length == 0 {
                    return Ok(None);
                }
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.output.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            anyhow::ensure!(
                self.fault != "short-buffer" || line.len() <= SHORT,
                "the line is too long"
            );
            // A line that is not JSON is a stray log line.
            let parsed = serde_json::from_slice::<Value>(&line);
            assert!(parsed.is_ok() || self.fault != "log-line-panics", "lines are JSON");
            if let Ok(message) = parsed {
                if let Some(patience) = &self.patience
                    && message.get("method").is_none()
                {
                    patience.is_answered.store(true, Ordering::Release);
                    let is_late = patience.is_over.load(Ordering::Acquire);
                    let panics = self.fault == "late-answer-panics";
                    assert!(!(is_late && panics), "nobody waits for this any more");
                }
                return Ok(Some(message));
            }
        }
    }

    fn agree(&mut self, _revision: &str) {}

    fn open(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn has_lost_session(&mut self) -> bool {
        false
    }

    fn close(&mut self) -> anyhow::Result<()> {
        if self.fault == "kills" {
            self.child.kill()?;
            self.child.wait()?;
        }
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.child.wait()?;
        let has_heard_all = self.listening.take().is_some_and(|thread| thread.join().is_ok());
        if self.fault == "stderr-strict" && has_heard_all {
            let has_complained = self.has_complained.load(Ordering::Acquire);
            anyhow::ensure!(!has_complained, "the server reports an error");
        }
        Ok(())
    }
}
