//! The lists of a server.

use std::borrow::Cow;

use mcp_json::Node;
use mcp_rules::{Finding, Severity};

use super::{text, view};
use crate::Log;

/// Maximum pages requested per list, and maximum entries kept.
pub(super) const MOST_PAGES: usize = 100;
const MOST_ENTRIES: usize = 5_000;
/// Maximum bytes of definitions kept.
const MOST_BYTES: usize = 16 << 20;

/// The lists: the method, the member of its result, and the capability that goes with it.
pub(super) const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "tools"),
    ("resources/list", "resources", "resources"),
    ("resources/templates/list", "resourceTemplates", "resources"),
    ("prompts/list", "prompts", "prompts"),
];

#[derive(Debug, Default)]
pub(super) struct Offering {
    pages: Vec<Page>,
    bytes: usize,
    pub(super) problems: Vec<String>,
    /// Incremented with every change.
    pub(super) version: u64,
}

/// The answer to one request.
#[derive(Debug)]
struct Page {
    id: String,
    member: &'static str,
    frame: Option<u64>,
    entries: Vec<String>,
}

impl Offering {
    /// Adds a page; returns the cursor of the next page. The error says why the page is unusable.
    pub(super) fn add(
        &mut self,
        id: String,
        member: &'static str,
        frame: Option<u64>,
        answer: &str,
    ) -> Result<Option<String>, String> {
        let read = text::read(answer, |message| {
            if let Some(error) = message.get("error") {
                let said = error.get("message").and_then(Node::as_str).unwrap_or_default();
                return Err(format!("the server answered with an error: {said}"));
            }
            let result = message.get("result").ok_or("the answer has no `result`")?;
            let list = result.get(member).filter(|list| list.is_array());
            let list = list.ok_or_else(|| format!("the result has no list `{member}`"))?;
            let raw = |node: Node<'_>| String::from_utf8_lossy(node.raw()).into_owned();
            let entries: Vec<String> = list.elements().map(raw).collect();
            Ok((entries, result.get("nextCursor").filter(|it| it.is_string()).map(raw)))
        });
        let (entries, next) = read.ok_or("the answer is not JSON")??;
        self.bytes += entries.iter().map(String::len).sum::<usize>();
        let count = self.pages.iter().map(|page| page.entries.len()).sum::<usize>();
        if count + entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            return Err("the list is too long to be kept".to_owned());
        }
        self.pages.push(Page { id, member, frame, entries });
        Ok(next)
    }

    /// Notes the frame number of an answer.
    pub(super) fn place(&mut self, id: &str, number: u64) {
        for page in &mut self.pages {
            if page.id == id && page.frame.is_none() {
                page.frame = Some(number);
                self.version += 1;
            }
        }
    }

    /// Whether a tool is annotated as read-only; `None` if there is no such tool.
    pub(super) fn is_read_only(&self, tool: &str) -> Option<bool> {
        let tools = self.pages.iter().filter(|page| page.member == "tools");
        let named = |entry: &&String| {
            let name = |root: Node<'_>| root.get("name").is_some_and(|name| name.str_eq(tool));
            text::read(entry, name) == Some(true)
        };
        let entry = tools.flat_map(|page| &page.entries).find(named)?;
        text::read(entry, |root| hint(root, "readOnlyHint") == Some(true))
    }

    pub(super) fn view(&self, log: &Log) -> view::Offer {
        let mut offer = view::Offer { problems: self.problems.clone(), ..view::Offer::default() };
        for page in &self.pages {
            let findings = page.frame.and_then(|frame| log.frame(frame, |it| it.findings.clone()));
            let findings = findings.unwrap_or_default();
            let entries = page.entries.iter().enumerate();
            let shown = entries.map(|(index, entry)| offered(page, index, entry, &findings));
            let list = match page.member {
                "tools" => &mut offer.tools,
                "resources" => &mut offer.resources,
                "resourceTemplates" => &mut offer.templates,
                _ => &mut offer.prompts,
            };
            list.extend(shown);
        }
        offer
    }
}

fn offered(page: &Page, index: usize, entry: &str, findings: &[Finding]) -> view::Offered {
    let place = format!("/result/{}/{index}", page.member);
    let is_about = |finding: &&Finding| {
        let rest = finding.pointer.as_deref().and_then(|pointer| pointer.strip_prefix(&*place));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let findings: Vec<Finding> = findings.iter().filter(is_about).cloned().collect();
    let key = match page.member {
        "resources" => "uri",
        "resourceTemplates" => "uriTemplate",
        _ => "name",
    };
    let read = text::read(entry, |root| {
        let string = |name| root.get(name).and_then(Node::as_str).map(Cow::into_owned);
        let named = string(key);
        let title = string("title").or_else(|| {
            let title = root.get("annotations")?.get("title")?.as_str()?.into_owned();
            Some(title)
        });
        let title = title.or_else(|| string("name").filter(|_| key != "name"));
        let hints = (hint(root, "readOnlyHint"), hint(root, "destructiveHint"));
        (named, title, string("description"), hints)
    });
    let (name, title, description, (read_only, destructive)) = read.unwrap_or_default();
    let is_broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    view::Offered {
        usable: name.is_some() && !is_broken,
        name: name.unwrap_or_default(),
        title,
        description,
        definition: entry.to_owned(),
        frame: page.frame,
        findings,
        read_only,
        destructive,
    }
}

fn hint(entry: Node<'_>, name: &str) -> Option<bool> {
    entry.get("annotations")?.get(name)?.as_bool()
}
