//! Is this single message valid?
//!
//! ```sh
//! cargo run -p example-judge-one-message -- '{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
//! ```
//!
//! Without an argument it checks a result, for which it needs to know the request.
#![expect(clippy::print_stdout, reason = "it prints the findings")]

use std::env;

use anyhow::Context as _;
use mcp_core::{Revision, visible};
use mcp_json::Tape;
use mcp_rules::{Alone, Engine, Findings, Settings};
use mcp_schema::Schemas;

const SAMPLE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"now"}]}}"#;

fn main() -> anyhow::Result<()> {
    let text = env::args().nth(1).unwrap_or_else(|| SAMPLE.to_owned());
    let revision = Revision::V2025_11_25;

    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut tape = Tape::new();
    let document = tape
        .parse(text.as_bytes(), engine.settings().limits.json())
        .context("the message is not JSON")?;
    // Results depend on the method; with `answers` set to `None` their content is not checked.
    let about =
        Alone { revision, from: None, answers: mcp_schema::method(revision, b"tools/list") };
    let mut findings = Findings::new(engine.settings());
    engine.judge_alone(document.root(), about, &mut findings);

    println!("{}", visible(&text));
    for finding in findings.as_slice() {
        let guilty = finding.span.and_then(|span| text.get(span.start..span.end));
        let message = visible(&finding.message);
        println!("{}: {message} [{}]", finding.severity, finding.rule.name);
        println!("  here: {}", visible(guilty.unwrap_or(&text)));
    }
    println!("findings by {revision}: {}", findings.as_slice().len());
    Ok(())
}
