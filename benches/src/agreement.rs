//! Checks that the contestants are right before they are timed.

use thiserror::Error;

use crate::contestants::Contestant;
use crate::corpus::Corpus;
use crate::corpus::invalid::{broken, broken_arguments};

/// A wrong verdict.
#[derive(Debug, Error)]
#[error("{contestant} {said} a message that {is}: {excerpt}")]
pub struct WrongVerdict {
    contestant: &'static str,
    said: &'static str,
    is: String,
    excerpt: String,
}

/// How many verdicts were compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compared {
    /// On valid messages.
    pub valid: usize,
    /// On messages with one defect.
    pub broken: usize,
}

/// One in this many messages is broken in every possible way.
const BREAK_EVERY: usize = 20;

/// Asks every contestant about every message, and about broken ones if it can detect the defect.
///
/// # Errors
///
/// The first wrong verdict.
pub fn check(
    corpus: &Corpus,
    contestants: &mut [Box<dyn Contestant>],
) -> Result<Compared, WrongVerdict> {
    let mut compared = Compared::default();
    for (index, message) in corpus.messages.iter().enumerate() {
        for contestant in contestants.iter_mut() {
            if !contestant.verdict(message) {
                return Err(wrong(contestant.name(), "refuses", "is right", &message.bytes));
            }
            compared.valid += 1;
        }
        if index % BREAK_EVERY > 0 {
            continue;
        }
        let arguments = broken_arguments(message).filter(|_| corpus.class.checks_arguments());
        for broken in broken(message).into_iter().chain(arguments) {
            for contestant in contestants.iter_mut() {
                if contestant.notices() < broken.noticed_by {
                    continue;
                }
                if contestant.verdict(&broken.message) {
                    let is = format!("is wrong ({})", broken.defect);
                    return Err(wrong(contestant.name(), "accepts", &is, &broken.message.bytes));
                }
                compared.broken += 1;
            }
        }
    }
    Ok(compared)
}

fn wrong(contestant: &'static str, said: &'static str, is: &str, bytes: &[u8]) -> WrongVerdict {
    let excerpt = String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).into_owned();
    WrongVerdict { contestant, said, is: is.to_owned(), excerpt }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::contestants;
    use crate::corpus::{Class, Corpus, known_tools};

    #[test]
    fn all_contestants_agree_on_every_class() {
        let tools = known_tools();
        for class in Class::ALL {
            let corpus = Corpus::generate(class, &tools);
            let mut contestants = contestants::all(class.checks_arguments().then_some(&tools));
            let compared = check(&corpus, &mut contestants).unwrap();
            assert!(compared.broken > 100, "{class:?}: {compared:?}");
        }
    }
}
