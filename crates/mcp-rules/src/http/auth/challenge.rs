//! The challenges of `WWW-Authenticate` (RFC 9110 §11.6.1).

/// One authentication scheme that a response offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Parses the challenges of a header. Commas separate both challenges and parameters, and may
    /// occur in quotes; unreadable parts are skipped.
    pub(super) fn parse_all(header: &str) -> Vec<Challenge> {
        let mut reader = Reader { rest: header };
        let mut challenges: Vec<Challenge> = Vec::new();
        loop {
            let name = reader.token();
            if name.is_empty() {
                if reader.skip_one() {
                    continue;
                }
                return challenges;
            }
            if reader.is_assignment() {
                let value = reader.value();
                if let Some(challenge) = challenges.last_mut() {
                    challenge.parameters.push((name.to_owned(), value));
                }
            } else {
                reader.skip_token68();
                challenges.push(Challenge { scheme: name.to_owned(), parameters: Vec::new() });
            }
        }
    }

    pub(super) fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Whether it asks for an OAuth token.
    pub(super) fn is_oauth(&self) -> bool {
        self.is("Bearer") || self.is("DPoP")
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut named =
            self.parameters.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.as_str())
    }

    pub(super) fn has_error(&self, error: &str) -> bool {
        self.get("error") == Some(error)
    }

    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.get("scope")
            .is_some_and(|scopes| scopes.split_ascii_whitespace().any(|one| one == scope))
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(unwanted);
    }

    fn skip_one(&mut self) -> bool {
        let mut letters = self.rest.chars();
        let found = letters.next().is_some();
        self.rest = letters.as_str();
        found
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !wanted(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn token(&mut self) -> &'a str {
        self.take_while(|letter| {
            letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter)
        })
    }

    /// Consumes an equals sign, if one follows. Returns whether it did.
    fn is_assignment(&mut self) -> bool {
        let after = self.rest.trim_ascii_start();
        let found = after.strip_prefix('=');
        self.rest = found.map_or(self.rest, str::trim_ascii_start);
        found.is_some()
    }

    fn value(&mut self) -> String {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            return self
                .take_while(|letter| letter != ',' && !letter.is_ascii_whitespace())
                .to_owned();
        };
        let mut value = String::new();
        let mut letters = quoted.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => value.extend(letters.next()),
                _ => value.push(letter),
            }
        }
        self.rest = letters.as_str();
        value
    }

    /// Skips credentials in `token68` form, such as `Negotiate YII=`.
    fn skip_token68(&mut self) {
        let start = self.rest;
        self.skip(|letter| letter == ' ');
        self.take_while(|letter| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter));
        self.take_while(|letter| letter == '=');
        let after = self.rest.trim_ascii_start();
        if !after.is_empty() && !after.starts_with(',') {
            self.rest = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: &[(&str, &[(&str, &str)])]) {
        let found = Challenge::parse_all(header);
        let found: Vec<(&str, Vec<(&str, &str)>)> = found
            .iter()
            .map(|challenge| {
                let parameters = challenge.parameters.iter();
                (&*challenge.scheme, parameters.map(|(name, value)| (&**name, &**value)).collect())
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(name, list)| (*name, list.to_vec())).collect();
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn challenges_and_parameters_share_the_comma() {
        check("Bearer", &[("Bearer", &[])]);
        check(
            r#"Basic realm="a, b", Bearer error="invalid_token",scope=notes , resource_metadata = "https://example.com/x""#,
            &[
                ("Basic", &[("realm", "a, b")]),
                (
                    "Bearer",
                    &[
                        ("error", "invalid_token"),
                        ("scope", "notes"),
                        ("resource_metadata", "https://example.com/x"),
                    ],
                ),
            ],
        );
        check("Negotiate YII=, Basic realm=x", &[("Negotiate", &[]), ("Basic", &[("realm", "x")])]);
        check("Negotiate a87421000492aa8, Bearer", &[("Negotiate", &[]), ("Bearer", &[])]);
        check(
            r#"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            &[
                ("Newauth", &[("realm", "apps"), ("type", "1"), ("title", "Login to \"apps\"")]),
                ("Basic", &[("realm", "simple")]),
            ],
        );
        check(", ,Bearer ,, scope=\"a\" ,", &[("Bearer", &[("scope", "a")])]);
    }

    #[test]
    fn broken_headers_give_what_can_be_read() {
        check("", &[]);
        check("scope=\"a\"", &[]);
        check("\"Bearer\" x", &[("Bearer", &[]), ("x", &[])]);
        check("Bearer scope=\"a, b", &[("Bearer", &[("scope", "a, b")])]);
        check("Bearer æ scope=x", &[("Bearer", &[("scope", "x")])]);
    }
}
