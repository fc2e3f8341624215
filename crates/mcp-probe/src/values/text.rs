//! Strings of a given length, format or pattern.

use super::{pattern, shape::Shape};
use crate::Random;

/// Maximum length of a generated string, even if a schema requires more.
pub(super) const LONGEST: u64 = 100_000;

/// Maximum attempts to generate a string for a pattern.
const ATTEMPTS: usize = 16;

/// The string used where anything is allowed.
const WORD: &str = "plumb";

/// A string of this shape: random with `random`, otherwise always the same.
pub(super) fn text(shape: &Shape<'_>, mut random: Option<&mut Random>) -> Option<String> {
    if let Some(source) = shape.patterns.first() {
        let first = pattern::matching(source, None)?;
        if random.is_none() && fits_length(shape, &first) {
            return Some(first);
        }
        // Without `random`, use a stream that depends only on the pattern.
        let mut fixed = crate::Seed::new(0).stream(source);
        let random = random.as_mut().map_or(&mut fixed, |random| &mut **random);
        return (0..ATTEMPTS)
            .filter_map(|_| pattern::matching(source, Some(&mut *random)))
            .find(|text| fits_length(shape, text));
    }
    let samples = shape.format.map(samples).unwrap_or_default();
    let index = random.as_mut().map_or(0, |random| random.index(samples.len()));
    if let Some(sample) = samples.get(index)
        && fits_length(shape, sample)
    {
        return Some((*sample).to_owned());
    }
    let most = shape.max_length.unwrap_or(u64::MAX);
    let word = match random {
        Some(random) => any_word(random),
        None => WORD.to_owned(),
    };
    of_length(
        &word,
        (word.chars().count() as u64).clamp(shape.min_length, most.max(shape.min_length)),
    )
    .filter(|text| fits_length(shape, text))
}

/// Truncates or repeats a word to a length in characters; `None` if that is too long.
pub(super) fn of_length(word: &str, length: u64) -> Option<String> {
    if length > LONGEST {
        return None;
    }
    Some(word.chars().cycle().take(usize::try_from(length).ok()?).collect())
}

/// Strings at the limits of the length.
pub(super) fn edges(shape: &Shape<'_>) -> Vec<String> {
    if !shape.patterns.is_empty() || shape.format.is_some() {
        return text(shape, None).into_iter().collect();
    }
    let most = shape.max_length;
    let lengths = [
        Some(shape.min_length),
        Some(shape.min_length + 1),
        most.and_then(|most| most.checked_sub(1)),
        most,
    ];
    lengths.into_iter().flatten().filter_map(|length| of_length(WORD, length)).collect()
}

/// Strings of a format; none if it is unknown.
pub(super) fn samples(format: &str) -> &'static [&'static str] {
    match format {
        "date" => &["2024-02-29", "1999-12-31"],
        "time" => &["12:34:56Z", "23:59:59+02:00"],
        "date-time" => &["2024-02-29T12:34:56Z", "1999-12-31T23:59:59Z"],
        "duration" => &["PT1S", "P1DT2H"],
        "email" | "idn-email" => &["plumb@example.com"],
        "hostname" | "idn-hostname" => &["plumb.invalid"],
        "ipv4" => &["127.0.0.1", "192.0.2.1"],
        "ipv6" => &["::1", "2001:db8::1"],
        // Names that never resolve, so that no real host is contacted.
        "uri" | "iri" | "url" => &["https://plumb.invalid/a", "https://plumb.invalid/a?b=c#d"],
        "uri-reference" | "iri-reference" => &["https://plumb.invalid/a", "a/b"],
        "uri-template" => &["https://plumb.invalid/{a}"],
        "uuid" => &["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-4000-8000-000000000000"],
        "json-pointer" => &["/a/0", ""],
        "relative-json-pointer" => &["0/a", "1#"],
        "regex" => &["^a+$"],
        "byte" | "base64" => &["cGx1bWI="],
        _ => &[],
    }
}

fn fits_length(shape: &Shape<'_>, text: &str) -> bool {
    let length = text.chars().count() as u64;
    length >= shape.min_length && shape.max_length.is_none_or(|most| length <= most)
}

fn any_word(random: &mut Random) -> String {
    let length = 1 + random.below(12);
    (0..length)
        .map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default()))
        .collect()
}
