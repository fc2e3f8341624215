//! The contestants: each takes the bytes of a message and returns a verdict.

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

/// The subject of the benchmarks.
pub const PLUMB: &str = "plumb";

/// The same with every stateless rule.
pub const PLUMB_EVERYTHING: &str = "plumb, every stateless rule";

/// The baseline of all ratios.
pub const YARDSTICK: &str = "sonic-rs, parse to Value";

/// The peer with the fastest validation.
pub const SERDE_MACRO: &str = "serde_json + jsonschema, compile-time macro";

/// The peer with a typed model.
pub const RMCP: &str = "rmcp, typed parse";

/// One way to determine whether a message is valid.
pub trait Contestant: std::fmt::Debug {
    /// Its name in the report.
    fn name(&self) -> &'static str;

    /// What it can detect. Those that only parse serve as a lower bound.
    fn notices(&self) -> NoticedBy;

    /// Whether the message is valid, as far as this contestant checks.
    fn verdict(&mut self, message: &Message) -> bool;

    /// The number of valid messages; this is what is timed.
    fn pass(&mut self, messages: &[Message]) -> usize {
        let right = |message: &&Message| black_box(self.verdict(black_box(message)));
        messages.iter().filter(right).count()
    }
}

/// All contestants, in report order. Those that validate also check the arguments of calls of
/// `tools`; calls of other tools are not checked.
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
