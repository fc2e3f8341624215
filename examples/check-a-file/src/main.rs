//! How do I check a recorded conversation from my own program?
//!
//! ```sh
//! cargo run -p example-check-a-file -- traces/schema/params-invalid/bad.jsonl
//! ```
//!
//! Without an argument it checks three built-in lines. `plumb check` does the same in parallel, and
//! shows positions in the text.
#![expect(clippy::print_stdout, reason = "it prints the findings")]

use std::{env, fs};

use anyhow::Context as _;
use mcp_core::visible;
use mcp_rules::{Engine, Finding, Findings, LineReader, Observer, RecordingInfo, Routed, Settings};
use mcp_schema::Schemas;

const SAMPLE: &[u8] = br#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"now","inputSchema":null}]}}}
{"from":"server","raw":"Listening on stdio"}
"#;

fn main() -> anyhow::Result<()> {
    let file = match env::args_os().nth(1) {
        Some(path) => fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?,
        None => SAMPLE.to_vec(),
    };
    let findings = check(&file);
    for finding in &findings {
        let line = finding.line.unwrap_or_default();
        // Whoever wrote the file may have put control characters for terminals into it.
        let message = visible(&finding.message);
        println!("line {line}: {}: {message} [{}]", finding.severity, finding.rule.name);
        if let Some(help) = &finding.help {
            println!("  help: {}", visible(help));
        }
    }
    println!("findings: {}", findings.len());
    Ok(())
}

fn check(file: &[u8]) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut found = Vec::new();
    // Findings made while following: framing faults, and text that had to be split first.
    let mut judged = Vec::new();
    let mut reader = LineReader::new(&engine.settings().limits);

    let file = file.strip_suffix(b"\n").unwrap_or(file);
    for (number, line) in (1..).zip(file.split(|byte| *byte == b'\n')) {
        reader.read(line, |line| {
            // Following is cheap and has to happen in order; reading and judging could run on other
            // threads.
            if let Routed::Judge(followed) = observer.follow(number, line, &mut judged) {
                let mut findings = Findings::new(engine.settings());
                findings.set_line(number);
                line.judge(&engine, &followed, &mut findings);
                found.extend(findings.take());
            }
        });
        found.extend(judged.drain(..).flat_map(|judged| judged.findings));
    }
    observer.finish(&mut judged);
    found.extend(judged.into_iter().flat_map(|judged| judged.findings));
    found
}
