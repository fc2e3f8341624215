//! The limits that `plumb proxy` takes as options.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
    thread,
};

use crate::Place;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const SERVER: &str = r#"
    while read -r line; do
        echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'
    done"#;

/// Starts a proxy; returns the addresses that it announces.
fn start<const N: usize>(place: &Place, args: &[&str]) -> (Child, [String; N]) {
    let mut child = place.command(args).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let addresses = std::array::from_fn(|_| {
        let line = errors.next().unwrap().unwrap();
        let (_, address) = line.split_once("http://").unwrap();
        address.split('/').next().unwrap().to_owned()
    });
    // It must not notice that nobody reads what it says.
    thread::spawn(move || errors.for_each(drop));
    (child, addresses)
}

fn request(address: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn post(body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_server_at_a_url_has_so_long_to_begin_its_answer() {
    let place = Place::new();
    // Its connections are established, but nobody reads from them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let args = ["proxy", "-q", "--answer-timeout", "1", "--upstream", &url];
    let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{INITIALIZE}").unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = answers.next().unwrap().unwrap();
    assert!(answer.contains("-32603") && answer.contains("within 1 seconds"), "{answer}");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let args = ["proxy", "-q", "--answer-timeout", "1", "--upstream", &url];
    let args = [&args[..], &["--listen", "127.0.0.1:0"]].concat();
    let (mut child, [address]) = start(&place, &args);
    let answer = request(&address, &post(INITIALIZE));
    assert!(answer.starts_with("HTTP/1.1 504") && answer.contains("within 1 s"), "{answer}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn messages_beyond_what_may_be_held_are_refused_under_enforcement() {
    let place = Place::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", server.local_addr().unwrap());
    let args = ["proxy", "-q", "--enforce", "--listen", "127.0.0.1:0", "--upstream", &url];
    let args = [&args[..], &["--max-buffered", "4K"]].concat();
    let (mut child, [address]) = start(&place, &args);
    let large = post(&" ".repeat(5000));
    let begin = || {
        let mut slow = TcpStream::connect(&address).unwrap();
        slow.write_all(&large.as_bytes()[..large.len() - 904]).unwrap();
        slow.set_nonblocking(true).unwrap();
        slow
    };
    let mut slow = begin();
    // 4,096 bytes of it are there at some time; then there is no room for anything else.
    let answer = loop {
        let answer = request(&address, &post("not JSON"));
        if !answer.starts_with("HTTP/1.1 400") {
            break answer;
        }
        // It is refused itself if it meets another message.
        if slow.peek(&mut [0]).is_ok() {
            slow = begin();
        }
    };
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("try again") && answer.contains("-32603"), "{answer}");
    drop(slow);
    while request(&address, &post("not JSON")).starts_with("HTTP/1.1 503") {}
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn beyond_the_limit_on_connections_an_idle_one_is_closed() {
    let place = Place::new();
    let args = ["proxy", "-q", "--listen", "127.0.0.1:0", "--max-connections", "1"];
    let args = [&args[..], &["--", "sh", "-c", SERVER]].concat();
    let (mut child, [address]) = start(&place, &args);
    let mut idle = TcpStream::connect(&address).unwrap();
    let kept = post("not JSON").replace("Connection: close\r\n", "");
    idle.write_all(kept.as_bytes()).unwrap();
    let mut answer = [0; 12];
    idle.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 400");
    // There is no room for this one before the other is gone.
    assert!(request(&address, &post(INITIALIZE)).starts_with("HTTP/1.1 200"));
    // Otherwise it would stay for minutes.
    idle.read_to_end(&mut Vec::new()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn open_sessions_are_counted() {
    let place = Place::new();
    let args = ["proxy", "-q", "--admin", "127.0.0.1:0", "--listen", "127.0.0.1:0"];
    let args = [&args[..], &["--max-connections", "5", "--", "sh", "-c", SERVER]].concat();
    let (mut child, [admin, address]) = start(&place, &args);
    let metrics =
        || request(&admin, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(metrics().contains("\nplumb_proxy_sessions{} 0\n"), "{}", metrics());
    let answer = request(&address, &post(INITIALIZE));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(metrics().contains("\nplumb_proxy_sessions{} 1\n"), "{}", metrics());
    let lower = answer.to_lowercase();
    let (_, id) = lower.split_once("mcp-session-id: ").unwrap();
    let id = id.split("\r\n").next().unwrap();
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nMcp-Session-Id: {id}\r\n\r\n"
    );
    request(&address, &delete);
    while !metrics().contains("\nplumb_proxy_sessions{} 0\n") {
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
