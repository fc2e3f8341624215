//! Counts sessions by principal or address, and picks idle ones to end for new ones.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, Weak},
};

use super::Session;
use crate::listening::counted_address;

/// Whose limit a session counts towards: its principal, or else the address it was opened from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Principal(Arc<str>),
    Address(IpAddr),
}

impl Holder {
    /// `None` if neither is known.
    pub(super) fn of(principal: Option<&Arc<str>>, address: Option<IpAddr>) -> Option<Holder> {
        if let Some(principal) = principal {
            return Some(Holder::Principal(Arc::clone(principal)));
        }
        counted_address(address?).map(Holder::Address)
    }
}

/// How many sessions to consider when one has to be ended. Looking at all of them would make opening
/// a session most expensive when the server is busiest.
const CONSIDERED: usize = 64;

/// Some of the sessions of a service, those considered longest ago first.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// May include some that have ended.
    sessions: VecDeque<Weak<Session>>,
    open: usize,
}

impl Roster {
    pub(super) fn open(&self) -> usize {
        self.open
    }

    pub(super) fn add(&mut self, session: &Arc<Session>) {
        if self.sessions.len() > 2 * self.open + CONSIDERED {
            self.sessions.retain(|session| session.strong_count() > 0);
        }
        self.sessions.push_back(Arc::downgrade(session));
        self.open += 1;
    }

    /// Notes that a session has ended.
    pub(super) fn remove_one(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// The session to end: one that its client has never used after opening it, or else the one idle
    /// for longest. `None` if all that were considered are in use.
    pub(super) fn most_idle(&mut self) -> Option<Arc<Session>> {
        let mut found: Option<Arc<Session>> = None;
        for _ in 0..self.sessions.len().min(CONSIDERED) {
            let Some(weak) = self.sessions.pop_front() else { break };
            let Some(session) = weak.upgrade().filter(|session| !session.has_ended()) else {
                continue;
            };
            self.sessions.push_back(weak);
            let rank = |session: &Session| (!session.is_claimed(), Reverse(session.seen_at()));
            let is_better = found.as_deref().is_none_or(|best| rank(&session) > rank(best));
            if is_better && !session.is_attended() {
                found = Some(session);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<&str>) {
        let expected = expected.map(|address| Holder::Address(address.parse().unwrap()));
        assert_eq!(Holder::of(None, Some(address.parse().unwrap())), expected, "{address}");
    }

    #[test]
    fn addresses_are_counted_by_network() {
        check("192.0.2.7", Some("192.0.2.7"));
        check("::ffff:192.0.2.7", Some("192.0.2.7"));
        check("2001:db8:1:2:3:4:5:6", Some("2001:db8:1:2::"));
        check("127.0.0.1", None);
        check("::1", None);
        check("::ffff:127.0.0.1", None);
        assert_eq!(Holder::of(None, None), None);
    }

    #[test]
    fn a_principal_counts_wherever_it_is() {
        let ada: Arc<str> = "ada".into();
        let expected = Some(Holder::Principal(ada.clone()));
        assert_eq!(Holder::of(Some(&ada), Some([192, 0, 2, 7].into())), expected);
    }
}
