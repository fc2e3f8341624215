use crate::violation::Violation;

/// Why a tool schema cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ToolSchemaError {
    #[error("a tool schema must be a JSON object")]
    NotObject,
    #[error("the schema has {bytes} bytes, more than the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the schema is nested deeper than the limit of {limit}")]
    TooDeep { limit: usize },
    #[error("`$schema` names an unknown dialect: {dialect}")]
    UnknownDialect { dialect: String },
    /// Paths and spans of the violations refer to the schema.
    #[error("the schema is not valid in its dialect{}", first(.violations))]
    Invalid { violations: Vec<Violation> },
    #[error("`{reference}` refers to another document, which is never fetched")]
    ExternalRef { reference: String },
    #[error("`{reference}` does not resolve")]
    DanglingRef { reference: String },
    #[error("a reference cannot be followed: {reason}")]
    Reference { reason: String },
    #[error("#{pointer} applies itself to the same value endlessly")]
    EndlessRef { pointer: String },
    #[error("too many nested schemas apply to the same value, from #{pointer} on")]
    TooIntricate { pointer: String },
    #[error("the regular expressions are too large or too many, up to the one at #{pointer}")]
    CostlyPatterns { pointer: String },
}

fn first(violations: &[Violation]) -> String {
    violations.first().map(|violation| format!(": {violation}")).unwrap_or_default()
}
