//! The HTTP transport. Every request uses its own connection.

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::client::Wire;

pub(crate) struct Http {
    fault: &'static str,
    is_modern: bool,
    host: String,
    path: String,
    session: Option<String>,
    revision: Option<String>,
    /// The event stream with the answer to the last request.
    stream: Option<Stream>,
    /// The answer to the last request, if it was JSON.
    answer: Option<Value>,
    /// The GET stream.
    listening: Option<Answer>,
    has_lost_session: bool,
}

struct Answer {
    status: u16,
    content_type: String,
    session: Option<String>,
    body: BufReader<Body>,
}

struct Stream {
    body: BufReader<Body>,
    last_id: Option<String>,
    retry: Duration,
}

impl Http {
    pub(crate) fn new(url: &str, fault: &'static str, is_modern: bool) -> anyhow::Result<Http> {
        let rest = url.strip_prefix("http://").context("a URL with http")?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Http {
            fault,
            is_modern,
            host: host.to_owned(),
            path: format!("/{path}"),
            session: None,
            revision: None,
            stream: None,
            answer: None,
            listening: None,
            has_lost_session: false,
        })
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn exchange(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> anyhow::Result<Answer> {
        let mut stream = TcpStream::connect(&self.host)?;
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.path,
            self.host,
            body.len()
        );
        for (name, value) in headers {
            head += &[name, ": ", value, "\r\n"].concat();
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("a status")?.parse()?;
        let (mut content_type, mut session, mut is_chunked) = (String::new(), None, false);
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-type" => value.clone_into(&mut content_type),
                "mcp-session-id" => session = Some(value.to_owned()),
                "transfer-encoding" => is_chunked = value == "chunked",
                _ => {}
            }
        }
        let body = BufReader::new(Body { reader, left: 0, is_chunked, is_over: false });
        Ok(Answer { status, content_type, session, body })
    }

    /// The headers of every request of a session.
    fn in_session(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(revision) = &self.revision
            && revision.as_str() >= "2025-06-18"
            && !self.has("version-header-left-out")
        {
            headers.push(("MCP-Protocol-Version", revision.clone()));
        }
        if let Some(session) = self.session.clone().filter(|_| !self.has("session-left-out")) {
            let session =
                if self.has("session-invented") { "invented".to_owned() } else { session };
            headers.push(("Mcp-Session-Id", session));
        }
        headers
    }

    fn mirrored(&self, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers = vec![("MCP-Protocol-Version", "2026-07-28".to_owned())];
        if let Some(method) =
            message["method"].as_str().filter(|_| !self.has("method-header-left-out"))
        {
            headers.push(("Mcp-Method", method.to_owned()));
        }
        let name = message["params"]["name"].as_str();
        if let Some(name) = name.filter(|_| !self.has("name-header-left-out")) {
            let name = if self.has("name-header-wrong") { "add" } else { name };
            headers.push(("Mcp-Name", name.to_owned()));
        }
        headers
    }

    fn get(&self, last_id: Option<&str>) -> anyhow::Result<Answer> {
        let mut headers = self.in_session();
        headers.push(("Accept", "text/event-stream".to_owned()));
        headers.extend(last_id.map(|id| ("Last-Event-ID", id.to_owned())));
        self.exchange("GET", &borrowed(&headers), "")
    }

    fn is(&self, answer: &Answer, kind: &str) -> bool {
        if self.has("content-type-exact") {
            return answer.content_type == kind;
        }
        answer.content_type.split(';').next().is_some_and(|found| found.trim() == kind)
    }

    fn next_event(&mut self) -> anyhow::Result<Option<Value>> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        let mut data: Option<String> = None;
        loop {
            let mut line = String::new();
            if stream.body.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() {
                match data.take() {
                    Some(text) if !text.is_empty() => {
                        return Ok(Some(serde_json::from_str(&text)?));
                    }
                    Some(_) if self.fault == "empty-data-strict" => bail!("an event without data"),
                    _ => continue,
                }
            }
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "data" => match &mut data {
                    Some(_) if self.fault == "data-line-single" => data = Some(value.to_owned()),
                    Some(text) => *text += &["\n", value].concat(),
                    None => data = Some(value.to_owned()),
                },
                "id" => stream.last_id = Some(value.to_owned()),
                "retry" => stream.retry = Duration::from_millis(value.parse()?),
                _ => {}
            }
        }
    }
}

