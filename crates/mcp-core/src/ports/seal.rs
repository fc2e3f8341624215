use std::fmt;

/// Protects what is handed to a client to be brought back later.
///
/// A stateless server gives its state away; nobody may change it on the way.
pub trait Seal: fmt::Debug + Send + Sync {
    /// Wraps `content` into text that can be sent.
    fn seal(&self, content: &[u8]) -> String;

    /// Takes the content out again; `None` if this is not something we sealed.
    fn open(&self, sealed: &str) -> Option<Vec<u8>>;

    /// A short name for `content`, for which nobody can find other content.
    fn digest(&self, content: &[u8]) -> String;
}
