use std::error::Error as StdError;

use mcp_core::Error;

/// Why a tool, prompt or resource could not be served. Any error turns into one with `?`.
///
/// The text of an ordinary error reaches the model as the outcome of the tool. A domain
/// [`Error`] keeps its meaning: [`Error::InvalidParams`], say, is told as such. The
/// [guide to errors](crate::guide::errors) has the whole table.
#[derive(Debug)]
pub struct Failure(pub(crate) Error);

impl Failure {
    /// A failure that the model should see.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(Error::ToolError { message: message.into() })
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let error: Box<dyn StdError + Send + Sync> = Box::new(error);
        match error.downcast::<Error>() {
            Ok(error) => Failure(*error),
            Err(error) => Failure::new(chain(&*error)),
        }
    }
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}
