//! Probes of resource templates, expanded with completions, plain and unusual values. The server
//! may refuse any of them: only the rules judge the answers, unless one serves a file of the machine.

use std::{fmt::Write as _, sync::Arc};

use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{Listed, listed, made, shown};
use crate::{
    Conversation, Discovery, Probe, Settings, Stage, StepsFuture, Stop, foreign_file,
    values::hostile_texts,
};

/// Maximum number of variables per template.
const VARIABLES: usize = 10;
/// Maximum length of a value: much longer URIs are unrealistic.
const LONGEST: usize = 2_000;

pub(super) fn probes(found: &Discovery, _settings: &Settings) -> Vec<Probe> {
    let templates = listed(found, |offer| &offer.templates, "uriTemplate");
    let usable = templates.into_iter().filter(|one| mcp_schema::uri_template(&one.name).is_ok());
    usable
        .map(|template| {
            let template = Arc::new(template);
            let read =
                |value| shown("resources/read", &json!({ "uri": expand(&template.name, value) }));
            let preview = vec![read("plumb")];
            let about = "any value in the template is handled";
            let subject = Arc::clone(&template);
            let name = format!("templates/{}", template.name);
            made(&template, &name, about, preview, move |stage| steps(stage, Arc::clone(&subject)))
        })
        .collect()
}

fn steps(stage: &mut Stage, template: Arc<Listed>) -> StepsFuture<'_> {
    Box::pin(async move {
        let talk = stage.shared().await?;
        let mut uris = vec![expand(&template.name, "plumb"), expand(&template.name, "1")];
        if stage.offer().has("/completions") {
            uris.extend(completed(stage, &talk, &template.name).await?);
        }
        let hostile = hostile_texts();
        let hostile = hostile.iter().filter_map(|(_, text)| text.as_str());
        uris.extend(
            hostile.filter(|text| text.len() <= LONGEST).map(|text| expand(&template.name, text)),
        );
        let is_about_files = foreign_file::is_about_files(&json!({ "uri": template.name }));
        if !is_about_files {
            uris.push(expand(&template.name, foreign_file::PATH));
            // Some decode a variable, others do not.
            uris.push(expand_plainly(&template.name, foreign_file::PATH));
        }
        uris.dedup();
        let mut given_away = None;
        for uri in uris {
            stage.spend_call()?;
            let reply = talk.request("resources/read", json!({ "uri": uri })).await?;
            if !is_about_files && given_away.is_none() && foreign_file::is_shown(&reply) {
                given_away = Some((uri, reply));
            }
        }
        if let Some((uri, reply)) = given_away {
            let message = format!("`{uri}` gives away /etc/passwd");
            let help = "serve only what is inside the folder that the template is about";
            let rule = &behaviour::FOREIGN_FILE_SERVED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
        Ok(())
    })
}

/// Expands the template with the server's first completion for each variable.
async fn completed(
    stage: &Stage,
    talk: &Conversation,
    template: &str,
) -> Result<Option<String>, Stop> {
    let mut chosen: Vec<(String, String)> = Vec::new();
    for variable in variables(template).into_iter().take(VARIABLES) {
        stage.spend_call()?;
        let params = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": variable, "value": "" },
        });
        let reply = talk.request("completion/complete", params).await?;
        let value = reply.result().and_then(|result| result.pointer("/completion/values/0"));
        if let Some(value) = value.and_then(Value::as_str) {
            chosen.push((variable, value.to_owned()));
        }
    }
    let is_any = !chosen.is_empty();
    Ok(is_any.then(|| {
        expand_with(template, |name| {
            let value = chosen.iter().find(|(variable, _)| variable == name);
            value.map_or("plumb", |(_, value)| value.as_str())
        })
    }))
}

/// Expands the template with the same value for each variable.
fn expand(template: &str, value: &str) -> String {
    expand_with(template, |_| value)
}

/// The template with a value for each variable that is not encoded.
fn expand_plainly(template: &str, value: &str) -> String {
    let mut parts = template.split('{');
    let mut uri = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        uri.push_str(value);
        uri.push_str(part.split_once('}').map_or("", |(_, literal)| literal));
    }
    uri
}

/// Expands a template by RFC 6570, with a string for each variable.
fn expand_with<'v>(template: &str, value: impl Fn(&str) -> &'v str) -> String {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        uri.push_str(literal);
        let Some((expression, after)) = after.split_once('}') else { break };
        rest = after;
        let (operator, names) = match expression.chars().next() {
            Some(operator) if "+#./;?&".contains(operator) => (operator, &expression[1..]),
            _ => (' ', expression),
        };
        let (first, separator, is_named) = match operator {
            '#' => ("#", ",", false),
            '.' => (".", ".", false),
            '/' => ("/", "/", false),
            ';' => (";", ";", true),
            '?' => ("?", "&", true),
            '&' => ("&", "&", true),
            _ => ("", ",", false),
        };
        let keeps_reserved = matches!(operator, '+' | '#');
        for (index, variable) in names.split(',').enumerate() {
            let (name, length) = plain_name(variable);
            let value: String = value(name).chars().take(length).collect();
            uri.push_str(if index == 0 { first } else { separator });
            if is_named {
                uri.push_str(name);
                uri.push('=');
            }
            encode(&value, keeps_reserved, &mut uri);
        }
    }
    uri.push_str(rest);
    uri
}

/// The names of all variables.
fn variables(template: &str) -> Vec<String> {
    let expressions = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let names = expressions.flat_map(|(expression, _)| {
        expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(',')
    });
    names.map(|variable| plain_name(variable).0.to_owned()).collect()
}

/// The name of a variable, and the maximum number of characters of its value.
fn plain_name(variable: &str) -> (&str, usize) {
    let variable = variable.trim_end_matches('*');
    match variable.split_once(':') {
        Some((name, length)) => (name, length.parse().unwrap_or(usize::MAX)),
        None => (variable, usize::MAX),
    }
}

fn encode(value: &str, keeps_reserved: bool, uri: &mut String) {
    for byte in value.bytes() {
        let letter = char::from(byte);
        let is_plain = letter.is_ascii_alphanumeric() || "-._~".contains(letter);
        if is_plain || (keeps_reserved && ":/?#[]@!$&'()*+,;=".contains(letter)) {
            uri.push(letter);
        } else {
            // Writing to a string does not fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_expanded_as_in_rfc_6570() {
        let check = |template, value, expected| assert_eq!(expand(template, value), expected);
        check("note://{name}", "a b/c", "note://a%20b%2Fc");
        check("file:///{+path}", "a/b?c", "file:///a/b?c");
        check("x://{a,b}", "1", "x://1,1");
        check("x:{/a,b}", "1", "x:/1/1");
        check("x:y{?a,b}", "é", "x:y?a=%C3%A9&b=%C3%A9");
        check("x:y?z=1{&a}", "1", "x:y?z=1&a=1");
        check("x:{a:3}{.b}{;c}{#d*}", "hello", "x:hel.hello;c=hello#hello");
        check("x:plain", "1", "x:plain");
    }

    #[test]
    fn values_can_be_left_as_they_are() {
        assert_eq!(expand_plainly("note://{name}", "../a"), "note://../a");
        assert_eq!(expand_plainly("x://{a}/y{?b}", "."), "x://./y.");
    }

    #[test]
    fn variables_have_their_plain_names() {
        assert_eq!(variables("x://{a}/{+b*}{?c,d:3}"), ["a", "b", "c", "d"]);
        assert_eq!(variables("x://"), [""; 0]);
    }
}
