//! Probes of echo tools: whether everything comes back as it was sent.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{
    Subject,
    calls::{CallOutcome, Calls, outcome, params, short_complaint},
};
use crate::{Reply, Stage, StepsFuture, Stop, values::token};

/// Maximum number of arguments to try.
const ARGUMENTS: usize = 3;
/// Number of concurrent calls.
const AT_ONCE: usize = 8;
/// The first integer that a floating-point number cannot represent.
const BEYOND_DOUBLE: i64 = 9_007_199_254_740_993;
/// Plain texts; a tool that returns both is an echo tool.
const PLAIN: [&str; 2] = ["plumb-1f0e", "Plumb <7F3a> & so on: \"100%\""];

/// The position of the argument in a result, with the text around it.
#[derive(Debug, PartialEq)]
struct Echo {
    /// A pointer into the result, to a text or a number.
    at: String,
    before: String,
    after: String,
}

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        let (Some(values), Some(base)) = (&plan.values, &plan.base) else { return Ok(()) };
        let mut found = None::<(Echo, String)>;
        for pointer in values.free_texts(base).into_iter().take(ARGUMENTS) {
            let send = |text: &str| values.with(base, &pointer, json!(text));
            if let Some(echo) = find(stage, &mut calls, &send).await?
                && found.as_ref().is_none_or(|_| echo.is_whole())
            {
                found = Some((echo, pointer));
            }
        }
        let mut is_echo = found.is_some();
        if let Some((echo, pointer)) = found {
            let send = |text: &str| values.with(base, &pointer, json!(text));
            special_texts(stage, &mut calls, &subject, &echo, &send).await?;
            at_once(stage, &calls, &subject, &echo, &send).await?;
        }
        for (pointer, _) in numbers(base) {
            let send = |number: i64| values.with(base, &pointer, json!(number));
            is_echo |= numbers_return(stage, &mut calls, &subject, &send).await?;
        }
        if is_echo {
            return Ok(());
        }
        Err(Stop::Skip("it does not return its arguments unchanged".to_owned()))
    })
}

/// Locates the argument in the result of the tool.
async fn find(
    stage: &mut Stage,
    calls: &mut Calls<'_>,
    send: &impl Fn(&str) -> Option<Value>,
) -> Result<Option<Echo>, Stop> {
    let mut replies = Vec::new();
    for text in PLAIN {
        let Some(arguments) = send(text) else { return Ok(None) };
        let reply = calls.call(stage, Some(&arguments), "plain text").await?;
        let Some(reply) = reply.filter(|reply| outcome(reply) == CallOutcome::Done) else {
            return Ok(None);
        };
        replies.push(reply);
    }
    let located = |index: usize, text: &str| locate(replies.get(index)?.result()?, text);
    let (first, second) = (located(0, PLAIN[0]), located(1, PLAIN[1]));
    if first.is_none() && second.is_none() && located(1, PLAIN[0]).is_some() {
        let message = "the answer to a call contains the text of the previous call";
        let help = "keep no state of one call for the next";
        let line = replies.last().map(Reply::line).unwrap_or_default();
        stage.fail(&behaviour::ANSWERS_CROSSED, &calls.talk, line, message, help);
    }
    Ok(second.filter(|_| first == located(1, PLAIN[1])))
}

/// Sends texts that are easily corrupted.
async fn special_texts(
    stage: &mut Stage,
    calls: &mut Calls<'_>,
    subject: &Subject,
    echo: &Echo,
    send: &impl Fn(&str) -> Option<Value>,
) -> Result<(), Stop> {
    let long = "plumb ".repeat(1_000);
    let texts = [
        ("emoji", "🙂👩‍👩‍👧‍👦 \u{10ffff}"),
        ("U+0000", "plumb\u{0}plumb"),
        ("spaces around it", "  plumb \t"),
        ("quotes and line feeds", "\"'\\\n/\u{7f}\u{2028}"),
        ("thousands of characters", long.as_str()),
        ("no character at all", ""),
    ];
    for (what, text) in texts {
        let Some(arguments) = send(text) else { continue };
        let Some(reply) = calls.call(stage, Some(&arguments), what).await? else { break };
        let problem = match outcome(&reply) {
            CallOutcome::Unfinished => continue,
            // The tool may have a reason to refuse this, unless its result is the argument itself.
            _ if outcome(&reply) != CallOutcome::Done && !echo.is_whole() => continue,
            CallOutcome::Done if holds(reply.result().unwrap_or(&Value::Null), echo, text) => {
                continue;
            }
            CallOutcome::Done => "returns it changed".to_owned(),
            _ => {
                let Some(plain) = send(PLAIN[0]) else { continue };
                if !calls.differ(stage, Some(&arguments), &plain).await? {
                    continue;
                }
                format!("fails: {}", short_complaint(&reply))
            }
        };
        let message =
            format!("`{}` returns plain text, but given {what}, {problem}", subject.name());
        let help = "return text unchanged, whatever it contains, or exclude it in the schema";
        let rule = &behaviour::ARGUMENT_NOT_RETURNED;
        stage.fail(rule, &calls.talk, reply.line(), message, help);
        break;
    }
    Ok(())
}

