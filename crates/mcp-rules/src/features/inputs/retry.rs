//! Matches a retry to the questions it answers, and judges the answers.

use mcp_core::RequestId;
use mcp_json::{Node, Span};

use super::{
    conversation::{
        MAX_REPORTED, RESPONSE_MISSING, RESPONSE_TYPE, RESPONSE_UNKNOWN, SAME_ID, STATE_MISMATCH,
        WRONG_REQUEST,
    },
    pending::{Pending, Question, QuestionKind},
};
use crate::{
    conversation::{Event, Known, Notes, asked::Target, digest::Fingerprint},
    features::{elicitation, sampling},
    findings::Fault,
    violation::violation_fault,
};

/// A request that carries answers, a state, or both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry<'a> {
    id: &'a RequestId,
    id_at: Span,
    target: Option<Target>,
    state: Option<(Fingerprint, Node<'a>)>,
    responses: Option<Node<'a>>,
    params: Node<'a>,
}

impl<'a> Retry<'a> {
    /// Reads what looks like a retry; finding what it retries comes later.
    pub(super) fn of(
        id: &'a RequestId,
        target: Option<Target>,
        event: &Event<'a>,
    ) -> Option<Retry<'a>> {
        // An extension may give other methods members with these names.
        event.method?;
        let params = event.params()?;
        let responses = params.get("inputResponses").filter(|responses| responses.is_object());
        let state = match params.get("requestState") {
            Some(node) => Some((Fingerprint::of(node)?, node)),
            None => None,
        };
        if responses.is_none() && state.is_none() {
            return None;
        }
        let id_at = event.envelope.id.unwrap_or(event.node()).span();
        Some(Retry { id, id_at, target, state, responses, params })
    }

    /// Judges it against everything `pending`, oldest first. `complete` tells whether `pending`
    /// holds everything ever asked.
    pub(super) fn judge(
        &self,
        pending: &[&Pending],
        complete: bool,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let of_target = |pending: &&&Pending| Some(pending.target) == self.target;
        let alike: Vec<&Pending> = pending.iter().filter(of_target).copied().collect();
        match (self.state, self.responses) {
            (Some((state, node)), _) => {
                let given = |pending: &&&Pending| pending.state == Some(state);
                let ours: Vec<&Pending> = alike.iter().filter(given).copied().collect();
                let other = pending.iter().rfind(given);
                match (ours.is_empty(), other) {
                    (false, _) => self.judge_answers(&ours, &alike, known, notes),
                    (true, Some(other)) if complete => notes.note(wrong_request(node, other)),
                    (true, None) if complete => self.judge_unknown_state(node, &alike, notes),
                    (true, _) => {}
                }
            }
            (None, Some(responses)) => {
                self.judge_without_state(responses, &alike, complete, known, notes);
            }
            (None, None) => {}
        }
    }

    /// Judges a retry whose state was never issued.
    fn judge_unknown_state(&self, node: Node<'_>, alike: &[&Pending], notes: &mut Notes) {
        let Some(responses) = self.responses else { return };
        let Some(asked) = alike.iter().rfind(|pending| pending.is_answered_by(responses)) else {
            return;
        };
        let message = match asked.state {
            Some(_) => "`requestState` is not the one sent with the questions",
            None => "the questions were sent without `requestState`",
        };
        notes.note(state_mismatch(message, node, asked));
    }

    fn judge_without_state(
        &self,
        responses: Node<'_>,
        alike: &[&Pending],
        complete: bool,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let without_state = || alike.iter().filter(|pending| pending.state.is_none()).copied();
        let touched: Vec<&Pending> =
            without_state().filter(|pending| pending.is_partly_answered_by(responses)).collect();
        if !touched.is_empty() {
            self.judge_answers(&touched, alike, known, notes);
            return;
        }
        if !complete {
            return;
        }
        if let Some(asked) = alike.iter().rfind(|pending| pending.is_answered_by(responses)) {
            let message = "the questions were sent with a `requestState`, which is missing here";
            notes.note(state_mismatch(message, responses, asked));
        } else if let [only] = alike
            && only.state.is_none()
        {
            // There is nothing else it could answer.
            self.judge_answers(&[only], alike, known, notes);
        }
    }

    /// Judges the answers against the question they belong to. If there are several candidates,
    /// matching one is enough.
    fn judge_answers(
        &self,
        candidates: &[&Pending],
        alike: &[&Pending],
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let mut newest = None;
        for asked in candidates.iter().rev() {
            let mut found = Notes::default();
            self.judge_as_answer_to(asked, alike, known, &mut found);
            if found.is_empty() {
                return;
            }
            newest.get_or_insert(found);
        }
        notes.append(newest.unwrap_or_default());
    }

    fn judge_as_answer_to(
        &self,
        asked: &Pending,
        alike: &[&Pending],
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if *self.id == asked.id {
            notes.note(
                Fault::new(&SAME_ID, "the retry reuses the id of the request that it repeats")
                    .at(self.id_at)
                    .related(asked.at.line(), "the request with this id was answered here")
                    .help("a retry is a request of its own: give it a new id"),
            );
        }
        self.check_missing(asked, notes);
        self.check_unknown(asked, alike, notes);
        self.check_answers(asked, known, notes);
    }

    fn check_missing(&self, asked: &Pending, notes: &mut Notes) {
        let has = |key: &str| self.responses.is_some_and(|responses| responses.get(key).is_some());
        let missing: Vec<String> = asked
            .questions
            .iter()
            .flatten()
            .filter(|question| !has(&question.key))
            .map(|question| format!("`{}`", question.key))
            .take(MAX_REPORTED)
            .collect();
        if missing.is_empty() {
            return;
        }
        let at = self.responses.or(self.state.map(|(_, node)| node)).unwrap_or(self.params);
        notes.note(
            Fault::new(&RESPONSE_MISSING, format!("there is no answer to {}", missing.join(", ")))
                .at(at.span())
                .related(asked.at.line(), "the questions were asked here")
                .help("answer all questions before the retry; a refusal is an answer too"),
        );
    }

    /// Reports answers that nobody asked for. Those of earlier rounds may be repeated.
    fn check_unknown(&self, asked: &Pending, alike: &[&Pending], notes: &mut Notes) {
        let unclear = alike.iter().any(|pending| pending.questions.is_none());
        let Some(responses) = self.responses.filter(|_| !unclear) else { return };
        let strays = responses.members().filter_map(|(key, _)| {
            let text = key.as_str()?;
            let asked_for = alike.iter().any(|pending| pending.question(&text).is_some());
            (!asked_for).then_some((key, text))
        });
        for (key, text) in strays.take(MAX_REPORTED) {
            notes.note(
                Fault::new(&RESPONSE_UNKNOWN, format!("the server did not ask for `{text}`"))
                    .at(key.span())
                    .related(asked.at.line(), "the questions were asked here")
                    .help("use the keys of `inputRequests` unchanged"),
            );
        }
    }

    fn check_answers(&self, asked: &Pending, known: &Known<'_>, notes: &mut Notes) {
        let Some(responses) = self.responses else { return };
        for question in asked.questions.iter().flatten() {
            if let Some(answer) = responses.get(&question.key) {
                check_answer(question, answer, asked, known, notes);
            }
        }
    }
}

