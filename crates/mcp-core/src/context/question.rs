use std::{collections::BTreeMap, sync::Arc};

use serde::de::DeserializeOwned;

use crate::{
    ClientCapabilities, Contract, Contracts, CreateMessageRequest, CreateMessageResult,
    ElicitAction, ElicitRequest, ElicitResult, Error, Json, ListRootsResult, Purpose, Revision,
    Root, engine::sentences,
};

/// Something to ask the client, with a key under which the answer is found.
#[derive(Debug, Clone)]
pub struct Question {
    pub(super) key: String,
    pub(super) method: &'static str,
    pub(super) params: Option<Json>,
    /// What the client must offer.
    pub(super) required: ClientCapabilities,
    /// The schema that the user's answer has to fit.
    form: Option<Json>,
}

impl Question {
    /// Has the client's model continue a conversation.
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

    /// What the answer has to keep to.
    pub(super) fn promise(&self, contracts: &dyn Contracts) -> Result<Option<Promise>, Error> {
        let Some(form) = &self.form else { return Ok(None) };
        let contract = contracts.compile(form, Purpose::Form).map_err(|refused| {
            Error::internal(format!("the form `{}` cannot be filled in: {refused}", self.key))
        })?;
        Ok(Some(Promise { key: self.key.clone(), contract }))
    }

    /// Whether `answer` can be one to this question.
    pub(super) fn fits(&self, answer: &Json) -> bool {
        match self.method {
            "sampling/createMessage" => answer.read::<CreateMessageResult>().is_ok(),
            "elicitation/create" => answer.read::<ElicitResult>().is_ok(),
            _ => answer.read::<ListRootsResult>().is_ok(),
        }
    }
}

/// That what a user fills in fits the form.
#[derive(Debug)]
pub(super) struct Promise {
    key: String,
    contract: Arc<dyn Contract>,
}

impl Promise {
    /// Fails, for the tool to tell, if something else was filled in. Whoever declines owes nothing.
    pub(super) fn keep(&self, answers: &Answers, revision: Revision) -> Result<(), Error> {
        let answer = answers.elicited(&self.key)?;
        if answer.action != ElicitAction::Accept {
            return Ok(());
        }
        let content = Json::of(&answer.content.unwrap_or_default())
            .map_err(|error| Error::internal(error.to_string()))?;
        let content = content.to_parsed().map_err(|error| Error::internal(error.to_string()))?;
        let breaches = self.contract.enforce(Some(content.document().root()), revision);
        if breaches.is_empty() {
            return Ok(());
        }
        let what = sentences(&breaches);
        Err(Error::ToolError {
            message: format!("the answer to `{}` does not fit the form: {what}", self.key),
        })
    }
}

/// The answers to several questions, by their keys.
#[derive(Debug, Clone, Default)]
pub struct Answers(pub(super) BTreeMap<String, Json>);

impl Answers {
    /// What the client's model said.
    ///
    /// # Errors
    ///
    /// If there was no such question, or it was of another kind.
    pub fn sampled(&self, key: &str) -> Result<CreateMessageResult, Error> {
        self.read(key)
    }

    /// What the user said.
    ///
    /// # Errors
    ///
    /// If there was no such question, or it was of another kind.
    pub fn elicited(&self, key: &str) -> Result<ElicitResult, Error> {
        self.read(key)
    }

    /// The client's roots.
    ///
    /// # Errors
    ///
    /// If there was no such question, or it was of another kind.
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Error> {
        Ok(self.read::<ListRootsResult>(key)?.roots)
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        let answer = self.0.get(key);
        let answer = answer.ok_or_else(|| Error::internal(format!("`{key}` was never asked")))?;
        answer.read().map_err(|error| Error::ToolError {
            message: format!("the client's answer to `{key}` cannot be used: {error}"),
        })
    }
}
