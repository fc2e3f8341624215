//! Calls that take several rounds: questions go out with a result, answers come back with the
//! next call, and what happened so far travels with them under seal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Mcp, params::Params, result::Keep};
use crate::{Context, Error, Json, Revision, Seal, context::Rounds};

/// What travels under seal.
#[derive(Serialize, Deserialize)]
struct Carried {
    /// The call it belongs to: state of one is of no use to another.
    method: String,
    subject: String,
    /// The digest of its arguments.
    arguments: String,
    /// The digest of who made it, where that is known: nobody goes on with the call of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    answers: BTreeMap<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Json>,
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
    /// What earlier rounds of this call have brought.
    pub(super) fn open_rounds(
        &self,
        method: &str,
        read: &Params<'_>,
        principal: Option<&str>,
    ) -> Result<Rounds, Error> {
        let mut rounds = Rounds::default();
        if let Some(state) = read.request_state()? {
            let subject = read.subject(method)?;
            let seal = self.shared.seal.as_deref();
            let carried = seal.and_then(|seal| {
                open(seal, &state).filter(|carried| {
                    carried.method == method
                        && carried.subject == subject
                        && carried.arguments == arguments(seal, read)
                        && carried.principal == principal.map(|name| digest(seal, name))
                })
            });
            let carried = carried.ok_or_else(|| {
                Error::invalid_params(
                    "`requestState` is not what this server gave out for this call",
                )
            })?;
            rounds.answers = carried.answers;
            rounds.kept = carried.kept;
        }
        if let Some(responses) = read.input_responses() {
            let responses: BTreeMap<String, Json> = responses.read().map_err(|error| {
                Error::invalid_params(format!("`params.inputResponses` does not fit: {error}"))
            })?;
            rounds.answers.extend(responses);
        }
        Ok(rounds)
    }

    /// The result that asks the client's answers.
    pub(super) fn ask_again(
        &self,
        method: &str,
        read: &Params<'_>,
        context: &Context,
    ) -> Result<Json, Error> {
        let Some(rounds) = context.inputs().take_rounds() else {
            return Err(Error::internal("this revision asks its questions at once"));
        };
        if rounds.asked.is_empty() && rounds.kept.is_none() {
            return Err(Error::internal("input is required, but nothing was asked"));
        }
        let request_state = self.seal_up(method, read, context, rounds.answers, rounds.kept)?;
        let result = InputRequired { input_requests: rounds.asked, request_state };
        self.write_as("input_required", Revision::LATEST, &result, None, None, Keep::Not)
    }

    /// Nothing travels if there is nothing to carry.
    fn seal_up(
        &self,
        method: &str,
        read: &Params<'_>,
        context: &Context,
        answers: BTreeMap<String, Json>,
        kept: Option<Json>,
    ) -> Result<Option<String>, Error> {
        if answers.is_empty() && kept.is_none() {
            return Ok(None);
        }
        let seal = self.shared.seal.as_ref().ok_or_else(|| {
            Error::internal("this server has no seal, so calls cannot take several rounds")
        })?;
        let carried = Carried {
            method: method.to_owned(),
            subject: read.subject(method)?.into_owned(),
            arguments: arguments(&**seal, read),
            principal: context.principal().map(|name| digest(&**seal, name)),
            answers,
            kept,
        };
        let written = serde_json::to_vec(&carried)
            .map_err(|error| Error::internal(format!("state cannot be written: {error}")))?;
        Ok(Some(seal.seal(&written)))
    }
}

fn open(seal: &dyn Seal, state: &str) -> Option<Carried> {
    serde_json::from_slice(&seal.open(state)?).ok()
}

/// The digest of the arguments of the call, however they are spaced. What was agreed to for some is
/// not agreed to for others.
fn arguments(seal: &dyn Seal, read: &Params<'_>) -> String {
    let arguments = read.arguments().and_then(|arguments| arguments.read().ok());
    let arguments: Value = arguments.unwrap_or_else(|| json!({}));
    digest(seal, &arguments.to_string())
}

fn digest(seal: &dyn Seal, text: &str) -> String {
    seal.digest(text.as_bytes())
}
