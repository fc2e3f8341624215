use crate::program::Pattern;

/// One schema: which others it applies, and to what.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) here: Vec<u32>,
    /// Sorted by name.
    pub(super) properties: Vec<(Box<str>, u32)>,
    pub(super) members: Vec<u32>,
    pub(super) elements: Vec<u32>,
    /// `unevaluated…` goes over the whole schema again.
    pub(super) again: bool,
    /// Expressions that run on strings, or on the keys of objects.
    pub(super) patterns: Vec<Cost>,
}

/// What one attempt of an expression costs.
#[derive(Debug)]
pub(super) enum Cost {
    Linear(Pattern),
    Backtracking,
}
