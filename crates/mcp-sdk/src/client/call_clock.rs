//! Time-outs of calls.

use std::{
    collections::HashMap,
    ops::Deref,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

/// The calls of a conversation that are waiting for their answer.
///
/// A request of the server pauses the clocks of all calls that are waiting when it arrives: on some
/// transports it is not known which of them it belongs to. A call that is made later, perhaps by
/// the handler that answers the request, cannot be its cause.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    waiting: HashMap<u64, Arc<CallClock>>,
}

impl PendingCalls {
    /// Registers a call with these limits: time without a sign of life, and in total. The total is
    /// at least as long as the first.
    pub(super) fn begin(self: &Arc<Self>, silence: Duration, most: Duration) -> PendingCall {
        let clock = Arc::new(CallClock::new(silence, most.max(silence)));
        let mut calls = self.calls();
        let key = calls.next;
        calls.next += 1;
        calls.waiting.insert(key, Arc::clone(&clock));
        PendingCall { list: Arc::clone(self), key, clock }
    }

    /// Pauses all clocks while a request of the server is being answered.
    pub(super) fn pause_all(&self) -> ClockPause {
        let waiting: Vec<_> = self.calls().waiting.values().cloned().collect();
        for clock in &waiting {
            clock.pause();
        }
        ClockPause(waiting)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a call registered as long as it lives.
#[derive(Debug)]
pub(super) struct PendingCall {
    list: Arc<PendingCalls>,
    key: u64,
    clock: Arc<CallClock>,
}

impl PendingCall {
    /// The clock, to be told of signs of life.
    pub(super) fn clock(&self) -> Arc<CallClock> {
        Arc::clone(&self.clock)
    }
}

impl Deref for PendingCall {
    type Target = CallClock;

    fn deref(&self) -> &CallClock {
        &self.clock
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.list.calls().waiting.remove(&self.key);
    }
}

/// Pauses clocks until a request of the server is answered.
pub(super) struct ClockPause(Vec<Arc<CallClock>>);

impl Drop for ClockPause {
    fn drop(&mut self) {
        for clock in &self.0 {
            clock.resume();
        }
    }
}

/// The clock of one call.
#[derive(Debug)]
pub(super) struct CallClock {
    silence: Duration,
    most: Duration,
    time: Mutex<Time>,
    resumed: Notify,
}

/// The time waited so far.
#[derive(Debug)]
struct Time {
    /// The time counted before `since`.
    counted: Duration,
    since: Instant,
    /// The number of reasons to pause: unanswered requests of the server, and the time between two
    /// rounds of the call.
    pauses: usize,
    /// The time counted when the last sign of life arrived.
    heard: Duration,
}

impl CallClock {
    fn new(silence: Duration, most: Duration) -> CallClock {
        let (counted, heard) = (Duration::ZERO, Duration::ZERO);
        let time = Time { counted, since: Instant::now(), pauses: 0, heard };
        CallClock { silence, most, time: Mutex::new(time), resumed: Notify::new() }
    }

    /// The server is working on it: restarts the time-out.
    pub(super) fn restart_timeout(&self) {
        let mut time = self.time();
        time.heard = time.elapsed();
    }

    /// The client is no longer waiting for the server.
    pub(super) fn pause(&self) {
        let mut time = self.time();
        time.counted = time.elapsed();
        time.pauses += 1;
    }

    pub(super) fn resume(&self) {
        let mut time = self.time();
        time.pauses = time.pauses.saturating_sub(1);
        if time.pauses == 0 {
            time.since = Instant::now();
            drop(time);
            self.resumed.notify_waiters();
        }
    }

    /// Completes when a limit is reached, and returns it.
    pub(super) async fn expired(&self) -> Duration {
        loop {
            let mut resumed = pin!(self.resumed.notified());
            // From here on, changes are noticed.
            resumed.as_mut().enable();
            match self.remaining() {
                Remaining::Paused => resumed.await,
                Remaining::Some(duration) => sleep(duration).await,
                Remaining::Expired(limit) => return limit,
            }
        }
    }

    fn remaining(&self) -> Remaining {
        let time = self.time();
        if time.pauses > 0 {
            return Remaining::Paused;
        }
        let total = time.elapsed();
        let silence = self.silence.saturating_sub(total.saturating_sub(time.heard));
        let left = silence.min(self.most.saturating_sub(total));
        match left {
            Duration::ZERO if silence.is_zero() => Remaining::Expired(self.silence),
            Duration::ZERO => Remaining::Expired(self.most),
            left => Remaining::Some(left),
        }
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time left.
enum Remaining {
    Some(Duration),
    /// The limit that is reached.
    Expired(Duration),
    /// The clock is paused.
    Paused,
}

impl Time {
    fn elapsed(&self) -> Duration {
        if self.pauses > 0 { self.counted } else { self.counted + self.since.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn call(silence: u32, most: u32) -> (Arc<PendingCalls>, PendingCall) {
        let list = Arc::<PendingCalls>::default();
        let call = list.begin(silence * SECOND, most * SECOND);
        (list, call)
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_buys_another_silence_up_to_the_maximum() {
        let (_, call) = call(10, 25);
        let begun = Instant::now();
        let living = async {
            loop {
                sleep(9 * SECOND).await;
                call.restart_timeout();
            }
        };
        tokio::select! {
            limit = call.expired() => assert_eq!(limit, 25 * SECOND),
            () = living => {}
        }
        assert_eq!(begun.elapsed().as_secs(), 25);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_we_owe_an_answer_does_not_count() {
        let (list, call) = call(10, 100);
        let begun = Instant::now();
        advance(5 * SECOND).await;
        let (question, another) = (list.pause_all(), list.pause_all());
        drop(another);
        assert!(timeout(1000 * SECOND, call.expired()).await.is_err());
        drop(question);
        assert_eq!(call.expired().await, 10 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 1010);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_made_to_answer_a_question_has_its_own_time() {
        let list = Arc::<PendingCalls>::default();
        let question = list.pause_all();
        let call = list.begin(10 * SECOND, 10 * SECOND);
        assert_eq!(call.expired().await, 10 * SECOND);
        drop((call, question));
        assert!(list.calls().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_lies_between_rounds_does_not_count() {
        let (_, call) = call(10, 15);
        advance(9 * SECOND).await;
        call.pause();
        advance(500 * SECOND).await;
        call.resume();
        call.restart_timeout();
        let begun = Instant::now();
        assert_eq!(call.expired().await, 15 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 6);
    }
}
