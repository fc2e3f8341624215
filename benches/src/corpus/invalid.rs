//! Messages with one defect each, made from valid ones.

use serde_json::{Value, json};

use super::wire::Message;

/// A message that must be rejected.
#[derive(Debug)]
pub struct Broken {
    /// The defect, for reporting a wrong verdict.
    pub defect: &'static str,
    /// Which contestants have to detect it.
    pub noticed_by: NoticedBy,
    /// The message itself.
    pub message: Message,
}

/// The least a program must check to detect the defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticedBy {
    /// The grammar of JSON.
    Parsing,
    /// The schema of the protocol.
    Validating,
    /// The schema of the tool.
    Arguments,
}

/// All the ways in which this message can be broken.
pub fn broken(valid: &Message) -> Vec<Broken> {
    let mut list = vec![cut(valid), followed(valid)];
    let mut change = |defect, edit: fn(&mut Value) -> Option<()>| {
        let Ok(mut value) = serde_json::from_slice::<Value>(&valid.bytes) else {
            return;
        };
        if edit(&mut value).is_some() {
            let message = Message { bytes: value.to_string().into_bytes(), ..valid.clone() };
            list.push(Broken { defect, noticed_by: NoticedBy::Validating, message });
        }
    };
    change("wrong version", |value| replace(value, "/jsonrpc", json!("1.0")));
    change("no version", |value| remove(value, "", "jsonrpc"));
    change("id is not an integer", |value| replace(value, "/id", json!(1.5)));
    change("id is null", |value| replace(value, "/id", Value::Null));
    change("method is a number", |value| replace(value, "/method", json!(7)));
    change("result is an array", |value| replace(value, "/result", json!([])));
    change("params are an array", |value| replace(value, "/params", json!([])));
    change("error without a message", |value| remove(value, "/error", "message"));
    change("level is unknown", |value| replace(value, "/params/level", json!("loud")));
    change("progress is a string", |value| replace(value, "/params/progress", json!("half")));
    change("call without a name", |value| {
        value.pointer("/params/arguments")?;
        remove(value, "/params", "name")
    });
    change("uri is missing", |value| remove(value, "/params", "uri"));
    change("uri of contents is missing", |value| remove(value, "/result/contents/0", "uri"));
    change("contents without text or blob", |value| {
        let contents = value.pointer_mut("/result/contents/0")?.as_object_mut()?;
        contents.remove("text").or_else(|| contents.remove("blob")).map(|_| ())
    });
    change("content is of an unknown type", |value| {
        replace(value, "/result/content/0/type", json!("txt"))
    });
    change("content has no type", |value| remove(value, "/result/content/0", "type"));
    change("data is a number", |value| replace(value, "/result/content/0/data", json!(1)));
    change("text is a list", |value| replace(value, "/result/content/0/text", json!(["a"])));
    change("isError is a string", |value| replace(value, "/result/isError", json!("false")));
    change("tool has no name", |value| remove(value, "/result/tools/7", "name"));
    change("input schema is no object schema", |value| {
        replace(value, "/result/tools/21/inputSchema/type", json!("array"))
    });
    change("required is not a list", |value| {
        replace(value, "/result/tools/13/inputSchema/required", json!({}))
    });
    list
}

/// A call whose arguments violate the tool's schema, and nothing else.
pub fn broken_arguments(valid: &Message) -> Option<Broken> {
    let mut value: Value = serde_json::from_slice(&valid.bytes).ok()?;
    let arguments = value.pointer_mut("/params/arguments")?.as_object_mut()?;
    // No property of a generated tool may be null.
    *arguments.values_mut().next()? = Value::Null;
    Some(Broken {
        defect: "argument is null",
        noticed_by: NoticedBy::Arguments,
        message: Message { bytes: value.to_string().into_bytes(), ..valid.clone() },
    })
}

fn cut(valid: &Message) -> Broken {
    let bytes = valid.bytes[..valid.bytes.len() - 1].to_vec();
    parsing("cut off", bytes, valid)
}

fn followed(valid: &Message) -> Broken {
    let mut bytes = valid.bytes.clone();
    bytes.extend_from_slice(b" {}");
    parsing("followed by another", bytes, valid)
}

fn parsing(defect: &'static str, bytes: Vec<u8>, valid: &Message) -> Broken {
    let message = Message { bytes, ..valid.clone() };
    Broken { defect, noticed_by: NoticedBy::Parsing, message }
}

fn replace(value: &mut Value, pointer: &str, with: Value) -> Option<()> {
    *value.pointer_mut(pointer)? = with;
    Some(())
}

fn remove(value: &mut Value, pointer: &str, name: &str) -> Option<()> {
    value.pointer_mut(pointer)?.as_object_mut()?.remove(name).map(|_| ())
}
