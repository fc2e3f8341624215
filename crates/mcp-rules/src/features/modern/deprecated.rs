//! Features that 2026-07-28 deprecates: still valid, scheduled for removal.

use mcp_core::Side;
use mcp_json::{Node, Span};
use serde::{Deserialize, Serialize};

use super::conversation::DEPRECATED;
use crate::{
    Setting,
    conversation::{Event, Known, META_CAPABILITIES, Notes},
    findings::Fault,
};

const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Feature {
    Roots,
    Sampling,
    Logging,
    IncludeContext,
}

impl Feature {
    const fn name(self) -> &'static str {
        match self {
            Feature::Roots => "roots",
            Feature::Sampling => "sampling",
            Feature::Logging => "logging",
            Feature::IncludeContext => "`includeContext`",
        }
    }

    const fn instead(self) -> &'static str {
        match self {
            Feature::Roots => {
                "pass directories as tool arguments, resource URIs or configuration instead"
            }
            Feature::Sampling => "call a model provider directly instead",
            Feature::Logging => "write to stderr, or use OpenTelemetry instead",
            Feature::IncludeContext => "omit it, or set it to `none`",
        }
    }
}

/// The features already reported; once per side is enough.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Deprecated {
    /// One bit per feature, by `Side as usize`.
    reported: [u8; 2],
}

impl Deprecated {
    pub(super) fn follow(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let asked_for = matches!(known.criteria.settings().rule(&DEPRECATED), Some(Setting::On(_)));
        if !asked_for || !event.is_modern() {
            return;
        }
        match event.from {
            Side::Client => self.follow_client(event, notes),
            Side::Server => self.follow_server(event, notes),
        }
    }

    fn follow_client(&mut self, event: &Event<'_>, notes: &mut Notes) {
        let Some(meta) = event.meta().filter(|_| event.request().is_some()) else { return };
        if let Some(level) = meta.get(META_LOG_LEVEL) {
            self.say(Feature::Logging, event.from, level.span(), notes);
        }
        let Some(capabilities) = meta.get(META_CAPABILITIES) else { return };
        for (name, feature) in [("roots", Feature::Roots), ("sampling", Feature::Sampling)] {
            if let Some(declared) = capabilities.get(name) {
                self.say(feature, event.from, declared.span(), notes);
            }
        }
    }

    fn follow_server(&mut self, event: &Event<'_>, notes: &mut Notes) {
        if event.call() == Some("notifications/message") {
            let at = event.envelope.method.unwrap_or(event.node()).span();
            self.say(Feature::Logging, event.from, at, notes);
        }
        let Some(result) = event.result() else { return };
        if event.name == "server/discover" {
            let capabilities = result.get("capabilities");
            if let Some(logging) = capabilities.and_then(|declared| declared.get("logging")) {
                self.say(Feature::Logging, event.from, logging.span(), notes);
            }
        }
        for (_, entry) in result.get("inputRequests").into_iter().flat_map(Node::members) {
            self.follow_input_request(entry, event, notes);
        }
    }

    fn follow_input_request(&mut self, entry: Node<'_>, event: &Event<'_>, notes: &mut Notes) {
        let Some(method) = entry.get("method") else { return };
        if method.str_eq("roots/list") {
            self.say(Feature::Roots, event.from, method.span(), notes);
        } else if method.str_eq("sampling/createMessage") {
            self.say(Feature::Sampling, event.from, method.span(), notes);
            let context = entry.get("params").and_then(|params| params.get("includeContext"));
            if let Some(context) = context.filter(|context| !context.str_eq("none")) {
                self.say(Feature::IncludeContext, event.from, context.span(), notes);
            }
        }
    }

    fn say(&mut self, feature: Feature, side: Side, at: Span, notes: &mut Notes) {
        let reported = &mut self.reported[side as usize];
        let bit = 1 << feature as u8;
        if *reported & bit != 0 {
            return;
        }
        *reported |= bit;
        notes.note(
            Fault::new(&DEPRECATED, format!("{} is deprecated", feature.name()))
                .at(at)
                .help(feature.instead()),
        );
    }
}
