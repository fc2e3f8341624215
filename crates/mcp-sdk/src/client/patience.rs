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
pub(super) struct UnderWay(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    waiting: HashMap<u64, Arc<Patience>>,
}

impl UnderWay {
    /// Registers a call with these limits: time without a sign of life, and in total. The total is
    /// at least as long as the first.
    pub(super) fn begin(self: &Arc<Self>, silence: Duration, most: Duration) -> Waiting {
        let patience = Arc::new(Patience::new(silence, most.max(silence)));
        let mut calls = self.calls();
        let key = calls.next;
        calls.next += 1;
        calls.waiting.insert(key, Arc::clone(&patience));
        Waiting { list: Arc::clone(self), key, patience }
    }

    /// The server sends a request.
    pub(super) fn question(&self) -> Question {
        let waiting: Vec<_> = self.calls().waiting.values().cloned().collect();
        for patience in &waiting {
            patience.stand_still();
        }
        Question(waiting)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a call registered as long as it lives.
#[derive(Debug)]
pub(super) struct Waiting {
    list: Arc<UnderWay>,
    key: u64,
    patience: Arc<Patience>,
}

impl Waiting {
    /// The clock, to be told of signs of life.
    pub(super) fn patience(&self) -> Arc<Patience> {
        Arc::clone(&self.patience)
    }
}

impl Deref for Waiting {
    type Target = Patience;

    fn deref(&self) -> &Patience {
        &self.patience
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.list.calls().waiting.remove(&self.key);
    }
}

/// Pauses clocks until a request of the server is answered.
pub(super) struct Question(Vec<Arc<Patience>>);

impl Drop for Question {
    fn drop(&mut self) {
        for patience in &self.0 {
            patience.go_on();
        }
    }
}

/// The clock of one call.
#[derive(Debug)]
pub(super) struct Patience {
    silence: Duration,
    most: Duration,
    time: Mutex<Time>,
    goes_on: Notify,
}

/// The time waited so far.
#[derive(Debug)]
struct Time {
    /// The time counted before `since`.
    counted: Duration,
    since: Instant,
    /// The number of reasons to pause: unanswered requests of the server, and the time between two
    /// rounds of the call.
    obstacles: usize,
    /// The time counted when the last sign of life arrived.
    heard: Duration,
}

impl Patience {
    fn new(silence: Duration, most: Duration) -> Patience {
        let (counted, heard) = (Duration::ZERO, Duration::ZERO);
        let time = Time { counted, since: Instant::now(), obstacles: 0, heard };
        Patience { silence, most, time: Mutex::new(time), goes_on: Notify::new() }
    }

    /// The server is working on it: restarts the time-out.
    pub(super) fn sign_of_life(&self) {
        let mut time = self.time();
        time.heard = time.elapsed();
    }

    /// The client is no longer waiting for the server.
    pub(super) fn stand_still(&self) {
        let mut time = self.time();
        time.counted = time.elapsed();
        time.obstacles += 1;
    }

    pub(super) fn go_on(&self) {
        let mut time = self.time();
        time.obstacles = time.obstacles.saturating_sub(1);
        if time.obstacles == 0 {
            time.since = Instant::now();
            drop(time);
            self.goes_on.notify_waiters();
        }
    }

    /// Completes when a limit is reached, and returns it.
    pub(super) async fn runs_out(&self) -> Duration {
        loop {
            let mut goes_on = pin!(self.goes_on.notified());
            // From here on, changes are noticed.
            goes_on.as_mut().enable();
            match self.left() {
                Left::Unknown => goes_on.await,
                Left::Some(duration) => sleep(duration).await,
                Left::Nothing(limit) => return limit,
            }
        }
    }

    fn left(&self) -> Left {
        let time = self.time();
        if time.obstacles > 0 {
            return Left::Unknown;
        }
        let total = time.elapsed();
        let silence = self.silence.saturating_sub(total.saturating_sub(time.heard));
        let left = silence.min(self.most.saturating_sub(total));
        match left {
            Duration::ZERO if silence.is_zero() => Left::Nothing(self.silence),
            Duration::ZERO => Left::Nothing(self.most),
            left => Left::Some(left),
        }
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time left.
enum Left {
    Some(Duration),
    /// The limit that is reached.
    Nothing(Duration),
    /// The clock is paused.
    Unknown,
}

impl Time {
    fn elapsed(&self) -> Duration {
        if self.obstacles > 0 { self.counted } else { self.counted + self.since.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn call(silence: u32, most: u32) -> (Arc<UnderWay>, Waiting) {
        let list = Arc::<UnderWay>::default();
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
                call.sign_of_life();
            }
        };
        tokio::select! {
            limit = call.runs_out() => assert_eq!(limit, 25 * SECOND),
            () = living => {}
        }
        assert_eq!(begun.elapsed().as_secs(), 25);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_we_owe_an_answer_does_not_count() {
        let (list, call) = call(10, 100);
        let begun = Instant::now();
        advance(5 * SECOND).await;
        let (question, another) = (list.question(), list.question());
        drop(another);
        assert!(timeout(1000 * SECOND, call.runs_out()).await.is_err());
        drop(question);
        assert_eq!(call.runs_out().await, 10 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 1010);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_made_to_answer_a_question_has_its_own_time() {
        let list = Arc::<UnderWay>::default();
        let question = list.question();
        let call = list.begin(10 * SECOND, 10 * SECOND);
        assert_eq!(call.runs_out().await, 10 * SECOND);
        drop((call, question));
        assert!(list.calls().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_lies_between_rounds_does_not_count() {
        let (_, call) = call(10, 15);
        advance(9 * SECOND).await;
        call.stand_still();
        advance(500 * SECOND).await;
        call.go_on();
        call.sign_of_life();
        let begun = Instant::now();
        assert_eq!(call.runs_out().await, 15 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 6);
    }
}
