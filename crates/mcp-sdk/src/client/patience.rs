//! How long an answer is waited for.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

/// The time of a conversation in which it is the server's turn: it stands still while this side owes
/// the server an answer. Which call a question belongs to cannot be told on every transport, so the
/// time of all calls stands still.
#[derive(Debug)]
pub(super) struct TheirTime {
    state: Mutex<TimeState>,
    goes_on: Notify,
}

#[derive(Debug)]
struct TimeState {
    /// What the server has asked and we have not answered.
    questions: usize,
    counted: Duration,
    /// Since when more is to be counted, if there are no questions.
    since: Instant,
}

/// A question of the server, as long as it is not answered.
pub(super) struct Question<'t>(&'t TheirTime);

impl TheirTime {
    pub(super) fn new() -> TheirTime {
        let state = TimeState { questions: 0, counted: Duration::ZERO, since: Instant::now() };
        TheirTime { state: Mutex::new(state), goes_on: Notify::new() }
    }

    pub(super) fn question(&self) -> Question<'_> {
        let mut state = self.state();
        if state.questions == 0 {
            state.counted = state.elapsed();
        }
        state.questions += 1;
        Question(self)
    }

    fn elapsed(&self) -> Duration {
        self.state().elapsed()
    }

    fn stands_still(&self) -> bool {
        self.state().questions > 0
    }

    async fn pass(&self, duration: Duration) {
        sleep(duration).await;
        loop {
            let mut goes_on = pin!(self.goes_on.notified());
            // From here on nothing happens unnoticed.
            goes_on.as_mut().enable();
            if !self.stands_still() {
                return;
            }
            goes_on.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, TimeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TimeState {
    fn elapsed(&self) -> Duration {
        let running = if self.questions == 0 { self.since.elapsed() } else { Duration::ZERO };
        self.counted + running
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.questions -= 1;
        if state.questions == 0 {
            state.since = Instant::now();
            drop(state);
            self.0.goes_on.notify_waiters();
        }
    }
}

/// How long one call may take: a while without a sign of life, and altogether.
#[derive(Debug)]
pub(super) struct Patience {
    time: Arc<TheirTime>,
    silence: Duration,
    most: Duration,
    state: Mutex<Waited>,
}

#[derive(Debug)]
struct Waited {
    /// In rounds before this one.
    before: Duration,
    /// When the round began, and when the last sign of life came.
    began: Duration,
    heard: Duration,
}

impl Patience {
    /// At least one silence is waited for, whatever `most` says.
    pub(super) fn new(time: Arc<TheirTime>, silence: Duration, most: Duration) -> Patience {
        let now = time.elapsed();
        let state = Mutex::new(Waited { before: Duration::ZERO, began: now, heard: now });
        Patience { time, silence, most: most.max(silence), state }
    }

    /// The server works on it: another silence may follow.
    pub(super) fn sign_of_life(&self) {
        self.waited().heard = self.time.elapsed();
    }

    /// A round of the call is over; what happens until the next one is no waiting.
    pub(super) fn end_round(&self) {
        let now = self.time.elapsed();
        let mut waited = self.waited();
        let round = now.saturating_sub(waited.began);
        waited.before += round;
    }

    pub(super) fn begin_round(&self) {
        let now = self.time.elapsed();
        let mut waited = self.waited();
        (waited.began, waited.heard) = (now, now);
    }

    /// Completes when it has been too long, with the limit that was reached.
    pub(super) async fn runs_out(&self) -> Duration {
        loop {
            let now = self.time.elapsed();
            let (silence, total) = {
                let waited = self.waited();
                let total = waited.before + now.saturating_sub(waited.began);
                (now.saturating_sub(waited.heard), total)
            };
            let left = self.silence.saturating_sub(silence).min(self.most.saturating_sub(total));
            if left.is_zero() && !self.time.stands_still() {
                return if silence >= self.silence { self.silence } else { self.most };
            }
            self.time.pass(left).await;
        }
    }

    fn waited(&self) -> MutexGuard<'_, Waited> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn patience(silence: u32, most: u32) -> (Arc<TheirTime>, Patience) {
        let time = Arc::new(TheirTime::new());
        (Arc::clone(&time), Patience::new(time, silence * SECOND, most * SECOND))
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_buys_another_silence_up_to_the_maximum() {
        let (_, patience) = patience(10, 25);
        let begun = Instant::now();
        let living = async {
            loop {
                sleep(9 * SECOND).await;
                patience.sign_of_life();
            }
        };
        tokio::select! {
            limit = patience.runs_out() => assert_eq!(limit, 25 * SECOND),
            () = living => {}
        }
        assert_eq!(begun.elapsed().as_secs(), 25);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_we_owe_an_answer_does_not_count() {
        let (time, patience) = patience(10, 100);
        let begun = Instant::now();
        advance(5 * SECOND).await;
        let question = time.question();
        assert!(timeout(1000 * SECOND, patience.runs_out()).await.is_err());
        drop(question);
        assert_eq!(patience.runs_out().await, 10 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 1010);
    }

    #[tokio::test(start_paused = true)]
    async fn what_lies_between_rounds_does_not_count() {
        let (_, patience) = patience(10, 15);
        advance(9 * SECOND).await;
        patience.end_round();
        advance(500 * SECOND).await;
        patience.begin_round();
        let begun = Instant::now();
        assert_eq!(patience.runs_out().await, 15 * SECOND);
        assert_eq!(begun.elapsed().as_secs(), 6);
    }
}
