//! The method table and the lookup by name.

use std::{collections::BTreeMap, fmt::Write as _};

use super::name::bytes;
use crate::methods::{Capability, Declarer, Kind, Method, Sender};

/// The static `METHODS`. `positions` has the index of each definition in `DEFINITIONS`.
pub(super) fn table(methods: &[Method], positions: &BTreeMap<&str, usize>) -> String {
    let mut text = format!("pub(super) static METHODS: [Method; {}] = [\n", methods.len());
    for method in methods {
        let definition = |name: &Option<String>| match name {
            Some(name) => format!("Some(&DEFINITIONS[{}]), // {name}", positions[name.as_str()]),
            None => "None,".to_owned(),
        };
        _ = writeln!(
            text,
            "Method {{
                name: {name:?},
                kind: MethodKind::{kind},
                sender: Sender::{sender},
                params: {params}
                params_required: {params_required},
                result: {result}
                task_result: {task_result}
                input_required: {input_required}
                cacheable: {cacheable},
                capability: {capability},
                input_request_only: {input_request_only},
            }},",
            name = method.name,
            kind = kind(method.kind),
            sender = sender(method.sender),
            params = definition(&method.params),
            params_required = method.params_required,
            result = definition(&method.result),
            task_result = definition(&method.task_result),
            input_required = definition(&method.input_required),
            cacheable = method.cacheable,
            capability = capability(method.capability.as_ref()),
            input_request_only = method.input_request_only,
        );
    }
    text.push_str("];\n");
    text
}

/// The function `method`: a jump on the length, then one or two comparisons.
pub(super) fn lookup(methods: &[Method]) -> String {
    let mut rows: Vec<(usize, &str)> = (methods.iter().enumerate())
        .map(|(position, method)| (position, method.name.as_str()))
        .collect();
    rows.sort_by_key(|(_, name)| (name.len(), *name));

    let mut text = String::from(
        "pub(super) fn method(name: &[u8]) -> Option<&'static Method> {\nlet position = match name.len() {\n",
    );
    for (position, name) in rows {
        _ = writeln!(text, "{} if *name == *{} => {position},", name.len(), bytes(name));
    }
    text.push_str("_ => return None,\n};\nSome(&METHODS[position])\n}\n");
    text
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Request => "Request",
        Kind::Notification => "Notification",
    }
}

fn sender(sender: Sender) -> &'static str {
    match sender {
        Sender::Client => "Client",
        Sender::Server => "Server",
        Sender::Both => "Both",
    }
}

fn capability(capability: Option<&Capability>) -> String {
    let Some(capability) = capability else {
        return "None".to_owned();
    };
    let declared_by = match capability.declared_by {
        Declarer::Client => "Client",
        Declarer::Server => "Server",
        Declarer::Receiver => "Receiver",
        Declarer::Sender => "Sender",
    };
    format!(
        "Some(Capability {{ declared_by: Declarer::{declared_by}, path: &{:?} }})",
        capability.path
    )
}
