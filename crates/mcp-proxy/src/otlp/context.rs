//! The trace context of a span.

use std::hash::{BuildHasher as _, RandomState};

/// Maximum length of a `tracestate` (W3C Trace Context requires at least 512).
const MAX_STATE: usize = 512;

/// The trace context in the `_meta` of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraceContext {
    /// 32 hexadecimal digits.
    pub(super) trace: String,
    /// 16 hexadecimal digits; `None` if this span starts the trace.
    pub(super) parent: Option<String>,
    pub(super) state: Option<String>,
    /// The flags of the parent.
    pub(super) flags: u8,
}

impl TraceContext {
    /// Reads `traceparent` and `tracestate`; `None` if there is no valid parent.
    pub(super) fn read(parent: &str, state: Option<&str>) -> Option<TraceContext> {
        let mut fields = parent.split('-');
        let [version, trace, span, flags] =
            [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
        let is_hex = |text: &str, length: usize| {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            text.len() == length && text.bytes().all(is_digit)
        };
        let is_set = |text: &str| text.bytes().any(|byte| byte != b'0');
        // Later versions may have more fields.
        let has_end = version != "00" || fields.next().is_none();
        let is_valid = is_hex(version, 2) && version != "ff" && has_end;
        if !is_valid || !is_hex(trace, 32) || !is_hex(span, 16) || !is_hex(flags, 2) {
            return None;
        }
        if !is_set(trace) || !is_set(span) {
            return None;
        }
        let state = state.filter(|state| state.len() <= MAX_STATE).map(str::to_owned);
        let flags = u8::from_str_radix(flags, 16).ok()?;
        Some(TraceContext { trace: trace.into(), parent: Some(span.into()), state, flags })
    }
}

/// Generates unpredictable ids.
#[derive(Debug, Default)]
pub(super) struct Ids {
    keys: RandomState,
    count: u64,
}

impl Ids {
    pub(super) fn span(&mut self) -> String {
        self.count += 1;
        // An id of all zeros is invalid.
        format!("{:016x}", self.keys.hash_one(self.count).max(1))
    }

    /// A new trace.
    pub(super) fn trace(&mut self) -> TraceContext {
        let trace = format!("{}{}", self.span(), self.span());
        TraceContext { trace, parent: None, state: None, flags: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_has_four_fields_of_lower_case_digits() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::read(good, Some("a=1")).unwrap();
        assert_eq!(context.trace, "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.parent.as_deref(), Some("b7ad6b7169203331"));
        assert_eq!((context.state.as_deref(), context.flags), (Some("a=1"), 1));
        assert!(TraceContext::read(&format!("{good}-x").replacen("00", "01", 1), None).is_some());
        for wrong in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        ] {
            assert_eq!(TraceContext::read(wrong, None), None, "{wrong}");
        }
        let long = "x".repeat(MAX_STATE + 1);
        assert_eq!(TraceContext::read(good, Some(&long)).unwrap().state, None);
    }
}
