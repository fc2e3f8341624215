//! Attacks on a WebSocket server.

use std::{
    io::Write as _,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::{outcome::Outcome, process::Program, stage::Stage, websocket};

/// Endless pings with the pongs not read: they must not accumulate.
pub(crate) fn pings_unread(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, "example-websocket-echo", &[])?;
    let mut stream = websocket::open(&server.address()?)?;
    let sent = flood(&mut stream, &websocket::client_ping(), stage);
    Ok(Outcome::new().memory(server.peak()?, 64).check(true, format!("{sent} MB of pings taken")))
}

/// Sends pings for some seconds or until the server stops reading; returns the MB sent.
pub(crate) fn flood(stream: &mut TcpStream, ping: &[u8], stage: &Stage) -> usize {
    let pings = ping.repeat(1000);
    let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
    let (start, limit) = (Instant::now(), Duration::from_secs(stage.times(15, 4) as u64));
    let mut sent = 0;
    while start.elapsed() < limit && stream.write_all(&pings).is_ok() {
        sent += pings.len();
    }
    sent >> 20
}

/// Many connections, each with most of a large message and a byte now and then.
pub(crate) fn unfinished(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, "example-websocket-echo", &[])?;
    let address = server.address()?;
    let message = stage.big();
    let mut open = Vec::new();
    for _ in 0..stage.times(150, 100) {
        let mut stream = websocket::open(&address)?;
        stream.set_write_timeout(Some(Duration::from_secs(1)))?;
        let mut begun = websocket::head(0x81, message.len() + 100);
        begun.extend_from_slice(message.as_bytes());
        // Without memory, the server may stop reading or close the connection.
        let _ = stream.write_all(&begun);
        open.push(stream);
    }
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(300));
        for stream in &mut open {
            let _ = stream.write_all(b"x");
        }
    }
    let peak = server.peak()?;
    let greeting = websocket::text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let is_served =
        websocket::open(&address).and_then(|mut stream| Ok(stream.write_all(&greeting)?));
    Ok(Outcome::new().memory(peak, 400).check(is_served.is_ok(), "others are served"))
}

/// More clients than the server has slots for, all silent.
pub(crate) fn silent(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, "example-websocket-echo", &[])?;
    let address = server.address()?;
    let open: Vec<_> = (0..1100).filter_map(|_| websocket::open(&address).ok()).collect();
    // Silent clients are disconnected one after the other, each after half a second.
    let mut is_served = false;
    let start = Instant::now();
    while !is_served && start.elapsed() < Duration::from_secs(20) {
        is_served = websocket::open(&address).is_ok();
    }
    Ok(Outcome::new()
        .memory(server.peak()?, 128)
        .check(is_served, format!("a newcomer is served beside {} silent ones", open.len())))
}
