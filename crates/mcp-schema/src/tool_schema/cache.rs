use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_json::Node;

use super::{Dialect, ToolSchema, ToolSchemaError, ToolSchemaLimits, is_plainly_valid};

/// Size limits of a [`ToolSchemas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Maximum number of schemas.
    pub max_entries: usize,
    /// Maximum total size of their JSON texts in bytes.
    pub max_bytes: usize,
}

impl Default for CacheLimits {
    /// 4,096 schemas, 32 MiB.
    fn default() -> Self {
        CacheLimits { max_entries: 4_096, max_bytes: 32 << 20 }
    }
}

/// Tool schemas by content: the same text is compiled once, no matter how many sessions list it.
///
/// The text itself is the key, so two schemas are never confused. Failures are cached, too. When
/// full, the least recently used schema is evicted.
///
/// ```
/// use mcp_json::{Limits, Tape};
/// use mcp_schema::ToolSchemas;
///
/// let schemas = ToolSchemas::default();
/// let text = br#"{"type": "object", "properties": {"count": {"type": "integer"}}}"#;
/// let mut tape = Tape::new();
/// let schema = schemas.compile(tape.parse(text, Limits::default())?.root())?;
///
/// let mut tape = Tape::new();
/// let arguments = tape.parse(br#"{"count": "three"}"#, Limits::default())?;
/// assert!(!schema.accepts(arguments.root()));
/// let violations = schema.violations(arguments.root());
/// assert_eq!(violations[0].schema_path, "#/properties/count/type");
/// assert_eq!(violations[0].message, "must be integer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct ToolSchemas {
    limits: ToolSchemaLimits,
    cache_limits: CacheLimits,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// By the dialect of a schema without `$schema`, then by text.
    entries: HashMap<Dialect, HashMap<Box<[u8]>, Entry>>,
    count: usize,
    bytes: usize,
    /// Counts lookups, to order them.
    now: u64,
}

struct Entry {
    outcome: Result<Arc<ToolSchema>, ToolSchemaError>,
    last_used: u64,
}

impl ToolSchemas {
    /// An empty cache with these limits.
    pub fn new(limits: ToolSchemaLimits, cache_limits: CacheLimits) -> ToolSchemas {
        ToolSchemas { limits, cache_limits, cache: Mutex::default() }
    }

    /// Checks the schema at `node`, 2020-12 unless it says otherwise. Fails if it does not fit the
    /// meta-schema, its dialect is unknown, or it refers to another document.
    ///
    /// Almost every valid schema is recognised without being compiled. Compiling it may still fail:
    /// because a reference leads nowhere or is circular, or because an expression is too large or
    /// not supported by the engines.
    ///
    /// # Errors
    ///
    /// Those of [`compile`](ToolSchemas::compile).
    pub fn check(&self, node: Node<'_>) -> Result<(), ToolSchemaError> {
        if is_plainly_valid(node, Dialect::default(), self.limits) {
            return Ok(());
        }
        self.compile(node).map(drop)
    }

    /// The compiled schema at `node`; 2020-12 unless it says otherwise.
    ///
    /// # Errors
    ///
    /// See [`ToolSchemaError`].
    pub fn compile(&self, node: Node<'_>) -> Result<Arc<ToolSchema>, ToolSchemaError> {
        self.compile_as(node, Dialect::default())
    }

    /// The compiled schema at `node`, in the dialect `default` unless it says otherwise.
    ///
    /// # Errors
    ///
    /// See [`ToolSchemaError`].
    pub fn compile_as(
        &self,
        node: Node<'_>,
        default: Dialect,
    ) -> Result<Arc<ToolSchema>, ToolSchemaError> {
        let text = node.raw();
        if let Some(outcome) = self.lock().find(default, text) {
            return outcome;
        }
        // Not under the lock: others need not wait while a large schema compiles.
        let outcome = ToolSchema::compile(node, default, self.limits).map(Arc::new);
        if text.len() <= self.limits.max_bytes.min(self.cache_limits.max_bytes) {
            self.lock().insert(default, text, outcome.clone(), self.cache_limits);
        }
        outcome
    }

