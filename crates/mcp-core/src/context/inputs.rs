use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::try_join_all;
use serde_json::json;

use super::{Answers, Question};
use crate::{Error, Json, OutgoingRequest, Peer, PeerError};

/// How questions reach the client while a request is being served.
#[derive(Debug)]
pub(crate) enum Inputs {
    /// As requests from the server, answered while the call is in flight.
    Requests { saved: Mutex<Option<Json>> },
    /// As part of the result; the client repeats the call with the answers.
    Rounds(Mutex<Rounds>),
}

/// The state of one round of a call.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// All answers so far, including those of earlier rounds.
    pub(crate) answers: BTreeMap<String, Json>,
    /// The state that the handler saved for the next round.
    pub(crate) saved: Option<Json>,
    /// The questions to ask in this round.
    pub(crate) asked: BTreeMap<String, Json>,
}

impl Inputs {
    pub(crate) fn requests() -> Inputs {
        Inputs::Requests { saved: Mutex::new(None) }
    }

    pub(crate) fn rounds(rounds: Rounds) -> Inputs {
        Inputs::Rounds(Mutex::new(rounds))
    }

    /// Takes the state of the round, if questions are asked in rounds.
    pub(crate) fn take_rounds(&self) -> Option<Rounds> {
        match self {
            Inputs::Requests { .. } => None,
            Inputs::Rounds(rounds) => Some(std::mem::take(&mut *lock(rounds))),
        }
    }

    pub(super) async fn ask(
        &self,
        peer: &dyn Peer,
        questions: Vec<Question>,
    ) -> Result<Answers, Error> {
        match self {
            Inputs::Requests { .. } => {
                let answers = questions.into_iter().map(|question| request(peer, question));
                Ok(Answers(try_join_all(answers).await?.into_iter().collect()))
            }
            Inputs::Rounds(rounds) => lock(rounds).ask(questions),
        }
    }

    pub(super) fn saved_state(&self) -> Option<Json> {
        match self {
            Inputs::Requests { saved } => lock(saved).clone(),
            Inputs::Rounds(rounds) => lock(rounds).saved.clone(),
        }
    }

    pub(super) fn save_state(&self, state: Json) {
        match self {
            Inputs::Requests { saved } => *lock(saved) = Some(state),
            Inputs::Rounds(rounds) => lock(rounds).saved = Some(state),
        }
    }
}

impl Rounds {
    /// An answer of the wrong kind is ignored, and the question asked again.
    fn ask(&mut self, questions: Vec<Question>) -> Result<Answers, Error> {
        let mut answers = BTreeMap::new();
        let mut unanswered = false;
        for question in questions {
            match self.answers.get(&question.key) {
                Some(answer) if question.fits(answer) => {
                    answers.insert(question.key, answer.clone());
                }
                _ => {
                    unanswered = true;
                    let request = match &question.params {
                        Some(params) => json!({ "method": question.method, "params": params }),
                        None => json!({ "method": question.method }),
                    };
                    let request = Json::of(&request).map_err(|_| not_serializable())?;
                    self.asked.insert(question.key, request);
                }
            }
        }
        if unanswered { Err(Error::InputRequired) } else { Ok(Answers(answers)) }
    }
}

/// Long, because people and models are slow; the caller may give up earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10 * 60);

async fn request(peer: &dyn Peer, question: Question) -> Result<(String, Json), Error> {
    let ask = OutgoingRequest {
        timeout: Some(ANSWER_TIMEOUT),
        ..OutgoingRequest::new(question.method, question.params)
    };
    let answer = peer.request(ask).await;
    match answer {
        Ok(answer) => Ok((question.key, answer)),
        Err(PeerError::ErrorResponse { message, .. }) => Err(Error::ToolError {
            message: format!("the client rejected `{}`: {message}", question.method),
        }),
        Err(error) => {
            Err(Error::ToolError { message: format!("`{}` failed: {error}", question.method) })
        }
    }
}

fn not_serializable() -> Error {
    Error::internal("a question cannot be serialized as JSON")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
