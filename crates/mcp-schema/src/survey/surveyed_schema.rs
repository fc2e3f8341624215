use crate::program::Pattern;

/// One schema: the schemas it applies, and to what.
#[derive(Debug, Default)]
pub(super) struct SurveyedSchema {
    pub(super) here: Vec<u32>,
    /// Sorted by name.
    pub(super) properties: Vec<(Box<str>, u32)>,
    pub(super) members: Vec<u32>,
    pub(super) elements: Vec<u32>,
    /// Whether `unevaluated…` traverses the whole schema again.
    pub(super) again: bool,
    /// Expressions that run on strings, or on object keys.
    pub(super) patterns: Vec<Cost>,
}

/// The cost of one attempt of an expression.
#[derive(Debug)]
pub(super) enum Cost {
    Linear(Pattern),
    Backtracking,
}
