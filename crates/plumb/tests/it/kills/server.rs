use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use super::{AGREED, INITIALIZE, INITIALIZED, fate::Plan};
use crate::web_socket::Socket;

type Arrived = Arc<Mutex<BTreeMap<u64, Vec<u64>>>>;

/// Notes what arrives, and answers as planned.
pub(super) struct SequenceServer {
    pub(super) address: SocketAddr,
    arrived: Arrived,
}

impl SequenceServer {
    /// Over HTTP.
    pub(super) fn over_http() -> SequenceServer {
        SequenceServer::start(serve_http)
    }

    /// Over WebSocket.
    pub(super) fn over_web_socket() -> SequenceServer {
        SequenceServer::start(serve_web_socket)
    }

    /// On the standard streams of [`SequenceServer::command`].
    pub(super) fn on_streams() -> SequenceServer {
        SequenceServer::start(serve_lines)
    }

    /// A command that connects its standard streams to this server, after a line with its process id.
    pub(super) fn command(&self) -> String {
        let port = self.address.port();
        // It exits when its input ends. What runs in the background has none of its own.
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port} 4<&0; echo $$ >&3; {{ cat <&4; kill $$; }} >&3 2>&3 & exec cat <&3"
        )
    }

    fn start(serve: fn(TcpStream, &Arrived) -> Option<()>) -> SequenceServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let arrived = Arrived::default();
        let noted = Arc::clone(&arrived);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || serve(stream, &noted));
            }
        });
        SequenceServer { address, arrived }
    }

    /// The requests of each client that have arrived whole, in order.
    pub(super) fn arrived(&self) -> BTreeMap<u64, Vec<u64>> {
        self.arrived.lock().unwrap().clone()
    }
}

/// Serves a connection until it ends, or is killed.
fn serve_http(stream: TcpStream, arrived: &Arrived) -> Option<()> {
    let mut from = BufReader::new(stream);
    loop {
        let request = line(&mut from)?;
        let mut length = 0;
        loop {
            let header = line(&mut from)?.to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            assert!(!header.starts_with("transfer-encoding"), "{header}");
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        let stream = from.get_mut();
        if !request.starts_with("POST ") {
            stream.write_all(b"HTTP/1.1 405 X\r\nContent-Length: 0\r\n\r\n").ok()?;
            continue;
        }
        let plan = note(arrived, &body);
        let answer = response(&plan);
        if let Some(part) = plan.cut(answer.len()) {
            let _ = stream.write_all(&answer.as_bytes()[..part]);
            return None;
        }
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

fn serve_web_socket(stream: TcpStream, arrived: &Arrived) -> Option<()> {
    let mut socket = Socket::accept(stream)?;
    loop {
        let plan = note(arrived, socket.hear()?.as_bytes());
        let frames: Vec<u8> =
            plan.messages_of_server().flat_map(|text| socket.frame(&text)).collect();
        if let Some(part) = plan.cut(frames.len()) {
            socket.write(&frames[..part]);
            socket.kill();
            return None;
        }
        socket.write(&frames);
    }
}

fn serve_lines(stream: TcpStream, arrived: &Arrived) -> Option<()> {
    let mut from = BufReader::new(stream);
    let process = line(&mut from)?;
    loop {
        let request = line(&mut from)?;
        let stream = from.get_mut();
        if request == INITIALIZED {
            continue;
        }
        if request == INITIALIZE {
            writeln!(stream, "{AGREED}").ok()?;
            continue;
        }
        let plan = note(arrived, request.as_bytes());
        let lines: String = plan.messages_of_server().map(|text| text + "\n").collect();
        if let Some(part) = plan.cut(lines.len()) {
            let _ = stream.write_all(&lines.as_bytes()[..part]);
            // It exits, or it is killed.
            if part % 2 == 0 {
                let _ = Command::new("kill").args(["-9", &process]).status();
            }
            return None;
        }
        stream.write_all(lines.as_bytes()).ok()?;
    }
}

/// Notes that a request has arrived.
fn note(arrived: &Arrived, request: &[u8]) -> Plan {
    let plan = Plan::of_request(request);
    arrived.lock().unwrap().entry(plan.client).or_default().push(plan.seq);
    plan
}

fn response(plan: &Plan) -> String {
    if !plan.is_stream {
        let answer: String = plan.messages_of_server().collect();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        return format!("{head}Content-Length: {}\r\n\r\n{answer}", answer.len());
    }
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";
    let mut text = format!("{head}\r\n");
    for data in plan.messages_of_server() {
        let event = format!("data: {data}\n\n");
        let _ = write!(text, "{:x}\r\n{event}\r\n", event.len());
    }
    text + "0\r\n\r\n"
}

fn line(from: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|_| line.ends_with('\n'))?;
    Some(line.trim_end().to_owned())
}
