use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value, json};

use super::ClientCapabilities;

/// A question to the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequest {
    /// A form to fill in.
    Form {
        /// Why the user is asked.
        message: String,
        /// The fields: a flat JSON Schema of an object.
        requested_schema: Value,
    },
    /// A URL to visit; the interaction there does not pass through the client.
    Url {
        /// Why the user should visit it.
        message: String,
        /// The URL.
        url: String,
        /// The id of the elicitation.
        elicitation_id: String,
    },
}

impl ElicitRequest {
    /// A form to fill in.
    pub fn form(message: impl Into<String>, form: ElicitForm) -> ElicitRequest {
        ElicitRequest::Form { message: message.into(), requested_schema: form.into_schema() }
    }

    /// The capabilities that a client needs for this request.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let mut required = ClientCapabilities::new();
        required.elicitation = Some(match self {
            ElicitRequest::Form { .. } => json!({ "form": {} }),
            ElicitRequest::Url { .. } => json!({ "url": {} }),
        });
        required
    }

    /// The default values of the form's fields.
    pub fn defaults(&self) -> Map<String, Value> {
        let ElicitRequest::Form { requested_schema, .. } = self else { return Map::new() };
        let fields = requested_schema.get("properties").and_then(Value::as_object);
        fields
            .into_iter()
            .flatten()
            .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
            .collect()
    }
}

/// A form is serialized without a mode: it is the default in revisions with modes, and the only
/// kind in those without.
impl Serialize for ElicitRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            ElicitRequest::Form { message, requested_schema } => {
                map.serialize_entry("message", message)?;
                map.serialize_entry("requestedSchema", requested_schema)?;
            }
            ElicitRequest::Url { message, url, elicitation_id } => {
                map.serialize_entry("mode", "url")?;
                map.serialize_entry("message", message)?;
                map.serialize_entry("url", url)?;
                map.serialize_entry("elicitationId", elicitation_id)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ElicitRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            mode: Option<String>,
            message: String,
            requested_schema: Option<Value>,
            url: Option<String>,
            elicitation_id: Option<String>,
        }
        let Members { mode, message, requested_schema, url, elicitation_id } =
            Members::deserialize(deserializer)?;
        let missing = serde::de::Error::missing_field;
        match mode.as_deref() {
            None | Some("form") => Ok(ElicitRequest::Form {
                message,
                requested_schema: requested_schema.ok_or_else(|| missing("requestedSchema"))?,
            }),
            Some("url") => Ok(ElicitRequest::Url {
                message,
                url: url.ok_or_else(|| missing("url"))?,
                elicitation_id: elicitation_id.unwrap_or_default(),
            }),
            Some(other) => Err(serde::de::Error::unknown_variant(other, &["form", "url"])),
        }
    }
}

/// The fields of a form.
///
/// ```
/// use mcp_core::ElicitForm;
///
/// let form = ElicitForm::new()
///     .required("name", ElicitForm::string().with("minLength", 1))
///     .optional("age", ElicitForm::integer().with("default", 30));
/// # let _ = form;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElicitForm {
    fields: Map<String, Value>,
    required: Vec<String>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitField(Value);

impl ElicitForm {
    /// No fields.
    pub fn new() -> ElicitForm {
        ElicitForm::default()
    }

    /// Adds a required field.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: ElicitField) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.optional(name, field)
    }

    /// Adds an optional field.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: ElicitField) -> Self {
        self.fields.insert(name.into(), field.0);
        self
    }

    /// A string.
    pub fn string() -> ElicitField {
        ElicitField(json!({ "type": "string" }))
    }

    /// A number.
    pub fn number() -> ElicitField {
        ElicitField(json!({ "type": "number" }))
    }

    /// An integer.
    pub fn integer() -> ElicitField {
        ElicitField(json!({ "type": "integer" }))
    }

    /// A boolean.
    pub fn boolean() -> ElicitField {
        ElicitField(json!({ "type": "boolean" }))
    }

    /// One of several values.
    pub fn one_of(values: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "string", "enum": values }))
    }

    /// One of several values, each with a title.
    pub fn one_of_titled(values: &[(&str, &str)]) -> ElicitField {
        ElicitField(json!({ "type": "string", "oneOf": titled(values) }))
    }

    /// One of several values with display names, in the format of revision 2025-06-18.
    pub fn one_of_named(values: &[&str], names: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "string", "enum": values, "enumNames": names }))
    }

    /// Any of several values.
    pub fn any_of(values: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "array", "items": { "type": "string", "enum": values } }))
    }

    /// Any of several values, each with a title.
    pub fn any_of_titled(values: &[(&str, &str)]) -> ElicitField {
        ElicitField(json!({ "type": "array", "items": { "anyOf": titled(values) } }))
    }

    fn into_schema(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.fields });
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        schema
    }
}

impl ElicitField {
    /// Adds a keyword to the field's schema: `title`, `description`, `default`, `minLength`, `format` ….
    #[must_use]
    pub fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.0[keyword] = value.into();
        self
    }
}

fn titled(values: &[(&str, &str)]) -> Vec<Value> {
    values.iter().map(|(value, title)| json!({ "const": value, "title": title })).collect()
}

/// The user's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did with the request.
    pub action: ElicitAction,
    /// The values entered, by field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
}

/// What a user can do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_enums, reason = "the protocol has three")]
pub enum ElicitAction {
    Accept,
    Decline,
    Cancel,
}

impl ElicitResult {
    /// The user entered `content`.
    pub fn accept(content: Map<String, Value>) -> ElicitResult {
        ElicitResult { action: ElicitAction::Accept, content: Some(content) }
    }

    /// The user declined.
    pub fn decline() -> ElicitResult {
        ElicitResult { action: ElicitAction::Decline, content: None }
    }

    /// The user dismissed the request.
    pub fn cancel() -> ElicitResult {
        ElicitResult { action: ElicitAction::Cancel, content: None }
    }
}
