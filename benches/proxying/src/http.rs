//! Clients over HTTP.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::{
    messages::{INITIALIZE, INITIALIZED, call, id_of},
    sample::Sample,
};

/// A session over one connection.
#[derive(Debug)]
pub struct Session {
    stream: BufReader<TcpStream>,
    address: String,
    path: String,
    id: Option<String>,
    next: u64,
}

impl Session {
    /// Opens a session.
    ///
    /// # Errors
    ///
    /// If the server does not answer as it should.
    pub fn open(address: &str, path: &str) -> io::Result<Session> {
        let stream = connect(address)?;
        let address = address.to_owned();
        let mut session = Session { stream, address, path: path.to_owned(), id: None, next: 1 };
        let answer = session.exchange(INITIALIZE)?;
        if !answer.contains("protocolVersion") {
            return Err(io::Error::other(format!("no session: {answer}")));
        }
        session.exchange(INITIALIZED)?;
        Ok(session)
    }

    /// Calls the tool; an answer to another request is an error.
    ///
    /// # Errors
    ///
    /// If the answer is not the right one.
    pub fn call(&mut self) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        let answer = self.exchange(&call(id))?;
        let expected = id.to_string();
        if id_of(&answer) != Some(&*expected) || !answer.contains("a text as long as") {
            return Err(io::Error::other(format!("not the answer to {id}: {answer}")));
        }
        Ok(())
    }

    /// Sends a message and returns the text of the response.
    fn exchange(&mut self, message: &str) -> io::Result<String> {
        let session = match &self.id {
            Some(id) => format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-06-18\r\n"),
            None => String::new(),
        };
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{message}",
            self.path,
            message.len()
        );
        let status = match self.begin(&request) {
            Ok(status) => status,
            // Servers close connections that were idle for some seconds.
            Err(error) if is_closed(&error) => {
                self.stream = connect(&self.address)?;
                self.begin(&request)?
            }
            Err(error) => return Err(error),
        };
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let header = self.line()?;
            if header.is_empty() {
                break;
            }
            let Some((name, value)) = header.split_once(':') else { continue };
            match &*name.to_ascii_lowercase() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "transfer-encoding" => is_chunked = true,
                "mcp-session-id" => self.id = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        while is_chunked {
            let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            let start = body.len();
            body.resize(start + size, 0);
            self.stream.read_exact(&mut body[start..])?;
            self.line()?;
            is_chunked = size > 0;
        }
        if !status.contains(" 20") {
            let body = String::from_utf8_lossy(&body);
            return Err(io::Error::other(format!("{status}: {body}")));
        }
        String::from_utf8(body).map_err(io::Error::other)
    }

    /// Sends a request and returns the first line of the response.
    fn begin(&mut self, request: &str) -> io::Result<String> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.line()
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

fn connect(address: &str) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(BufReader::new(stream))
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// Several sessions that call concurrently.
#[derive(Debug)]
pub struct HttpLoad(Vec<Session>);

impl HttpLoad {
    /// Opens them.
    ///
    /// # Errors
    ///
    /// If the server does not answer as it should.
    pub fn open(address: &str, path: &str, connections: usize) -> io::Result<HttpLoad> {
        (0..connections)
            .map(|_| Session::open(address, path))
            .collect::<io::Result<_>>()
            .map(HttpLoad)
    }

    /// Makes some `calls`, divided among the sessions.
    ///
    /// # Errors
    ///
    /// If an answer is not the right one.
    pub fn round(&mut self, calls: usize) -> io::Result<Sample> {
        let each = (calls / self.0.len()).max(1);
        let begin = Instant::now();
        let latencies = thread::scope(|scope| {
            let threads: Vec<_> = self
                .0
                .iter_mut()
                .map(|session| {
                    scope.spawn(move || -> io::Result<Vec<Duration>> {
                        (0..each)
                            .map(|_| {
                                let begin = Instant::now();
                                session.call().map(|()| begin.elapsed())
                            })
                            .collect()
                    })
                })
                .collect();
            let mut all = Vec::with_capacity(each * threads.len());
            for thread in threads {
                let latencies = thread.join().map_err(|_| io::Error::other("a client panicked"))?;
                all.extend(latencies?);
            }
            io::Result::Ok(all)
        })?;
        Ok(Sample { took: begin.elapsed(), latencies })
    }
}
