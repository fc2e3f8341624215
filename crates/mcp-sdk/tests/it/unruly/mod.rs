//! Whatever the peer sends, servers and clients follow the protocol, and every request gets a
//! response.

mod clients;
mod script;
mod servers;

use std::{collections::BTreeMap, time::Duration};

use mcp_json::Tape;
use mcp_rules::{Engine, Findings, Settings};
use mcp_schema::Schemas;
use mcp_sdk::{
    NoArguments, Server, Severity, Structured, Validation,
    core::{
        Completion, Content, CreateMessageRequest, ElicitForm, ElicitRequest, GetPromptResult,
        LogLevel, Progress, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, SamplingMessage, Side,
    },
    schemars::JsonSchema,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: f64,
}

fn server(validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .validation(validation.on_finding(|_| {}))
        .tool("sum", "Adds numbers", async |sum: Sum, _| {
            Ok(Structured(Total { total: sum.numbers.iter().sum() }))
        })
        .tool("work", "Takes its time", async |_: NoArguments, context| {
            for step in 1..=3 {
                context.progress(Progress::new(f64::from(step)).total(3.0)).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            context.log(LogLevel::Warning, None, "nearly done").await;
            Ok("worked")
        })
        .tool("ask", "Asks the user", async |_: NoArguments, context| {
            let form = ElicitForm::new().required("name", ElicitForm::string());
            let answer = context.elicit("who", &ElicitRequest::form("Who are you?", form)).await?;
            let request = CreateMessageRequest::new(vec![SamplingMessage::user("Greet!")], 10);
            let greeting = context.sample("greeting", &request).await?;
            let roots = context.roots("roots").await?;
            Ok(format!("{:?} {} {}", answer.content, greeting.content.all_text(), roots.len()))
        })
        .tool("fail", "Fails", async |_: NoArguments, _| {
            Err::<String, _>(std::io::Error::other("no luck").into())
        })
        .prompt(
            Prompt::new("greet").argument(PromptArgument::required("name")),
            async |arguments: BTreeMap<String, String>, _| {
                let text = Content::text(format!("Hello {}", arguments["name"]));
                Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
            },
        )
        .completions(async |_, _| Ok(Completion::new(vec!["Ada".to_owned()])))
        .resource(Resource::new("test://one", "one"), async |uri: String, _, _| {
            Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, "one")]))
        })
        .template(
            ResourceTemplate::new("test://item/{id}", "items"),
            async |uri: String, variables: BTreeMap<String, String>, _| {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, &variables["id"])]))
            },
        )
        .build()
        .unwrap()
}

/// All messages, in the order in which the client saw them.
type Record = Vec<(Side, Vec<u8>)>;

/// Rules that an observer cannot decide: responses and cancellations may cross, MCP and JSON-RPC
/// contradict each other on errors without an id, and a client with neither a handshake nor metadata
/// leaves its era open.
const UNDECIDED: [&str; 4] = [
    "cancel-completed-request",
    "error-code-legacy-range",
    "error-id-null",
    "response-after-cancel",
];
/// Rules that a server without enforcement violates when it gets malformed metadata, or `null`
/// instead of an absent member.
const LENIENT: [&str; 2] = ["request-meta-not-rejected", "tool-arguments-invalid-accepted"];

/// The findings against `side` with at least severity `least`.
fn faults(side: Side, least: Severity, record: &Record, excused: &[&str]) -> Vec<String> {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut session = engine.session(None);
    session.begin();
    let mut findings = Findings::new(engine.settings());
    let mut tape = Tape::new();
    for (from, bytes) in record {
        let document = tape.parse(bytes, engine.settings().limits.json()).unwrap();
        let followed = engine.follow(&mut session, Some(*from), document.root());
        engine.judge(document.root(), &followed, &mut findings);
    }
    let by_side = |finding: &&mcp_sdk::Finding| {
        finding.at_fault == Some(side)
            && finding.severity >= least
            && !excused.contains(&finding.rule.name)
    };
    let shown = |finding: &mcp_sdk::Finding| format!("{}: {}", finding.rule.name, finding.message);
    findings.as_slice().iter().filter(by_side).map(shown).collect()
}

fn shown(record: &Record) -> String {
    let line = |(side, bytes): &(Side, Vec<u8>)| {
        format!("{}: {}\n", side.as_str(), String::from_utf8_lossy(bytes))
    };
    record.iter().map(line).collect()
}

fn is_faultless(
    side: Side,
    least: Severity,
    record: &Record,
    excused: &[&str],
) -> Result<(), TestCaseError> {
    let faults = faults(side, least, record, excused);
    prop_assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), shown(record));
    Ok(())
}

/// Runs a conversation with paused time.
fn play<T>(conversation: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(conversation)
}
