//! Settings that decide what counts as a difference.

use mcp_json::Node;
use mcp_rules::redact::PointerPattern;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// All messages, and the HTTP parts that carried them.
    #[default]
    Everything,
    /// The server's messages, regardless of transport and order.
    Server {
        /// Whether to compare only its answers.
        answers_only: bool,
    },
}

/// Settings that decide what counts as a difference.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    pub(crate) scope: Scope,
    /// Values to ignore.
    pub(crate) ignored: Vec<PointerPattern>,
    /// Whether any two times count as equal.
    pub(crate) ignores_times: bool,
}

/// Values that servers generate anew in every conversation.
const MADE_UP: [&str; 8] = [
    "/result/nextCursor",
    "/result/requestState",
    "/result/taskId",
    "/result/task/taskId",
    "/result/tasks/*/taskId",
    "/params/taskId",
    "/result/_meta/io.modelcontextprotocol~1related-task/taskId",
    "/params/_meta/io.modelcontextprotocol~1related-task/taskId",
];

impl Terms {
    /// Also ignores values that differ between conversations: times and generated values.
    pub(crate) fn ignoring_volatile(mut self) -> Terms {
        self.ignores_times = true;
        self.ignored.extend(MADE_UP.iter().filter_map(|pointer| pointer.parse().ok()));
        self
    }

    pub(super) fn ignores_nothing(&self) -> bool {
        self.ignored.is_empty() && !self.ignores_times
    }

    /// Whether a difference at `pointer` does not count.
    pub(super) fn ignores(
        &self,
        pointer: &str,
        left: Option<Node<'_>>,
        right: Option<Node<'_>>,
    ) -> bool {
        self.ignored.iter().any(|pattern| pattern.covers(pointer))
            || self.ignores_times && left.is_some_and(is_time) && right.is_some_and(is_time)
    }
}

/// Whether a value is an RFC 3339 time.
fn is_time(value: Node<'_>) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let Some(text) = value.str_bytes() else { return false };
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't' | b' '),
        shape => byte == shape,
    };
    let is_rest = |byte: &u8| byte.is_ascii_digit() || b".:+-Zz".contains(byte);
    text.len() >= SHAPE.len()
        && text.iter().zip(SHAPE).all(fits)
        && text[SHAPE.len()..].iter().all(is_rest)
}
