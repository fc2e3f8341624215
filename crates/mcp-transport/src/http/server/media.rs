//! Media types of requests and the answers they accept.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::HttpFault;

/// The media types that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// A missing header accepts everything. The protocol requires both types to be listed, but a
    /// client that names only one of them can still be served.
    pub(super) fn read(headers: &HeaderMap) -> Accepts {
        let mut accepts = Accepts { json: false, events: false };
        let mut stated = false;
        for value in headers.get_all(header::ACCEPT) {
            stated = true;
            for entry in value.to_str().unwrap_or("").split(',') {
                accepts.take(entry);
            }
        }
        if stated { accepts } else { Accepts { json: true, events: true } }
    }

    fn take(&mut self, entry: &str) {
        if is_ruled_out(entry) {
            return;
        }
        match essence(entry) {
            name if name.eq_ignore_ascii_case("application/json") => self.json = true,
            name if name.eq_ignore_ascii_case("text/event-stream") => self.events = true,
            name if name.eq_ignore_ascii_case("application/*") => self.json = true,
            name if name.eq_ignore_ascii_case("text/*") => self.events = true,
            "*/*" => *self = Accepts { json: true, events: true },
            _ => {}
        }
    }
}

/// Rejects bodies that are not declared as JSON, or have a content coding.
pub(super) fn require_json(headers: &HeaderMap) -> Result<(), HttpFault> {
    let stated = single(headers, &header::CONTENT_TYPE)?;
    if !stated.is_some_and(|stated| essence(stated).eq_ignore_ascii_case("application/json")) {
        return Err(HttpFault::UnsupportedMediaType);
    }
    let plain = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(header::CONTENT_ENCODING).iter().all(plain) {
        Ok(())
    } else {
        Err(HttpFault::UnsupportedCoding)
    }
}

/// The one value of a header that must not be repeated.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, HttpFault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(HttpFault::InvalidHeader(name.clone()));
    }
    value.to_str().map(Some).map_err(|_| HttpFault::InvalidHeader(name.clone()))
}

/// Whether an entry of `Accept` excludes a type: `q=0`.
fn is_ruled_out(entry: &str) -> bool {
    let weight = entry.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    weight.and_then(|weight| weight.parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
}

fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &[&'static str], json: bool, events: bool) {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        assert_eq!(Accepts::read(&headers), Accepts { json, events }, "{accept:?}");
    }

    #[test]
    fn forms_are_found_in_any_order_and_writing() {
        check(&[], true, true);
        check(&["*/*"], true, true);
        check(&["text/event-stream, application/json"], true, true);
        check(&["Application/JSON;q=0.9", "text/event-stream"], true, true);
        check(&["application/*"], true, false);
        check(&["text/event-stream"], false, true);
        check(&["text/html, image/png", ""], false, false);
        check(&["application/json;q=0, text/event-stream; Q=0.5"], false, true);
        check(&["application/json, text/event-stream;q=0.000"], true, false);
    }

    #[test]
    fn parameters_of_the_content_type_do_not_matter() {
        let mut headers = HeaderMap::new();
        assert!(require_json(&headers).is_err());
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json; charset=utf-8"),
        );
        assert!(require_json(&headers).is_ok());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonp"));
        assert!(require_json(&headers).is_err());
    }

    #[test]
    fn bodies_come_as_they_are() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("Identity"));
        assert_eq!(require_json(&headers), Ok(()));
        headers.append(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(require_json(&headers), Err(HttpFault::UnsupportedCoding));
    }
}
