use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is to be completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference {
    /// An argument of a prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The prompt.
        name: String,
    },
    /// A variable of a resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The template, or a URI.
        uri: String,
    },
}

/// The params of `completion/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct CompleteRequest {
    #[serde(rename = "ref")]
    pub reference: CompletionReference,
    pub argument: CompletionArgument,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
}

impl CompleteRequest {
    /// Asks for completions of `value`, the beginning of the argument `name`.
    pub fn new(
        reference: CompletionReference,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> CompleteRequest {
        let argument = CompletionArgument { name: name.into(), value: value.into() };
        CompleteRequest { reference, argument, context: None }
    }
}

/// The argument and its value so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "a name and a value")]
pub struct CompletionArgument {
    pub name: String,
    pub value: String,
}

/// The values of the other arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "a map")]
pub struct CompletionContext {
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

/// Suggested values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// At most 100.
    pub values: Vec<String>,
    /// The total number of suggestions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more suggestions than `values` has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

/// The protocol's limit on the values in one response.
const MOST: usize = 100;

impl Completion {
    /// Suggests `values`. Those beyond the protocol's limit are dropped but counted in `total`.
    pub fn new(mut values: Vec<String>) -> Completion {
        let total = u64::try_from(values.len()).ok();
        let has_more = values.len() > MOST;
        values.truncate(MOST);
        Completion { values, total, has_more: Some(has_more) }
    }
}
