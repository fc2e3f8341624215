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
    /// A page to visit; what happens there does not pass through the client.
    Url {
        /// Why the user is sent there.
        message: String,
        /// The page.
        url: String,
        /// Names the visit.
        elicitation_id: String,
    },
}

impl ElicitRequest {
    /// A form to fill in.
    pub fn form(message: impl Into<String>, form: ElicitForm) -> ElicitRequest {
        ElicitRequest::Form { message: message.into(), requested_schema: form.into_schema() }
    }

    /// What a client must have declared to be asked this.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let mut required = ClientCapabilities::new();
        required.elicitation = Some(match self {
            ElicitRequest::Form { .. } => json!({ "form": {} }),
            ElicitRequest::Url { .. } => json!({ "url": {} }),
        });
        required
    }

    /// The values that the form's fields have if nobody changes them.
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

/// A form is written without a mode: it is the default where there are modes, and the only one
/// where there are none.
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

    /// A field that must be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: ElicitField) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.optional(name, field)
    }

    /// A field that may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: ElicitField) -> Self {
        self.fields.insert(name.into(), field.0);
        self
    }

    /// A text.
    pub fn string() -> ElicitField {
        ElicitField(json!({ "type": "string" }))
    }

    /// A number.
    pub fn number() -> ElicitField {
        ElicitField(json!({ "type": "number" }))
    }

    /// A whole number.
    pub fn integer() -> ElicitField {
        ElicitField(json!({ "type": "integer" }))
    }

    /// Yes or no.
    pub fn boolean() -> ElicitField {
        ElicitField(json!({ "type": "boolean" }))
    }

    /// One of several values.
    pub fn one_of(values: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "string", "enum": values }))
    }

    /// One of several values, shown under other names.
    pub fn one_of_titled(values: &[(&str, &str)]) -> ElicitField {
        ElicitField(json!({ "type": "string", "oneOf": titled(values) }))
    }

    /// One of several values, shown under other names as revision 2025-06-18 writes it.
    pub fn one_of_named(values: &[&str], names: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "string", "enum": values, "enumNames": names }))
    }

    /// Any of several values.
    pub fn any_of(values: &[&str]) -> ElicitField {
        ElicitField(json!({ "type": "array", "items": { "type": "string", "enum": values } }))
    }

    /// Any of several values, shown under other names.
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
    /// Says more about the field: `title`, `description`, `default`, `minLength`, `format` ….
    #[must_use]
    pub fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.0[keyword] = value.into();
        self
    }
}

fn titled(values: &[(&str, &str)]) -> Vec<Value> {
    values.iter().map(|(value, title)| json!({ "const": value, "title": title })).collect()
}

/// What the user said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did with the question.
    pub action: ElicitAction,
    /// What was filled in, by field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
}

/// What a user can do with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "the protocol knows three")]
pub enum ElicitAction {
    Accept,
    Decline,
    Cancel,
}

impl ElicitResult {
    /// The user has filled in this.
    pub fn accept(content: Map<String, Value>) -> ElicitResult {
        ElicitResult { action: ElicitAction::Accept, content: Some(content) }
    }

    /// The user does not want to.
    pub fn decline() -> ElicitResult {
        ElicitResult { action: ElicitAction::Decline, content: None }
    }

    /// The user has gone away from the question.
    pub fn cancel() -> ElicitResult {
        ElicitResult { action: ElicitAction::Cancel, content: None }
    }
}