fn check_answer(
    question: &Question,
    answer: Node<'_>,
    asked: &Pending,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let schemas = known.criteria.schemas();
    let Some(definition) = question.definition() else { return };
    if schemas.accepts(definition, answer) {
        match &question.kind {
            QuestionKind::Elicitation(Some(details)) => {
                elicitation::check_answer(details, answer, known, notes);
            }
            QuestionKind::Sampling(Some(details)) => {
                sampling::check_answer(details, answer, known, notes);
            }
            _ => {}
        }
        return;
    }
    let violations = schemas.violations(definition, answer);
    let prefix = format!("/params/inputResponses/{}", escaped(&question.key));
    let fault = match violations.first() {
        Some(violation) => violation_fault(&RESPONSE_TYPE, violation, &prefix, None),
        None => Fault::new(&RESPONSE_TYPE, "the answer does not match the question"),
    };
    notes.note(
        fault
            .at(answer.span())
            .related(asked.at.line(), "the question was asked here")
            .help(format!("`{}` requires {}", question.key, definition.name)),
    );
}

fn wrong_request(node: Node<'_>, given: &Pending) -> Fault {
    let message = format!(
        "the `requestState` was issued for another request, about a {}",
        given.target.kind.as_str()
    );
    Fault::new(&WRONG_REQUEST, message)
        .at(node.span())
        .related(given.at.line(), "it was issued here")
        .help("send a `requestState` only with the request that it was issued for")
}

fn state_mismatch(message: &str, at: Node<'_>, asked: &Pending) -> Fault {
    Fault::new(&STATE_MISMATCH, message)
        .at(at.span())
        .related(asked.at.line(), "the questions were asked here")
        .help("send `requestState` back exactly as received, and only if there was one")
}

/// Escapes a key for use in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
