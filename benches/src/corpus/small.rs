//! The bulk of a session: messages of about 200 bytes, many methods, in realistic proportions.

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;
use super::tool_list::Tool;
use super::tools_call::{self, text_content};
use super::wire::{Answer, Exchange, Notice};
use super::words;

/// The prompts of a made-up server; each has a `topic`.
static PROMPTS: [&str; 4] = ["explain_code", "plan_release", "review_change", "summarise"];

static TEMPLATE: &str = "file:///workspace/{path}";

/// One of the many short exchanges.
pub fn exchange(rng: &mut Rng, tools: &[Tool]) -> Exchange {
    type Make = fn(&mut Rng) -> Exchange;
    if rng.chance(35) {
        return short_call(rng, tools);
    }
    let make = rng.weighted::<Make>(&[
        (12, read),
        (8, complete),
        (5, ping),
        (7, prompt),
        (5, failed),
        (4, list_resources),
        (3, list_prompts),
        (3, list_templates),
        (3, subscribe),
        (3, set_level),
        (3, sample),
        (3, elicit),
        (2, list_roots),
        (2, initialize),
    ]);
    make(rng)
}

/// A short notification that does not depend on a request.
pub fn notice(rng: &mut Rng) -> Notice {
    let (from, method) = rng.weighted(&[
        (70, (Side::Server, "notifications/message")),
        (10, (Side::Server, "notifications/resources/list_changed")),
        (5, (Side::Server, "notifications/prompts/list_changed")),
        (5, (Side::Client, "notifications/roots/list_changed")),
    ]);
    let params = (method == "notifications/message").then(|| {
        Json::object([
            ("level", rng.pick(&["info", "info", "notice", "warning", "error"]).into()),
            ("logger", words::identifier(rng).into()),
            ("data", log_data(rng)),
        ])
    });
    Notice { from, method, params }
}

/// Progress of the request with `token`; `step` must grow.
pub fn progress(rng: &mut Rng, from: Side, token: &Json, step: i64) -> Notice {
    let mut params = Json::object([
        ("progressToken", token.clone()),
        ("progress", step.into()),
        ("total", 100_i64.into()),
    ]);
    if rng.chance(50) {
        params = params.with("message", words::sentence(rng, 5));
    }
    Notice { from, method: "notifications/progress", params: Some(params) }
}

/// Cancels the request with `id`.
pub fn cancelled(rng: &mut Rng, id: &Json) -> Notice {
    let params =
        Json::object([("requestId", id.clone()), ("reason", words::sentence(rng, 4).into())]);
    Notice { from: Side::Client, method: "notifications/cancelled", params: Some(params) }
}

/// Reports that a resource the client subscribed to has changed.
pub fn updated(uri: &Json) -> Notice {
    Notice {
        from: Side::Server,
        method: "notifications/resources/updated",
        params: Some(Json::object([("uri", uri.clone())])),
    }
}

/// Reports that the client is ready.
pub fn initialized() -> Notice {
    Notice { from: Side::Client, method: "notifications/initialized", params: None }
}

/// The handshake, with every capability declared.
pub fn initialize(rng: &mut Rng) -> Exchange {
    let changing = || Json::object([("listChanged", true.into())]);
    let version = format!("{}.{}.{}", rng.below(4), rng.below(20), rng.below(10));
    let params = Json::object([
        ("protocolVersion", "2025-11-25".into()),
        (
            "capabilities",
            Json::object([
                ("roots", changing()),
                ("sampling", Json::object([])),
                ("elicitation", Json::object([])),
            ]),
        ),
        (
            "clientInfo",
            Json::object([
                ("name", words::identifier(rng).into()),
                ("version", version.as_str().into()),
            ]),
        ),
    ]);
    let result = Json::object([
        ("protocolVersion", "2025-11-25".into()),
        (
            "capabilities",
            Json::object([
                ("logging", Json::object([])),
                ("completions", Json::object([])),
                ("prompts", changing()),
                ("resources", changing().with("subscribe", true)),
                ("tools", changing()),
            ]),
        ),
        (
            "serverInfo",
            Json::object([("name", words::identifier(rng).into()), ("version", version.into())]),
        ),
    ]);
    asked(Side::Client, "initialize", Some(params), result)
}

/// Subscribes to a resource.
pub fn subscribe(rng: &mut Rng) -> Exchange {
    let params = Json::object([("uri", words::uri(rng).into())]);
    asked(Side::Client, "resources/subscribe", Some(params), Json::object([]))
}

fn asked(from: Side, method: &'static str, params: Option<Json>, result: Json) -> Exchange {
    Exchange { from, method, params, answer: Answer::Result(result) }
}

/// A call whose result is a word or two, or a failure.
fn short_call(rng: &mut Rng, tools: &[Tool]) -> Exchange {
    let mut exchange = tools_call::exchange(rng, tools);
    if rng.chance(10) {
        let content = Json::Array(vec![text_content(words::sentence(rng, 8))]);
        exchange.answer =
            Answer::Result(Json::object([("content", content), ("isError", true.into())]));
    }
    exchange
}

fn ping(rng: &mut Rng) -> Exchange {
    asked(rng.pick(&Side::BOTH), "ping", None, Json::object([]))
}

fn read(rng: &mut Rng) -> Exchange {
    let uri = words::uri(rng);
    let contents = Json::object([
        ("uri", uri.as_str().into()),
        ("mimeType", "text/plain".into()),
        ("text", words::prose(rng, 240).into()),
    ]);
    asked(
        Side::Client,
        "resources/read",
        Some(Json::object([("uri", uri.into())])),
        Json::object([("contents", Json::Array(vec![contents]))]),
    )
}

