/// Why a request of the page was refused, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) error: String,
    pub(crate) help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The request is invalid.
    Invalid,
    /// Its subject does not exist.
    Unknown,
    /// There is no conversation.
    NotConnected,
    /// The server does not read its input.
    Stuck,
}

impl Refusal {
    pub(crate) fn invalid(error: impl Into<String>, help: &'static str) -> Refusal {
        Refusal { kind: RefusalKind::Invalid, error: error.into(), help }
    }

    pub(crate) fn unknown(error: impl Into<String>, help: &'static str) -> Refusal {
        Refusal { kind: RefusalKind::Unknown, error: error.into(), help }
    }

    pub(crate) fn not_connected() -> Refusal {
        let error = "not connected to a server".to_owned();
        Refusal { kind: RefusalKind::NotConnected, error, help: "connect first" }
    }

    pub(crate) fn stuck() -> Refusal {
        let error = "the server does not read its input".to_owned();
        Refusal { kind: RefusalKind::Stuck, error, help: "wait, or disconnect" }
    }
}
