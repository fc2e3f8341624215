use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A published revision of the specification, ordered by date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the dates of publication")]
#[expect(clippy::exhaustive_enums, reason = "a new revision is meant to visit every match")]
pub enum Revision {
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Every published revision, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Revision = Revision::V2026_07_28;

    /// The newest revision that opens with `initialize`.
    pub const LATEST_LEGACY: Revision = Revision::V2025_11_25;

    /// The date that names the revision in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether a conversation opens with a handshake or carries its metadata on every request.
    pub const fn era(self) -> Era {
        match self {
            Revision::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// Position in [`Revision::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Revision::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.into()))
    }
}

/// The name of a revision that is not (yet) published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a published revision; known revisions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"
)]
pub struct UnknownRevision(Box<str>);

/// How client and server agree on a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// An `initialize` handshake negotiates version and capabilities once per conversation.
    Legacy,
    /// Every request carries version and capabilities in its `_meta`.
    Modern,
}

/// A set of revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Revisions(u8);

impl Revisions {
    /// Every revision.
    pub const ALL: Revisions = Revisions::between(Revision::V2024_11_05, Revision::LATEST);

    /// Every revision that opens with `initialize`.
    pub const LEGACY: Revisions =
        Revisions::between(Revision::V2024_11_05, Revision::LATEST_LEGACY);

    /// The empty set, to be extended with [`Revisions::and`].
    pub const NONE: Revisions = Revisions(0);

    /// `first` and later.
    pub const fn from(first: Revision) -> Revisions {
        Revisions::between(first, Revision::LATEST)
    }

    /// Up to and including `last`.
    pub const fn up_to(last: Revision) -> Revisions {
        Revisions::between(Revision::V2024_11_05, last)
    }

    /// From `first` to `last`, inclusive.
    pub const fn between(first: Revision, last: Revision) -> Revisions {
        let below_last = (1u8 << (last as u8 + 1)) - 1;
        let below_first = (1u8 << first as u8) - 1;
        Revisions(below_last & !below_first)
    }

    /// Exactly one revision.
    pub const fn only(revision: Revision) -> Revisions {
        Revisions(1 << revision as u8)
    }

    /// This set plus `revision`.
    #[must_use]
    pub const fn and(self, revision: Revision) -> Revisions {
        Revisions(self.0 | 1 << revision as u8)
    }

    /// Whether `revision` is in the set.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & (1 << revision as u8) != 0
    }

    /// The revisions, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Revision> {
        Revision::ALL.into_iter().filter(move |revision| self.contains(*revision))
    }
}

impl fmt::Display for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Revisions::ALL {
            return f.write_str("all");
        }
        for (position, revision) in self.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            revision.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_round_trips_through_its_name() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
            assert_eq!(Revision::ALL[revision.index()], revision);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "2025-06-19".parse::<Revision>().unwrap_err().to_string();
        assert!(error.contains("2025-06-19") && error.contains("2026-07-28"), "{error}");
    }

    #[test]
    fn sets_hold_exactly_their_range() {
        let middle = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);
        let held: Vec<_> = middle.iter().map(Revision::as_str).collect();
        assert_eq!(held, ["2025-03-26", "2025-06-18", "2025-11-25"]);
        assert_eq!(Revisions::ALL.to_string(), "all");
        assert_eq!(Revisions::only(Revision::LATEST).to_string(), "2026-07-28");
        assert!(!Revisions::NONE.contains(Revision::LATEST));
        assert_eq!(
            Revisions::only(Revision::V2024_11_05).and(Revision::V2025_06_18).to_string(),
            "2024-11-05, 2025-06-18"
        );
        assert_eq!(Revisions::LEGACY, Revisions::up_to(Revision::V2025_11_25));
    }
}
