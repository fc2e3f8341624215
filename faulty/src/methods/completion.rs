//! Completion of arguments.

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    methods::logging::LEVELS,
    offer::{
        prompts::{self, LANGUAGES},
        resources,
        tools::{CITIES, UNITS},
    },
    reply::Failure,
    server::{Faults, die},
};

pub(crate) fn complete(params: &Value, faults: Faults) -> Result<Value, Failure> {
    let (Some(argument), Some(typed)) =
        (params["argument"]["name"].as_str(), params["argument"]["value"].as_str())
    else {
        return Err(Failure::params("the argument needs a name and a value"));
    };
    let known = known(&params["ref"], argument);
    let values: Vec<_> = match known {
        Some(values) => values.into_iter().filter(|value| value.starts_with(typed)).collect(),
        None if faults.has(Fault::CompletionUnknownSucceeds) => Vec::new(),
        None if faults.has(Fault::CompletionDies) => die(),
        None => return Err(Failure::params("there is nothing to complete by that name")),
    };
    let total = values.len();
    Ok(match faults.0 {
        Some(Fault::CompletionTooMany) => {
            let values: Vec<_> = (0..120).map(|number| format!("value-{number}")).collect();
            json!({"completion": {"values": values, "total": 120, "hasMore": false}})
        }
        Some(Fault::CompletionNotStrings) => json!({"completion": {"values": [1, 2, 3]}}),
        Some(Fault::CompletionCountWrong) => {
            json!({"completion": {"values": ["one", "two", "three"], "total": 1, "hasMore": false}})
        }
        _ => json!({"completion": {"values": values, "total": total, "hasMore": false}}),
    })
}

/// The values that an argument can have. None if there is no such prompt, template or argument.
fn known(reference: &Value, argument: &str) -> Option<Vec<&'static str>> {
    match reference["type"].as_str()? {
        "ref/prompt" => {
            let prompts = prompts::prompts();
            let prompt = prompts.iter().find(|prompt| prompt["name"] == reference["name"])?;
            prompt["arguments"].as_array()?.iter().find(|known| known["name"] == argument)?;
            Some(if argument == "language" { LANGUAGES.to_vec() } else { Vec::new() })
        }
        "ref/resource" => {
            let uri = reference["uri"].as_str()?;
            resources::templates(Faults(None))
                .iter()
                .find(|template| template["uriTemplate"] == uri)?;
            uri.contains(&format!("{{{argument}}}")).then(|| match argument {
                "city" => CITIES.to_vec(),
                "unit" => UNITS.to_vec(),
                "level" => LEVELS.to_vec(),
                _ => vec!["about", "counter", "dot", "welcome"],
            })
        }
        _ => None,
    }
}
