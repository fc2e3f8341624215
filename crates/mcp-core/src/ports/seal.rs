use std::fmt;

/// Protects state that a client holds and returns later.
///
/// A stateless server gives its state to the client, which must not be able to change it.
pub trait Seal: fmt::Debug + Send + Sync {
    /// Seals `content` into text that can be sent.
    fn seal(&self, content: &[u8]) -> String;

    /// The content of `sealed`; `None` if it was not sealed with this key.
    fn open(&self, sealed: &str) -> Option<Vec<u8>>;

    /// A collision-resistant digest of `content`.
    fn digest(&self, content: &[u8]) -> String;
}
