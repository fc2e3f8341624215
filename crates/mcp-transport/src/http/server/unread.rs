//! What clients have not read yet.

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare};

/// Shorter texts do not count: a connection holds only a few of them.
const SHORT: usize = 16 << 10;

/// Text that takes room as long as anything refers to it, wherever it waits to be written.
struct Unread {
    text: Bytes,
    _held: MemoryShare,
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// The same text, which takes room until it is written; `None` if there is none.
pub(super) fn until_read(text: Bytes, budget: &MemoryBudget) -> Option<Bytes> {
    if text.len() <= SHORT {
        return Some(text);
    }
    let held = budget.take(text.len())?;
    Some(Bytes::from_owner(Unread { text, _held: held }))
}
