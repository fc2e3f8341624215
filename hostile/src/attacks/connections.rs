//! Attacks on the connections of a server.

use std::{
    io::{Read as _, Write as _},
    thread,
    time::{Duration, Instant},
};

use crate::{
    healthy::Healthy,
    http::{self, KeptAlive, Session},
    outcome::Outcome,
    process::{Program, raise_file_limit},
    stage::Stage,
};

/// More connections than the server may have files, all idle.
pub(crate) fn idle(stage: &Stage) -> anyhow::Result<Outcome> {
    let files = 256;
    let mut server = Program::start_limited(stage, "example-conformance-server", files)?;
    let address = server.address()?;
    let mut open = Vec::new();
    for _ in 0..files + 100 {
        open.push(http::connect(&address)?);
    }
    // Idle connections are closed to make room, which takes a moment.
    let mut is_served = false;
    let start = Instant::now();
    while !is_served && start.elapsed() < Duration::from_secs(20) {
        is_served = Session::plain(&address).is_ok();
    }
    Ok(Outcome::new()
        .memory(server.peak()?, 64)
        .check(is_served, format!("a newcomer is served beside {} idle ones", open.len())))
}

/// Thousands of concurrent connections, each used, kept open, and used again.
pub(crate) fn many(stage: &Stage) -> anyhow::Result<Outcome> {
    let wanted = stage.times(5_000, 500);
    let files = raise_file_limit()?;
    let mut server = Program::start(stage, "example-conformance-server", &["--port", "0"])?;
    let address = server.address()?;
    let healthy = Healthy::start(&address)?;
    let mut open = Vec::new();
    while open.len() < wanted {
        let opened = KeptAlive::open(&address).and_then(|mut connection| {
            anyhow::ensure!(connection.discover()?, "the server has refused");
            Ok(connection)
        });
        match opened {
            Ok(connection) => open.push(connection),
            Err(_) => break,
        }
    }
    // Count only connections that are still served.
    let held = open.iter_mut().filter_map(|connection| connection.discover().ok());
    let held = held.filter(|is_served| *is_served).count();
    let said = format!("{held} of {wanted} connections held; at most {files} files may be open");
    Ok(Outcome::new()
        .memory(server.peak()?, 250)
        .check(held == wanted, said)
        .answers(healthy.stop(), stage.times(20, 3)))
}

/// Requests whose heads never end: the connections must not stay open forever.
pub(crate) fn slow_heads(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, "example-http-beside-routes", &[])?;
    let address = server.address()?;
    let mut open = Vec::new();
    for _ in 0..100 {
        let mut stream = http::connect(&address)?;
        stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n")?;
        stream.set_nonblocking(true)?;
        open.push(stream);
    }
    let start = Instant::now();
    // Servers allow at least ten seconds for a head.
    let limit = Duration::from_secs(60);
    while !open.is_empty() && start.elapsed() < limit {
        thread::sleep(Duration::from_secs(1));
        open.retain_mut(|stream| {
            let _ = stream.write_all(b"x: y\r\n");
            !matches!(stream.read(&mut [0; 512]), Ok(_) | Err(_) if is_closed(stream))
        });
    }
    let is_served = Session::plain(&address).is_ok();
    Ok(Outcome::new()
        .memory(server.peak()?, 64)
        .check(open.is_empty(), format!("{} of 100 heads still open", open.len()))
        .check(is_served, "others are served"))
}

/// Whether the other side has closed the connection.
fn is_closed(stream: &std::net::TcpStream) -> bool {
    match stream.peek(&mut [0]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}
