//! Faults: their names, descriptions, and where they show.

use crate::revision::Revision;

/// The feature in which a fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Handshake,
    Ids,
    Errors,
    Notifications,
    Ping,
    Cancellation,
    Progress,
    Logging,
    Pagination,
    Listing,
    Tools,
    Resources,
    Prompts,
    Completion,
    Subscriptions,
    Tasks,
    Stateless,
    Shutdown,
    Http,
}

/// The transport over which a fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Any,
    Stdio,
    Http,
}

/// The revisions in which a fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    All,
    /// With a handshake: up to 2025-11-25.
    Handshake,
    /// 2026-07-28.
    Stateless,
    /// 2025-03-26, which alone has batches.
    Batches,
    /// From 2025-06-18: no batches, structured content.
    NoBatches,
    /// 2025-06-18 and 2025-11-25: a version header and sessions.
    VersionHeader,
    /// From 2025-03-26 to 2025-11-25: sessions over HTTP.
    Sessions,
    /// 2025-11-25, which alone has tasks.
    Tasks,
}

impl Phase {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Ids => "ids",
            Self::Errors => "errors",
            Self::Notifications => "notifications",
            Self::Ping => "ping",
            Self::Cancellation => "cancellation",
            Self::Progress => "progress",
            Self::Logging => "logging",
            Self::Pagination => "pagination",
            Self::Listing => "listing",
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Completion => "completion",
            Self::Subscriptions => "subscriptions",
            Self::Tasks => "tasks",
            Self::Stateless => "stateless",
            Self::Shutdown => "shutdown",
            Self::Http => "http",
        }
    }
}

impl Carrier {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

impl Era {
    /// A revision to test the fault in.
    pub(crate) const fn revision(self) -> Revision {
        match self {
            Self::All
            | Self::Handshake
            | Self::NoBatches
            | Self::VersionHeader
            | Self::Sessions
            | Self::Tasks => Revision::V2025_11_25,
            Self::Stateless => Revision::V2026_07_28,
            Self::Batches => Revision::V2025_03_26,
        }
    }
}

macro_rules! faults {
    ($($fault:ident $name:literal $phase:ident $carrier:ident $era:ident $text:literal;)*) => {
        /// One thing that the server does wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault { $($fault,)* }

        impl Fault {
            pub(crate) const ALL: &[Self] = &[$(Self::$fault,)*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$fault => $name,)* }
            }

            pub(crate) const fn phase(self) -> Phase {
                match self { $(Self::$fault => Phase::$phase,)* }
            }

            pub(crate) const fn carrier(self) -> Carrier {
                match self { $(Self::$fault => Carrier::$carrier,)* }
            }

            pub(crate) const fn era(self) -> Era {
                match self { $(Self::$fault => Era::$era,)* }
            }

            pub(crate) const fn text(self) -> &'static str {
                match self { $(Self::$fault => $text,)* }
            }
        }
    };
}

pub(crate) use faults;
