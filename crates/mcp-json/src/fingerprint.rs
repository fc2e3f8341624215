//! Short hashes that the tape keeps of member names, to distinguish them quickly.

use crate::duplicates::fingerprint_of;

/// A short hash of a member name, computed during parsing. Equal names have equal fingerprints,
/// however they are escaped; others rarely do, so a match has to be confirmed.
///
/// ```
/// use mcp_json::{Fingerprint, Limits, Tape};
///
/// const ID: Fingerprint = Fingerprint::of("id");
///
/// let mut tape = Tape::new();
/// let document = tape.parse(br#"{"id": 7}"#, Limits::default())?;
/// for (name, _) in document.root().members() {
///     match name.fingerprint() {
///         ID if name.str_eq("id") => {}
///         _ => panic!("there is nothing else"),
///     }
/// }
/// # Ok::<(), mcp_json::SyntaxError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub(crate) u32);

impl Fingerprint {
    /// The fingerprint of a member name whose unescaped text is `name`.
    #[inline]
    pub const fn of(name: &str) -> Fingerprint {
        Fingerprint(fingerprint_of(name.as_bytes()))
    }
}
