//! Names of fields that hold secrets, guessed from English words.

/// Words, alone or joined, that name a secret, in ascending order.
const SECRETS: [&str; 25] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "authtoken",
    "bearertoken",
    "cardnumber",
    "clientsecret",
    "creditcard",
    "cvc",
    "cvv",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "pwd",
    "refreshtoken",
    "secret",
    "secretkey",
    "secrets",
    "securitycode",
    "sshkey",
];

/// Trailing words that do not change the meaning of a name, in ascending order.
const FILLERS: [&str; 8] =
    ["again", "confirm", "confirmation", "field", "input", "repeat", "text", "value"];

/// Whether `name` (`apiKey`, `api_key`, `API key`) indicates that its value is a secret.
///
/// Only the end counts: `password` names one, `password hint` does not.
pub(crate) fn names_secret(name: &str) -> bool {
    let Some((mut rest, mut last)) = split_last_word(name) else { return false };
    while is_filler(last)
        && let Some((before, word)) = split_last_word(rest)
    {
        (rest, last) = (before, word);
    }
    let before = split_last_word(rest).map_or("", |(_, word)| word);
    is_among(&SECRETS, "", last) || is_among(&SECRETS, before, last)
}

fn is_filler(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) || is_among(&FILLERS, "", word)
}

/// The length of the longest word in the lists.
const LONGEST: usize = 12;

/// Whether two words, run together and in lower case, are one of the `words`.
fn is_among(words: &[&str], before: &str, last: &str) -> bool {
    let mut text = [0; LONGEST];
    let mut length = 0;
    for character in before.chars().chain(last.chars()).flat_map(char::to_lowercase) {
        // The words are ASCII and short, so anything else is not among them.
        let (Some(place), Ok(byte)) = (text.get_mut(length), u8::try_from(character)) else {
            return false;
        };
        *place = byte;
        length += 1;
    }
    words.binary_search_by(|word| word.as_bytes().cmp(&text[..length])).is_ok()
}

/// The text before the last word, and the last word. Words are separated by anything but letters and
/// digits, and also begin at a capital or a number.
pub(crate) fn split_last_word(name: &str) -> Option<(&str, &str)> {
    let name = name.trim_end_matches(|character: char| !character.is_alphanumeric());
    let mut characters = name.char_indices().rev().peekable();
    let mut next = ' ';
    while let Some((start, character)) = characters.next() {
        let before = characters.peek().map_or(' ', |(_, before)| *before);
        let starts_word =
            character.is_uppercase() && (before.is_lowercase() || next.is_lowercase());
        let starts_number = character.is_ascii_digit() && before.is_alphabetic();
        if starts_word || starts_number || !before.is_alphanumeric() {
            return Some(name.split_at(start));
        }
        next = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        for words in [&SECRETS[..], &FILLERS] {
            assert!(words.is_sorted());
            assert!(words.iter().all(|word| word.is_ascii() && word.len() <= LONGEST));
        }
    }

    #[test]
    fn spellings_do_not_matter() {
        for name in [
            "password",
            "Password",
            "userPassword",
            "PASSWORD",
            "password2",
            "password_confirmation",
            "passwordConfirm",
            "apiKey",
            "api_key",
            "API key",
            "APIKey",
            "APIKEY",
            "openai-api-key",
            "Your API key",
            "accessToken",
            "access.token",
            "clientSecret",
            "secret_value",
            "cvv",
            "CVV2",
            "userCVV",
            "Card number",
            "credit card number",
            "private_key",
            // The Kelvin sign lowercases to an ASCII k.
            "API \u{212a}ey",
        ] {
            assert!(names_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_harmless() {
        for name in [
            "",
            "_",
            "username",
            "email",
            "keyboard",
            "key",
            "token",
            "maxTokens",
            "secretary",
            "passwordHint",
            "Email for password reset",
            "passport",
            "discard",
            "number",
            "value",
            "42",
            "passwordless",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
