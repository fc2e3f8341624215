//! The resources and templates.

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    offer::tools::{CITIES, UNITS},
    reply::Failure,
    revision::Revision,
    server::Faults,
    world::World,
};

/// A PNG of one pixel.
pub(crate) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const FIXED: [(&str, &str); 4] = [
    ("welcome", "Welcome. This server is small and does what it says."),
    ("about", "Made to be tested."),
    ("counter", "0"),
    ("dot", ""),
];

pub(crate) fn resources(world: &World, faults: Faults) -> Vec<Value> {
    let fixed = FIXED.iter().map(|(name, _)| resource(name));
    let mut all: Vec<_> = fixed.chain(world.notes().keys().map(|name| resource(name))).collect();
    if faults.has(Fault::ResourceUriRelative) {
        all[1]["uri"] = json!("notes/about.txt");
    }
    all
}

pub(crate) fn templates(faults: Faults) -> Vec<Value> {
    let note = if faults.has(Fault::TemplateBroken) { "note://{name" } else { "note://{name}" };
    vec![
        json!({"uriTemplate": note, "name": "note", "mimeType": "text/plain"}),
        json!({"uriTemplate": "weather://{city}/{unit}", "name": "weather", "mimeType": "application/json"}),
        json!({"uriTemplate": "level://{level}", "name": "level", "mimeType": "text/plain"}),
    ]
}

/// The contents of a resource.
pub(crate) fn read(
    world: &World,
    uri: &str,
    revision: Revision,
    faults: Faults,
) -> Result<Value, Failure> {
    let listed = if faults.has(Fault::ListedResourceUnreadable) && uri == "note://about" {
        None
    } else {
        contents(world, uri)
    };
    let found = match listed {
        Some(contents) => contents,
        None if escapes(uri, faults) => {
            json!({"uri": uri, "text": "root:x:0:0:root:/root:/bin/sh\n"})
        }
        None if faults.has(Fault::MissingResourceSucceeds) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": ""})
        }
        None if faults.has(Fault::MissingResourceDies) => crate::server::die(),
        None => {
            let code = match faults.0 {
                Some(Fault::MissingResourceWrongCode) => -32603,
                Some(Fault::ResourceRetiredCode) => -32002,
                _ if revision.is_stateless() => -32602,
                _ => -32002,
            };
            return Err(Failure {
                code,
                message: "there is no such resource".to_owned(),
                data: Some(json!({"uri": uri})),
            });
        }
    };
    Ok(json!({"contents": [spoiled(found, faults)]}))
}

/// Whether a URI leads to the file of accounts, as a fault has it.
fn escapes(uri: &str, faults: Faults) -> bool {
    match faults.0 {
        Some(Fault::TemplateEscapes) => {
            uri.starts_with("note://..") && uri.replace("%2F", "/").ends_with("/etc/passwd")
        }
        Some(Fault::ForeignFileServed) => uri == "file:///etc/passwd",
        _ => false,
    }
}

fn contents(world: &World, uri: &str) -> Option<Value> {
    if uri == "note://dot" {
        return Some(json!({"uri": uri, "mimeType": "image/png", "blob": DOT}));
    }
    let (kind, text) = if let Some(name) = uri.strip_prefix("note://") {
        let fixed =
            FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, text)| (*text).to_owned());
        ("text/plain", fixed.or_else(|| world.notes().get(name).cloned())?)
    } else if let Some(place) = uri.strip_prefix("weather://") {
        let (city, unit) = place.split_once('/')?;
        if !CITIES.contains(&city) || !UNITS.contains(&unit) {
            return None;
        }
        ("application/json", json!({"city": city, "unit": unit, "sky": "clear"}).to_string())
    } else {
        let level = uri.strip_prefix("level://")?;
        (
            "text/plain",
            crate::methods::logging::LEVELS.iter().position(|known| *known == level)?.to_string(),
        )
    };
    Some(json!({"uri": uri, "mimeType": kind, "text": text}))
}

fn spoiled(mut contents: Value, faults: Faults) -> Value {
    match faults.0 {
        Some(Fault::WrongUriEchoed) => contents["uri"] = json!("note://elsewhere"),
        Some(Fault::ResourceWithoutText) => {
            contents.as_object_mut().map(|contents| contents.remove("text"));
        }
        Some(Fault::BlobNotBase64) if !contents["blob"].is_null() => {
            contents["blob"] = json!("not base64!");
        }
        _ => {}
    }
    contents
}

fn resource(name: &str) -> Value {
    let kind = if name == "dot" { "image/png" } else { "text/plain" };
    json!({"uri": format!("note://{name}"), "name": name, "mimeType": kind})
}
