//! Any text as a `plumb.toml`: either settings, or an error that can be rendered.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        plumb::fuzzing::read_config(text);
    }
});
