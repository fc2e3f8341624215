//! Several `plumb proxy` processes behind a load balancer, one of them killed.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStderr},
    thread,
};

use crate::{Place, redis_server::RedisServer};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server that answers `initialize`, lists a tool, and answers every other request with nothing.
const SERVER: &str = r#"
    while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
            *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"t","inputSchema":{"type":"object","required":["a"]}}]}}' ;;
            *'"id":'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}' ;;
        esac
    done"#;

/// A proxy that listens.
struct Replica {
    child: Child,
    errors: BufReader<ChildStderr>,
    address: String,
    metrics: Option<String>,
}

impl Replica {
    fn start(place: &Place, args: &[&str]) -> Replica {
        let mut all = vec!["proxy", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = place.command(&all).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut metrics = None;
        loop {
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            if let Some(address) = line.trim().strip_prefix("plumb: metrics on http://") {
                metrics = address.strip_suffix("/metrics").map(str::to_owned);
                continue;
            }
            let address = line.trim().strip_prefix("plumb: listening on http://");
            let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
            return Replica { child, errors, address, metrics };
        }
    }

    fn send(&self, method: &str, body: &str, headers: &str) -> (u16, String) {
        let answer = exchange(&self.address, method, body, headers);
        let status = answer.get(9..12).unwrap_or_else(|| panic!("{answer:?}"));
        (status.parse().unwrap(), answer)
    }

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.metrics.as_ref().unwrap()).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Opens a session and returns the headers that name it.
    fn open(&self) -> String {
        let (status, answer) = self.send("POST", INITIALIZE, "");
        assert_eq!(status, 200, "{answer}");
        session_in(&answer)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn said(mut self) -> String {
        self.kill();
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The whole answer; nothing if the connection broke off.
fn exchange(address: &str, method: &str, body: &str, headers: &str) -> String {
    let mut answer = String::new();
    let Ok(mut stream) = TcpStream::connect(address) else { return answer };
    let request = format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// The headers that name the session that an answer opens.
fn session_in(answer: &str) -> String {
    let header = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then_some(value)
    });
    format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", header.unwrap())
}

fn ping(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[test]
fn any_replica_takes_requests_of_a_session_that_one_has_the_server_of() {
    let place = Place::new().file("key", &"k".repeat(32));
    let args = ["-q", "--store-key-file", "key", "--", "sh", "-c", SERVER];
    let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&place, &args)).collect();
    let session = replicas[0].open();
    for (number, replica) in replicas.iter().enumerate() {
        assert_eq!(replica.send("POST", INITIALIZED, &session).0, 202);
        let (status, answer) = replica.send("POST", &ping(number + 2), &session);
        assert_eq!(status, 200, "{answer}");
        assert!(answer.contains("\"result\":{}"), "{answer}");
    }

    // The stream of the server's own messages, through a replica that has no server.
    let mut stream = TcpStream::connect(&replicas[1].address).unwrap();
    let get = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{session}\r\n"
    );
    stream.write_all(get.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().contains(" 200 "));

    // What is not sealed with the key is no session, and neither is what was changed.
    let forged = session.replacen("Mcp-Session-Id: ", "Mcp-Session-Id: A", 1);
    for headers in [forged.as_str(), "Mcp-Session-Id: 127.0.0.1:1 a\r\n", "Mcp-Session-Id: \r\n"] {
        assert_eq!(replicas[1].send("POST", &ping(9), headers).0, 404, "{headers}");
    }

    assert_eq!(replicas[2].send("DELETE", "", &session).0, 204);
    assert_eq!(replicas[1].send("POST", &ping(10), &session).0, 404);

    // A replica that is gone takes its sessions with it.
    let session = replicas[0].open();
    assert_eq!(replicas[1].send("POST", &ping(2), &session).0, 200);
    replicas[0].kill();
    assert_eq!(replicas[1].send("POST", &ping(3), &session).0, 404);
    assert_eq!(replicas[2].send("DELETE", "", &session).0, 404);
    let session = replicas[1].open();
    assert_eq!(replicas[2].send("POST", &ping(2), &session).0, 200);
}

#[test]
fn the_token_of_clients_is_good_for_all_replicas() {
    let place = Place::new().file("key", &"k".repeat(32)).file("token", "secret\n");
    let mut args = vec!["-q", "--store-key-file", "key", "--auth-token-file", "token"];
    args.extend(["--", "sh", "-c", SERVER]);
    let replicas = [Replica::start(&place, &args), Replica::start(&place, &args)];
    let token = "Authorization: Bearer secret\r\n";
    let (_, answer) = replicas[0].send("POST", INITIALIZE, token);
    let session = session_in(&answer);
    assert_eq!(replicas[1].send("POST", &ping(2), &format!("{token}{session}")).0, 200);
    assert_eq!(replicas[1].send("POST", &ping(3), &session).0, 401);
}

