//! The capabilities that the two sides declared.

use mcp_core::Side;
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{Moment, digest::kept_within};

/// Maximum extension names kept per declaration.
const MAX_EXTENSIONS: usize = 64;
/// Longer names of extensions are kept as digests.
const LONGEST_EXTENSION: usize = 128;

/// A capability that rules check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Flag {
    Tools,
    ToolsListChanged,
    Prompts,
    PromptsListChanged,
    Resources,
    ResourcesSubscribe,
    ResourcesListChanged,
    Logging,
    Completions,
    Roots,
    RootsListChanged,
    Sampling,
    SamplingTools,
    SamplingContext,
    Elicitation,
    ElicitationForm,
    ElicitationUrl,
    Tasks,
    TasksList,
    TasksCancel,
    TasksToolsCall,
    TasksSampling,
    TasksElicitation,
    Experimental,
    Extensions,
}

/// How a capability is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// The member is an object.
    Object,
    /// The member is `true`.
    True,
    /// The member is a non-empty object.
    Entries,
}

impl Flag {
    /// Every capability, its path and how it is declared.
    const ALL: [(Flag, &'static [&'static str], Sign); 25] = [
        (Flag::Tools, &["tools"], Sign::Object),
        (Flag::ToolsListChanged, &["tools", "listChanged"], Sign::True),
        (Flag::Prompts, &["prompts"], Sign::Object),
        (Flag::PromptsListChanged, &["prompts", "listChanged"], Sign::True),
        (Flag::Resources, &["resources"], Sign::Object),
        (Flag::ResourcesSubscribe, &["resources", "subscribe"], Sign::True),
        (Flag::ResourcesListChanged, &["resources", "listChanged"], Sign::True),
        (Flag::Logging, &["logging"], Sign::Object),
        (Flag::Completions, &["completions"], Sign::Object),
        (Flag::Roots, &["roots"], Sign::Object),
        (Flag::RootsListChanged, &["roots", "listChanged"], Sign::True),
        (Flag::Sampling, &["sampling"], Sign::Object),
        (Flag::SamplingTools, &["sampling", "tools"], Sign::Object),
        (Flag::SamplingContext, &["sampling", "context"], Sign::Object),
        (Flag::Elicitation, &["elicitation"], Sign::Object),
        (Flag::ElicitationForm, &["elicitation", "form"], Sign::Object),
        (Flag::ElicitationUrl, &["elicitation", "url"], Sign::Object),
        (Flag::Tasks, &["tasks"], Sign::Object),
        (Flag::TasksList, &["tasks", "list"], Sign::Object),
        (Flag::TasksCancel, &["tasks", "cancel"], Sign::Object),
        (Flag::TasksToolsCall, &["tasks", "requests", "tools", "call"], Sign::Object),
        (Flag::TasksSampling, &["tasks", "requests", "sampling", "createMessage"], Sign::Object),
        (Flag::TasksElicitation, &["tasks", "requests", "elicitation", "create"], Sign::Object),
        (Flag::Experimental, &["experimental"], Sign::Entries),
        (Flag::Extensions, &["extensions"], Sign::Entries),
    ];

    const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The name used in messages: `resources.subscribe`.
    pub(crate) fn path(self) -> String {
        let (_, path, _) = Flag::ALL[self as usize];
        path.join(".")
    }
}

/// What one side declared at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Capabilities {
    /// The flags that are set.
    flags: u32,
    details: Box<Details>,
}

/// Needed only if something is wrong or unusual.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Details {
    /// The extensions, by name.
    extensions: Vec<Box<str>>,
    at: Moment,
}

impl Capabilities {
    /// Reads a `capabilities` object.
    pub(crate) fn of(node: Node<'_>, at: Moment) -> Capabilities {
        let mut flags = 0;
        if !node.is_empty() {
            for (flag, path, sign) in Flag::ALL {
                if declares(node, path, sign) {
                    flags |= flag.bit();
                }
            }
        }
        // No mode means forms, as it did before there were modes.
        let has = |flag: Flag| flags & flag.bit() != 0;
        if has(Flag::Elicitation) && !has(Flag::ElicitationUrl) {
            flags |= Flag::ElicitationForm.bit();
        }
        let extensions = node.get("extensions").into_iter().flat_map(Node::members);
        let extensions = extensions
            .filter_map(|(name, _)| name.as_str())
            .take(MAX_EXTENSIONS)
            .map(|name| kept_within(LONGEST_EXTENSION, name).into_owned().into_boxed_str())
            .collect();
        Capabilities { flags, details: Box::new(Details { extensions, at }) }
    }

