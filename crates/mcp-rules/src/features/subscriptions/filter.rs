//! What a subscription asks for, and how much of that the server grants.

use mcp_core::Side;
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::ACK_UNDECLARED;
use crate::{
    conversation::{Event, Flag, Known, Notes},
    findings::Fault,
};

/// Maximum resources remembered per subscription, and the longest URI. Beyond that, resources are
/// not judged.
const MAX_URIS: usize = 64;
const LONGEST_URI: usize = 512;
/// Maximum entries reported per acknowledgement.
const MAX_REPORTED: usize = 16;

/// A kind of notification a subscription can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tools,
    Prompts,
    Resources,
    /// Updates of single resources.
    Updates,
}

impl Kind {
    const LISTS: [Kind; 3] = [Kind::Tools, Kind::Prompts, Kind::Resources];

    pub(super) fn of(notification: &str) -> Option<Kind> {
        Some(match notification {
            "notifications/tools/list_changed" => Kind::Tools,
            "notifications/prompts/list_changed" => Kind::Prompts,
            "notifications/resources/list_changed" => Kind::Resources,
            "notifications/resources/updated" => Kind::Updates,
            _ => return None,
        })
    }

    /// The filter member that asks for it.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Kind::Tools => "toolsListChanged",
            Kind::Prompts => "promptsListChanged",
            Kind::Resources => "resourcesListChanged",
            Kind::Updates => "resourceSubscriptions",
        }
    }

    const fn capability(self) -> Flag {
        match self {
            Kind::Tools => Flag::ToolsListChanged,
            Kind::Prompts => Flag::PromptsListChanged,
            Kind::Resources => Flag::ResourcesListChanged,
            Kind::Updates => Flag::ResourcesSubscribe,
        }
    }

    /// Returns the node in `filter` that asks for it.
    fn asked_in(self, filter: Node<'_>) -> Option<Node<'_>> {
        let member = filter.get(self.member())?;
        let asks = match self {
            Kind::Updates => member.elements().next().is_some(),
            _ => member.as_bool() == Some(true),
        };
        asks.then_some(member)
    }
}

/// What a subscription asks for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Filter {
    /// Whether changes of each list are asked for, in the order of [`Kind::LISTS`]; `None` if
    /// unknown.
    lists: Option<[bool; Kind::LISTS.len()]>,
    /// Resources; `None` if unknown.
    uris: Option<Vec<Box<str>>>,
}

impl Filter {
    pub(super) fn of(node: Node<'_>) -> Filter {
        if !node.is_object() {
            return Filter::default();
        }
        let lists = Some(Kind::LISTS.map(|kind| kind.asked_in(node).is_some()));
        let uris = match node.get(Kind::Updates.member()) {
            Some(list) if list.len() > MAX_URIS => None,
            Some(list) => list
                .elements()
                .map(|uri| Some(uri.as_str().filter(|uri| uri.len() <= LONGEST_URI)?.into()))
                .collect(),
            None => Some(Vec::new()),
        };
        Filter { lists, uris }
    }

    /// Whether a notification was definitely not asked for.
    pub(super) fn excludes(&self, kind: Kind, event: &Event<'_>) -> bool {
        if kind != Kind::Updates {
            return self.excludes_list(kind);
        }
        let uri = event.params().and_then(|params| params.get("uri")).and_then(Node::as_str);
        uri.is_some_and(|uri| self.excludes_uri(&uri))
    }

    fn excludes_list(&self, kind: Kind) -> bool {
        self.lists.is_some_and(|lists| lists.get(kind as usize) == Some(&false))
    }

    /// Whether neither this resource nor an ancestor is listed.
    fn excludes_uri(&self, uri: &str) -> bool {
        let covers = |listed: &str| uri.starts_with(listed.trim_end_matches('/'));
        self.uris.as_ref().is_some_and(|uris| !uris.iter().any(|listed| covers(listed)))
    }

    fn lacks_uri(&self, uri: &str) -> bool {
        let same = |listed: &str| listed.trim_end_matches('/') == uri.trim_end_matches('/');
        self.uris.as_ref().is_some_and(|uris| !uris.iter().any(|listed| same(listed)))
    }

    /// Returns what an acknowledgement grants beyond this, and where. Unknown members may belong to
    /// an extension.
    pub(super) fn exceeded_by<'a>(&self, promised: Node<'a>) -> Vec<(String, Node<'a>)> {
        let lists = Kind::LISTS.into_iter().filter_map(|kind| {
            let granted = kind.asked_in(promised)?;
            self.excludes_list(kind).then(|| (format!("`{}`", kind.member()), granted))
        });
        let uris = Kind::Updates.asked_in(promised).into_iter().flat_map(Node::elements);
        let uris = uris.filter_map(|uri| {
            let text = uri.as_str()?;
            self.lacks_uri(&text).then_some(("this resource".to_owned(), uri))
        });
        lists.chain(uris).take(MAX_REPORTED).collect()
    }
}

/// Checks that what is granted was declared, as far as capabilities are known.
pub(super) fn check_declared(
    promised: Node<'_>,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let Some(declared) = known.capabilities(Side::Server, event) else { return };
    for kind in Kind::LISTS.into_iter().chain([Kind::Updates]) {
        if let Some(granted) = kind.asked_in(promised)
            && !declared.has(kind.capability())
        {
            let path = kind.capability().path();
            notes.note(
                Fault::new(&ACK_UNDECLARED, format!("the server did not declare `{path}`"))
                    .at(granted.span())
                    .related(declared.at().line(), "its capabilities were declared here")
                    .help(format!("declare `{path}`, or do not grant it")),
            );
        }
    }
}
