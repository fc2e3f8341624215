use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The capabilities of a client. A member that is present, even if empty, declares the capability.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct ClientCapabilities {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub experimental: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, Value>,
}

impl ClientCapabilities {
    /// No capabilities.
    pub fn new() -> ClientCapabilities {
        ClientCapabilities::default()
    }

    /// Adds `roots`.
    #[must_use]
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_with(|| json!({}));
        self
    }

    /// Adds `sampling`.
    #[must_use]
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_with(|| json!({}));
        self
    }

    /// Adds `sampling` with tools.
    #[must_use]
    pub fn with_sampling_tools(mut self) -> Self {
        declare(self.sampling.get_or_insert_with(|| json!({})), "tools");
        self
    }

    /// Adds `elicitation` with forms.
    #[must_use]
    pub fn with_elicitation(mut self) -> Self {
        self.elicitation.get_or_insert_with(|| json!({}));
        self
    }

    /// Adds `elicitation` with URLs.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        declare(self.elicitation.get_or_insert_with(|| json!({ "form": {} })), "url");
        self
    }

    /// Adds an extension and its settings.
    #[must_use]
    pub fn with_extension(mut self, name: impl Into<String>, settings: Value) -> Self {
        self.extensions.insert(name.into(), settings);
        self
    }

    /// The part of `required` that is missing; `None` if nothing is.
    pub fn missing(&self, required: &ClientCapabilities) -> Option<ClientCapabilities> {
        let missing = ClientCapabilities {
            roots: lacks(self.roots.as_ref(), required.roots.as_ref()),
            sampling: lacks(self.sampling.as_ref(), required.sampling.as_ref()),
            elicitation: lacks(
                self.elicitation.as_ref().map(spelled_out).as_ref(),
                required.elicitation.as_ref(),
            ),
            tasks: lacks(self.tasks.as_ref(), required.tasks.as_ref()),
            experimental: lacks_entries(&self.experimental, &required.experimental),
            extensions: lacks_entries(&self.extensions, &required.extensions),
        };
        (missing != ClientCapabilities::default()).then_some(missing)
    }
}

/// `elicitation` without `url` means forms, whether or not it has `form`.
fn spelled_out(elicitation: &Value) -> Value {
    let mut elicitation = elicitation.clone();
    if let Some(members) = elicitation.as_object_mut()
        && !members.contains_key("url")
    {
        members.entry("form").or_insert_with(|| json!({}));
    }
    elicitation
}

/// Adds a member to a capability. The fields are public, so the capability may be any value; it is
/// replaced if it is not an object.
fn declare(capability: &mut Value, part: &str) {
    if !capability.is_object() {
        *capability = json!({});
    }
    capability[part] = json!({});
}

/// The required value if it, or a member of it, is missing.
fn lacks(here: Option<&Value>, required: Option<&Value>) -> Option<Value> {
    let required = required?;
    let all_there = here.is_some_and(|here| {
        required.as_object().is_none_or(|members| {
            members.iter().all(|(name, member)| lacks(here.get(name), Some(member)).is_none())
        })
    });
    (!all_there).then(|| required.clone())
}

fn lacks_entries(
    here: &BTreeMap<String, Value>,
    required: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    required
        .iter()
        .filter(|(name, _)| !here.contains_key(*name))
        .map(|(name, settings)| (name.clone(), settings.clone()))
        .collect()
}

/// The capabilities of a server. A member that is present, even if empty, declares the capability.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct ServerCapabilities {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completions: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub experimental: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElicitForm, ElicitRequest};

    #[test]
    fn missing_capabilities_have_the_form_of_a_declaration() {
        let needs = ClientCapabilities::new().with_sampling();
        let missing = ClientCapabilities::new().missing(&needs).unwrap();
        assert_eq!(serde_json::to_string(&missing).unwrap(), r#"{"sampling":{}}"#);
        assert_eq!(needs.missing(&needs), None);
    }

    #[test]
    fn plain_elicitation_means_forms() {
        let plain = ClientCapabilities::new().with_elicitation();
        let mut form = ClientCapabilities::new();
        form.elicitation = Some(json!({ "form": {} }));
        assert_eq!(plain.missing(&form), None);
        let url = ClientCapabilities::new().with_url_elicitation();
        assert!(plain.missing(&url).is_some());
        assert_eq!(url.missing(&form), None);
    }

    #[test]
    fn url_elicitation_alone_does_not_include_forms() {
        let question = ElicitRequest::form("Who?", ElicitForm::new()).required_capabilities();
        let mut pages = ClientCapabilities::new();
        pages.elicitation = Some(json!({ "url": {} }));
        assert!(pages.missing(&question).is_some());
        assert_eq!(ClientCapabilities::new().with_elicitation().missing(&question), None);
    }

    #[test]
    fn a_capability_that_is_not_an_object_is_replaced() {
        let mut odd = ClientCapabilities::new();
        (odd.sampling, odd.elicitation) = (Some(json!(true)), Some(json!(1)));
        let odd = odd.with_sampling_tools().with_url_elicitation();
        assert_eq!(odd.sampling, Some(json!({ "tools": {} })));
        assert_eq!(odd.elicitation, Some(json!({ "url": {} })));
    }
}
