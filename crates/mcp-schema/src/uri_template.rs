//! The grammar of RFC 6570, levels 1 to 4. Nothing is expanded.

use std::fmt;

/// Why a text is not a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateFault {
    /// Byte offset in the text.
    pub position: usize,
    /// What is wrong there.
    pub kind: TemplateFaultKind,
}

/// The ways in which a template can be malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TemplateFaultKind {
    Unclosed,
    UnopenedBrace,
    EmptyExpression,
    ReservedOperator(char),
    EmptyName,
    NameCharacter(char),
    PercentEncoding,
    PrefixLength,
    DoubleModifier,
    LiteralCharacter(char),
}

impl fmt::Display for TemplateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TemplateFaultKind::Unclosed => {
                f.write_str("the expression is never closed with `}`")?;
            }
            TemplateFaultKind::UnopenedBrace => f.write_str("`}` without an opening `{`")?,
            TemplateFaultKind::EmptyExpression => f.write_str("the expression is empty")?,
            TemplateFaultKind::ReservedOperator(operator) => {
                write!(f, "the operator `{operator}` is reserved")?;
            }
            TemplateFaultKind::EmptyName => f.write_str("a variable name is missing")?,
            TemplateFaultKind::NameCharacter(character) => {
                write!(f, "{character:?} is not allowed in a variable name")?;
            }
            TemplateFaultKind::PercentEncoding => {
                f.write_str("`%` is not followed by two hexadecimal digits")?;
            }
            TemplateFaultKind::PrefixLength => {
                f.write_str("the prefix length is not a number from 1 to 9999")?;
            }
            TemplateFaultKind::DoubleModifier => {
                f.write_str("a variable takes either `*` or `:length`, not both")?;
            }
            TemplateFaultKind::LiteralCharacter(character) => {
                write!(f, "{character:?} is not allowed outside an expression")?;
            }
        }
        write!(f, " (at byte {})", self.position)
    }
}

impl std::error::Error for TemplateFault {}

/// Whether `text` is a URI template by RFC 6570.
///
/// # Errors
///
/// The first fault and its byte offset.
pub fn uri_template(text: &str) -> Result<(), TemplateFault> {
    let mut position = 0;
    while let Some(character) = text[position..].chars().next() {
        match character {
            '{' => position = expression(text, position)?,
            '}' => return fault(position, TemplateFaultKind::UnopenedBrace),
            '%' => position = percent_encoded(text, position)?,
            _ if is_literal(character) => position += character.len_utf8(),
            _ => return fault(position, TemplateFaultKind::LiteralCharacter(character)),
        }
    }
    Ok(())
}

fn fault<T>(position: usize, kind: TemplateFaultKind) -> Result<T, TemplateFault> {
    Err(TemplateFault { position, kind })
}

/// Parses from the `{` at `open` to just after its `}`.
fn expression(text: &str, open: usize) -> Result<usize, TemplateFault> {
    let Some(length) = text[open..].find('}') else {
        return fault(open, TemplateFaultKind::Unclosed);
    };
    let close = open + length;
    let mut start = open + 1;
    match text[start..close].chars().next() {
        None => return fault(open, TemplateFaultKind::EmptyExpression),
        Some('+' | '#' | '.' | '/' | ';' | '?' | '&') => start += 1,
        Some(operator @ ('=' | ',' | '!' | '@' | '|')) => {
            return fault(start, TemplateFaultKind::ReservedOperator(operator));
        }
        Some(_) => {}
    }
    for specification in text[start..close].split(',') {
        variable(specification, start)?;
        start += specification.len() + 1;
    }
    Ok(close + 1)
}

/// `varname`, then at most one of `*` and `:length`. `offset` is where it starts in the template.
fn variable(specification: &str, offset: usize) -> Result<(), TemplateFault> {
    let name_length = specification.find(['*', ':']).unwrap_or(specification.len());
    let (name, modifier) = specification.split_at(name_length);
    variable_name(name, offset)?;
    let position = offset + name_length;
    match modifier.split_at_checked(1) {
        None | Some(("*", "")) => Ok(()),
        Some(("*", _)) => fault(position, TemplateFaultKind::DoubleModifier),
        Some((_, length)) => {
            let digits = length.strip_suffix('*').unwrap_or(length);
            let valid = matches!(digits.len(), 1..=4)
                && !digits.starts_with('0')
                && digits.bytes().all(|digit| digit.is_ascii_digit());
            match valid {
                true if digits.len() == length.len() => Ok(()),
                true => fault(position, TemplateFaultKind::DoubleModifier),
                false => fault(position, TemplateFaultKind::PrefixLength),
            }
        }
    }
}

