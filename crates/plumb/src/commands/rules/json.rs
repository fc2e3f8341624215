use mcp_core::Revision;
use mcp_rules::Severity;
use serde_json::{Map, Value, json};

use super::Row;
use crate::render;

/// An array with one rule per line.
pub(super) fn array(rows: &[Row]) -> serde_json::Result<String> {
    let lines: Result<Vec<String>, _> =
        rows.iter().map(|row| serde_json::to_string(&object(*row))).collect();
    Ok(format!("[\n{}\n]\n", lines?.join(",\n")))
}

fn object(Row { rule, level }: Row) -> Value {
    let revisions: Vec<&str> = rule.applies.iter().map(Revision::as_str).collect();
    let levels: Map<String, Value> = (rule.applies.iter())
        .map(|revision| {
            let severity = level.severity(revision).map_or("off", Severity::as_str);
            (revision.to_string(), severity.into())
        })
        .collect();
    let mut object = json!({
        "name": rule.name,
        "layer": rule.layer.as_str(),
        "levels": levels,
        "revisions": revisions,
        "spec": rule.clause,
        "summary": rule.summary(),
        "docs": rule.docs,
    });
    if let Some(url) = render::specification_url(rule, Some(Revision::LATEST)) {
        object["url"] = url.into();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::{super::testing::all, *};

    #[test]
    fn programs_get_an_array() {
        let value: Value = serde_json::from_str(&array(&all()).unwrap()).unwrap();
        assert_eq!(value.as_array().unwrap().len(), all().len());
        let first = &value[0];
        assert!(first["name"].is_string() && first["levels"]["2025-11-25"].is_string());
        let params = value.as_array().unwrap().iter().find(|rule| rule["name"] == "params-invalid");
        let url = params.unwrap()["url"].as_str().unwrap();
        assert!(url.starts_with("https://modelcontextprotocol.io/specification/"), "{url}");
    }

    #[test]
    fn no_rules_are_an_empty_array() {
        let value: Value = serde_json::from_str(&array(&[]).unwrap()).unwrap();
        assert_eq!(value, json!([]));
    }
}