    /// The number of cached schemas.
    pub fn len(&self) -> usize {
        self.lock().count
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A thread that panicked elsewhere leaves a usable cache: each change is atomic.
    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ToolSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSchemas")
            .field("limits", &self.limits)
            .field("cache_limits", &self.cache_limits)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Cache {
    fn find(
        &mut self,
        default: Dialect,
        text: &[u8],
    ) -> Option<Result<Arc<ToolSchema>, ToolSchemaError>> {
        self.now += 1;
        let entry = self.entries.get_mut(&default)?.get_mut(text)?;
        entry.last_used = self.now;
        Some(entry.outcome.clone())
    }

    fn insert(
        &mut self,
        default: Dialect,
        text: &[u8],
        outcome: Result<Arc<ToolSchema>, ToolSchemaError>,
        limits: CacheLimits,
    ) {
        while self.count > 0
            && (self.count >= limits.max_entries || self.bytes + text.len() > limits.max_bytes)
        {
            self.remove_oldest();
        }
        let entry = Entry { outcome, last_used: self.now };
        let replaced = self.entries.entry(default).or_default().insert(text.into(), entry);
        if replaced.is_none() {
            self.count += 1;
            self.bytes += text.len();
        }
    }

    fn remove_oldest(&mut self) {
        let oldest = self
            .entries
            .iter()
            .flat_map(|(dialect, entries)| {
                entries.iter().map(|(text, entry)| (entry.last_used, *dialect, text))
            })
            .min_by_key(|(last_used, _, _)| *last_used)
            .map(|(_, dialect, text)| (dialect, text.clone()));
        let Some((dialect, text)) = oldest else {
            return;
        };
        if self.entries.get_mut(&dialect).is_some_and(|entries| entries.remove(&text).is_some()) {
            self.count -= 1;
            self.bytes -= text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn compile(schemas: &ToolSchemas, text: &str) -> Result<Arc<ToolSchema>, ToolSchemaError> {
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        schemas.compile(document.root())
    }

    #[test]
    fn equal_texts_share_one_schema_and_failures_are_kept() {
        let schemas = ToolSchemas::default();
        let first = compile(&schemas, r#"{"type":"object"}"#).unwrap();
        let again = compile(&schemas, r#"{"type":"object"}"#).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = compile(&schemas, r#"{"type":"array"}"#).unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
        for _ in 0..2 {
            assert!(compile(&schemas, r#"{"type":"nonsense"}"#).is_err());
        }
        assert_eq!(schemas.len(), 3);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let limits = CacheLimits { max_entries: 2, max_bytes: 1000 };
        let schemas = ToolSchemas::new(ToolSchemaLimits::default(), limits);
        let first = compile(&schemas, r#"{"title":"a"}"#).unwrap();
        compile(&schemas, r#"{"title":"b"}"#).unwrap();
        compile(&schemas, r#"{"title":"a"}"#).unwrap();
        compile(&schemas, r#"{"title":"c"}"#).unwrap();
        assert_eq!(schemas.len(), 2);
        assert!(Arc::ptr_eq(&first, &compile(&schemas, r#"{"title":"a"}"#).unwrap()));
    }

    #[test]
    fn bytes_are_limited_too() {
        let limits = CacheLimits { max_entries: 100, max_bytes: 40 };
        let schemas = ToolSchemas::new(ToolSchemaLimits::default(), limits);
        for title in ["aaaa", "bbbb", "cccc"] {
            compile(&schemas, &format!(r#"{{"title":"{title}"}}"#)).unwrap();
        }
        assert_eq!(schemas.len(), 2);
        compile(&schemas, &format!(r#"{{"title":"{}"}}"#, "x".repeat(50))).unwrap();
        assert_eq!(schemas.len(), 2);
    }
}
