use mcp_core::RequestId;
use mcp_json::Node;
use mcp_schema::Definition;
use serde::{Deserialize, Serialize};

use super::conversation::MODERN;
use crate::conversation::{
    Event, Known, Moment,
    asked::{AskedElicitation, AskedSampling, Target, TargetKind},
    digest::Fingerprint,
};

/// Maximum questions remembered per result, and the longest key. A result with more is remembered
/// without its questions.
const MAX_QUESTIONS: usize = 64;
const LONGEST_KEY: usize = 256;
/// Maximum questions per result whose details are remembered.
const MAX_DETAILED: usize = 8;

impl Target {
    pub(super) fn of(event: &Event<'_>) -> Option<Target> {
        let (kind, member) = match event.name {
            "tools/call" => (TargetKind::Tool, "name"),
            "prompts/get" => (TargetKind::Prompt, "name"),
            "resources/read" => (TargetKind::Resource, "uri"),
            _ => return None,
        };
        Some(Target { kind, name: Fingerprint::of(event.params()?.get(member)?)? })
    }
}

impl TargetKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            TargetKind::Tool => "tool",
            TargetKind::Prompt => "prompt",
            TargetKind::Resource => "resource",
        }
    }
}

/// A result that asked for input and awaits a retry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) at: Moment,
    /// The id of the request it answered.
    pub(super) id: RequestId,
    pub(super) target: Target,
    pub(super) state: Option<Fingerprint>,
    /// `None` if there were too many to remember.
    pub(super) questions: Option<Vec<Question>>,
}

/// An entry of `inputRequests`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) key: Box<str>,
    pub(super) kind: QuestionKind,
}

/// The kind of input asked for, with its details while the budget lasts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum QuestionKind {
    Elicitation(Option<Box<AskedElicitation>>),
    Sampling(Option<Box<AskedSampling>>),
    Roots,
    /// Not a method the revision knows; reported elsewhere.
    Other,
}

impl Pending {
    /// Reads what a result asks for; `None` if its state is unreadable, as no retry could be
    /// matched.
    pub(super) fn of(
        result: Node<'_>,
        id: &RequestId,
        target: Target,
        event: &Event<'_>,
        known: &Known<'_>,
    ) -> Option<Pending> {
        let state = match result.get("requestState") {
            Some(state) => Some(Fingerprint::of(state)?),
            None => None,
        };
        let questions = match result.get("inputRequests") {
            Some(entries) if entries.len() > MAX_QUESTIONS => None,
            Some(entries) => entries
                .members()
                .enumerate()
                .map(|(position, (key, entry))| {
                    let details = (position < MAX_DETAILED).then_some((event, known));
                    Question::of(key, entry, details)
                })
                .collect(),
            None => Some(Vec::new()),
        };
        Some(Pending { at: event.at, id: id.clone(), target, state, questions })
    }

    /// Drops the details, which take the most space.
    pub(super) fn forget_details(&mut self) {
        for question in self.questions.iter_mut().flatten() {
            match &mut question.kind {
                QuestionKind::Elicitation(details) => *details = None,
                QuestionKind::Sampling(details) => *details = None,
                QuestionKind::Roots | QuestionKind::Other => {}
            }
        }
    }

    pub(super) fn question(&self, key: &str) -> Option<&Question> {
        self.questions.iter().flatten().find(|question| *question.key == *key)
    }

    /// Whether there are questions and `responses` answers all of them.
    pub(super) fn is_answered_by(&self, responses: Node<'_>) -> bool {
        self.questions.as_ref().is_some_and(|questions| {
            !questions.is_empty()
                && questions.iter().all(|question| responses.get(&question.key).is_some())
        })
    }

    /// Whether `responses` answers any question.
    pub(super) fn is_partly_answered_by(&self, responses: Node<'_>) -> bool {
        self.questions.iter().flatten().any(|question| responses.get(&question.key).is_some())
    }
}

impl Question {
    fn of(
        key: Node<'_>,
        entry: Node<'_>,
        details: Option<(&Event<'_>, &Known<'_>)>,
    ) -> Option<Question> {
        let key = key.as_str().filter(|key| key.len() <= LONGEST_KEY)?;
        let method = entry.get("method");
        let is = |name| method.is_some_and(|method| method.str_eq(name));
        let details = entry.get("params").zip(details);
        let kind =
            if is("elicitation/create") {
                QuestionKind::Elicitation(details.map(|(params, (event, known))| {
                    Box::new(AskedElicitation::of(params, event, known))
                }))
            } else if is("sampling/createMessage") {
                QuestionKind::Sampling(details.map(|(params, (event, known))| {
                    Box::new(AskedSampling::of(params, event, known))
                }))
            } else if is("roots/list") {
                QuestionKind::Roots
            } else {
                QuestionKind::Other
            };
        Some(Question { key: key.into(), kind })
    }

    /// The definition the answer must match.
    pub(super) fn definition(&self) -> Option<&'static Definition> {
        let name = match self.kind {
            QuestionKind::Elicitation(_) => "ElicitResult",
            QuestionKind::Sampling(_) => "CreateMessageResult",
            QuestionKind::Roots => "ListRootsResult",
            QuestionKind::Other => return None,
        };
        MODERN.iter().find_map(|revision| mcp_schema::definition(revision, name))
    }
}
