//! What replicas of a proxy know of a session together.
//!
//! A session over HTTP may have every request pass another replica. So each line of a session is
//! written to its log in a [`SessionStore`](mcp_core::SessionStore) before it is judged, by whoever
//! observed it; and before it is judged, what others wrote in between is followed. All replicas see
//! the same lines in the same order, each reports what it finds in its own.
//!
//! ```text
//! queue ─► Worker ─► batch: lines by session ─► Follower ── append ──► store
//!             │                                    │  ◄─ what was missed: Local::catch_up
//!             └─► Journal: record, judge by Local ◄┘  ── state, now and then ──► store
//! ```
//!
//! - [`Worker`] takes observations from the queue in batches, on a thread of its own. Calls of the
//!   store block that thread only. Under enforcement the sender awaits the verdict; what belongs to no session is judged
//!   inline and never waits for the store.
//! - [`follower::Follower`] has a [`local::Local`] for each session that passed lately: an observer,
//!   and the end of the log up to which it knows everything. A batch takes one round trip if nobody
//!   else wrote to its sessions, and two otherwise, or for sessions that are new here.
//! - [`openings::Openings`] keeps the `initialize` requests: which session one opens is only known with its
//!   response, and both are written then.
//! - [`entry`] is the form of what is written: lines of the recording as they are, gaps, states with
//!   the version of their form. A state of another version is left alone: the session counts as joined in
//!   the middle here, and the lines that follow it are written as ever.
//!
//! A line that passed without being written (the store was away, judging fell behind) leaves a gap:
//! it is written before the next line, and all who read it forget what they knew, since what was
//! missed must not be held against anyone.
//!
//! Requests that name no session (2026-07-28, and servers without sessions) are judged by what this
//! replica has seen.

mod entry;
mod follower;
mod local;
mod openings;
mod worker;

pub(super) use self::worker::Worker;
