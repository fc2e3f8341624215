//! A server's own standard streams. The server is this test binary, started again.

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
};

use mcp_core::{Inbound, Outbound, OutboundRole, Transport};
use mcp_transport::{ChildCommand, ChildSettings, ChildStderr, ChildTransport, LineSettings};
use mcp_transport::{LineTransport, stdio};
use tokio::io::AsyncReadExt as _;

use crate::support::{message, next, within_a_minute};

const ARGUMENTS: [&str; 4] = ["--exact", "stdio::echo_server", "--ignored", "--nocapture"];

#[tokio::test]
#[ignore = "other tests start it"]
async fn echo_server() {
    let transport = stdio(&LineSettings::default());
    eprintln!("{transport:?} speaks");
    while let Some(Inbound::Message { bytes, .. }) = transport.receive().await.unwrap() {
        let role = OutboundRole::Notification;
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        transport.send(outbound).await.unwrap();
    }
    transport.close().await;
    // The test harness must not print anything more.
    std::process::exit(7);
}

/// Sends messages and expects each of them back, skipping the output of the test harness.
async fn expect_echo(transport: &dyn Transport) {
    transport.send(message("{}")).await.unwrap();
    while next(transport).await.unwrap().expect("an echo") != "{}" {}
    for length in [1, 1000, 100_000, 1_000_000, 2] {
        let text = "x".repeat(length);
        transport.send(message(text.clone())).await.unwrap();
        assert!(next(transport).await == Ok(Some(text)), "{length}");
    }
}

#[tokio::test]
async fn a_server_speaks_through_pipes() {
    let command = ChildCommand::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .stderr(ChildStderr::Null);
    let child = ChildTransport::spawn(&command, &ChildSettings::default()).unwrap();
    expect_echo(&child).await;
    within_a_minute(child.close()).await;
    assert_eq!(child.wait().await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn a_server_speaks_through_a_socket() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let output: OwnedFd = theirs.try_clone().unwrap().into();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(output))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    ours.set_nonblocking(true).unwrap();
    let (input, output) = tokio::net::UnixStream::from_std(ours).unwrap().into_split();
    let transport = LineTransport::new(input, output, &LineSettings::default());
    expect_echo(&transport).await;
    within_a_minute(transport.close()).await;
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[tokio::test]
async fn a_server_that_logs_into_the_same_pipe_speaks_too() {
    let program = std::env::current_exe().unwrap();
    let command =
        ChildCommand::new("sh").args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(program).args(ARGUMENTS);
    let child = ChildTransport::spawn(&command, &ChildSettings::default()).unwrap();
    expect_echo(&child).await;
    within_a_minute(child.close()).await;
    assert_eq!(child.wait().await.unwrap().code(), Some(7));
}

#[test]
fn a_server_reads_a_file() {
    let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .stdin(Stdio::from(file))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("name = \"mcp-transport\""), "{text}");
}

#[tokio::test]
async fn a_server_whose_output_nobody_reads_ends() {
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // It says nothing by itself, and its input stays open.
    let _input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut greeting = [0; 16];
    output.read_exact(&mut greeting).await.unwrap();
    drop(output);
    let status = within_a_minute(child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(7));
}
