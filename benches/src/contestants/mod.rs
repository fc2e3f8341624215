//! Those that are timed: from the bytes of a message to yes or no.

mod boon;
mod plumb;
mod rmcp;
mod serde_macro;
mod serde_runtime;
mod simd;
mod sonic;

use std::hint::black_box;

use mcp_rules::Depth;

use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;
use crate::corpus::tool_list::Tool;

/// What this is about.
pub const PLUMB: &str = "plumb";

/// The same with every rule that needs no memory.
pub const PLUMB_EVERYTHING: &str = "plumb, every stateless rule";

/// What every figure is divided by.
pub const YARDSTICK: &str = "sonic-rs, parse to Value";

/// The peer with the fastest verdict.
pub const SERDE_MACRO: &str = "serde_json + jsonschema, compile-time macro";

/// The peer with a typed model.
pub const RMCP: &str = "rmcp, typed parse";

/// One way to find out whether a message is right.
pub trait Contestant: std::fmt::Debug {
    /// How the report calls it.
    fn name(&self) -> &'static str;

    /// What it notices. Those that only parse are there as a floor.
    fn notices(&self) -> NoticedBy;

    /// Whether the message is right, as far as this contestant looks.
    fn verdict(&mut self, message: &Message) -> bool;

    /// How many of the messages are right; what is timed.
    fn pass(&mut self, messages: &[Message]) -> usize {
        let right = |message: &&Message| black_box(self.verdict(black_box(message)));
        messages.iter().filter(right).count()
    }
}

/// All contestants, in the order of the report. Those that validate check the arguments of calls
/// of `tools` too; calls of other tools are not looked into.
pub fn all(tools: Option<&Vec<Tool>>) -> Vec<Box<dyn Contestant>> {
    let tools = tools.map_or(&[][..], Vec::as_slice);
    vec![
        Box::new(plumb::Plumb::new(Depth::Definitions, tools)),
        Box::new(plumb::Plumb::new(Depth::Everything, tools)),
        Box::new(serde_macro::SerdeMacro::new(tools)),
        Box::new(serde_runtime::SerdeRuntime::new(tools)),
        Box::new(boon::Boon::new(tools)),
        Box::new(rmcp::Rmcp),
        Box::new(sonic::Sonic),
        Box::new(simd::Values::default()),
        Box::new(simd::Tapes::default()),
    ]
}
