//! The connections of a listener, so that idle ones can be closed for new ones.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A connection that is idle for less than this may still have something to send.
const SETTLED: Duration = Duration::from_millis(500);
/// At most one in this many is closed at a time: finding the idle ones takes longer than closing
/// them.
const PART: usize = 16;

/// All open connections of a listener.
#[derive(Debug, Default)]
pub(super) struct Connections {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    open: HashMap<u64, Arc<Activity>>,
}

impl Connections {
    pub(super) fn add(self: &Arc<Self>) -> OpenConnection {
        let activity = Arc::new(Activity::new());
        let mut table = self.lock();
        let number = table.next;
        table.next += 1;
        table.open.insert(number, Arc::clone(&activity));
        OpenConnection { connections: Arc::clone(self), number, activity }
    }

    /// Asks some of the connections that are idle for longest to close; `false` if none are idle.
    pub(super) fn close_idle(&self) -> bool {
        let table = self.lock();
        let idle =
            table.open.values().filter_map(|activity| Some((activity.idle_for()?, activity)));
        let mut idle: Vec<_> = idle.filter(|(idle, _)| *idle >= SETTLED).collect();
        idle.sort_unstable_by_key(|(idle, _)| std::cmp::Reverse(*idle));
        idle.truncate(table.open.len().div_ceil(PART));
        for (_, activity) in &idle {
            activity.close_requested.cancel();
        }
        !idle.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An entry among the connections, removed when dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    number: u64,
    pub(super) activity: Arc<Activity>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.lock().open.remove(&self.number);
    }
}

const NO_HEAD: u64 = u64::MAX;

/// The activity on a connection.
#[derive(Debug)]
pub(super) struct Activity {
    born: Instant,
    /// Requests whose responses are not complete.
    requests: AtomicUsize,
    /// When it was last written to, in milliseconds after `born`. Reading does not count: a client
    /// that sends a head byte by byte is idle.
    written: AtomicU64,
    /// When the head of a request began to arrive, in milliseconds after `born`.
    head: AtomicU64,
    close_requested: CancellationToken,
}

impl Activity {
    fn new() -> Activity {
        Activity {
            born: Instant::now(),
            requests: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            head: AtomicU64::new(NO_HEAD),
            close_requested: CancellationToken::new(),
        }
    }

    /// Records that something was written.
    pub(super) fn touch(&self) {
        self.written.store(self.now(), Ordering::Relaxed);
    }

    /// Records that something was read. Between requests that is the beginning of a head.
    pub(super) fn read(&self) {
        if self.requests.load(Ordering::Relaxed) == 0
            && self.head.load(Ordering::Relaxed) == NO_HEAD
        {
            self.head.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Completes when a head has taken longer than `head_limit`, or there was no request for longer
    /// than `idle_limit`. This is noticed with some delay, so that fast requests cost nothing.
    pub(super) async fn overdue(&self, head_limit: Duration, idle_limit: Duration) {
        let period = (head_limit.min(idle_limit) / 4).max(Duration::from_millis(1));
        loop {
            tokio::time::sleep(period).await;
            let head = self.head.load(Ordering::Relaxed);
            let head_took = Duration::from_millis(self.now().saturating_sub(head));
            if head != NO_HEAD && head_took > head_limit {
                return;
            }
            if self.idle_for().is_some_and(|idle| idle > idle_limit) {
                return;
            }
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(NO_HEAD - 1)
    }

    /// Counts a request as being answered until the guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestGuard {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.head.store(NO_HEAD, Ordering::Relaxed);
        RequestGuard(Arc::clone(self))
    }

    /// Completes when the connection should close to make room for another.
    pub(super) async fn asked_to_close(&self) {
        self.close_requested.cancelled().await;
    }

    fn idle_for(&self) -> Option<Duration> {
        if self.requests.load(Ordering::Relaxed) > 0 || self.close_requested.is_cancelled() {
            return None;
        }
        let written = Duration::from_millis(self.written.load(Ordering::Relaxed));
        Some(self.born.elapsed().saturating_sub(written))
    }
}

#[derive(Debug)]
pub(super) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.touch();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn seconds(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_connections_idle_for_longest_are_closed() {
        let connections = Arc::new(Connections::default());
        let mut open = Vec::new();
        for _ in 0..33 {
            open.push(connections.add());
            seconds(1).await;
        }
        let busy = open[0].activity.begin_request();
        open[1].activity.touch();
        assert!(connections.close_idle());
        let closed = |open: &[OpenConnection]| -> Vec<usize> {
            let closed = open.iter().map(|one| one.activity.close_requested.is_cancelled());
            closed.enumerate().filter(|(_, closed)| *closed).map(|(index, _)| index).collect()
        };
        assert_eq!(closed(&open), [2, 3, 4]);
        drop(busy);
        assert!(connections.close_idle());
        assert_eq!(closed(&open), [2, 3, 4, 5, 6, 7]);
        open.clear();
        assert!(!connections.close_idle());
        assert!(connections.lock().open.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_a_deadline_from_its_first_byte() {
        let activity = Arc::new(Activity::new());
        let limit = Duration::from_secs(30);
        let overdue = |wait| {
            let overdue = activity.overdue(limit, Duration::from_secs(1_000_000));
            tokio::time::timeout(Duration::from_secs(wait), overdue)
        };
        assert!(overdue(3600).await.is_err(), "an idle connection has no head");
        activity.read();
        assert!(overdue(29).await.is_err());
        // The request is there; what is read now is its body.
        let request = activity.begin_request();
        activity.read();
        assert!(overdue(3600).await.is_err());
        drop(request);
        assert!(overdue(3600).await.is_err());
        activity.read();
        activity.read();
        assert!(overdue(40).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_may_be_idle_only_between_requests_and_for_so_long() {
        let activity = Arc::new(Activity::new());
        let (head, idle) = (Duration::from_secs(30), Duration::from_secs(120));
        let overdue =
            |wait| tokio::time::timeout(Duration::from_secs(wait), activity.overdue(head, idle));
        assert!(overdue(119).await.is_err());
        activity.touch();
        assert!(overdue(119).await.is_err());
        let request = activity.begin_request();
        assert!(overdue(3600).await.is_err());
        drop(request);
        assert!(overdue(119).await.is_err());
        assert!(overdue(11).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_was_just_used_stays() {
        let connections = Arc::new(Connections::default());
        let open = connections.add();
        assert!(!connections.close_idle());
        seconds(1).await;
        drop(open.activity.begin_request());
        assert!(!connections.close_idle());
        seconds(1).await;
        assert!(connections.close_idle());
    }
}
