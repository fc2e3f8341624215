//! Load over standard streams.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout},
    time::Instant,
};

use crate::{
    INITIALIZE, INITIALIZED, call, is_right,
    sample::Sample,
    server::{Contestant, Server},
};

/// A session with a server over its standard streams.
#[derive(Debug)]
pub struct StdioLoad {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl StdioLoad {
    /// Starts the server and opens a session.
    ///
    /// # Errors
    ///
    /// If it does not answer.
    pub fn start(contestant: &Contestant) -> io::Result<(Server, StdioLoad)> {
        let (server, input, output) = contestant.start_stdio()?;
        let output = BufReader::new(output);
        let mut load = StdioLoad { input, output, next: 1 };
        load.input.write_all(format!("{INITIALIZE}\n").as_bytes())?;
        load.output.read_line(&mut String::new())?;
        load.input.write_all(format!("{INITIALIZED}\n").as_bytes())?;
        Ok((server, load))
    }

    /// Sends `count` calls, `window` of them in flight.
    ///
    /// # Errors
    ///
    /// If an answer is missing or wrong.
    pub fn round(&mut self, count: usize, window: usize) -> io::Result<Sample> {
        let first = self.next;
        let mut sent = Vec::with_capacity(count);
        let mut sample = Sample::default();
        let start = Instant::now();
        let mut opening = String::new();
        for _ in 0..window.min(count) {
            opening.push_str(&self.line());
            sent.push(Instant::now());
        }
        self.input.write_all(opening.as_bytes())?;
        let mut line = String::new();
        while sample.latencies.len() < count {
            line.clear();
            self.output.read_line(&mut line)?;
            if !is_right(line.as_bytes()) {
                return Err(io::Error::other(format!("a wrong answer: {line}")));
            }
            let asked = id_of(&line).and_then(|id| usize::try_from(id.checked_sub(first)?).ok());
            let asked = asked.and_then(|position| sent.get(position));
            let asked = asked.ok_or_else(|| io::Error::other("an answer to nothing"))?;
            sample.latencies.push(asked.elapsed());
            if sent.len() < count {
                let next = self.line();
                sent.push(Instant::now());
                self.input.write_all(next.as_bytes())?;
            }
        }
        sample.took = start.elapsed();
        Ok(sample)
    }

    fn line(&mut self) -> String {
        let id = self.next;
        self.next += 1;
        format!("{}\n", call(id))
    }
}

fn id_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("\"id\":")?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    rest[..end].parse().ok()
}
