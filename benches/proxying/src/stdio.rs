//! A stdio client.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout},
    time::Instant,
};

use crate::{
    messages::{INITIALIZE, INITIALIZED, call, id_of},
    process::Process,
    sample::Sample,
};

/// A conversation with several calls in flight.
#[derive(Debug)]
pub struct StdioLoad {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    window: usize,
    next: u64,
}

impl StdioLoad {
    /// Opens a conversation with a process that was started with pipes.
    ///
    /// # Errors
    ///
    /// If it does not answer as it should.
    pub fn open(process: &mut Process, window: usize) -> io::Result<StdioLoad> {
        let child = process.child();
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("no pipes"))?;
        let mut load = StdioLoad { input, output: BufReader::new(output), window, next: 1 };
        load.send(INITIALIZE)?;
        load.answer("0")?;
        load.send(INITIALIZED)?;
        Ok(load)
    }

    /// Makes some `calls`.
    ///
    /// # Errors
    ///
    /// If an answer is not the next one.
    pub fn round(&mut self, calls: usize) -> io::Result<Sample> {
        let begin = Instant::now();
        let mut latencies = Vec::with_capacity(calls);
        let mut open: VecDeque<(u64, Instant)> = VecDeque::new();
        let mut sent = 0;
        while latencies.len() < calls {
            while open.len() < self.window && sent < calls {
                let id = self.next;
                self.next += 1;
                sent += 1;
                open.push_back((id, Instant::now()));
                self.send(&call(id))?;
            }
            let Some((id, at)) = open.pop_front() else { break };
            self.answer(&id.to_string())?;
            latencies.push(at.elapsed());
        }
        Ok(Sample { took: begin.elapsed(), latencies })
    }

    fn send(&mut self, message: &str) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())
    }

    fn answer(&mut self, id: &str) -> io::Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if id_of(&line) != Some(id) {
            return Err(io::Error::other(format!("not the answer to {id}: {line}")));
        }
        Ok(())
    }
}
