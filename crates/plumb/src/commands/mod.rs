//! One file per command: from checked arguments to output.

mod check;
mod completions;
mod diff;
mod explain;
mod following;
mod inspect;
mod interruptible;
mod listen;
mod lock;
mod mock;
mod notes;
mod page;
mod proxy;
mod redact;
mod replay;
mod rules;
mod schema;
mod server;
mod tail;
mod test;
mod wrap;

pub(crate) use check::check;
pub(crate) use completions::completions;
pub(crate) use diff::diff;
pub(crate) use explain::explain;
pub(crate) use inspect::inspect;
pub(crate) use lock::lock;
pub(crate) use mock::mock;
pub(crate) use proxy::proxy;
pub(crate) use redact::redact;
pub(crate) use replay::replay;
pub(crate) use rules::rules;
pub(crate) use schema::schema;
pub(crate) use tail::tail;
pub(crate) use test::test;
pub(crate) use wrap::wrap;

/// The outcome of a command that could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Clean,
    /// There are findings severe enough to fail.
    Findings,
    /// A program that was run has exited with this code.
    Exit(u8),
}
