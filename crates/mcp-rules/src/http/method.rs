use std::fmt;

use serde::{Deserialize, Serialize};

use crate::conversation::digest::kept_within;

/// The method of a request, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum HttpMethod {
    Post,
    Get,
    Delete,
    Other(Box<str>),
}

impl HttpMethod {
    pub(super) fn as_str(&self) -> &str {
        match self {
            HttpMethod::Post => "POST",
            HttpMethod::Get => "GET",
            HttpMethod::Delete => "DELETE",
            HttpMethod::Other(name) => name,
        }
    }

    /// Whether it is this one, case-insensitively.
    pub(super) fn is(&self, known: &HttpMethod) -> bool {
        match self {
            HttpMethod::Other(name) => name.eq_ignore_ascii_case(known.as_str()),
            method => method == known,
        }
    }
}

/// An unknown method.
impl Default for HttpMethod {
    fn default() -> Self {
        HttpMethod::Other(Box::default())
    }
}

impl From<&str> for HttpMethod {
    fn from(name: &str) -> Self {
        match name {
            "POST" => HttpMethod::Post,
            "GET" => HttpMethod::Get,
            "DELETE" => HttpMethod::Delete,
            name => HttpMethod::Other((*kept_within(64, name.into())).into()),
        }
    }
}

impl fmt::Display for HttpMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::HttpMethod;

    #[test]
    fn methods_are_known_in_any_case_and_shown_as_written() {
        for (written, known) in
            [("POST", HttpMethod::Post), ("get", HttpMethod::Get), ("Delete", HttpMethod::Delete)]
        {
            let method = HttpMethod::from(written);
            assert!(method.is(&known));
            assert_eq!(method.to_string(), written);
        }
        assert!(!HttpMethod::default().is(&HttpMethod::Post));
        assert!(!HttpMethod::Get.is(&HttpMethod::Post));
    }
}
