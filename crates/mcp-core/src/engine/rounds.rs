//! Calls that take several rounds: the result carries questions, the client repeats the call with
//! the answers, and the state so far travels along, sealed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Mcp, params::Params, result::Caching};
use crate::{Context, Error, Json, Revision, Seal, context::Rounds};

/// The sealed state.
#[derive(Serialize, Deserialize)]
struct SealedState {
    /// The call that the state belongs to; it is rejected in any other.
    method: String,
    subject: String,
    /// The digest of its arguments.
    arguments: String,
    /// The digest of the caller's identity, if known: a call cannot be continued by someone else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    answers: BTreeMap<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<Json>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    input_requests: BTreeMap<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<String>,
}

impl Mcp {
    /// The state from earlier rounds of this call.
    pub(super) fn resume_rounds(
        &self,
        method: &str,
        read: &Params<'_>,
        principal: Option<&str>,
    ) -> Result<Rounds, Error> {
        let mut rounds = Rounds::default();
        if let Some(state) = read.request_state()? {
            let subject = read.subject(method)?;
            let seal = self.shared.seal.as_deref();
            let state = seal.and_then(|seal| {
                open(seal, &state).filter(|state| {
                    state.method == method
                        && state.subject == subject
                        && state.arguments == arguments_digest(seal, read)
                        && state.principal == principal.map(|name| digest(seal, name))
                })
            });
            let state = state.ok_or_else(|| {
                Error::invalid_params("`requestState` was not issued by this server for this call")
            })?;
            rounds.answers = state.answers;
            rounds.saved = state.saved;
        }
        if let Some(responses) = read.input_responses() {
            let responses: BTreeMap<String, Json> = responses.read().map_err(|error| {
                Error::invalid_params(format!("`params.inputResponses` is invalid: {error}"))
            })?;
            rounds.answers.extend(responses);
        }
        Ok(rounds)
    }

    /// The result that asks the client for answers.
    pub(super) fn write_input_required(
        &self,
        method: &str,
        read: &Params<'_>,
        context: &Context,
    ) -> Result<Json, Error> {
        let Some(rounds) = context.inputs().take_rounds() else {
            return Err(Error::internal("this revision does not ask questions in results"));
        };
        if rounds.asked.is_empty() && rounds.saved.is_none() {
            return Err(Error::internal("input is required, but no question was asked"));
        }
        let request_state = self.seal_state(method, read, context, rounds.answers, rounds.saved)?;
        let result = InputRequired { input_requests: rounds.asked, request_state };
        self.write_as("input_required", Revision::LATEST, &result, None, None, Caching::Unspecified)
    }

    /// Seals the state; `None` if there is none.
    fn seal_state(
        &self,
        method: &str,
        read: &Params<'_>,
        context: &Context,
        answers: BTreeMap<String, Json>,
        saved: Option<Json>,
    ) -> Result<Option<String>, Error> {
        if answers.is_empty() && saved.is_none() {
            return Ok(None);
        }
        let seal = self.shared.seal.as_ref().ok_or_else(|| {
            Error::internal("calls that take several rounds need a seal, and this server has none")
        })?;
        let state = SealedState {
            method: method.to_owned(),
            subject: read.subject(method)?.into_owned(),
            arguments: arguments_digest(&**seal, read),
            principal: context.principal().map(|name| digest(&**seal, name)),
            answers,
            saved,
        };
        let written = serde_json::to_vec(&state)
            .map_err(|error| Error::internal(format!("state cannot be serialized: {error}")))?;
        Ok(Some(seal.seal(&written)))
    }
}

fn open(seal: &dyn Seal, state: &str) -> Option<SealedState> {
    serde_json::from_slice(&seal.open(state)?).ok()
}

/// The digest of the call's arguments, independent of whitespace. An answer given for one set of
/// arguments does not apply to another.
fn arguments_digest(seal: &dyn Seal, read: &Params<'_>) -> String {
    let arguments = read.arguments().and_then(|arguments| arguments.read().ok());
    let arguments: Value = arguments.unwrap_or_else(|| json!({}));
    digest(seal, &arguments.to_string())
}

fn digest(seal: &dyn Seal, text: &str) -> String {
    seal.digest(text.as_bytes())
}
