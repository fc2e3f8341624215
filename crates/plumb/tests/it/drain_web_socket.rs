//! A proxy that is told to stop, with WebSocket on either side.

use std::{fs, net::TcpStream};

use crate::{
    Place,
    proxy_operation::{INITIALIZE, PATIENT, PING, PONG, Running, connect, read},
    web_socket::Socket,
};

/// The answer that comes in the end, by how long the proxy may wait for it.
const ENDS: [(&str, &str); 2] =
    [("600", PONG), ("0", "the proxy was stopped before the server answered")];

/// A server over WebSocket, which is a proxy as well.
fn upstream(place: &Place) -> (Running, String) {
    let options = ["--listen", "127.0.0.1:0", "--", "sh", "-c", PATIENT];
    let mut upstream = Running::start(place, &options);
    let address = upstream.address();
    (upstream, address)
}

fn go(place: &Place) {
    fs::write(place.0.path().join("go"), "").unwrap();
}

fn wait_until_asked(place: &Place) {
    while !place.0.path().join("asked").exists() {}
}

fn stop(running: Running) {
    running.signal("-TERM");
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
}

/// A client over WebSocket of a proxy with these arguments is told before the end.
fn check_client(place: &Place, wait: &str, expected: &str, target: &[&str]) {
    let options = ["--listen", "127.0.0.1:0", "--record", "r.jsonl", "--drain-wait", wait];
    let mut proxy = Running::start(place, &[&options[..], target].concat());
    let address = proxy.address();
    let mut idle = Socket::open(&address);
    let mut client = Socket::open(&address);
    client.say(INITIALIZE);
    client.hear().unwrap();
    client.say(PING);
    wait_until_asked(place);
    proxy.signal("-TERM");
    proxy.told("stopping: waiting");
    // Nobody waits for anything there.
    assert_eq!(idle.close_code(), Some(1001), "{target:?}");
    assert!(TcpStream::connect(&address).is_err());
    if wait == "600" {
        go(place);
    }
    let answer = client.hear().unwrap();
    assert!(answer.contains(expected), "{target:?}: {answer}");
    assert_eq!(client.close_code(), Some(1001), "{target:?}");
    drop((client, idle));
    go(place);
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    let record = fs::read_to_string(place.0.path().join("r.jsonl")).unwrap();
    assert_eq!(record.contains(r#""by":"proxy""#), wait == "0", "{record}");
    place.run(&["check", "r.jsonl"]).exits(0);
}

#[test]
fn web_socket_clients_of_children_get_their_answers_or_errors_before_the_end() {
    for (wait, expected) in ENDS {
        check_client(&Place::new(), wait, expected, &["--", "sh", "-c", PATIENT]);
    }
}

#[test]
fn web_socket_clients_of_a_gateway_get_their_answers_or_errors_before_the_end() {
    for enforcing in [&[][..], &["--enforce"]] {
        for scheme in ["ws", "http"] {
            for (wait, expected) in ENDS {
                let place = Place::new();
                let (server, address) = upstream(&place);
                let url = format!("{scheme}://{address}/mcp");
                let target = [enforcing, &["--upstream", &url]].concat();
                check_client(&place, wait, expected, &target);
                stop(server);
            }
        }
    }
}

#[test]
fn http_clients_of_a_web_socket_server_get_their_answers_or_errors_before_the_end() {
    for (wait, expected) in ENDS {
        let place = Place::new();
        let (server, address) = upstream(&place);
        let url = format!("ws://{address}/mcp");
        let options = ["--listen", "127.0.0.1:0", "--drain-wait", wait, "--upstream", &url];
        let mut proxy = Running::start(&place, &options);
        let address = proxy.address();
        let opened = read(connect(&address, "POST", INITIALIZE, ""));
        let session = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = format!("Mcp-Session-Id: {}\r\n", session.unwrap().trim());
        let waiting = connect(&address, "POST", PING, &session);
        wait_until_asked(&place);
        proxy.signal("-TERM");
        proxy.told("stopping: waiting");
        if wait == "600" {
            go(&place);
        }
        let answer = read(waiting);
        assert!(answer.contains(expected), "{answer}");
        let (code, said) = proxy.end();
        assert_eq!(code, Some(0), "{said}");
        go(&place);
        stop(server);
    }
}

#[test]
fn a_client_on_streams_gets_its_answers_from_a_web_socket_before_the_end() {
    for (wait, expected) in ENDS {
        let place = Place::new();
        let (server, address) = upstream(&place);
        let url = format!("ws://{address}/mcp");
        let mut proxy = Running::start(&place, &["--drain-wait", wait, "--upstream", &url]);
        proxy.say(INITIALIZE);
        proxy.hear();
        proxy.say(PING);
        wait_until_asked(&place);
        proxy.signal("-TERM");
        proxy.told("stopping: waiting");
        if wait == "600" {
            go(&place);
        }
        let answer = proxy.hear();
        assert!(answer.contains(expected), "{answer}");
        let (code, said) = proxy.end();
        assert_eq!(code, Some(0), "{said}");
        go(&place);
        stop(server);
    }
}
