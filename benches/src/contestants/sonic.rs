//! `sonic-rs` to its `Value`: the baseline.

use sonic_rs::Value;

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;

#[derive(Debug)]
pub(super) struct Sonic;

impl Contestant for Sonic {
    fn name(&self) -> &'static str {
        super::YARDSTICK
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Parsing
    }

    fn verdict(&mut self, message: &Message) -> bool {
        sonic_rs::from_slice::<Value>(&message.bytes).is_ok()
    }
}
