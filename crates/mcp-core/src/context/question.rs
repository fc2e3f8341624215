use std::{collections::BTreeMap, sync::Arc};

use serde::de::DeserializeOwned;

use crate::{
    ClientCapabilities, Contract, ContractKind, Contracts, CreateMessageRequest,
    CreateMessageResult, ElicitAction, ElicitRequest, ElicitResult, Error, Json, ListRootsResult,
    Revision, Root, engine::describe_all,
};

/// A question to the client, with a key that identifies its answer.
#[derive(Debug, Clone)]
pub struct Question {
    pub(super) key: String,
    pub(super) method: &'static str,
    pub(super) params: Option<Json>,
    /// The capabilities that the client needs.
    pub(super) required: ClientCapabilities,
    /// The schema that the user's answer must match.
    form: Option<Json>,
}

impl Question {
    /// Asks the client's model to continue a conversation.
    pub fn sample(key: impl Into<String>, request: &CreateMessageRequest) -> Question {
        Question {
            key: key.into(),
            method: "sampling/createMessage",
            required: request.required_capabilities(),
            params: Json::of(request).ok(),
            form: None,
        }
    }

    /// Asks the user.
    pub fn elicit(key: impl Into<String>, request: &ElicitRequest) -> Question {
        Question {
            key: key.into(),
            method: "elicitation/create",
            required: request.required_capabilities(),
            params: Json::of(request).ok(),
            form: match request {
                ElicitRequest::Form { requested_schema, .. } => Json::of(requested_schema).ok(),
                ElicitRequest::Url { .. } => None,
            },
        }
    }

    /// Asks for the client's roots.
    pub fn roots(key: impl Into<String>) -> Question {
        let required = ClientCapabilities::new().with_roots();
        Question { key: key.into(), method: "roots/list", params: None, required, form: None }
    }

    /// The contract for the user's answer, if the question is a form.
    pub(super) fn form_contract(
        &self,
        contracts: &dyn Contracts,
    ) -> Result<Option<FormContract>, Error> {
        let Some(form) = &self.form else { return Ok(None) };
        let contract = contracts.compile(form, ContractKind::Form).map_err(|refused| {
            Error::internal(format!("the form `{}` is invalid: {refused}", self.key))
        })?;
        Ok(Some(FormContract { key: self.key.clone(), contract }))
    }

    /// Whether `answer` is of the kind that this question expects.
    pub(super) fn fits(&self, answer: &Json) -> bool {
        match self.method {
            "sampling/createMessage" => answer.read::<CreateMessageResult>().is_ok(),
            "elicitation/create" => answer.read::<ElicitResult>().is_ok(),
            _ => answer.read::<ListRootsResult>().is_ok(),
        }
    }
}

/// Checks that the user's answer matches the form.
#[derive(Debug)]
pub(super) struct FormContract {
    key: String,
    contract: Arc<dyn Contract>,
}

impl FormContract {
    /// Fails with a tool error if the answer does not match the form. Only accepted forms are
    /// checked.
    pub(super) fn check(&self, answers: &Answers, revision: Revision) -> Result<(), Error> {
        let answer = answers.elicited(&self.key)?;
        if answer.action != ElicitAction::Accept {
            return Ok(());
        }
        let content = Json::of(&answer.content.unwrap_or_default())
            .map_err(|error| Error::internal(error.to_string()))?;
        let content = content.to_parsed().map_err(|error| Error::internal(error.to_string()))?;
        let violations = self.contract.enforce(Some(content.document().root()), revision);
        if violations.is_empty() {
            return Ok(());
        }
        let what = describe_all(&violations);
        Err(Error::ToolError {
            message: format!("the answer to `{}` does not match the form: {what}", self.key),
        })
    }
}

/// The answers to several questions, by their keys.
#[derive(Debug, Clone, Default)]
pub struct Answers(pub(super) BTreeMap<String, Json>);

impl Answers {
    /// The message from the client's model.
    ///
    /// # Errors
    ///
    /// If there was no question with this key, or it was of another kind.
    pub fn sampled(&self, key: &str) -> Result<CreateMessageResult, Error> {
        self.read(key)
    }

    /// The user's answer.
    ///
    /// # Errors
    ///
    /// If there was no question with this key, or it was of another kind.
    pub fn elicited(&self, key: &str) -> Result<ElicitResult, Error> {
        self.read(key)
    }

    /// The client's roots.
    ///
    /// # Errors
    ///
    /// If there was no question with this key, or it was of another kind.
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Error> {
        Ok(self.read::<ListRootsResult>(key)?.roots)
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        let answer = self.0.get(key);
        let answer =
            answer.ok_or_else(|| Error::internal(format!("no question `{key}` was asked")))?;
        answer.read().map_err(|error| Error::ToolError {
            message: format!("the client's answer to `{key}` is invalid: {error}"),
        })
    }
}