#[test]
fn replicas_without_a_key_file_have_the_key_of_the_store() {
    let Some(redis) = RedisServer::start() else { return };
    let (place, url) = (Place::new(), redis.url());
    let args = ["-q", "--store", &url, "--", "sh", "-c", SERVER];
    let replicas = [Replica::start(&place, &args), Replica::start(&place, &args)];
    let session = replicas[0].open();
    assert_eq!(replicas[1].send("POST", &ping(2), &session).0, 200);
}

#[test]
fn replicas_that_cannot_find_each_other_are_refused() {
    let place = Place::new().file("key", &"k".repeat(32)).file("short", "k");
    for (args, said) in [
        (&["--listen", "0.0.0.0:0", "--insecure", "--store-key-file", "key"][..], "--advertise"),
        (&["--listen", "127.0.0.1:0", "--store-key-file", "short"], "too short"),
        (&["--listen", "127.0.0.1:0", "--store", "redis://127.0.0.1:1/0"], "start the store first"),
        (&["--listen", "127.0.0.1:0", "--store", "postgres://x"], "redis://127.0.0.1:6379/0"),
        (&["--listen", "127.0.0.1:0", "--advertise", "a:1"], "--store"),
        (
            &["--listen", "127.0.0.1:0", "--store-key-file", "key", "--advertise", "a"],
            "10.0.0.5:8900",
        ),
    ] {
        let mut all = vec!["proxy"];
        all.extend(args);
        all.extend(["--", "true"]);
        let run = place.run(&all);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_replica_killed_under_load_takes_no_knowledge_of_sessions_with_it() {
    let Some(redis) = RedisServer::start() else { return };
    let (place, store) = (Place::new(), redis.url());
    let server = Replica::start(&place, &["-q", "--", "sh", "-c", SERVER]);
    let upstream = format!("http://{}/mcp", server.address);
    let args = ["--enforce", "--format", "json", "--store", &store, "--upstream", &upstream];
    let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&place, &args)).collect();
    let session = replicas[0].open();
    assert_eq!(replicas[1].send("POST", INITIALIZED, &session).0, 202);
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(replicas[0].send("POST", list, &session).0, 200);

    let addresses: Vec<String> = replicas.iter().map(|replica| replica.address.clone()).collect();
    let load: Vec<_> = (0..6)
        .map(|number| {
            let (addresses, session) = (addresses.clone(), session.clone());
            thread::spawn(move || {
                (0..20)
                    .filter(|turn| {
                        let id = 100 + 20 * number + turn;
                        let to = &addresses[(number + turn) % addresses.len()];
                        exchange(to, "POST", &ping(id), &session).contains(" 200 OK")
                    })
                    .count()
            })
        })
        .collect();
    replicas[0].kill();
    let answered: usize = load.into_iter().map(|load| load.join().unwrap()).sum();
    assert!(answered >= 80, "the others answer: {answered}");

    let call =
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":{}}}"#;
    let (_, answer) = replicas[1].send("POST", call, &session);
    assert!(answer.contains("tool-arguments-invalid"), "{answer}");
    replicas[2].send("POST", &ping(2), &session);
    let said: String = replicas.drain(1..).map(Replica::said).collect();
    assert!(said.contains("request-id-reused"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn the_store_going_away_is_said_once_and_shown_in_the_metrics() {
    let Some(mut redis) = RedisServer::start() else { return };
    let (place, store) = (Place::new(), redis.url());
    let server = Replica::start(&place, &["-q", "--", "sh", "-c", SERVER]);
    let upstream = format!("http://{}/mcp", server.address);
    let mut args = vec!["--store", &store, "--upstream", &upstream];
    args.extend(["--record", "r.jsonl", "--admin", "127.0.0.1:0"]);
    let replica = Replica::start(&place, &args);
    let session = replica.open();
    redis.kill();
    for id in 2..6 {
        assert_eq!(replica.send("POST", &ping(id), &session).0, 200);
    }
    // All of it is judged when the last is recorded.
    while fs::read_to_string(place.0.path().join("r.jsonl")).unwrap().lines().count() < 10 {
        thread::yield_now();
    }
    let metrics = replica.metrics();
    assert!(metrics.contains("\nplumb_proxy_store_away 1\n"), "{metrics}");
    assert!(!metrics.contains("\nplumb_proxy_apart_total 0\n"), "{metrics}");
    let said = replica.said();
    let expected = "plumb: error: the session store is unavailable; sessions are judged without it";
    assert!(said.starts_with(expected) && said.lines().count() == 1, "{said}");
}
