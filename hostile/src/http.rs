//! The subset of HTTP that an attacker needs.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use anyhow::Context as _;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A session of the handshake era.
pub(crate) struct Session {
    address: String,
    id: String,
}

/// The received part of a response, head and body.
pub(crate) struct Response(String);

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.0.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.0.contains(text)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Session {
    /// Opens a session; `client` is what `clientInfo` and `capabilities` are.
    pub(crate) fn open(address: &str, client: &str) -> anyhow::Result<Session> {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25",{client}}}}}"#
        );
        let response = exchange(address, &request(&body, ""))?;
        let id = response.header("mcp-session-id").context("no session was opened")?.to_owned();
        let session = Session { address: address.to_owned(), id };
        session.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(session)
    }

    /// Opens a session as an ordinary client.
    pub(crate) fn plain(address: &str) -> anyhow::Result<Session> {
        Session::open(address, CLIENT)
    }

    /// Posts a message and waits for the whole answer.
    pub(crate) fn post(&self, body: &str) -> anyhow::Result<Response> {
        exchange(&self.address, &self.request(body))
    }

    /// Posts a message and does not read the answer.
    pub(crate) fn post_unread(&self, body: &str) -> anyhow::Result<TcpStream> {
        let mut stream = connect(&self.address)?;
        stream.write_all(self.request(body).as_bytes())?;
        Ok(stream)
    }

    fn request(&self, body: &str) -> String {
        let session = &self.id;
        request(body, &format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"))
    }
}

/// An ordinary client, for [`Session::open`].
pub(crate) const CLIENT: &str =
    r#""capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}"#;

/// A POST of a message.
pub(crate) fn request(body: &str, headers: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(crate) fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address).context("cannot connect")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// A connection that carries one request after the other.
pub(crate) struct KeptAlive(TcpStream);

impl KeptAlive {
    pub(crate) fn open(address: &str) -> anyhow::Result<KeptAlive> {
        Ok(KeptAlive(connect(address)?))
    }

    /// Sends `server/discover`, in a revision without sessions; returns whether it was answered.
    pub(crate) fn discover(&mut self) -> anyhow::Result<bool> {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: server/discover\r\n";
        let request = request(body, headers).replace("connection: close\r\n", "");
        self.0.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while !is_whole(&answer) {
            let length = self.0.read(&mut part)?;
            anyhow::ensure!(length > 0, "the server has closed the connection");
            answer.extend_from_slice(&part[..length]);
        }
        let response = Response(String::from_utf8_lossy(&answer).into_owned());
        Ok(response.status() == 200 && response.contains("supportedVersions"))
    }
}

/// Whether a response with a length, or in chunks, is complete.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    match Response(head.to_owned()).header("content-length").map(str::parse) {
        Some(Ok(length)) => body.len() >= length,
        _ => body.ends_with("0\r\n\r\n"),
    }
}

/// Sends a request and reads until the server closes the connection.
pub(crate) fn exchange(address: &str, request: &str) -> anyhow::Result<Response> {
    let mut stream = connect(address)?;
    // A server may answer and close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer)
        && answer.is_empty()
    {
        return Err(error).context("no answer");
    }
    Ok(Response(String::from_utf8_lossy(&answer).into_owned()))
}
