//! What one text may cost.

/// Bounds that a text must keep to be parsed at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest accepted input in bytes. Offsets are kept in 32 bits, so values above
    /// `u32::MAX - 1` act as that.
    pub max_bytes: usize,
    /// Deepest accepted nesting: 0 allows scalars only, 1 allows `[]`, 2 allows `[[]]`.
    ///
    /// Parsing never recurses, so any value is safe here; code that walks a document
    /// recursively sets its own bound by this one.
    pub max_depth: usize,
}

impl Default for Limits {
    /// 16 MiB and 128 levels.
    fn default() -> Self {
        Limits { max_bytes: 16 << 20, max_depth: 128 }
    }
}
