//! The server behind the proxies: `proxying-echo stdio`, or `proxying-echo http`, which prints its
//! address. `/mcp` answers with JSON, `/sse` with an event stream.

#![expect(clippy::print_stdout, reason = "standard output is the protocol")]

use std::{
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use plumb_proxying_benches::messages::answer;

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => stdio(),
        Some("http") => http(),
        _ => Err(io::Error::other("usage: proxying-echo stdio|http")),
    }
}

fn stdio() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        if let Some(mut text) = answer(&line?) {
            text.push('\n');
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(())
}

fn http() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        thread::Builder::new().stack_size(64 << 10).spawn(move || serve(stream))?;
    }
    Ok(())
}

static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// Serves a connection until it ends.
fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut from = BufReader::new(stream);
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let (is_post, is_stream) = (line.starts_with("POST "), line.contains(" /sse"));
        let mut length = 0;
        loop {
            line.clear();
            from.read_line(&mut line)?;
            if line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        body.resize(length, 0);
        from.read_exact(&mut body)?;
        let text = String::from_utf8_lossy(&body);
        let stream = from.get_mut();
        let Some(answer) = answer(&text).filter(|_| is_post) else {
            let status = if is_post { "202 Accepted" } else { "405 Method Not Allowed" };
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        };
        let session = if text.contains(r#""method":"initialize""#) {
            let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
            format!("Mcp-Session-Id: session-{number}\r\n")
        } else {
            String::new()
        };
        let response = if is_stream {
            let event = format!("data: {answer}\n\n");
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{session}Transfer-Encoding: chunked\r\n\r\n\
                 {:x}\r\n{event}\r\n0\r\n\r\n",
                event.len()
            )
        } else {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{session}Content-Length: {}\r\n\r\n{answer}",
                answer.len()
            )
        };
        stream.write_all(response.as_bytes())?;
    }
}
