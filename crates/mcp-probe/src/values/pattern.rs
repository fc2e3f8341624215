//! Strings that match a regular expression.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::Random;

/// Maximum length of a generated string.
const LONGEST: usize = 4_096;
/// Maximum length of an expression.
const SOURCE: usize = 8 << 10;
/// Maximum depth of groups.
const DEPTH: usize = 64;
/// Maximum additional repetitions of an unbounded group.
const MORE: u64 = 6;

/// A string that an ECMA-262 expression should match: the shortest, or with `random`, a random one.
/// `None` if the expression has look-around or back-references. Callers must confirm the match,
/// since anchors are ignored.
pub(super) fn matching(source: &str, random: Option<&mut Random>) -> Option<String> {
    if source.len() > SOURCE {
        return None;
    }
    let translated = jsonschema_regex::to_rust_regex(source).ok()?;
    let hir = regex_syntax::parse(&translated).ok()?;
    let mut writer = Writer { text: String::new(), random };
    writer.write(&hir, DEPTH)?;
    Some(writer.text)
}

struct Writer<'r> {
    text: String,
    random: Option<&'r mut Random>,
}

impl Writer<'_> {
    fn write(&mut self, hir: &Hir, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => {
                let letter = self.one_of(class)?;
                self.text.push(letter);
            }
            HirKind::Capture(group) => self.write(&group.sub, depth)?,
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part, depth))?,
            HirKind::Alternation(branches) => {
                let index = self.below(branches.len() as u64);
                self.write(branches.get(usize::try_from(index).ok()?)?, depth)?;
            }
            HirKind::Repetition(repetition) => {
                let min = u64::from(repetition.min);
                let max = repetition.max.map_or(min + MORE, u64::from).min(min + MORE);
                let times = min + self.below(max - min + 1);
                for _ in 0..times {
                    let before = self.text.len();
                    self.write(&repetition.sub, depth)?;
                    if self.text.len() == before {
                        break;
                    }
                }
            }
        }
        (self.text.len() <= LONGEST).then_some(())
    }

    fn one_of(&mut self, class: &Class) -> Option<char> {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => {
                class.iter().map(|range| (range.start(), range.end())).collect()
            }
            Class::Bytes(class) => {
                let class = class.iter().filter(|range| range.end().is_ascii());
                class.map(|range| (char::from(range.start()), char::from(range.end()))).collect()
            }
        };
        // Prefer letters and digits, as a person would write.
        let fits = |letter: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
        let plain: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
        let plain: Vec<char> = plain.into_iter().filter(|letter| fits(*letter)).collect();
        if !plain.is_empty() {
            let index = usize::try_from(self.below(plain.len() as u64)).ok()?;
            return plain.get(index).copied();
        }
        let index = usize::try_from(self.below(ranges.len() as u64)).ok()?;
        let visible = ranges.iter().find(|(from, _)| from.is_ascii_graphic());
        visible.or(ranges.get(index)).map(|(from, _)| *from)
    }

    /// The first choice, unless choices are random.
    fn below(&mut self, bound: u64) -> u64 {
        self.random.as_mut().map_or(0, |random| random.below(bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn the_first_way_through_is_taken() {
        let first = |source| matching(source, None);
        assert_eq!(first("^[a-z]{3}-\\d+$").as_deref(), Some("aaa-0"));
        assert_eq!(first("^(foo|bar)?$").as_deref(), Some(""));
        assert_eq!(first("^#[0-9a-fA-F]{6}$").as_deref(), Some("#aaaaaa"));
        assert_eq!(first("^\\s$").as_deref().map(str::len), Some(1));
        assert_eq!(first("(?=a)b"), None);
        assert_eq!(first("("), None);
    }

    #[test]
    fn others_follow_from_the_stream() {
        let mut random = Seed::new(3).stream("x");
        let texts: std::collections::BTreeSet<_> =
            (0..20).filter_map(|_| matching("^[a-z]+(-[0-9]{2,4})*$", Some(&mut random))).collect();
        assert!(texts.len() > 10, "{texts:?}");
    }

    #[test]
    fn expressions_without_end_are_given_up() {
        assert_eq!(matching("((a{900}){900}){900}", None), None);
        assert_eq!(matching(&"(".repeat(9_000), None), None);
        assert_eq!(matching("(?:){4000000000}", None).as_deref(), Some(""));
    }
}
