//! Session state shared by the replicas of a proxy.
//!
//! Every request of an HTTP session may pass another replica. So before a replica judges a line, it
//! appends the line to the session's log in a [`SessionStore`](mcp_core::SessionStore), and follows
//! the lines that others have written before it. All replicas see the same lines in the same order,
//! and each reports the findings of its own lines.
//!
//! ```text
//! queue ─► Worker ─► batch: lines by session ─► Follower ── append ──► store
//!             │                                    │  ◄─ what was missed: Local::catch_up
//!             └─► Journal: record, judge by Local ◄┘  ── state, now and then ──► store
//! ```
//!
//! - [`Worker`] takes observations from the queue in batches, on a thread of its own. Calls of the
//!   store block only that thread. Under enforcement the sender awaits the verdict; traffic without
//!   a session is judged inline and never waits for the store.
//! - [`follower::Follower`] has a [`local::Local`] for each session that passed lately: an observer,
//!   and the end of the log up to which it knows everything. A batch takes one round trip if nobody
//!   else wrote to its sessions, and two otherwise, or for sessions that are new here.
//! - [`openings::Openings`] keeps the `initialize` requests: the session that one opens is only
//!   known from its response, and both are written then.
//! - [`entry`] is the form of what is written: lines of the recording as they are, gaps, states with
//!   the version of their form. A state of another version is left alone: the session counts as joined in
//!   the middle here, and the lines that follow it are written as ever.
//!
//! A line that passed without being written (because the store was unavailable or judging fell
//! behind) leaves a gap: an entry for the gap is written before the next line, and all replicas
//! that read it forget the state, since missing lines must not be held against anyone.
//!
//! Requests without a session (2026-07-28, and servers without sessions) are judged with the
//! history of this replica only.

mod entry;
mod follower;
mod local;
mod openings;
mod worker;

pub(super) use self::worker::Worker;
