//! Several servers behind one proxy, and credentials for them.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStderr, Command},
    thread::{self, JoinHandle},
};

use crate::Place;

const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
const CANARY: &str = "canary-77c1";

fn write(place: &Place, name: &str, text: &str) {
    fs::write(place.0.path().join(name), text).unwrap();
}

/// A server that answers one ping; returns the head of the request.
fn server() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        // The result is wrong.
        let body = r#"{"jsonrpc":"2.0","id":"a","result":7}"#;
        let kind = "Content-Type: application/json\r\nConnection: close";
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    });
    (url, serving)
}

/// A proxy that listens.
struct Listening {
    child: Child,
    errors: BufReader<ChildStderr>,
    /// What it has said: the addresses.
    said: Vec<String>,
}

impl Listening {
    fn start(place: &Place, args: &[&str], lines: usize) -> Listening {
        let mut all = vec!["proxy", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = place.command(&all).env("MY_KEY", CANARY).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = Vec::new();
        for _ in 0..lines {
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            said.push(line);
        }
        Listening { child, errors, said }
    }

    fn ask(&self, what: &str, request: &str) -> String {
        let line = self.said.iter().find(|line| line.contains(what)).unwrap();
        let address = line.split_once("://").unwrap().1.trim().split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn ping(&self, path: &str) -> String {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close");
        let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
        let length = PING.len();
        self.ask(
            "listening",
            &format!("{head}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{PING}"),
        )
    }

    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        said
    }
}

#[test]
fn several_servers_have_prefixes_records_and_figures_of_their_own() {
    let place = Place::new();
    let (files, _) = server();
    let (git, _) = server();
    write(
        &place,
        "plumb.toml",
        &format!(
            "[[proxy.upstream]]\nprefix = \"/files\"\nurl = \"{files}\"\n\
         [[proxy.upstream]]\nprefix = \"/git\"\nurl = \"{git}\"\n\
         [[proxy.upstream]]\nprefix = \"/cat\"\ncommand = [\"cat\"]\n"
        ),
    );
    fs::create_dir(place.0.path().join("traces")).unwrap();
    let args = ["--record", "traces", "--admin", "127.0.0.1:0", "--format", "json"];
    let listening = Listening::start(&place, &args, 2);
    for path in ["/files", "/git"] {
        assert!(listening.ping(path).starts_with("HTTP/1.1 200"));
    }
    let unknown = listening.ping("/other");
    assert!(unknown.starts_with("HTTP/1.1 404"), "{unknown}");
    assert!(unknown.contains(r#""prefixes":["/cat","/files","/git"]"#), "{unknown}");
    let get = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let ready = listening.ask("metrics", get);
    assert!(ready.ends_with("files: ready\ngit: ready\ncat: ready\n"), "{ready}");
    let said = listening.stop();
    assert!(said.contains(r#"{"upstream":"git","rule":"result-not-object""#), "{said}");
    let mut names: Vec<String> = fs::read_dir(place.0.path().join("traces"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3, "{names:?}");
    let git = names.iter().find(|name| name.ends_with("-git.jsonl")).unwrap();
    let record = fs::read_to_string(place.0.path().join("traces").join(git)).unwrap();
    assert_eq!(record.lines().count(), 2, "{record}");
    assert!(record.contains(r#""session":"git""#), "{record}");
}

#[test]
fn servers_that_cannot_be_told_apart_are_refused() {
    let place = Place::new();
    for (args, expected) in [
        (&["--listen", "127.0.0.1:0"][..], "no server given"),
        (&["--upstream", "/a=http://b/"], "only use one server"),
        (
            &["--listen", "127.0.0.1:0", "--upstream", "http://a/", "--upstream", "http://b/"],
            "no prefix",
        ),
        (
            &[
                "--listen",
                "127.0.0.1:0",
                "--upstream",
                "/a=http://a/",
                "--upstream",
                "/a=http://b/",
            ],
            "the prefix /a is used for several servers",
        ),
        (&["--listen", "127.0.0.1:0", "--upstream", "/a/=http://a/"], "is not a prefix"),
        (&["--upstream", "ftp://a/"], "the server cannot be used"),
    ] {
        let mut all = vec!["proxy"];
        all.extend(args);
        let ran = place.run(&all);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn credentials_come_from_files_and_the_environment_and_are_never_shown() {
    let place = Place::new();
    write(&place, "token", &format!("{CANARY}-token\n"));
    write(&place, "headers", &format!("# for the server\n\nX-Tenant: {CANARY}-tenant\n"));
    let (url, got) = server();
    let args = [
        "--upstream",
        &url,
        "--upstream-auth-token-file",
        "token",
        "--upstream-header-file",
        "headers",
        "--upstream-header-env",
        "X-Key=MY_KEY",
        "--record",
        "record.jsonl",
        "--tail",
    ];
    let listening = Listening::start(&place, &args, 1);
    listening.ping("/");
    let head = got.join().unwrap();
    for expected in [
        "authorization: bearer canary-77c1-token\r\n",
        "x-tenant: canary-77c1-tenant\r\n",
        "x-key: canary-77c1\r\n",
    ] {
        assert!(head.contains(expected), "{head}");
    }
    let said = listening.stop();
    let record = fs::read_to_string(place.0.path().join("record.jsonl")).unwrap();
    assert!(!said.contains(CANARY) && !record.contains(CANARY), "{said}{record}");
    // Nor is what cannot be used.
    write(&place, "broken", &format!("{CANARY}\n"));
    for args in [
        ["--upstream-header-file", "broken"],
        ["--upstream-header-env", "X-Key: canary-77c1"],
        ["--upstream-header-env", "X-Key=NOT_SET"],
        ["--upstream-ca", "broken"],
        ["--upstream-auth-token-file", "missing"],
    ] {
        let mut all = vec!["proxy", "--upstream", "http://127.0.0.1:1/"];
        all.extend(args);
        let ran = place.run(&all);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        // What is wrong on the command line is there for everyone to see anyway.
        assert!(args[1].contains(CANARY) || !ran.stderr.contains(CANARY), "{}", ran.stderr);
    }
}

#[test]
fn clients_are_served_over_tls() {
    let place = Place::new();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    write(&place, "cert.pem", &cert.pem());
    write(&place, "key.pem", &signing_key.serialize_pem());
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--client-ca", "cert.pem"];
    let mut args = tls.to_vec();
    args.extend(["--listen", "0.0.0.0:0", "--", "cat"]);
    let mut child = place.command(&[&["proxy"][..], &args].concat()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("plumb: listening on https://0.0.0.0:"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
    for (args, expected) in [
        (&["--tls-cert", "cert.pem", "--tls-key", "cert.pem"][..], "cannot be served over TLS"),
        (&["--tls-cert", "missing", "--tls-key", "key.pem"], "could not read the certificates"),
        (&["--tls-cert", "cert.pem"], "--tls-key"),
    ] {
        let mut all = vec!["proxy", "--listen", "127.0.0.1:0"];
        all.extend(args);
        all.extend(["--", "cat"]);
        let ran = place.run(&all);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}
