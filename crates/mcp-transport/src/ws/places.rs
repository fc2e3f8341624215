//! The conversations of a listener: how many there may be, and which of them give way to new ones.

use std::{
    cmp::Reverse,
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::WsServerSettings;
use crate::listening::counted_address;

/// A client that has not sent a message yet may take so long before it gives way to another.
const SETTLED: Duration = Duration::from_millis(500);
/// One of so many conversations may be on its way out while another has its place.
const PART: usize = 16;

/// The places of a listener.
#[derive(Debug)]
pub(super) struct Places {
    all: usize,
    per_address: usize,
    idle_after: Duration,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    taken: HashMap<u64, Arc<Presence>>,
    by_address: HashMap<IpAddr, Vec<u64>>,
    /// Those that were asked to leave and have not left.
    leaving: usize,
    /// All conversations were in use; none can be idle before this.
    busy_until: Option<Instant>,
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All places are taken, by conversations that are in use.
    Everywhere,
    /// Those of the address are.
    ForAddress,
}

impl Places {
    pub(super) fn new(settings: &WsServerSettings) -> Places {
        Places {
            all: settings.max_connections,
            per_address: settings.max_connections_per_address,
            idle_after: settings.idle_after,
            table: Mutex::default(),
        }
    }

    /// A place for a client. If there is none, an idle conversation is asked to leave.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, Full> {
        let address = counted_address(address);
        let mut table = self.lock();
        let neighbours = address.and_then(|address| table.by_address.get(&address));
        if neighbours.is_some_and(|neighbours| neighbours.len() >= self.per_address) {
            let idlest = self.idlest(neighbours.into_iter().flatten(), &table.taken);
            if !idlest.is_some_and(|idlest| table.dismiss(idlest, self.all)) {
                return Err(Full::ForAddress);
            }
        }
        if table.taken.len() >= self.all && !self.make_room_in(&mut table) {
            return Err(Full::Everywhere);
        }
        let presence = Arc::new(Presence::new(address));
        let number = table.next;
        table.next += 1;
        table.taken.insert(number, Arc::clone(&presence));
        if let Some(address) = address {
            table.by_address.entry(address).or_default().push(number);
        }
        Ok(Place { places: Arc::clone(self), number, presence })
    }

    /// Asks an idle conversation to leave.
    pub(super) fn make_room(&self) {
        self.make_room_in(&mut self.lock());
    }

    fn make_room_in(&self, table: &mut Table) -> bool {
        let now = Instant::now();
        if table.leaving > self.all / PART || table.busy_until.is_some_and(|until| now < until) {
            return false;
        }
        let Some(idlest) = self.idlest(table.taken.keys(), &table.taken) else {
            // Whoever looks again at every client that is turned away works for the attacker.
            let soonest = table.taken.values().map(|presence| presence.idle_at(self.idle_after));
            table.busy_until = soonest.min();
            return false;
        };
        table.dismiss(idlest, self.all)
    }

    /// The conversation that should leave: one whose client never sent anything, or else the one
    /// idle for longest.
    fn idlest<'n>(
        &self,
        numbers: impl Iterator<Item = &'n u64>,
        taken: &HashMap<u64, Arc<Presence>>,
    ) -> Option<u64> {
        let now = Instant::now();
        let idle = numbers.filter_map(|number| {
            let presence = taken.get(number)?;
            let is_idle = presence.idle_at(self.idle_after) <= now;
            is_idle.then(|| (!presence.is_used(), Reverse(presence.last_use()), *number))
        });
        idle.max().map(|(.., number)| number)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Asks a conversation to leave; `false` if too many are on their way.
    fn dismiss(&mut self, number: u64, all: usize) -> bool {
        if self.leaving > all / PART {
            return false;
        }
        if let Some(presence) = self.remove(number) {
            self.leaving += 1;
            presence.leave.cancel();
        }
        true
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Presence>> {
        let presence = self.taken.remove(&number)?;
        if let Some(address) = presence.address
            && let Some(neighbours) = self.by_address.get_mut(&address)
        {
            neighbours.retain(|neighbour| *neighbour != number);
            if neighbours.is_empty() {
                self.by_address.remove(&address);
            }
        }
        self.busy_until = None;
        Some(presence)
    }
}

/// A place among the conversations, free again when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    presence: Arc<Presence>,
}

impl Place {
    pub(super) fn presence(&self) -> &Arc<Presence> {
        &self.presence
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.places.lock();
        if table.remove(self.number).is_none() {
            table.leaving = table.leaving.saturating_sub(1);
        }
    }
}

/// A client in its place.
#[derive(Debug)]
pub(super) struct Presence {
    /// Whom it is counted for.
    address: Option<IpAddr>,
    born: Instant,
    /// When a message was last sent or received, in milliseconds after `born`.
    used: AtomicU64,
    has_sent: AtomicBool,
    leave: CancellationToken,
}

