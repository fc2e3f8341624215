//! Errors in the style of `ajv`: the `data` of a rejected `tools/call`. `scripts/ajv` compares our
//! output with that of `ajv` for hundreds of schemas; these are the documented cases.

use mcp_sdk::{
    Failure, NoArguments, Server,
    core::{Dispatch, InvalidArguments, Json, Revision, Tool},
};
use serde_json::{Value, json};

use super::base_stack::{call, open};
use crate::wire::{receive, send};

fn server(schema: &Value, answered: InvalidArguments) -> Server {
    Server::builder("test", "1.0.0")
        .invalid_arguments(answered)
        .raw_tool(Tool::new("t", Json::from(schema)), async |_: Json, _| Ok("fine"))
        .tool("p", "Panics", async |_: NoArguments, _| -> Result<String, Failure> {
            panic!("on purpose")
        })
        .build()
        .unwrap()
}

/// The server's response to a call with these arguments.
async fn answer(server: Server, tool: &str, arguments: &Value, revision: Revision) -> Value {
    let near = open(server, revision).await;
    let params = json!({ "name": tool, "arguments": arguments });
    send(&near, &call(&json!(1), "tools/call", &params, revision)).await;
    receive(&near).await
}

/// The entries of `error.data`, each as keyword, `instancePath`, `schemaPath` and `params`.
async fn entries(schema: &Value, arguments: &Value) -> Vec<(String, String, String, Value)> {
    let server = server(schema, InvalidArguments::default());
    let answer = answer(server, "t", arguments, Revision::V2025_06_18).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let data = answer["error"]["data"].as_array().expect("an array of entries");
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let mut entries = Vec::new();
    for entry in data {
        assert!(entry["message"].is_string() && entry["pointer"].is_string(), "{entry}");
        let place = (text(entry, "instancePath"), text(entry, "schemaPath"));
        entries.push((text(entry, "keyword"), place.0, place.1, entry["params"].clone()));
    }
    entries
}

#[tokio::test]
async fn paths_start_at_the_arguments_and_pointers_at_the_message() {
    let schema = json!({"type":"object","properties":{"count":{"type":"integer"}}});
    let server = server(&schema, InvalidArguments::default());
    let answer = answer(server, "t", &json!({"count":"three"}), Revision::V2025_06_18).await;
    let entry = &answer["error"]["data"][0];
    assert_eq!(entry["instancePath"], "/count", "{answer}");
    assert_eq!(entry["pointer"], "/params/arguments/count", "{answer}");
    assert_eq!(entry["schemaPath"], "#/properties/count/type", "{answer}");
    assert_eq!(entry["params"], json!({"type":"integer"}), "{answer}");
    assert_eq!(entry["message"], "must be integer", "{answer}");
}

#[tokio::test]
async fn params_are_filled_for_every_keyword() {
    let of_a = |schema: Value| json!({"type":"object","properties":{"a":schema}});
    for (schema, arguments, keyword, params) in [
        (
            of_a(json!({"uniqueItems":true})),
            json!({"a":[1,2,1]}),
            "uniqueItems",
            json!({"i":2,"j":0}),
        ),
        (
            of_a(json!({"contains":{"const":1}})),
            json!({"a":[2]}),
            "contains",
            json!({"minContains":1}),
        ),
        (
            json!({"type":"object","propertyNames":{"maxLength":1}}),
            json!({"ab":1}),
            "propertyNames",
            json!({"propertyName":"ab"}),
        ),
        (
            json!({"type":"object","dependentRequired":{"a":["b","c"]}}),
            json!({"a":1,"b":1}),
            "dependentRequired",
            json!({"property":"a","missingProperty":"c","depsCount":2,"deps":"b, c"}),
        ),
        (
            json!({"type":"object","additionalProperties":false}),
            json!({"x":1}),
            "additionalProperties",
            json!({"additionalProperty":"x"}),
        ),
        (
            json!({"type":"object","required":["a"]}),
            json!({}),
            "required",
            json!({"missingProperty":"a"}),
        ),
        (
            of_a(json!({"minimum":3})),
            json!({"a":1}),
            "minimum",
            json!({"comparison":">=","limit":3}),
        ),
        (
            of_a(json!({"enum":["x","y"]})),
            json!({"a":"z"}),
            "enum",
            json!({"allowedValues":["x","y"]}),
        ),
        (of_a(json!({"const":7})), json!({"a":8}), "const", json!({"allowedValue":7})),
        (of_a(json!({"pattern":"^b"})), json!({"a":"c"}), "pattern", json!({"pattern":"^b"})),
    ] {
        let found = entries(&schema, &arguments).await;
        let entry = found.iter().find(|entry| entry.0 == keyword);
        assert_eq!(entry.map(|entry| &entry.3), Some(&params), "{schema} {found:?}");
    }
}

