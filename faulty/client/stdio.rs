//! A server that is started.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio as Pipe},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use anyhow::Context as _;
use serde_json::Value;

use crate::client::Wire;

/// What a client with a short buffer can read.
const SHORT: usize = 64 << 10;

pub(crate) struct Stdio {
    fault: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    has_complained: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

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
        let (input, listening) = (child.stdin.take(), Some(listening));
        Ok(Stdio { fault, child, input, output, has_complained, listening })
    }
}

impl Wire for Stdio {
    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.send_text(&message.to_string())
    }

    fn send_text(&mut self, text: &str) -> anyhow::Result<()> {
        // A server that is gone is noticed when reading.
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{text}\n").as_bytes());
        }
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
            // What is not JSON is a log line that went astray.
            if let Ok(message) = serde_json::from_slice(&line) {
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
        self.input.take();
        self.child.wait()?;
        let has_heard_all = self.listening.take().is_some_and(|thread| thread.join().is_ok());
        if self.fault == "stderr-strict" && has_heard_all {
            let has_complained = self.has_complained.load(Ordering::Acquire);
            anyhow::ensure!(!has_complained, "the server reports an error");
        }
        Ok(())
    }
}
