//! Memory of responses and events that clients have not read yet.

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare};

/// Shorter texts do not count: a connection holds only a few of them.
const SHORT: usize = 16 << 10;

/// Text that counts towards the budget as long as anything refers to it.
struct Unread {
    text: Bytes,
    _held: MemoryShare,
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// Counts `text` towards the budget until it is written; `None` if there is no room for it.
pub(super) fn until_read(text: Bytes, budget: &MemoryBudget) -> Option<Bytes> {
    if text.len() <= SHORT {
        return Some(text);
    }
    let held = budget.take(text.len())?;
    Some(Bytes::from_owner(Unread { text, _held: held }))
}