fn complete(rng: &mut Rng) -> Exchange {
    let reference = if rng.chance(50) {
        Json::object([("type", "ref/prompt".into()), ("name", rng.pick(&PROMPTS).into())])
    } else {
        Json::object([("type", "ref/resource".into()), ("uri", TEMPLATE.into())])
    };
    let argument = Json::object([("name", "topic".into()), ("value", words::word(rng).into())]);
    let values: Vec<String> = (0..rng.between(1, 6)).map(|_| words::identifier(rng)).collect();
    let total = i64::try_from(values.len()).unwrap_or(0);
    let completion = Json::object([
        ("values", values.into()),
        ("total", total.into()),
        ("hasMore", false.into()),
    ]);
    asked(
        Side::Client,
        "completion/complete",
        Some(Json::object([("ref", reference), ("argument", argument)])),
        Json::object([("completion", completion)]),
    )
}

fn prompt(rng: &mut Rng) -> Exchange {
    let params = Json::object([
        ("name", rng.pick(&PROMPTS).into()),
        ("arguments", Json::object([("topic", words::word(rng).into())])),
    ]);
    let message =
        Json::object([("role", "user".into()), ("content", text_content(words::prose(rng, 240)))]);
    let result = Json::object([
        ("description", words::sentence(rng, 5).into()),
        ("messages", Json::Array(vec![message])),
    ]);
    asked(Side::Client, "prompts/get", Some(params), result)
}

fn failed(rng: &mut Rng) -> Exchange {
    let params = Json::object([("uri", words::uri(rng).into())]);
    let code = rng.pick(&[-32_602, -32_603, -32_002]);
    let message = words::sentence(rng, 6);
    Exchange {
        from: Side::Client,
        method: "resources/read",
        params: Some(params),
        answer: Answer::Error { code, message },
    }
}

fn list_resources(rng: &mut Rng) -> Exchange {
    let path = words::path(rng);
    let resource = Json::object([
        ("uri", format!("file:///workspace/{path}").into()),
        ("name", path.into()),
        ("mimeType", "text/plain".into()),
        ("size", rng.integer(0, 90_000).into()),
    ]);
    let result = Json::object([("resources", Json::Array(vec![resource]))]);
    asked(Side::Client, "resources/list", None, result)
}

fn list_templates(_: &mut Rng) -> Exchange {
    let template = Json::object([
        ("uriTemplate", TEMPLATE.into()),
        ("name", "workspace file".into()),
        ("description", "Any file of the workspace".into()),
    ]);
    let result = Json::object([("resourceTemplates", Json::Array(vec![template]))]);
    asked(Side::Client, "resources/templates/list", None, result)
}

fn list_prompts(_: &mut Rng) -> Exchange {
    let prompts = PROMPTS.iter().map(|name| {
        let argument = Json::object([("name", "topic".into()), ("required", true.into())]);
        Json::object([("name", (*name).into()), ("arguments", Json::Array(vec![argument]))])
    });
    let result = Json::object([("prompts", Json::Array(prompts.collect()))]);
    asked(Side::Client, "prompts/list", None, result)
}

fn set_level(rng: &mut Rng) -> Exchange {
    // Never above the levels that `notice` sends.
    let params = Json::object([("level", rng.pick(&["debug", "info"]).into())]);
    asked(Side::Client, "logging/setLevel", Some(params), Json::object([]))
}

fn sample(rng: &mut Rng) -> Exchange {
    let message =
        Json::object([("role", "user".into()), ("content", text_content(words::prose(rng, 100)))]);
    let params = Json::object([
        ("messages", Json::Array(vec![message])),
        ("systemPrompt", words::sentence(rng, 6).into()),
        ("maxTokens", rng.integer(50, 4000).into()),
    ]);
    let result = Json::object([
        ("role", "assistant".into()),
        ("content", text_content(words::prose(rng, 100))),
        ("model", words::identifier(rng).into()),
        ("stopReason", "endTurn".into()),
    ]);
    asked(Side::Server, "sampling/createMessage", Some(params), result)
}

fn elicit(rng: &mut Rng) -> Exchange {
    let text = || Json::object([("type", "string".into()), ("minLength", 1_i64.into())]);
    let count = Json::object([("type", "integer".into()), ("minimum", 1_i64.into())]);
    let schema = Json::object([
        ("type", "object".into()),
        ("properties", Json::object([("name", text()), ("count", count)])),
        ("required", vec!["name"].into()),
    ]);
    let params =
        Json::object([("message", words::sentence(rng, 7).into()), ("requestedSchema", schema)]);
    let result = if rng.chance(70) {
        let content =
            Json::object([("name", words::word(rng).into()), ("count", rng.integer(1, 50).into())]);
        Json::object([("action", "accept".into()), ("content", content)])
    } else {
        Json::object([("action", "decline".into())])
    };
    asked(Side::Server, "elicitation/create", Some(params), result)
}

fn list_roots(rng: &mut Rng) -> Exchange {
    let root = Json::object([
        ("uri", format!("file:///workspace/{}", rng.pick(&words::NOUNS)).into()),
        ("name", rng.pick(&words::NOUNS).into()),
    ]);
    let result = Json::object([("roots", Json::Array(vec![root]))]);
    asked(Side::Server, "roots/list", None, result)
}

fn log_data(rng: &mut Rng) -> Json {
    if rng.chance(50) {
        return words::prose(rng, 180).into();
    }
    Json::object([
        ("event", words::identifier(rng).into()),
        ("path", words::path(rng).into()),
        ("took", rng.integer(0, 5000).into()),
    ])
}