    /// Where they were declared.
    pub(crate) fn at(&self) -> Moment {
        self.details.at
    }

    pub(crate) fn has(&self, flag: Flag) -> bool {
        self.flags & flag.bit() != 0
    }

    pub(crate) fn has_extension(&self, name: &str) -> bool {
        let name = kept_within(LONGEST_EXTENSION, name.into());
        self.details.extensions.iter().any(|extension| **extension == *name)
    }

    /// Whether everything `other` names is declared here too. Settings and unknown names are not
    /// compared.
    pub(crate) fn covers(&self, other: &Capabilities) -> bool {
        other.flags & !self.flags == 0
            && other.details.extensions.iter().all(|name| self.has_extension(name))
    }

    /// Whether unknown names may belong to something declared here.
    pub(crate) fn is_open_ended(&self) -> bool {
        self.has(Flag::Experimental) || self.has(Flag::Extensions)
    }
}

fn declares(node: Node<'_>, path: &[&str], sign: Sign) -> bool {
    let mut node = node;
    for name in path {
        let Some(inner) = node.get(name) else { return false };
        node = inner;
    }
    match sign {
        Sign::Object => node.is_object(),
        Sign::True => node.as_bool() == Some(true),
        Sign::Entries => node.is_object() && !node.is_empty(),
    }
}

/// What both sides declared for the whole session: in the handshake, or (server, 2026-07-28) in the
/// last `server/discover` result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Declared {
    client: Option<Capabilities>,
    server: Option<Capabilities>,
    discovered: Option<Capabilities>,
    /// What the client declared before a second handshake, which is still undecided.
    #[serde(default)]
    before: Option<Capabilities>,
}

impl Declared {
    /// What a side declared in the handshake. During a second one it is unknown which of them the
    /// server follows.
    pub(crate) fn in_handshake(&self, side: Side) -> Option<&Capabilities> {
        match side {
            Side::Client => self.client.as_ref().filter(|_| self.before.is_none()),
            Side::Server => self.server.as_ref(),
        }
    }

    /// What the server last declared without a handshake.
    pub(crate) fn discovered(&self) -> Option<&Capabilities> {
        self.discovered.as_ref()
    }

    /// Called when the client begins a handshake.
    pub(crate) fn request(&mut self, declared: Option<Capabilities>) {
        self.before = self.before.take().or(self.client.take());
        self.client = declared;
    }

    /// Called when the server accepts it.
    pub(crate) fn settle(&mut self, declared: Option<Capabilities>) {
        self.before = None;
        self.server = declared;
    }

    /// Called when the server refuses it: the earlier declaration still applies.
    pub(crate) fn give_up(&mut self) {
        if let Some(before) = self.before.take() {
            self.client = Some(before);
        }
    }

    pub(crate) fn note_discovered(&mut self, declared: Capabilities) {
        self.discovered = Some(declared);
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn read(json: &str) -> Capabilities {
        let mut tape = Tape::new();
        let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
        Capabilities::of(document.root(), Moment::default())
    }

    #[test]
    fn flags_are_listed_in_their_own_order() {
        for (position, (flag, ..)) in Flag::ALL.into_iter().enumerate() {
            assert_eq!(flag as usize, position);
        }
        assert_eq!(Flag::ResourcesSubscribe.path(), "resources.subscribe");
    }

    #[test]
    fn what_counts_as_declared() {
        let declared = read(
            r#"{"tools":{"listChanged":false},"prompts":true,"resources":{"subscribe":true},"experimental":{}}"#,
        );
        assert!(declared.has(Flag::Tools) && !declared.has(Flag::ToolsListChanged));
        assert!(!declared.has(Flag::Prompts), "a capability is an object");
        assert!(declared.has(Flag::ResourcesSubscribe));
        assert!(!declared.is_open_ended());
        assert!(read(r#"{"extensions":{"com.example/x":{}}}"#).has_extension("com.example/x"));
    }

    #[test]
    fn elicitation_without_a_mode_means_forms() {
        let form = read(r#"{"elicitation":{}}"#);
        assert!(form.has(Flag::ElicitationForm) && !form.has(Flag::ElicitationUrl));
        let url = read(r#"{"elicitation":{"url":{}}}"#);
        assert!(!url.has(Flag::ElicitationForm) && url.has(Flag::ElicitationUrl));
        let both = read(r#"{"elicitation":{"url":{},"form":{}}}"#);
        assert!(both.has(Flag::ElicitationForm) && both.has(Flag::ElicitationUrl));
    }
}
