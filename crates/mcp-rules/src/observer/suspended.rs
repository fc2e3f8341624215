use mcp_json::Tape;

use super::{Observer, RecordingInfo, accepted::AcceptedVersions, conversations::Conversations};
use crate::{Engine, Limits, RecordFault};

/// An [`Observer`] between two lines, without its engine: for types that own both, and for continuing
/// with other settings.
///
/// ```
/// use mcp_rules::{Engine, Observer, RecordingInfo, Settings};
/// use mcp_schema::Schemas;
///
/// let engine = Engine::new(Schemas::embedded(), Settings::default());
/// let suspended = Observer::new(&engine, RecordingInfo::default()).suspend();
/// drop(engine);
///
/// let engine = Engine::new(Schemas::embedded(), Settings::default());
/// let observer = suspended.resume(&engine);
/// # assert_eq!(observer.messages(), 0);
/// ```
#[derive(Debug)]
pub struct SuspendedObserver {
    pub(super) info: RecordingInfo,
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
    /// Releases the engine until the next line.
    pub fn suspend(self) -> SuspendedObserver {
        self.kept
    }
}

impl SuspendedObserver {
    /// The state at the start of a file.
    pub(super) fn new(limits: &Limits, info: RecordingInfo) -> SuspendedObserver {
        SuspendedObserver {
            info,
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

    /// Continues with `engine`, which need not be the same as before.
    pub fn resume(self, engine: &Engine) -> Observer<'_> {
        let room = [engine.settings().limits.findings; 2];
        Observer { engine, kept: self, room, unjudged: Vec::new() }
    }

    /// The number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }
}
