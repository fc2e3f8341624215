//! Limits the number of conversations of a listener, and picks idle ones to close for new clients.

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

/// A client that has not sent a message yet may be closed for another after this time.
const SETTLED: Duration = Duration::from_millis(500);
/// At most one in this many conversations may be closing while its slot is already reused.
const PART: usize = 16;

/// The slots of a listener.
#[derive(Debug)]
pub(super) struct Slots {
    all: usize,
    per_address: usize,
    idle_after: Duration,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    taken: HashMap<u64, Arc<SlotActivity>>,
    by_address: HashMap<IpAddr, Vec<u64>>,
    /// Conversations that were asked to close and have not closed yet.
    evicting: usize,
    /// Set if all conversations are in use: none can become idle before this time.
    busy_until: Option<Instant>,
}

/// Why a client gets no slot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoSlot {
    /// All slots are taken, by conversations that are in use.
    Everywhere,
    /// All slots of the client's address are taken.
    ForAddress,
}

impl Slots {
    pub(super) fn new(settings: &WsServerSettings) -> Slots {
        Slots {
            all: settings.max_connections,
            per_address: settings.max_connections_per_address,
            idle_after: settings.idle_after,
            table: Mutex::default(),
        }
    }

    /// Takes a slot for a client. If none is free, an idle conversation is asked to close.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Slot, NoSlot> {
        let address = counted_address(address);
        let mut table = self.lock();
        let neighbours = address.and_then(|address| table.by_address.get(&address));
        if neighbours.is_some_and(|neighbours| neighbours.len() >= self.per_address) {
            let idlest = self.idlest(neighbours.into_iter().flatten(), &table.taken);
            if !idlest.is_some_and(|idlest| table.evict(idlest, self.all)) {
                return Err(NoSlot::ForAddress);
            }
        }
        if table.taken.len() >= self.all && !self.make_room_in(&mut table) {
            return Err(NoSlot::Everywhere);
        }
        let activity = Arc::new(SlotActivity::new(address));
        let number = table.next;
        table.next += 1;
        table.taken.insert(number, Arc::clone(&activity));
        if let Some(address) = address {
            table.by_address.entry(address).or_default().push(number);
        }
        Ok(Slot { slots: Arc::clone(self), number, activity })
    }

    /// Asks an idle conversation to close.
    pub(super) fn make_room(&self) {
        self.make_room_in(&mut self.lock());
    }

    fn make_room_in(&self, table: &mut Table) -> bool {
        let now = Instant::now();
        if table.evicting > self.all / PART || table.busy_until.is_some_and(|until| now < until) {
            return false;
        }
        let Some(idlest) = self.idlest(table.taken.keys(), &table.taken) else {
            // Do not search again for every rejected client: that would help an attacker.
            let soonest = table.taken.values().map(|activity| activity.idle_at(self.idle_after));
            table.busy_until = soonest.min();
            return false;
        };
        table.evict(idlest, self.all)
    }

    /// The conversation to close: one whose client never sent anything, or else the one idle for
    /// longest.
    fn idlest<'n>(
        &self,
        numbers: impl Iterator<Item = &'n u64>,
        taken: &HashMap<u64, Arc<SlotActivity>>,
    ) -> Option<u64> {
        let now = Instant::now();
        let idle = numbers.filter_map(|number| {
            let activity = taken.get(number)?;
            let is_idle = activity.idle_at(self.idle_after) <= now;
            is_idle.then(|| (!activity.is_used(), Reverse(activity.last_use()), *number))
        });
        idle.max().map(|(.., number)| number)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Asks a conversation to close; `false` if too many are already closing.
    fn evict(&mut self, number: u64, all: usize) -> bool {
        if self.evicting > all / PART {
            return false;
        }
        if let Some(activity) = self.remove(number) {
            self.evicting += 1;
            activity.eviction.cancel();
        }
        true
    }

    fn remove(&mut self, number: u64) -> Option<Arc<SlotActivity>> {
        let activity = self.taken.remove(&number)?;
        if let Some(address) = activity.address
            && let Some(neighbours) = self.by_address.get_mut(&address)
        {
            neighbours.retain(|neighbour| *neighbour != number);
            if neighbours.is_empty() {
                self.by_address.remove(&address);
            }
        }
        self.busy_until = None;
        Some(activity)
    }
}

/// A taken slot; freed when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    number: u64,
    activity: Arc<SlotActivity>,
}

impl Slot {
    pub(super) fn activity(&self) -> &Arc<SlotActivity> {
        &self.activity
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut table = self.slots.lock();
        if table.remove(self.number).is_none() {
            table.evicting = table.evicting.saturating_sub(1);
        }
    }
}

