use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::TransportError;

use super::ClientError;

/// The headers of every request, by name. The values may be secret.
#[derive(Clone, Default)]
pub(super) struct Headers(Vec<(String, String)>);

impl Headers {
    pub(super) fn add(&mut self, name: String, value: String) {
        self.0.push((name, value));
    }

    /// As an HTTP header map.
    pub(super) fn to_map(&self) -> Result<HeaderMap, ClientError> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.0 {
            let unusable = |what: &str| {
                let text = format!("the {what} of the header `{name}` cannot be sent");
                ClientError::Connect(TransportError::Connect(text))
            };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable("name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| unusable("value"))?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(map)
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
