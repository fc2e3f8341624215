use std::{
    io,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use mcp_core::{MemoryBudget, MemoryShare};
use tokio::time::{Instant, Sleep, sleep};

/// What the header and the mask of a control frame add to its payload.
const CONTROL_HEADER: usize = 6;
/// If the deadline is noticed this much too late, this side was not reading, so the peer is not to
/// blame.
const LATE: Duration = Duration::from_secs(1);

/// The incomplete incoming message of a connection: limits its memory and the time it may take.
///
/// `tungstenite` buffers it without saying how much it holds, so bytes are counted as they are read.
#[derive(Debug)]
pub(super) struct PartialMessage {
    time_limit: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    held: MemoryShare,
    /// No message has been completed yet.
    is_first: bool,
    is_refused: bool,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl PartialMessage {
    pub(super) fn new(budget: &MemoryBudget, time_limit: Duration) -> PartialMessage {
        let held = budget.share();
        let state = State { held, is_first: true, is_refused: false, deadline: None };
        PartialMessage { time_limit, state: Mutex::new(state) }
    }

    /// Counts bytes that were read; fails if all connections together hold too many.
    pub(super) fn add(&self, bytes: usize) -> io::Result<()> {
        let mut state = self.lock();
        if state.held.grow(bytes) {
            return Ok(());
        }
        state.is_refused = true;
        Err(io::ErrorKind::OutOfMemory.into())
    }

    /// Whether the memory limit was exceeded.
    pub(super) fn is_refused(&self) -> bool {
        self.lock().is_refused
    }

    /// The message is complete.
    pub(super) fn completed(&self) {
        let mut state = self.lock();
        state.held.clear();
        state.is_first = false;
        state.deadline = None;
    }

    /// A control frame was read, which may arrive in the middle of a message.
    pub(super) fn skip_control(&self, payload: usize) {
        self.lock().held.shrink(payload + CONTROL_HEADER);
    }

    /// Completes when the message has taken too long.
    pub(super) fn poll_overdue(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.held.bytes() == 0 && !state.is_first {
            state.deadline = None;
            return Poll::Pending;
        }
        let limit = self.time_limit;
        let deadline = state.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(deadline.as_mut().poll(context));
        let now = Instant::now();
        if now.saturating_duration_since(deadline.deadline()) < LATE {
            return Poll::Ready(());
        }
        *deadline = Box::pin(sleep(limit));
        deadline.as_mut().poll(context)
    }

    pub(super) fn time_limit(&self) -> Duration {
        self.time_limit
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Waker};

    use super::*;

    #[test]
    fn what_is_complete_no_longer_counts() {
        let budget = MemoryBudget::new(100);
        let (one, other) = (PartialMessage::new(&budget, LATE), PartialMessage::new(&budget, LATE));
        one.add(60).unwrap();
        other.add(40).unwrap();
        assert!(other.add(1).is_err() && other.is_refused() && !one.is_refused());
        one.completed();
        assert_eq!(budget.used(), 40);
        one.add(60).unwrap();
        // A ping with four bytes.
        one.skip_control(4);
        assert_eq!(budget.used(), 90);
        drop((one, other));
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_unfinished_message_has_a_deadline() {
        let message = PartialMessage::new(&MemoryBudget::new(100), Duration::from_secs(30));
        // The first one, even if nothing of it has arrived.
        poll_fn(|context| message.poll_overdue(context)).await;
        message.add(1).unwrap();
        message.completed();
        let mut context = Context::from_waker(Waker::noop());
        assert!(message.poll_overdue(&mut context).is_pending());
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(message.poll_overdue(&mut context).is_pending());
        message.add(1).unwrap();
        poll_fn(|context| message.poll_overdue(context)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_was_away_blames_nobody() {
        let message = PartialMessage::new(&MemoryBudget::new(100), Duration::from_secs(30));
        let mut context = Context::from_waker(Waker::noop());
        assert!(message.poll_overdue(&mut context).is_pending());
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(message.poll_overdue(&mut context).is_pending());
    }
}
