use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;

use super::fate::{Fate, Hand, Plan};

type Arrived = Arc<Mutex<BTreeMap<u64, Vec<u64>>>>;

/// Notes what arrives, and answers as planned.
pub(super) struct SequenceServer {
    pub(super) address: SocketAddr,
    arrived: Arrived,
}

impl SequenceServer {
    pub(super) fn start() -> SequenceServer {
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
fn serve(stream: TcpStream, arrived: &Arrived) -> Option<()> {
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
        let message: Value = serde_json::from_slice(&body).expect("only whole requests arrive");
        let number = |name: &str| message["params"][name].as_u64().unwrap();
        let plan = Plan::of(number("client"), number("seq"));
        assert_eq!(String::from_utf8(body).unwrap(), plan.request(), "it arrives as it was sent");
        arrived.lock().unwrap().entry(plan.client).or_default().push(plan.seq);
        let answer = response(&plan);
        if let Fate::Killed(Hand::Server, place) = plan.fate {
            // Never all of it.
            let part = answer.len() * usize::try_from(place).unwrap() / 1000;
            let part = if place < 300 { 0 } else { part.min(answer.len() - 8) };
            let _ = stream.write_all(&answer.as_bytes()[..part]);
            return None;
        }
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

fn response(plan: &Plan) -> String {
    let answer = plan.answer();
    if !plan.is_stream {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        return format!("{head}Content-Length: {}\r\n\r\n{answer}", answer.len());
    }
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";
    let mut text = format!("{head}\r\n");
    for data in (0..plan.steps).map(|step| plan.step(step)).chain([answer]) {
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
