//! Realistic MCP 2025-11-25 messages, the same on every run.
//!
//! Every message of a corpus is valid; [`invalid`] breaks some of them, to show that validators
//! actually validate.

pub mod base64;
pub mod invalid;
pub mod json;
mod property;
pub mod rng;
pub mod small;
pub mod text;
pub mod tool_list;
pub mod tool_result;
pub mod tools_call;
mod wire;
mod words;

pub use wire::{Answer, Exchange, Message, Notice, Spelling};

use json::Json;
use rng::Rng;
use tool_list::Tool;

use crate::measure::count;

/// A kind of message by size and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "`title` says it")]
pub enum Class {
    Small,
    ToolResult,
    ToolList,
    Base64,
    Text,
    ToolsCall,
    KnownToolList,
}

impl Class {
    /// All classes, in report order.
    pub const ALL: [Class; 7] = [
        Class::Small,
        Class::ToolResult,
        Class::ToolList,
        Class::KnownToolList,
        Class::Base64,
        Class::Text,
        Class::ToolsCall,
    ];

    /// The name of the class in the report.
    pub const fn title(self) -> &'static str {
        match self {
            Class::Small => "small, all methods",
            Class::ToolResult => "4 KB results",
            Class::ToolList => "25 KB tool lists, all tools new",
            Class::KnownToolList => "25 KB tool lists, seen before",
            Class::Base64 => "100 KB base64",
            Class::Text => "100 KB escaped text",
            Class::ToolsCall => "tools/call with arguments",
        }
    }

    /// Whether the arguments of calls are checked against the schemas of [`known_tools`].
    pub const fn checks_arguments(self) -> bool {
        matches!(self, Class::ToolsCall)
    }

    /// The number of messages in a corpus.
    const fn count(self) -> usize {
        match self {
            Class::Small | Class::ToolResult | Class::ToolsCall => 2_000,
            Class::ToolList | Class::KnownToolList | Class::Base64 | Class::Text => 200,
        }
    }
}

/// The messages of one class.
#[derive(Debug)]
pub struct Corpus {
    /// Their class.
    pub class: Class,
    /// The messages, all valid.
    pub messages: Vec<Message>,
}

impl Corpus {
    /// Generates the messages of `class`; calls are of tools in `tools`.
    pub fn generate(class: Class, tools: &[Tool]) -> Corpus {
        let mut rng = Rng::new(0x706c_756d_6200 + class as u64);
        let messages = (0..class.count()).map(|index| message(class, &mut rng, tools, index));
        Corpus { class, messages: messages.collect() }
    }

    /// The average length of a message.
    pub fn mean_bytes(&self) -> f64 {
        let bytes = self.messages.iter().map(|message| message.bytes.len()).sum();
        count(bytes) / count(self.messages.len())
    }
}

/// The tools that are called in every corpus.
pub fn known_tools() -> Vec<Tool> {
    tool_list::tools(&mut Rng::new(0x746f_6f6c_7300))
}

fn message(class: Class, rng: &mut Rng, tools: &[Tool], index: usize) -> Message {
    let id = id(rng, index);
    let spelling = Spelling::any(rng);
    match class {
        Class::Small => small_message(rng, tools, spelling, &id),
        Class::ToolResult => tool_result::exchange(rng, tools, 4_000).response(spelling, &id),
        Class::ToolList => {
            let listed = tool_list::tools(rng);
            tool_list::exchange(&listed).response(spelling, &id)
        }
        Class::KnownToolList => tool_list::exchange(tools).response(spelling, &id),
        Class::Base64 => base64::exchange(rng, tools, 100_000).response(spelling, &id),
        Class::Text => text::exchange(rng, tools, 90_000).response(spelling, &id),
        Class::ToolsCall => tools_call::exchange(rng, tools).request(spelling, &id),
    }
}

fn small_message(rng: &mut Rng, tools: &[Tool], spelling: Spelling, id: &Json) -> Message {
    match rng.below(100) {
        0..=15 => {
            let step = rng.integer(0, 100);
            small::progress(rng, mcp_core::Side::Server, id, step).message(spelling)
        }
        16..=27 => small::notice(rng).message(spelling),
        28 => small::cancelled(rng, id).message(spelling),
        29 => small::initialized().message(spelling),
        30 => small::updated(&words::uri(rng).into()).message(spelling),
        31..=65 => {
            let mut exchange = small::exchange(rng, tools);
            if rng.chance(40) {
                exchange.expect_progress(id);
            }
            exchange.request(spelling, id)
        }
        _ => small::exchange(rng, tools).response(spelling, id),
    }
}

/// Most programs use numbers; some make up strings.
fn id(rng: &mut Rng, index: usize) -> Json {
    if rng.chance(15) {
        return words::hex(rng, 16).into();
    }
    i64::try_from(index).unwrap_or(0).into()
}

#[cfg(test)]
mod tests {
    use super::{Class, Corpus, known_tools};

    #[test]
    fn the_same_corpus_comes_out_twice_and_has_the_size_it_says() {
        let tools = known_tools();
        for (class, least, most) in [
            (Class::Small, 180.0, 220.0),
            (Class::ToolResult, 3_600.0, 4_800.0),
            (Class::ToolList, 21_000.0, 29_000.0),
            (Class::KnownToolList, 15_000.0, 35_000.0),
            (Class::Base64, 95_000.0, 105_000.0),
            (Class::Text, 92_000.0, 108_000.0),
            (Class::ToolsCall, 150.0, 700.0),
        ] {
            let corpus = Corpus::generate(class, &tools);
            let again = Corpus::generate(class, &tools);
            let mean = corpus.mean_bytes();
            assert!((least..=most).contains(&mean), "{class:?}: {mean}");
            for (one, other) in corpus.messages.iter().zip(&again.messages) {
                assert_eq!(one.bytes, other.bytes);
            }
        }
    }
}
