//! Converts names of definitions and members to Rust identifiers and literals.

/// `ElicitRequestURLParams` as `elicit_request_url_params`; other characters become `_`.
pub(super) fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (position, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            continue;
        }
        if character.is_ascii_uppercase() {
            let after_lower = position > 0 && !characters[position - 1].is_ascii_uppercase();
            let before_lower = (characters.get(position + 1)).is_some_and(char::is_ascii_lowercase);
            if !snake.is_empty() && !snake.ends_with('_') && (after_lower || before_lower) {
                snake.push('_');
            }
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

/// `text` as a byte string literal.
pub(super) fn bytes(text: &str) -> String {
    format!("b\"{}\"", text.escape_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_mixed_case() {
        let check = |name, expected| assert_eq!(snake_case(name), expected);
        check("ElicitRequestURLParams", "elicit_request_url_params");
        check("JSONValue", "json_value");
        check("_meta", "meta");
        check("$schema", "schema");
        check("inputSchema", "input_schema");
        check("io.modelcontextprotocol/clientInfo", "io_modelcontextprotocol_client_info");
    }
}
