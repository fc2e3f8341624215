use serde::{Deserialize, Serialize};

/// When and where a message was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Line of the recording, if there is one.
    pub(crate) line: Option<u64>,
    /// The HTTP exchange it travelled on, or what stands for it where exchanges are not seen; none
    /// on stdio.
    pub(crate) stream: Option<u64>,
    /// How many POSTs of the client had been seen.
    pub(crate) posts: u64,
    /// The clock of whoever recorded it, in milliseconds since 1970.
    pub(crate) millis: Option<i64>,
}

impl Moment {
    /// Whether `later`, seen later, was also sent later. Streams of HTTP are not ordered among
    /// each other: only what the client posted in between tells that the earlier message had
    /// arrived.
    pub(crate) fn surely_before(self, later: Moment) -> bool {
        self.stream == later.stream || later.posts > self.posts
    }
}
