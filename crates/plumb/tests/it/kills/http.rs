use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

use super::{
    Client, Got, INITIALIZE, INITIALIZED,
    fate::{Fate, Hand, Plan},
};

/// Sends requests over one connection after the other.
pub(super) struct HttpClient {
    address: String,
    connection: Option<BufReader<TcpStream>>,
    /// If the server has sessions: the header that names it, once there is one.
    session: Option<String>,
    has_sessions: bool,
}

/// Longer than anything takes; only a proxy that hangs is caught by it.
const PATIENCE: Duration = Duration::from_secs(120);

impl HttpClient {
    pub(super) fn new(address: &str) -> HttpClient {
        let (connection, session, has_sessions) = (None, None, false);
        HttpClient { address: address.to_owned(), connection, session, has_sessions }
    }

    /// One that opens sessions, and another if the server is lost.
    pub(super) fn with_sessions(address: &str) -> HttpClient {
        HttpClient { has_sessions: true, ..HttpClient::new(address) }
    }

    fn connection(&mut self) -> BufReader<TcpStream> {
        self.connection.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(&self.address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            BufReader::new(stream)
        })
    }

    fn open_session(&mut self) {
        for body in [INITIALIZE, INITIALIZED] {
            let mut connection = self.connection();
            connection.get_mut().write_all(self.request(body).as_bytes()).unwrap();
            let mut got = Got::default();
            let session = read(&mut connection, &mut got).unwrap();
            assert!(matches!(got.status, Some(200 | 202)), "{got:?}");
            self.session = session.or(self.session.take());
            self.connection = Some(connection);
        }
    }

    fn request(&self, body: &str) -> String {
        let session = self.session.as_deref().map_or(String::new(), |id| {
            format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
        });
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{session}\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

impl Client for HttpClient {
    fn exchange(&mut self, plan: &Plan) -> Got {
        if self.has_sessions && self.session.is_none() {
            self.open_session();
        }
        let mut connection = self.connection();
        let request = self.request(&plan.request());
        if matches!(plan.fate, Fate::Killed(Hand::Server, _)) {
            // The server is lost with it.
            self.session = None;
        }
        let kill = match plan.fate {
            Fate::Killed(Hand::Client, place) => Some(usize::try_from(place).unwrap()),
            _ => None,
        };
        if let Some(place) = kill.filter(|_| plan.while_sending) {
            let part = request.len() * place / 1000;
            let _ = connection.get_mut().write_all(&request.as_bytes()[..part]);
            return Got::default();
        }
        connection.get_mut().write_all(request.as_bytes()).unwrap();
        if let Some(place) = kill {
            let mut some = vec![0; place];
            // At once, or in the middle of the answer.
            if place % 2 == 0 {
                let _ = connection.read(&mut some);
            }
            return Got::default();
        }
        let mut got = Got::default();
        match read(&mut connection, &mut got) {
            Ok(_) => {
                got.is_whole = true;
                if plan.fate == Fate::Whole {
                    self.connection = Some(connection);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("nothing comes: {plan:?}")
            }
            Err(_) => {}
        }
        got
    }
}

/// Reads a response; returns the session that it names.
fn read(from: &mut BufReader<TcpStream>, got: &mut Got) -> std::io::Result<Option<String>> {
    let status = line(from)?;
    got.status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
    let (mut length, mut is_stream, mut session) = (None, false, None);
    loop {
        let header = line(from)?;
        if let Some((name, value)) = header.split_once(": ")
            && name.eq_ignore_ascii_case("mcp-session-id")
        {
            session = Some(value.to_owned());
        }
        let header = header.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().ok();
        }
        is_stream |= header.starts_with("content-type: text/event-stream");
    }
    let mut text = Vec::new();
    if let Some(length) = length {
        text.resize(length, 0);
        from.read_exact(&mut text)?;
    } else {
        loop {
            let size = line(from)?;
            let size = usize::from_str_radix(&size, 16).map_err(std::io::Error::other)?;
            let start = text.len();
            text.resize(start + size, 0);
            from.read_exact(&mut text[start..])?;
            line(from)?;
            if is_stream {
                take_events(&mut text, got);
            }
            if size == 0 {
                break;
            }
        }
    }
    if !is_stream && !text.is_empty() {
        got.messages.push(serde_json::from_slice(&text).unwrap());
    }
    Ok(session)
}

/// Takes the events that are complete.
fn take_events(text: &mut Vec<u8>, got: &mut Got) {
    while let Some(end) = text.windows(2).position(|two| two == b"\n\n") {
        let event: Vec<u8> = text.drain(..end + 2).collect();
        let mut lines = std::str::from_utf8(&event).unwrap().lines();
        let data = lines.find_map(|line| line.strip_prefix("data: "));
        let data = data.filter(|data| !data.is_empty());
        got.messages.extend(data.map(|data| serde_json::from_str::<Value>(data).unwrap()));
    }
}

fn line(from: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 || !line.ends_with('\n') {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
