//! Server-Sent Events: bytes to events and back.
//!
//! The decoder takes bytes in any chunking, never keeps more than one event, and shares the bytes
//! of a chunk instead of copying them where an event's data is one line inside it.
//!
//! An event beyond the limit is *skipped*: its end can be found without storing it, so the stream
//! stays usable and the next event is read. It is reported with its length.

mod block;
mod decoder;
mod event;

pub use decoder::{Decoded, Decoder};
pub use event::Event;
