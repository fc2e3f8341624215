use mcp_json::Tape;

use super::{Observer, Origin, accepted::AcceptedVersions, conversations::Conversations};
use crate::{Engine, RecordFault};

/// An [`Observer`] between two lines, without its engine: for whoever owns both, and for going on
/// with other settings.
///
/// ```
/// use mcp_rules::{Engine, Observer, Origin, Settings};
/// use mcp_schema::Schemas;
///
/// let engine = Engine::new(Schemas::embedded(), Settings::default());
/// let suspended = Observer::new(&engine, Origin::default()).suspend();
/// drop(engine);
///
/// let engine = Engine::new(Schemas::embedded(), Settings::default());
/// let observer = suspended.resume(&engine);
/// # assert_eq!(observer.messages(), 0);
/// ```
#[derive(Debug)]
pub struct Suspended {
    origin: Origin,
    conversations: Conversations,
    is_trace: bool,
    messages: u64,
    unmatched_results: u64,
    dropped: u64,
    accepted: AcceptedVersions,
    habits: Vec<RecordFault>,
    tape: Tape,
}

impl Observer<'_> {
    /// Lets go of the engine until the next line.
    pub fn suspend(self) -> Suspended {
        let Observer {
            origin,
            conversations,
            is_trace,
            messages,
            unmatched_results,
            dropped,
            accepted,
            habits,
            tape,
            ..
        } = self;
        Suspended {
            origin,
            conversations,
            is_trace,
            messages,
            unmatched_results,
            dropped,
            accepted,
            habits,
            tape,
        }
    }
}

impl Suspended {
    /// Goes on with `engine`, which may be another one than before.
    pub fn resume(self, engine: &Engine) -> Observer<'_> {
        let Suspended {
            origin,
            conversations,
            is_trace,
            messages,
            unmatched_results,
            dropped,
            accepted,
            habits,
            tape,
        } = self;
        Observer {
            conversations,
            is_trace,
            messages,
            unmatched_results,
            dropped,
            accepted,
            habits,
            tape,
            ..Observer::new(engine, origin)
        }
    }

    /// The number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }
}