impl Wire for Http {
    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let is_initialize = message["method"] == "initialize";
        let accept = if self.has("accept-left-out") {
            "application/json"
        } else {
            "application/json, text/event-stream"
        };
        let kind = if self.has("content-type-wrong") { "text/plain" } else { "application/json" };
        let mut headers = match () {
            () if self.is_modern => self.mirrored(message),
            () if is_initialize => Vec::new(),
            () => self.in_session(),
        };
        headers.push(("Accept", accept.to_owned()));
        headers.push(("Content-Type", kind.to_owned()));
        let answer = self.exchange("POST", &borrowed(&headers), &message.to_string())?;
        if answer.status == 404 && !self.is_modern {
            self.has_lost_session = true;
            self.session.take_if(|_| self.fault != "session-kept");
            bail!("the session has ended");
        }
        assert!(answer.status != 500 || !self.has("server-error-panics"), "servers do not fail");
        if answer.status == 202 {
            return Ok(());
        }
        if is_initialize {
            self.session.clone_from(&answer.session);
            if self.session.is_none() && self.has("session-required") {
                bail!("the server has no sessions");
            }
        }
        if self.is(&answer, "text/event-stream") {
            let retry = Duration::from_secs(1);
            self.stream = Some(Stream { body: answer.body, last_id: None, retry });
        } else if self.is(&answer, "application/json") && !self.has("json-refused") {
            let parsed = serde_json::from_reader(answer.body);
            assert!(parsed.is_ok() || !self.has("body-panics"), "bodies are JSON");
            self.answer = Some(parsed?);
        } else {
            bail!("status {} with {}", answer.status, answer.content_type);
        }
        Ok(())
    }

    fn send_text(&mut self, text: &str) -> anyhow::Result<()> {
        self.send(&serde_json::from_str(text)?)
    }

    fn receive(&mut self) -> anyhow::Result<Option<Value>> {
        if let Some(answer) = self.answer.take() {
            return Ok(Some(answer));
        }
        loop {
            if let Some(message) = self.next_event()? {
                return Ok(Some(message));
            }
            let ended = self.stream.take();
            let Some(Stream { last_id: Some(last_id), retry, .. }) = ended else { return Ok(None) };
            if self.has("not-resumed") {
                return Ok(None);
            }
            if !self.has("resumed-early") {
                std::thread::sleep(retry);
            }
            let answer = self.get(Some(&last_id))?;
            self.stream = Some(Stream { body: answer.body, last_id: None, retry });
        }
    }

    fn agree(&mut self, revision: &str) {
        self.revision = Some(revision.to_owned());
    }

    fn open(&mut self) -> anyhow::Result<()> {
        if !self.is_modern || self.has("gets") {
            let answer = self.get(None)?;
            if answer.status != 200 && self.has("get-required") {
                bail!("the server has no stream");
            }
            self.listening = Some(answer);
        }
        Ok(())
    }

    fn has_lost_session(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_session)
    }

    fn close(&mut self) -> anyhow::Result<()> {
        self.listening.take();
        if self.session.is_some() && !self.has("session-left") {
            self.exchange("DELETE", &borrowed(&self.in_session()), "")?;
        }
        Ok(())
    }
}

fn borrowed<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    headers.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// A response body, chunked or up to the end of the connection.
struct Body {
    reader: BufReader<TcpStream>,
    /// Remaining bytes of the chunk.
    left: usize,
    is_chunked: bool,
    is_over: bool,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.is_chunked {
            return self.reader.read(buffer);
        }
        if self.left == 0 && !self.is_over {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            // The line break after the previous chunk.
            if line.trim().is_empty() {
                line.clear();
                self.reader.read_line(&mut line)?;
            }
            self.left = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            self.is_over = self.left == 0;
        }
        let wanted = buffer.len().min(self.left);
        let length = self.reader.read(&mut buffer[..wanted])?;
        self.left -= length;
        Ok(length)
    }
}
