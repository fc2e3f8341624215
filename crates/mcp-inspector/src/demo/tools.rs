//! The tools, resources and prompts of the demonstration server.

use std::{collections::BTreeMap, time::Duration};

use mcp_sdk::{
    BuildError, Failure, Server, ServerBuilder, Structured, ToolFunction,
    core::{
        Completion, Content, Context, ElicitAction, ElicitForm, ElicitRequest, GetPromptResult,
        InvalidArguments, LogLevel, Progress, Prompt, PromptArgument, PromptMessage,
        ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ToolAnnotations,
    },
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::faults::{FAULTS, TOOL};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Text {
    /// What to count in.
    #[schemars(length(min = 1))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Statistics {
    characters: usize,
    words: usize,
    lines: usize,
    /// The word that occurs most often.
    favourite: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[schemars(crate = "mcp_sdk::schemars")]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metre,
    Kilometre,
    Foot,
    Mile,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Conversion {
    value: f64,
    from: Unit,
    to: Unit,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Converted {
    value: f64,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Dates {
    /// The first day, as 2026-01-31.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    from: String,
    /// The last day.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    to: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Count {
    /// How far to count.
    #[schemars(range(min = 1, max = 100))]
    to: u32,
    /// Milliseconds between two numbers.
    #[schemars(range(min = 0, max = 10_000))]
    #[serde(default = "half_a_second")]
    pause: u64,
}

fn half_a_second() -> u64 {
    500
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Greeting {
    /// Whether to greet politely.
    #[serde(default)]
    formal: bool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Breach {
    /// Which rule to break; the switch `misbehave` must be on.
    #[schemars(transform = list_faults)]
    fault: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "mcp_sdk::schemars")]
struct Breached {
    fault: String,
}

fn list_faults(schema: &mut schemars::Schema) {
    let names: Vec<&str> = FAULTS.iter().map(|(name, _)| *name).collect();
    schema.insert("enum".to_owned(), json!(names));
}

pub(super) fn server() -> Result<Server, BuildError> {
    let builder = Server::builder("plumb-demo", env!("CARGO_PKG_VERSION"))
        .instructions("A server to try the inspector on. Turn on `misbehave` to see faults.")
        .invalid_arguments(InvalidArguments::ProtocolError);
    others(tools(builder)).build()
}

fn tools(builder: ServerBuilder) -> ServerBuilder {
    let breaking = FAULTS.iter().map(|(name, what)| format!("{name}: {what}"));
    let breaking: Vec<String> = breaking.collect();
    let breaking = format!("Breaks a rule, if `misbehave` is on. {}", breaking.join("; "));
    builder
        .tool_function(
            ToolFunction::new("text_statistics", "Counts what is in a text", count_words)
                .annotations(reading()),
        )
        .tool_function(
            ToolFunction::new("convert_length", "Converts a length", convert)
                .annotations(reading()),
        )
        .tool_function(
            ToolFunction::new("days_between", "Counts the days between two dates", days_between)
                .annotations(reading()),
        )
        .tool("count_slowly", "Counts with progress and log messages", count_slowly)
        .tool("greet", "Asks who you are, and greets you", greet)
        .tool(TOOL, breaking, break_rules)
}

fn reading() -> ToolAnnotations {
    ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() }
}

async fn count_words(text: Text, _: Context) -> Result<Structured<Statistics>, Failure> {
    let Text { text } = text;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let favourite = counts.iter().max_by_key(|(_, count)| **count).map(|(word, _)| (*word).into());
    Ok(Structured(Statistics {
        characters: text.chars().count(),
        words: text.split_whitespace().count(),
        lines: text.lines().count(),
        favourite,
    }))
}

async fn convert(asked: Conversion, _: Context) -> Result<Structured<Converted>, Failure> {
    let metres = |unit| match unit {
        Unit::Metre => 1.0,
        Unit::Kilometre => 1000.0,
        Unit::Foot => 0.3048,
        Unit::Mile => 1609.344,
    };
    Ok(Structured(Converted { value: asked.value * metres(asked.from) / metres(asked.to) }))
}

async fn days_between(dates: Dates, _: Context) -> Result<String, Failure> {
    let Dates { from, to } = dates;
    let day =
        |text: &str| day_of(text).ok_or_else(|| Failure::new(format!("{text} is not a date")));
    let days = day(&to)? - day(&from)?;
    Ok(format!("{days} days"))
}

/// The number of a day in the Gregorian calendar.
fn day_of(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if is_leap { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = months.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if !(1..=*length).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let before = year - 1;
    let years =
        before * 365 + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let earlier: i64 = months.iter().take(usize::try_from(month).ok()? - 1).sum();
    Some(years + earlier + day)
}

async fn count_slowly(count: Count, context: Context) -> Result<String, Failure> {
    let Count { to, pause } = count;
    for number in 1..=to {
        let progress = Progress::new(f64::from(number)).total(f64::from(to));
        context.progress(progress).await;
        context.log(LogLevel::Info, Some("count_slowly"), format!("{number} of {to}")).await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    Ok(format!("counted to {to}"))
}

async fn greet(greeting: Greeting, context: Context) -> Result<String, Failure> {
    let form = ElicitForm::new().required("name", ElicitForm::string().with("minLength", 1));
    let form = form.optional("mood", ElicitForm::one_of(&["fine", "tired", "curious"]));
    let request = ElicitRequest::form("Who are you?", form);
    let answer = context.elicit("who", &request).await?;
    if answer.action != ElicitAction::Accept {
        return Ok("Then I greet nobody.".to_owned());
    }
    let filled = answer.content.unwrap_or_default();
    let name = filled.get("name").and_then(|name| name.as_str()).unwrap_or("you");
    Ok(if greeting.formal { format!("How do you do, {name}?") } else { format!("Hello {name}!") })
}

async fn break_rules(breach: Breach, _: Context) -> Result<Structured<Breached>, Failure> {
    Ok(Structured(Breached { fault: breach.fault }))
}

const CITIES: [&str; 6] = ["Amsterdam", "Ankara", "Berlin", "Bogotá", "Brisbane", "Cairo"];

fn others(builder: ServerBuilder) -> ServerBuilder {
    builder
        .resource(
            Resource::new("demo://readme", "readme").mime_type("text/plain"),
            async |uri: String, _, _| {
                let text = "This server runs inside plumb. It has a few tools, this resource, a \
                            template and a prompt.";
                let contents = ResourceContents::text(uri, text).mime_type("text/plain");
                Ok(ReadResourceResult::new(vec![contents]))
            },
        )
        .template(
            ResourceTemplate::new("demo://cities/{city}", "city"),
            async |uri: String, values: BTreeMap<String, String>, _| {
                let city = values.get("city").map_or("nowhere", String::as_str);
                let text = format!("{city} has {} letters.", city.chars().count());
                Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, text)]))
            },
        )
        .prompt(
            Prompt::new("visit").argument(PromptArgument::required("city")),
            async |arguments: BTreeMap<String, String>, _| {
                let city = arguments.get("city").map_or("nowhere", String::as_str);
                let text = Content::text(format!("What should I see in {city}?"));
                Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
            },
        )
        .completions(async |request: mcp_sdk::core::CompleteRequest, _| {
            let start = request.argument.value.to_lowercase();
            let fits = |city: &&str| city.to_lowercase().starts_with(&start);
            Ok(Completion::new(
                CITIES.iter().filter(|it| fits(it)).map(|it| (*it).into()).collect(),
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_leap_years() {
        let between = |from, to| Some(day_of(to)? - day_of(from)?);
        assert_eq!(between("2024-02-28", "2024-03-01"), Some(2));
        assert_eq!(between("2026-12-31", "2027-01-01"), Some(1));
        assert_eq!(between("2000-01-01", "2001-01-01"), Some(366));
        assert_eq!(day_of("2025-02-29"), None);
        assert_eq!(day_of("2025-13-01"), None);
    }
}