/// Sends several texts concurrently: each call must get its own.
async fn at_once(
    stage: &mut Stage,
    calls: &Calls<'_>,
    subject: &Subject,
    echo: &Echo,
    send: &impl Fn(&str) -> Option<Value>,
) -> Result<(), Stop> {
    let texts: Vec<String> = (0..AT_ONCE).map(|number| format!("plumb-{number}-at-once")).collect();
    let mut requests = Vec::new();
    for text in &texts {
        let Some(arguments) = send(text) else { return Ok(()) };
        stage.spend_call()?;
        requests.push(calls.talk.request("tools/call", params(subject.name(), Some(&arguments))));
    }
    let replies = join_all(requests).await;
    for (text, reply) in texts.iter().zip(replies) {
        let reply = reply?;
        let result = reply.result().unwrap_or(&Value::Null);
        if outcome(&reply) != CallOutcome::Done || holds(result, echo, text) {
            continue;
        }
        if texts.iter().any(|other| holds(result, echo, other)) {
            let message = format!(
                "one of {AT_ONCE} concurrent calls of `{}` got the answer to another",
                subject.name()
            );
            let help = "keep the state of each call separate";
            let rule = &behaviour::ANSWERS_CROSSED;
            stage.fail(rule, &calls.talk, reply.line(), message, help);
            break;
        }
    }
    Ok(())
}

/// Sends an integer that is easily rounded. Returns whether the tool returns integers at all.
async fn numbers_return(
    stage: &mut Stage,
    calls: &mut Calls<'_>,
    subject: &Subject,
    send: &impl Fn(i64) -> Option<Value>,
) -> Result<bool, Stop> {
    let mut echo = None::<Echo>;
    for number in [7_919, 104_729, BEYOND_DOUBLE] {
        let Some(arguments) = send(number) else { break };
        let Some(reply) = calls.call(stage, Some(&arguments), "a number").await? else { break };
        if outcome(&reply) != CallOutcome::Done {
            break;
        }
        let result = reply.result().unwrap_or(&Value::Null);
        let found = locate(result, &number.to_string()).filter(Echo::is_whole);
        if number != BEYOND_DOUBLE {
            if found.is_none() || echo.is_some() && echo != found {
                return Ok(false);
            }
            echo = found;
        } else if let Some(echo) = &echo
            && !holds(result, echo, &number.to_string())
        {
            let message = format!("`{}` returns numbers, but 2^53 + 1 changed", subject.name());
            let help = "read integers as integers, or give the schema a `maximum`";
            let rule = &behaviour::ARGUMENT_NOT_RETURNED;
            stage.fail(rule, &calls.talk, reply.line(), message, help);
        }
    }
    Ok(echo.is_some())
}

impl Echo {
    /// Whether the result is the argument alone.
    fn is_whole(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// Locates a text in a result: in structured content, or in the text of a block.
fn locate(result: &Value, text: &str) -> Option<Echo> {
    let places = scalars(&result["structuredContent"], "/structuredContent");
    let blocks = result["content"].as_array().into_iter().flatten().enumerate();
    let blocks = blocks.filter_map(|(index, block)| {
        Some((format!("/content/{index}/text"), block["text"].as_str()?.to_owned()))
    });
    places.into_iter().chain(blocks).find_map(|(at, held)| {
        let (before, after) = held.split_once(text)?;
        Some(Echo { at, before: before.to_owned(), after: after.to_owned() })
    })
}

/// Whether a result has a text at the same position with the same surroundings.
fn holds(result: &Value, echo: &Echo, text: &str) -> bool {
    let held = match result.pointer(&echo.at) {
        Some(Value::String(held)) => held.clone(),
        Some(Value::Number(held)) => held.to_string(),
        _ => return false,
    };
    held == format!("{}{text}{}", echo.before, echo.after)
}

/// The numbers in a value, by pointer.
fn numbers(value: &Value) -> Vec<(String, String)> {
    let members = value.as_object().into_iter().flatten();
    let numbers = members.filter(|(_, value)| value.is_number());
    numbers.flat_map(|(name, value)| scalars(value, &format!("/{}", token(name)))).collect()
}

/// The strings and numbers in a value as text, by pointer, up to a limit.
fn scalars(value: &Value, pointer: &str) -> Vec<(String, String)> {
    const MOST: usize = 64;
    let mut found = Vec::new();
    let mut pending = vec![(pointer.to_owned(), value)];
    while let Some((pointer, value)) = pending.pop() {
        match value {
            _ if found.len() >= MOST || pending.len() >= MOST => break,
            Value::String(text) => found.push((pointer, text.clone())),
            Value::Number(number) => found.push((pointer, number.to_string())),
            Value::Object(members) => pending.extend(
                members.iter().map(|(name, value)| (format!("{pointer}/{}", token(name)), value)),
            ),
            Value::Array(elements) => pending.extend(
                elements.iter().enumerate().map(|(at, value)| (format!("{pointer}/{at}"), value)),
            ),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_found_where_it_is() {
        let result = json!({ "content": [{ "type": "text", "text": "Echo: abc!" }] });
        let echo = locate(&result, "abc").unwrap();
        assert_eq!((echo.before.as_str(), echo.after.as_str()), ("Echo: ", "!"));
        assert!(!echo.is_whole());
        assert!(holds(&json!({ "content": [{ "text": "Echo: 🙂!" }] }), &echo, "🙂"));
        assert!(!holds(&json!({ "content": [{ "text": "Echo: ?!" }] }), &echo, "🙂"));
        assert!(!holds(&json!({ "content": [] }), &echo, "🙂"));
        let structured = json!({ "structuredContent": { "a/b": [{ "n": 7919 }] }, "content": [] });
        let echo = locate(&structured, "7919").unwrap();
        assert_eq!(echo.at, "/structuredContent/a~1b/0/n");
        assert!(echo.is_whole());
        assert!(locate(&result, "x").is_none());
    }
}
