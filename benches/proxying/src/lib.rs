//! Measures what proxies add: the same client and the same server, with nothing or with a proxy
//! between them.
//!
//! Client and server are as plain as can be, so that what is between them shows. Every contestant
//! has its turn in every round of one run; figures of different runs must not be compared.

pub mod contestant;
pub mod http;
pub mod messages;
pub mod process;
pub mod report;
pub mod sample;
pub mod stdio;
