//! Variables in the values of a configuration: `${NAME}`, `${NAME:-default}`, `${env:NAME}`.

/// Expands the variables in `text`. The error names an unknown one.
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, after)) = after.split_once('}') else { break };
        expanded.push_str(before);
        expanded.push_str(&value_of(inner, variable)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn value_of(inner: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner.strip_prefix("env:").unwrap_or(inner), None),
    };
    if name.contains(':') {
        return Err(format!("`${{{inner}}}` is only known to the client"));
    }
    let found = variable(name).or_else(|| default.map(str::to_owned));
    found.ok_or_else(|| format!("the environment variable `{name}` is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_their_values_or_their_defaults() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        let value = |text| expand(text, &variable);
        assert_eq!(value("plain $A ${"), Ok("plain $A ${".to_owned()));
        assert_eq!(value("${A}-${env:A}-${B:-x}-${A:-x}"), Ok("1-1-x-1".to_owned()));
        assert!(value("${B}").unwrap_err().contains("`B`"));
        assert!(value("${input:key}").unwrap_err().contains("only known to the client"));
    }
}
