use std::num::NonZero;

use serde::{Deserialize, Serialize};

/// When and where a message was observed. Every request, exchange and listed tool has one, so it is
/// packed: unknown values are sentinels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    line: u64,
    stream: u64,
    millis: i64,
    /// One more than the number of POSTs.
    posts: NonZero<u64>,
}

const NO_LINE: u64 = u64::MAX;
const NO_STREAM: u64 = u64::MAX;
const NO_TIME: i64 = i64::MIN;

impl Default for Moment {
    fn default() -> Self {
        Moment { line: NO_LINE, stream: NO_STREAM, millis: NO_TIME, posts: NonZero::<u64>::MIN }
    }
}

impl Moment {
    /// In place of a stream: the message is sent by this side, and its exchange has not been chosen
    /// yet. Such messages are sent in the order in which they are observed.
    pub(crate) const UNPLACED: u64 = NO_STREAM - 1;

    pub(crate) fn is_unplaced(self) -> bool {
        self.stream == Moment::UNPLACED
    }

    /// On this line of a recording, if there is one.
    pub(crate) fn on_line(line: Option<u64>) -> Moment {
        Moment { line: line.unwrap_or(NO_LINE), ..Moment::default() }
    }

    /// The same moment, observed on another line.
    pub(crate) fn but_on_line(self, line: Option<u64>) -> Moment {
        Moment { line: line.unwrap_or(NO_LINE), ..self }
    }

    /// Sets the HTTP exchange, or a substitute where exchanges are not observed; none on stdio.
    pub(crate) fn on_stream(self, stream: Option<u64>) -> Moment {
        Moment { stream: stream.unwrap_or(NO_STREAM), ..self }
    }

    /// Sets the number of earlier POSTs of the client.
    pub(crate) fn after_posts(self, posts: u64) -> Moment {
        Moment { posts: NonZero::<u64>::MIN.saturating_add(posts), ..self }
    }

    /// Sets the time by the recorder's clock, in milliseconds since 1970.
    pub(crate) fn at_millis(self, millis: Option<i64>) -> Moment {
        Moment { millis: millis.unwrap_or(NO_TIME), ..self }
    }

    pub(crate) fn line(&self) -> Option<u64> {
        Some(self.line).filter(|line| *line != NO_LINE)
    }

    pub(crate) fn stream(&self) -> Option<u64> {
        Some(self.stream).filter(|stream| *stream != NO_STREAM)
    }

    pub(crate) fn millis(&self) -> Option<i64> {
        Some(self.millis).filter(|millis| *millis != NO_TIME)
    }

    /// Whether `later`, observed later, was also sent later. HTTP streams are not ordered relative
    /// to each other: only a POST by the client in between proves that the earlier message had
    /// arrived.
    pub(crate) fn surely_before(self, later: Moment) -> bool {
        self.stream == later.stream || later.posts > self.posts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_takes_no_room() {
        let unknown = Moment::default();
        assert_eq!((unknown.line(), unknown.stream(), unknown.millis()), (None, None, None));
        let known = Moment::on_line(Some(0)).on_stream(Some(1)).at_millis(Some(0)).after_posts(2);
        assert_eq!((known.line(), known.stream(), known.millis()), (Some(0), Some(1), Some(0)));
        assert_eq!(size_of::<Option<Moment>>(), 32);
    }

    #[test]
    fn streams_are_not_ordered_among_each_other() {
        let early = Moment::default().on_stream(Some(1));
        let late = early.on_stream(Some(2));
        assert!(early.surely_before(early));
        assert!(!early.surely_before(late));
        assert!(early.surely_before(late.after_posts(1)));
    }
}
