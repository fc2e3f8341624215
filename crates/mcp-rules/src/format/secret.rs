//! Names of fields that hold secrets, guessed from English words.

/// Words, alone or run together, that name a secret.
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

/// Words after a name that leave its meaning as it is.
const FILLERS: [&str; 8] =
    ["again", "confirm", "confirmation", "field", "input", "repeat", "text", "value"];

/// Whether `name` (`apiKey`, `api_key`, `API key`) says that its value is a secret.
///
/// What counts is how it ends: a `password` is one, a `password hint` is not.
pub(crate) fn is_name_of_one(name: &str) -> bool {
    let words = words(name);
    let mut words = &words[..];
    while let [rest @ .., last] = words {
        let number = last.bytes().all(|byte| byte.is_ascii_digit());
        if !rest.is_empty() && (number || FILLERS.contains(&last.as_str())) {
            words = rest;
        } else {
            break;
        }
    }
    match words {
        [.., before, last] => {
            SECRETS.contains(&last.as_str())
                || SECRETS.contains(&format!("{before}{last}").as_str())
        }
        [only] => SECRETS.contains(&only.as_str()),
        [] => false,
    }
}

/// Words in lower case, cut at anything but letters and digits and where a capital begins one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = name.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        if character.is_alphanumeric() {
            let starts_word = character.is_uppercase()
                && (before.is_lowercase()
                    || characters.peek().is_some_and(|next| next.is_lowercase()));
            let starts_number = character.is_ascii_digit() && before.is_alphabetic();
            if starts_word || starts_number {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        } else {
            words.push(String::new());
        }
        before = character;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert!(is_name_of_one(name), "{name}");
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
            assert!(!is_name_of_one(name), "{name}");
        }
    }
}
