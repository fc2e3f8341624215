//! Limits on one text.

/// Limits that a text must not exceed to be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of the input in bytes. Offsets are kept in 32 bits, so larger values act as
    /// `u32::MAX - 1`.
    pub max_bytes: usize,
    /// Maximum nesting: 0 allows scalars only, 1 allows `[]`, 2 allows `[[]]`.
    ///
    /// Parsing never recurses, so any value is safe here; code that walks a document recursively
    /// relies on this limit.
    pub max_depth: usize,
}

impl Default for Limits {
    /// 16 MiB and 128 levels.
    fn default() -> Self {
        Limits { max_bytes: 16 << 20, max_depth: 128 }
    }
}
