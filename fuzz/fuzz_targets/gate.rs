//! Any messages, one a line, through a gate that enforces: no panic, and what breaks its envelope does
//! not pass.

#![no_main]

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_core::Side;
use mcp_json::Parsed;
use mcp_jsonrpc::Gate as _;
use mcp_rules::{Carrier, Engine, Layer, SessionGate, Settings, Severity, Strictness};
use mcp_schema::Schemas;

fuzz_target!(|input: &[u8]| {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    let engine =
        ENGINE.get_or_init(|| Arc::new(Engine::new(Schemas::embedded(), Settings::default())));
    let mut gate = SessionGate::new(engine.clone(), Strictness::Enforce, Carrier::Stdio)
        .guarding(Side::Server);
    for line in input.split(|byte| *byte == b'\n') {
        let Some((first, text)) = line.split_first() else { continue };
        let from = if *first == b'<' { Side::Server } else { Side::Client };
        match Parsed::parse(Bytes::copy_from_slice(text), engine.settings().limits.json()) {
            Ok(message) => {
                let judgement = gate.examine(from, &message);
                // What it shows about an earlier message does not hold it back.
                let is_broken = judgement.findings.iter().any(|finding| {
                    finding.line == Some(judgement.number)
                        && finding.at_fault.is_none_or(|side| side == from)
                        && finding.severity == Severity::Error
                        && finding.rule.layer == Layer::JsonRpc
                });
                assert!(!is_broken || !judgement.verdict.refusals.is_empty(), "{judgement:?}");
            }
            Err(error) => {
                gate.judge_unreadable(from, text, &error);
            }
        }
    }
});
