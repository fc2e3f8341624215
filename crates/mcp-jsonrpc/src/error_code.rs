/// The error codes JSON-RPC 2.0 defines itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// Not JSON.
    ParseError,
    /// JSON, but not a JSON-RPC message.
    InvalidRequest,
    /// The method is unknown.
    MethodNotFound,
    /// The params are invalid.
    InvalidParams,
    /// An internal error of the receiver.
    InternalError,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [ErrorCode; 5] = [
        ErrorCode::ParseError,
        ErrorCode::InvalidRequest,
        ErrorCode::MethodNotFound,
        ErrorCode::InvalidParams,
        ErrorCode::InternalError,
    ];

    /// The numeric code.
    pub const fn code(self) -> i64 {
        match self {
            ErrorCode::ParseError => -32700,
            ErrorCode::InvalidRequest => -32600,
            ErrorCode::MethodNotFound => -32601,
            ErrorCode::InvalidParams => -32602,
            ErrorCode::InternalError => -32603,
        }
    }

    /// Whether JSON-RPC reserves `code`: −32768 to −32100 except for the defined codes.
    pub fn is_reserved(code: i64) -> bool {
        (-32768..=-32100).contains(&code) && !Self::ALL.iter().any(|known| known.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn the_reserved_range_excludes_the_defined_codes() {
        for code in ErrorCode::ALL {
            assert!(!ErrorCode::is_reserved(code.code()));
        }
        for code in [-32768, -32604, -32599, -32100] {
            assert!(ErrorCode::is_reserved(code), "{code}");
        }
        for code in [-32769, -32099, -32000, 0, 1001] {
            assert!(!ErrorCode::is_reserved(code), "{code}");
        }
    }
}