/// When the client of a slot was last active.
#[derive(Debug)]
pub(super) struct SlotActivity {
    /// The address whose limit it counts towards.
    address: Option<IpAddr>,
    born: Instant,
    /// When a message was last sent or received, in milliseconds after `born`.
    used: AtomicU64,
    has_sent: AtomicBool,
    eviction: CancellationToken,
}

impl SlotActivity {
    fn new(address: Option<IpAddr>) -> SlotActivity {
        SlotActivity {
            address,
            born: Instant::now(),
            used: AtomicU64::new(0),
            has_sent: AtomicBool::new(false),
            eviction: CancellationToken::new(),
        }
    }

    /// Completes when the conversation should close to make room for another.
    pub(super) async fn evicted(&self) {
        self.eviction.cancelled().await;
    }

    /// Records that a message was received from the client.
    pub(super) fn received(&self) {
        self.has_sent.store(true, Ordering::Relaxed);
        self.sent();
    }

    /// Records that a message was sent to the client.
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

    /// When it becomes idle if nothing is sent or received before then.
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

    fn slots(all: usize, per_address: usize) -> Arc<Slots> {
        let settings = WsServerSettings {
            max_connections: all,
            max_connections_per_address: per_address,
            ..WsServerSettings::default()
        };
        Arc::new(Slots::new(&settings))
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    async fn wait(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    fn must_leave(slot: &Slot) -> bool {
        slot.activity.eviction.is_cancelled()
    }

    #[tokio::test(start_paused = true)]
    async fn the_conversation_idle_for_longest_gives_way_and_one_in_use_does_not() {
        let slots = slots(3, 3);
        let mut taken: Vec<Slot> = (0..3).map(|n| slots.take(address(n)).unwrap()).collect();
        for slot in &taken {
            slot.activity.received();
            wait(1).await;
        }
        assert_eq!(slots.take(address(9)).unwrap_err(), NoSlot::Everywhere, "all are in use");
        wait(57).await;
        // The first has become idle by now, but something was sent to it.
        taken[0].activity.sent();
        wait(2).await;
        let newcomer = slots.take(address(9)).unwrap();
        assert!(must_leave(&taken[1]) && !must_leave(&taken[0]) && !must_leave(&taken[2]));
        newcomer.activity.received();
        // No more than this may be on their way out.
        wait(60).await;
        assert_eq!(slots.take(address(9)).unwrap_err(), NoSlot::Everywhere);
        taken.remove(1);
        let _second = slots.take(address(9)).unwrap();
        assert!(!must_leave(&taken[0]) && must_leave(&taken[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_says_anything_gives_way_first() {
        let slots = slots(2, 2);
        let used = slots.take(address(1)).unwrap();
        used.activity.received();
        wait(3600).await;
        let silent = slots.take(address(2)).unwrap();
        assert!(!must_leave(&silent));
        wait(1).await;
        let _newcomer = slots.take(address(3)).unwrap();
        assert!(must_leave(&silent) && !must_leave(&used));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_so_many_places_and_no_more() {
        let slots = slots(100, 2);
        let first = slots.take(address(1)).unwrap();
        let second = slots.take(address(1)).unwrap();
        first.activity.received();
        second.activity.received();
        assert_eq!(slots.take(address(1)).unwrap_err(), NoSlot::ForAddress);
        let _other = slots.take(address(2)).unwrap();
        let own: Vec<Slot> = (0..50).map(|_| slots.take([127, 0, 0, 1].into()).unwrap()).collect();
        assert!(own.iter().all(|slot| !must_leave(slot)), "a proxy may have this address");
        wait(60).await;
        let third = slots.take(address(1)).unwrap();
        third.activity.received();
        assert!(must_leave(&first) != must_leave(&second), "one of its own gives way");
        drop((first, second));
        let _fourth = slots.take(address(1)).unwrap();
        // The networks of IPv6 count as one client.
        let network = |last| IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, last]);
        let _fifth = slots.take(network(1)).unwrap();
        let _sixth = slots.take(network(2)).unwrap();
        assert_eq!(slots.take(network(3)).unwrap_err(), NoSlot::ForAddress);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_those_who_have_gone() {
        let slots = slots(4, 2);
        for round in 0..10 {
            let taken: Vec<_> = (0..8).map(|n| slots.take(address(n / 2))).collect();
            assert_eq!(taken.iter().filter(|slot| slot.is_ok()).count(), 4, "{round}");
            wait(3600).await;
        }
        let table = slots.lock();
        assert!(table.taken.is_empty() && table.by_address.is_empty());
        assert_eq!(table.evicting, 0);
    }
}
