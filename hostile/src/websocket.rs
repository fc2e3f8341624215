//! The subset of WebSocket that an attacker needs: frames with a mask of zeros.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use anyhow::{Context as _, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::http;

/// Opens a WebSocket connection.
pub(crate) fn open(address: &str) -> anyhow::Result<TcpStream> {
    let mut stream = http::connect(address)?;
    stream.write_all(
        b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
          sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )?;
    let head = read_head(&mut stream)?;
    ensure!(head.starts_with("HTTP/1.1 101"), "the server did not agree to WebSocket");
    Ok(stream)
}

/// The head of a client's frame. `kind` is the opcode, with the highest bit for the last frame of
/// a message.
pub(crate) fn head(kind: u8, length: usize) -> Vec<u8> {
    let mut head = vec![kind];
    match u8::try_from(length) {
        Ok(short) if short < 126 => head.push(0x80 | short),
        _ => {
            head.push(0xff);
            head.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    head.extend_from_slice(&[0; 4]);
    head
}

/// A whole text message.
pub(crate) fn text(message: &str) -> Vec<u8> {
    let mut frame = head(0x81, message.len());
    frame.extend_from_slice(message.as_bytes());
    frame
}

/// A ping of 125 bytes.
pub(crate) fn client_ping() -> Vec<u8> {
    let mut frame = head(0x89, 125);
    frame.resize(frame.len() + 125, b'p');
    frame
}

/// A ping from a server, whose frames have no mask.
pub(crate) fn server_ping() -> Vec<u8> {
    let mut frame = vec![0x89, 125];
    frame.resize(frame.len() + 125, b'p');
    frame
}

/// Accepts a client and agrees to WebSocket.
pub(crate) fn accept(listener: &TcpListener) -> anyhow::Result<TcpStream> {
    let (mut stream, _) = listener.accept()?;
    let head = read_head(&mut stream)?;
    let key = head
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with("sec-websocket-key:"))
        .and_then(|line| line.split_once(':'))
        .map(|(_, key)| key.trim())
        .context("the client sends no key")?;
    let accepted = digest(&SHA1_FOR_LEGACY_USE_ONLY, [key, GUID].concat().as_bytes());
    let accepted = BASE64_STANDARD.encode(accepted);
    stream.write_all(
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accepted}\r\nsec-websocket-protocol: mcp\r\n\r\n"
        )
        .as_bytes(),
    )?;
    Ok(stream)
}

/// The GUID that RFC 6455 appends to a key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

fn read_head(stream: &mut TcpStream) -> anyhow::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
