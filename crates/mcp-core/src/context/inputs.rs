use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::try_join_all;
use serde_json::json;

use super::{Answers, Question};
use crate::{Ask, Error, Json, Peer, PeerError};

/// How questions reach the client while a request is served.
#[derive(Debug)]
pub(crate) enum Inputs {
    /// As requests of the server's own, answered at once.
    Requests { kept: Mutex<Option<Json>> },
    /// As part of the result; the client makes the call again with the answers.
    Rounds(Mutex<Rounds>),
}

/// What is known in this round of a call.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// Everything answered so far, also in earlier rounds.
    pub(crate) answers: BTreeMap<String, Json>,
    /// What the handler kept.
    pub(crate) kept: Option<Json>,
    /// What has to be asked.
    pub(crate) asked: BTreeMap<String, Json>,
}

impl Inputs {
    pub(crate) fn requests() -> Inputs {
        Inputs::Requests { kept: Mutex::new(None) }
    }

    pub(crate) fn rounds(rounds: Rounds) -> Inputs {
        Inputs::Rounds(Mutex::new(rounds))
    }

    /// The state of the rounds, if questions travel in rounds.
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

    pub(super) fn kept(&self) -> Option<Json> {
        match self {
            Inputs::Requests { kept } => lock(kept).clone(),
            Inputs::Rounds(rounds) => lock(rounds).kept.clone(),
        }
    }

    pub(super) fn keep(&self, state: Json) {
        match self {
            Inputs::Requests { kept } => *lock(kept) = Some(state),
            Inputs::Rounds(rounds) => lock(rounds).kept = Some(state),
        }
    }
}

impl Rounds {
    /// An answer of the wrong kind counts as none: it is asked again.
    fn ask(&mut self, questions: Vec<Question>) -> Result<Answers, Error> {
        let mut answers = BTreeMap::new();
        let mut open = false;
        for question in questions {
            match self.answers.get(&question.key) {
                Some(answer) if question.fits(answer) => {
                    answers.insert(question.key, answer.clone());
                }
                _ => {
                    open = true;
                    let request = match &question.params {
                        Some(params) => json!({ "method": question.method, "params": params }),
                        None => json!({ "method": question.method }),
                    };
                    let request = Json::of(&request).map_err(|_| unwritable())?;
                    self.asked.insert(question.key, request);
                }
            }
        }
        if open { Err(Error::InputRequired) } else { Ok(Answers(answers)) }
    }
}

/// People and models take their time; whoever called may give up earlier.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

async fn request(peer: &dyn Peer, question: Question) -> Result<(String, Json), Error> {
    let ask = Ask { timeout: Some(PATIENCE), ..Ask::new(question.method, question.params) };
    let answer = peer.request(ask).await;
    match answer {
        Ok(answer) => Ok((question.key, answer)),
        Err(PeerError::Answered { message, .. }) => Err(Error::ToolError {
            message: format!("the client did not answer `{}`: {message}", question.method),
        }),
        Err(error) => Err(Error::ToolError {
            message: format!("`{}` could not be asked: {error}", question.method),
        }),
    }
}

fn unwritable() -> Error {
    Error::internal("a question cannot be written as JSON")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
