//! What is known about a conversation, and its vocabulary: a valid message is an [`Event`], what
//! was known before it is [`Known`], and rules put faults into [`Notes`].
//!
//! Only data that several features share. State of a single feature is in its own module, and so
//! are all rules.
//!
//! All state is bounded, and what was forgotten or never observed causes no findings.

pub(crate) mod asked;
mod bounded;
mod capabilities;
pub(crate) mod digest;
mod event;
mod exchanges;
mod id_set;
pub(crate) mod lifecycle;
pub(crate) mod listings;
mod log_level;
mod meta_names;
mod moment;
mod negotiation;
mod notes;
mod past;
mod request;
mod requests;
pub(crate) mod stated_schema;
mod task_status;
mod topic;

pub(crate) use self::{
    asked::{Asked, Remembered},
    bounded::{Bounded, BoundedMap},
    capabilities::{Capabilities, Declared, Flag},
    event::{Answer, Event, Known, What},
    exchanges::Exchanges,
    lifecycle::{Lifecycle, Phase},
    listings::Listings,
    log_level::LogLevel,
    meta_names::{
        META_CAPABILITIES, META_CLIENT_INFO, META_SERVER_INFO, META_SUBSCRIPTION, META_VERSION,
    },
    moment::Moment,
    negotiation::Negotiation,
    notes::{Change, Fate, Notes},
    past::Past,
    request::{MethodRef, Name, Request, request_id},
    requests::Requests,
    stated_schema::StatedSchema,
    task_status::TaskStatus,
    topic::Topic,
};
