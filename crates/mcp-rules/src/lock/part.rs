use mcp_json::Node;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part of what a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "the format of the lock names them")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Part {
    Capabilities,
    Instructions,
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Part {
    /// Every part, in the order of the lock.
    pub const ALL: [Part; 6] = [
        Part::Capabilities,
        Part::Instructions,
        Part::Tools,
        Part::Prompts,
        Part::Resources,
        Part::Templates,
    ];

    /// Its name in a lock, and the name of the result member that contains it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Part::Capabilities => "capabilities",
            Part::Instructions => "instructions",
            Part::Tools => "tools",
            Part::Prompts => "prompts",
            Part::Resources => "resources",
            Part::Templates => "resourceTemplates",
        }
    }

    /// The method that lists it, if it is a list.
    pub const fn method(self) -> Option<&'static str> {
        match self {
            Part::Capabilities | Part::Instructions => None,
            Part::Tools => Some("tools/list"),
            Part::Prompts => Some("prompts/list"),
            Part::Resources => Some("resources/list"),
            Part::Templates => Some("resources/templates/list"),
        }
    }

    /// The part that a method lists.
    pub fn listed_by(method: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.method() == Some(method))
    }

    /// The notification that the list has changed.
    pub(crate) const fn changed_by(self) -> Option<&'static str> {
        match self {
            Part::Capabilities | Part::Instructions => None,
            Part::Tools => Some("notifications/tools/list_changed"),
            Part::Prompts => Some("notifications/prompts/list_changed"),
            Part::Resources | Part::Templates => Some("notifications/resources/list_changed"),
        }
    }

    /// The member that identifies an entry of a list.
    const fn key(self) -> &'static str {
        match self {
            Part::Resources => "uri",
            Part::Templates => "uriTemplate",
            _ => "name",
        }
    }

    /// Entries in the form of a lock: sorted, and without members that change with the data of a
    /// resource.
    pub fn list(self, mut entries: Vec<Value>) -> Value {
        if self == Part::Resources {
            entries.iter_mut().for_each(forget_data);
        }
        entries.sort_by_cached_key(|entry| (self.name_of(entry), entry.to_string()));
        Value::Array(entries)
    }

    /// The name or URI that identifies an entry of a list.
    pub fn name_of(self, entry: &Value) -> String {
        match &entry[self.key()] {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        }
    }

    /// Like [`Part::name_of`], for an entry in a message.
    pub(crate) fn name_of_node(self, entry: Node<'_>) -> String {
        match entry.get(self.key()) {
            Some(name) => name
                .as_str()
                .map_or_else(|| name.to_value().to_string(), std::borrow::Cow::into_owned),
            None => Value::Null.to_string(),
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Part::Capabilities => "capabilities",
            Part::Instructions => "instructions",
            Part::Tools => "tool",
            Part::Prompts => "prompt",
            Part::Resources => "resource",
            Part::Templates => "resource template",
        }
    }
}

/// Removes the size and modification time of a resource, which may change.
fn forget_data(resource: &mut Value) {
    let Some(members) = resource.as_object_mut() else { return };
    members.remove("size");
    if let Some(annotations) = members.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("lastModified");
        if annotations.is_empty() {
            members.remove("annotations");
        }
    }
}
