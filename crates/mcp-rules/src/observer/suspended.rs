use mcp_json::Tape;

use super::{Observer, Origin, accepted::AcceptedVersions, conversations::Conversations};
use crate::{Engine, Limits, RecordFault};

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
    pub(super) origin: Origin,
    pub(super) conversations: Conversations,
    /// Whether the file has proved to be a trace, so that a line that is not a record is the
    /// recorder's fault.
    pub(super) is_trace: bool,
    pub(super) messages: u64,
    pub(super) unmatched_results: u64,
    pub(super) dropped: u64,
    pub(super) accepted: AcceptedVersions,
    /// Faults of the recorder that are reported only once.
    pub(super) habits: Vec<RecordFault>,
    pub(super) tape: Tape,
}

impl Observer<'_> {
    /// Lets go of the engine until the next line.
    pub fn suspend(self) -> Suspended {
        self.kept
    }
}

impl Suspended {
    /// At the start of a file.
    pub(super) fn new(limits: &Limits, origin: Origin) -> Suspended {
        Suspended {
            origin,
            conversations: Conversations::new(limits),
            is_trace: false,
            messages: 0,
            unmatched_results: 0,
            dropped: 0,
            accepted: AcceptedVersions::default(),
            habits: Vec::new(),
            tape: Tape::new(),
        }
    }

    /// Goes on with `engine`, which may be another one than before.
    pub fn resume(self, engine: &Engine) -> Observer<'_> {
        let room = [engine.settings().limits.findings; 2];
        Observer { engine, kept: self, room, unjudged: Vec::new() }
    }

    /// The number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }
}
