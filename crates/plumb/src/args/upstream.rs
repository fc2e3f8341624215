use std::str::FromStr;

use http::HeaderName;
use mcp_proxy::Prefix;

/// A server, and the path prefix that leads to it.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamArg {
    pub(crate) prefix: Option<Prefix>,
    pub(crate) url: String,
}

impl FromStr for UpstreamArg {
    type Err = mcp_proxy::PrefixError;

    fn from_str(text: &str) -> Result<UpstreamArg, mcp_proxy::PrefixError> {
        let Some((prefix, url)) = text.split_once('=').filter(|_| text.starts_with('/')) else {
            return Ok(UpstreamArg { prefix: None, url: text.to_owned() });
        };
        Ok(UpstreamArg { prefix: Some(prefix.parse()?), url: url.to_owned() })
    }
}

/// A header whose value is in the environment.
#[derive(Debug, Clone)]
pub(crate) struct HeaderFromEnvironment {
    pub(crate) name: HeaderName,
    pub(crate) variable: String,
}

impl FromStr for HeaderFromEnvironment {
    type Err = String;

    fn from_str(text: &str) -> Result<HeaderFromEnvironment, String> {
        // The text is not repeated: it may be the secret itself.
        let expected = || {
            "write a header name and the name of a variable, such as X-Api-Key=MY_KEY".to_owned()
        };
        let (name, variable) = text.split_once('=').ok_or_else(expected)?;
        let name = name.parse().map_err(|_| expected())?;
        if variable.is_empty() {
            return Err(expected());
        }
        Ok(HeaderFromEnvironment { name, variable: variable.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_told_from_a_url() {
        let read = |text: &str| {
            let UpstreamArg { prefix, url } = text.parse().unwrap();
            (prefix.map(|prefix| prefix.to_string()), url)
        };
        assert_eq!(read("http://a/?b=c"), (None, "http://a/?b=c".to_owned()));
        assert_eq!(read("/f=ws://a/?b=c"), (Some("/f".to_owned()), "ws://a/?b=c".to_owned()));
        assert!("/=http://a/".parse::<UpstreamArg>().is_err());
    }

    #[test]
    fn headers_name_a_variable() {
        assert!("X-Key=KEY".parse::<HeaderFromEnvironment>().is_ok());
        for text in ["X-Key", "X-Key: secret", "=KEY", "X-Key=", "a b=KEY"] {
            let error = text.parse::<HeaderFromEnvironment>().unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