impl Presence {
    fn new(address: Option<IpAddr>) -> Presence {
        Presence {
            address,
            born: Instant::now(),
            used: AtomicU64::new(0),
            has_sent: AtomicBool::new(false),
            leave: CancellationToken::new(),
        }
    }

    /// Completes when the conversation should end in favour of another.
    pub(super) async fn is_needed(&self) {
        self.leave.cancelled().await;
    }

    /// A message was received from the client.
    pub(super) fn received(&self) {
        self.has_sent.store(true, Ordering::Relaxed);
        self.sent();
    }

    /// A message was sent to the client.
    pub(super) fn sent(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(now, Ordering::Relaxed);
    }

    fn is_used(&self) -> bool {
        self.has_sent.load(Ordering::Relaxed)
    }

    fn last_use(&self) -> Instant {
        let used = Duration::from_millis(self.used.load(Ordering::Relaxed));
        self.born.checked_add(used).unwrap_or(self.born)
    }

    /// When it counts as idle, should nothing happen before.
    fn idle_at(&self, idle_after: Duration) -> Instant {
        let patience = if self.is_used() { idle_after } else { SETTLED.min(idle_after) };
        let last = self.last_use();
        // A time that never comes.
        let never = || last + Duration::from_secs(86_400 * 365);
        last.checked_add(patience).unwrap_or_else(never)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(all: usize, per_address: usize) -> Arc<Places> {
        let settings = WsServerSettings {
            max_connections: all,
            max_connections_per_address: per_address,
            ..WsServerSettings::default()
        };
        Arc::new(Places::new(&settings))
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    async fn wait(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    fn must_leave(place: &Place) -> bool {
        place.presence.leave.is_cancelled()
    }

    #[tokio::test(start_paused = true)]
    async fn the_conversation_idle_for_longest_gives_way_and_one_in_use_does_not() {
        let places = places(3, 3);
        let mut taken: Vec<Place> = (0..3).map(|n| places.take(address(n)).unwrap()).collect();
        for place in &taken {
            place.presence.received();
            wait(1).await;
        }
        assert_eq!(places.take(address(9)).unwrap_err(), Full::Everywhere, "all are in use");
        wait(57).await;
        // The first has become idle by now, but something was sent to it.
        taken[0].presence.sent();
        wait(2).await;
        let newcomer = places.take(address(9)).unwrap();
        assert!(must_leave(&taken[1]) && !must_leave(&taken[0]) && !must_leave(&taken[2]));
        newcomer.presence.received();
        // No more than this may be on their way out.
        wait(60).await;
        assert_eq!(places.take(address(9)).unwrap_err(), Full::Everywhere);
        taken.remove(1);
        let _second = places.take(address(9)).unwrap();
        assert!(!must_leave(&taken[0]) && must_leave(&taken[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_says_anything_gives_way_first() {
        let places = places(2, 2);
        let used = places.take(address(1)).unwrap();
        used.presence.received();
        wait(3600).await;
        let silent = places.take(address(2)).unwrap();
        assert!(!must_leave(&silent));
        wait(1).await;
        let _newcomer = places.take(address(3)).unwrap();
        assert!(must_leave(&silent) && !must_leave(&used));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_so_many_places_and_no_more() {
        let places = places(100, 2);
        let first = places.take(address(1)).unwrap();
        let second = places.take(address(1)).unwrap();
        first.presence.received();
        second.presence.received();
        assert_eq!(places.take(address(1)).unwrap_err(), Full::ForAddress);
        let _other = places.take(address(2)).unwrap();
        let own: Vec<Place> =
            (0..50).map(|_| places.take([127, 0, 0, 1].into()).unwrap()).collect();
        assert!(own.iter().all(|place| !must_leave(place)), "a proxy may have this address");
        wait(60).await;
        let third = places.take(address(1)).unwrap();
        third.presence.received();
        assert!(must_leave(&first) != must_leave(&second), "one of its own gives way");
        drop((first, second));
        let _fourth = places.take(address(1)).unwrap();
        // The networks of IPv6 count as one client.
        let network = |last| IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, last]);
        let _fifth = places.take(network(1)).unwrap();
        let _sixth = places.take(network(2)).unwrap();
        assert_eq!(places.take(network(3)).unwrap_err(), Full::ForAddress);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_those_who_have_gone() {
        let places = places(4, 2);
        for round in 0..10 {
            let taken: Vec<_> = (0..8).map(|n| places.take(address(n / 2))).collect();
            assert_eq!(taken.iter().filter(|place| place.is_ok()).count(), 4, "{round}");
            wait(3600).await;
        }
        let table = places.lock();
        assert!(table.taken.is_empty() && table.by_address.is_empty());
        assert_eq!(table.leaving, 0);
    }
}