#[tokio::test]
async fn a_union_has_its_own_entry_after_those_of_its_branches() {
    let schema =
        json!({"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"minimum":5}]}}});
    let found = entries(&schema, &json!({"a":1})).await;
    let keywords: Vec<(&str, &str)> =
        found.iter().map(|entry| (entry.0.as_str(), entry.2.as_str())).collect();
    let expected = [
        ("type", "#/properties/a/anyOf/0/type"),
        ("minimum", "#/properties/a/anyOf/1/minimum"),
        ("anyOf", "#/properties/a/anyOf"),
    ];
    assert_eq!(keywords, expected);
}

#[tokio::test]
async fn all_errors_are_listed() {
    let schema = json!({"type":"object","required":["b","c"],"properties":{"a":{"type":"string"}}});
    assert_eq!(entries(&schema, &json!({"a":1})).await.len(), 3);
}

#[tokio::test]
async fn the_default_follows_the_revision_and_a_setting_chooses_one() {
    use InvalidArguments::{ByRevision, ProtocolError, ToolResult};
    let schema = json!({"type":"object","required":["a"]});
    for revision in Revision::ALL {
        for answered in [ByRevision, ProtocolError, ToolResult] {
            let is_error = answered == ProtocolError
                || answered == ByRevision && revision < Revision::V2025_11_25;
            let answer = answer(server(&schema, answered), "t", &json!({}), revision).await;
            if is_error {
                assert_eq!(answer["error"]["data"][0]["keyword"], "required", "{answer}");
            } else {
                let result = &answer["result"];
                assert_eq!(result["isError"], true, "{answer}");
                let entry = &result["_meta"]["dev.plumb/findings"][0];
                assert_eq!(entry["params"], json!({"missingProperty":"a"}), "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn models_see_what_is_allowed() {
    let schema =
        json!({"type":"object","properties":{"a":{"enum":["x","y"]}},"additionalProperties":false});
    let server = server(&schema, InvalidArguments::ToolResult);
    let answer = answer(server, "t", &json!({"a":"z","b":1}), Revision::V2025_11_25).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let allowed = r#"/a: must be equal to one of the allowed values: ["x","y"]"#;
    assert!(text.contains(allowed), "{text}");
    assert!(text.contains(r#"must NOT have additional properties: "b""#), "{text}");
}

#[tokio::test]
async fn internal_errors_are_protocol_errors_if_chosen() {
    let schema = json!({"type":"object"});
    let revision = Revision::V2025_11_25;
    let chosen = server(&schema, InvalidArguments::ProtocolError);
    let failed = answer(chosen, "p", &json!({}), revision).await;
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let default = server(&schema, InvalidArguments::default());
    let failed = answer(default, "p", &json!({}), revision).await;
    assert_eq!(failed["result"]["isError"], true, "{failed}");
}

#[tokio::test]
async fn bare_dispatch_has_the_entries_beside_the_error_type() {
    let schema = json!({"type":"object","properties":{"count":{"type":"integer"}}});
    let server = Server::builder("test", "1.0.0")
        .dispatch(Dispatch::Bare)
        .raw_tool(Tool::new("t", Json::from(&schema)), async |_: Json, _| Ok("fine"))
        .build()
        .unwrap();
    let near = open(server, Revision::LATEST).await;
    send(&near, &json!({"jsonrpc":"2.0","id":1,"method":"t","params":{"count":"three"}})).await;
    let answer = receive(&near).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let data = &answer["error"]["data"];
    assert_eq!(data["error_type"], "invalid_params", "{answer}");
    assert_eq!(data["errors"][0]["instancePath"], "/count", "{answer}");
    assert_eq!(data["errors"][0]["pointer"], "/params/count", "{answer}");
}
