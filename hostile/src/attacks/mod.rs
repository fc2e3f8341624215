//! The attacks, by target.

mod client;
mod command;
mod connections;
mod folder;
mod long_lines;
mod mock;
mod sessions;
mod stdio;
mod websocket;

use crate::{outcome::Outcome, stage::Stage};

/// An attack that an anonymous peer can mount.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Stage) -> anyhow::Result<Outcome>,
}

pub(crate) const ATTACKS: &[Attack] = &[
    Attack { name: "ws: pings, answers never read", run: websocket::pings_unread },
    Attack { name: "ws: messages that never end", run: websocket::unfinished },
    Attack { name: "ws: more silent clients than places", run: websocket::silent },
    Attack { name: "http: handshakes without an id", run: sessions::handshakes_without_id },
    Attack { name: "http: sessions with large client names", run: sessions::large_names },
    Attack { name: "http: unknown tools with large names", run: sessions::large_errors },
    Attack { name: "http: large questions, never answered", run: sessions::open_questions },
    Attack { name: "http: large progress tokens", run: sessions::large_tokens },
    Attack { name: "http: one client opens all sessions", run: sessions::all_sessions },
    Attack { name: "http: batch of ids with lone surrogates", run: sessions::surrogates },
    Attack { name: "http: batch of a million zeros", run: sessions::zeros },
    Attack { name: "http: flood of unknown notifications", run: sessions::unknown },
    Attack { name: "http: duplicate envelope members", run: sessions::duplicates },
    Attack { name: "http: more idle connections than files", run: connections::idle },
    Attack { name: "http: 5,000 connections in use", run: connections::many },
    Attack { name: "http: heads that never end", run: connections::slow_heads },
    Attack { name: "stdio: pings with large ids", run: stdio::large_ids },
    Attack { name: "stdio: standard output closed", run: stdio::closed_output },
    Attack { name: "stdio: lines of 64 MB", run: long_lines::to_server },
    Attack { name: "proxy: lines of 64 MB", run: long_lines::through_proxy },
    Attack { name: "mock: long answers, never read", run: mock::answers_unread },
    Attack { name: "client: pings, answers never read", run: client::pings_unread },
    Attack { name: "client: terminal escapes in names", run: client::escapes },
    Attack { name: "check: lines of `{`", run: command::open_braces },
    Attack { name: "check: lines of 64 MB", run: long_lines::in_file },
    Attack { name: "check: the reader leaves", run: command::reader_leaves },
    Attack { name: "check: links, pipes and devices in a folder", run: command::folder },
    Attack { name: "check: terminal escapes in names", run: command::escapes },
];

/// Whether a text could control a terminal: control characters except line ends, or characters that
/// reverse or hide text.
fn shows_controls(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return true;
    };
    text.chars().any(|character| match character {
        '\n' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    })
}
