use std::error::Error as StdError;

use mcp_core::Error;

/// Why a tool, prompt or resource failed. Every error type converts into it with `?`; boxed errors
/// and `anyhow::Error`, which do not implement `Error`, with [`Failure::other`].
///
/// The text of an ordinary error reaches the model as the result of the tool. A domain [`Error`]
/// keeps its meaning: [`Error::InvalidParams`], for example, is reported as such. The
/// [guide to errors](crate::guide::errors) has the whole table.
#[derive(Debug)]
pub struct Failure(pub(crate) Error);

impl Failure {
    /// A failure that the model should see.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(Error::ToolError { message: message.into() })
    }

    /// Converts types that wrap an error without implementing `Error`, which `?` cannot convert: a
    /// `Box<dyn Error + Send + Sync>`, or an `anyhow::Error`.
    ///
    /// A domain [`Error`] in a box keeps its meaning. In an `anyhow::Error` it is reduced to text.
    ///
    /// ```
    /// use mcp_sdk::Failure;
    ///
    /// fn measure() -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    ///     Ok("21.5".parse()?)
    /// }
    ///
    /// fn tell() -> Result<String, Failure> {
    ///     Ok(format!("{} degrees", measure().map_err(Failure::other)?))
    /// }
    /// # assert_eq!(tell().unwrap(), "21.5 degrees");
    /// ```
    pub fn other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Failure {
        match error.into().downcast::<Error>() {
            Ok(error) => Failure(*error),
            Err(error) => Failure::new(chain(&*error)),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::other(error)
    }
}

/// An error and its causes, in one line.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the file is lost")]
    struct Lost(#[source] io::Error);

    fn lost() -> Lost {
        Lost(io::Error::other("the disk is full"))
    }

    #[track_caller]
    fn check(failure: &Failure, expected: &str) {
        let Error::ToolError { message } = &failure.0 else { panic!("{failure:?}") };
        assert_eq!(message, expected);
    }

    #[test]
    fn errors_include_their_causes_however_they_are_wrapped() {
        let expected = "the file is lost: the disk is full";
        check(&Failure::from(lost()), expected);
        check(&Failure::other(Box::<dyn StdError + Send + Sync>::from(lost())), expected);
        check(&Failure::other(anyhow::Error::from(lost())), expected);
        check(
            &Failure::other(anyhow::Error::from(lost()).context("nothing to read")),
            "nothing to read: the file is lost: the disk is full",
        );
        check(&Failure::other("no such book"), "no such book");
    }

    #[test]
    fn a_domain_error_in_a_box_keeps_its_meaning() {
        let boxed: Box<dyn StdError + Send + Sync> = Error::invalid_params("no").into();
        assert!(matches!(Failure::other(boxed).0, Error::InvalidParams { .. }));
    }
}