/// `varchar *( ["."] varchar )`: letters, digits, `_`, percent-encoded octets; single inner dots.
fn variable_name(name: &str, offset: usize) -> Result<(), TemplateFault> {
    if name.is_empty() {
        return fault(offset, TemplateFaultKind::EmptyName);
    }
    let mut position = 0;
    let mut dot_allowed = false;
    while let Some(character) = name[position..].chars().next() {
        match character {
            '%' => {
                position = percent_encoded(name, position).map_err(|inner| TemplateFault {
                    position: offset + inner.position,
                    ..inner
                })?;
                dot_allowed = true;
            }
            '.' if dot_allowed && position + 1 < name.len() => {
                position += 1;
                dot_allowed = false;
            }
            '_' => {
                position += 1;
                dot_allowed = true;
            }
            _ if character.is_ascii_alphanumeric() => {
                position += 1;
                dot_allowed = true;
            }
            _ => {
                return fault(offset + position, TemplateFaultKind::NameCharacter(character));
            }
        }
    }
    Ok(())
}

fn percent_encoded(text: &str, position: usize) -> Result<usize, TemplateFault> {
    match text.as_bytes().get(position + 1..position + 3) {
        Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(position + 3),
        _ => fault(position, TemplateFaultKind::PercentEncoding),
    }
}

/// RFC 6570 section 2.1, with erratum 6937: the apostrophe is a literal too.
fn is_literal(character: char) -> bool {
    !matches!(
        character,
        '\0'..=' ' | '"' | '%' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '\x7f'..='\u{9f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four_levels_are_accepted() {
        for text in [
            "",
            "file:///plain",
            "file:///{path}",
            "{+path}/here",
            "{#x,hello,y}",
            "map?{x,y}",
            "{.who}{/var,x}/here{;x,y}{?x,y,empty}{&x}",
            "{var:3}{/list*}{?keys*}",
            "{+x:9999,hello:5,y}",
            "{a.b.c}{_x}{%41b}",
            "https://example.com/ü/{x}'s",
        ] {
            assert_eq!(uri_template(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn faults_have_a_place_and_a_reason() {
        use TemplateFaultKind as Kind;
        for (text, position, kind) in [
            ("file:///{path", 8, Kind::Unclosed),
            ("file:///path}", 12, Kind::UnopenedBrace),
            ("a{}", 1, Kind::EmptyExpression),
            ("{=x}", 1, Kind::ReservedOperator('=')),
            ("{?}", 2, Kind::EmptyName),
            ("{x,}", 3, Kind::EmptyName),
            ("{a b}", 2, Kind::NameCharacter(' ')),
            ("{x,a-b}", 4, Kind::NameCharacter('-')),
            ("{a..b}", 3, Kind::NameCharacter('.')),
            ("{.a.}", 3, Kind::NameCharacter('.')),
            ("{{x}}", 1, Kind::NameCharacter('{')),
            ("{x:0}", 2, Kind::PrefixLength),
            ("{x:10000}", 2, Kind::PrefixLength),
            ("{x:}", 2, Kind::PrefixLength),
            ("{x:3*}", 2, Kind::DoubleModifier),
            ("{x*:3}", 2, Kind::DoubleModifier),
            ("a b", 1, Kind::LiteralCharacter(' ')),
            ("100%", 3, Kind::PercentEncoding),
            ("{a%4}", 2, Kind::PercentEncoding),
            ("ü{", 2, Kind::Unclosed),
        ] {
            assert_eq!(uri_template(text), Err(TemplateFault { position, kind }), "{text}");
        }
    }

    #[test]
    fn messages_are_plain() {
        let message = uri_template("{=x}").unwrap_err().to_string();
        assert_eq!(message, "the operator `=` is reserved (at byte 1)");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[{}%:*.,a-z0-9ü ]{0,12}") {
            let _ = uri_template(&text);
        }
    }
}
