//! Load over Streamable HTTP: one thread and one connection per request in flight.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Instant,
};

use crate::{INITIALIZE, INITIALIZED, call, is_right, sample::Sample, stateless_call};

/// How calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// In a session, as in 2025-11-25.
    Session,
    /// Independently, as in 2026-07-28.
    Stateless,
}

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
    headers: String,
    era: Era,
    next: u64,
}

impl Connection {
    /// Connects, and opens a session if the era has them.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub fn open(address: &str, era: Era) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut connection = Connection {
            stream: BufReader::new(stream),
            address: address.to_owned(),
            headers: String::new(),
            era,
            next: 1,
        };
        match era {
            Era::Session => {
                let (head, _) = connection.exchange(INITIALIZE)?;
                let session = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
                });
                let session =
                    session.ok_or_else(|| io::Error::other(format!("no session: {head}")))?;
                connection.headers =
                    format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
                connection.exchange(INITIALIZED)?;
            }
            Era::Stateless => {
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
                    .clone_into(&mut connection.headers);
            }
        }
        Ok(connection)
    }

    fn call(&mut self) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        let body = match self.era {
            Era::Session => call(id),
            Era::Stateless => stateless_call(id),
        };
        let (head, body) = self.exchange(&body)?;
        if is_right(&body) {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(io::Error::other(format!("a wrong answer: {head}{body}")))
    }

    fn exchange(&mut self, body: &str) -> io::Result<(String, Vec<u8>)> {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.headers,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        loop {
            let before = head.len();
            if self.stream.read_line(&mut head)? == 0 {
                return Err(io::Error::other("the connection is closed"));
            }
            if &head[before..] == "\r\n" {
                break;
            }
        }
        let body = self.body(&head.to_ascii_lowercase())?;
        Ok((head, body))
    }

    fn body(&mut self, head: &str) -> io::Result<Vec<u8>> {
        let value =
            |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if value("transfer-encoding:") == Some("chunked") {
            return self.chunks();
        }
        let length = value("content-length:").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            let start = body.len();
            body.resize(start + size + 2, 0);
            self.stream.read_exact(&mut body[start..])?;
            body.truncate(start + size);
            if size == 0 {
                return Ok(body);
            }
        }
    }
}

/// Sends `count` calls over each connection at the same time.
///
/// # Errors
///
/// If an answer is missing or wrong.
pub fn round(connections: &mut [Connection], count: usize) -> io::Result<Sample> {
    let start = Instant::now();
    let outcomes: Vec<io::Result<Vec<_>>> = thread::scope(|scope| {
        let running: Vec<_> = connections
            .iter_mut()
            .map(|connection| {
                scope.spawn(move || {
                    (0..count)
                        .map(|_| {
                            let asked = Instant::now();
                            connection.call().map(|()| asked.elapsed())
                        })
                        .collect()
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("panicked"))))
            .collect()
    });
    let mut sample = Sample { took: start.elapsed(), latencies: Vec::new() };
    for outcome in outcomes {
        sample.latencies.extend(outcome?);
    }
    Ok(sample)
}
