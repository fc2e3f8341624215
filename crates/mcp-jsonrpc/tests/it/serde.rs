//! The wire types with `serde_json`: from text, from values, and back.

use mcp_json::{Limits, Tape};
use mcp_jsonrpc::{
    Envelope, FaultKind, JsonRpcError, JsonRpcId, JsonRpcMessage, JsonRpcNotification,
    JsonRpcRequest, JsonRpcResponse, MessageKind,
};
use proptest::{collection::btree_map, prelude::*, sample::select};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Reads `text` in every way that `serde_json` offers; all must agree.
#[track_caller]
fn read<T: DeserializeOwned + Clone + PartialEq + std::fmt::Debug>(
    text: &str,
) -> Result<T, String> {
    let from_text = serde_json::from_str::<T>(text).map_err(|error| error.to_string());
    let from_bytes = serde_json::from_slice::<T>(text.as_bytes()).ok();
    let from_reader = serde_json::from_reader::<_, T>(text.as_bytes()).ok();
    assert_eq!(from_text.clone().ok(), from_bytes, "{text}");
    assert_eq!(from_bytes, from_reader, "{text}");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let borrowed = T::deserialize(&value).is_ok();
        assert_eq!(serde_json::from_value::<T>(value).is_ok(), borrowed, "{text}");
        assert_eq!(borrowed, from_bytes.is_some(), "{text}");
    }
    from_text
}

#[track_caller]
fn refused<T: DeserializeOwned + Clone + PartialEq + std::fmt::Debug>(text: &str, why: &str) {
    let error = read::<T>(text).unwrap_err();
    assert!(error.contains(why), "{text}: {error}");
}

#[test]
fn a_request_is_read_and_written() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hello"}}"#;
    let request: JsonRpcRequest = read(text).unwrap();
    assert_eq!(request, JsonRpcRequest::new(1, "echo", Some(json!({ "text": "hello" }))));
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
    assert_eq!(request.to_bytes(), text);
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        serde_json::from_str::<Value>(text).unwrap()
    );
}

#[test]
fn ids_keep_every_digit() {
    for id in ["null", "0", "-0", "1.0", "1.50", "1e2", "18446744073709551617", "\"\"", "\"\\n\""] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let request: JsonRpcRequest = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        let alone: JsonRpcId = serde_json::from_str(id).unwrap();
        assert_eq!(serde_json::to_string(&alone).unwrap(), id);
    }
}

#[test]
fn a_type_rejects_the_other_kinds_by_name() {
    let request = r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"m"}"#;
    let response = r#"{"jsonrpc":"2.0","id":1,"result":null}"#;
    refused::<JsonRpcRequest>(notification, "not a request but a notification");
    refused::<JsonRpcRequest>(response, "not a request but a response");
    refused::<JsonRpcNotification>(request, "not a notification but a request");
    refused::<JsonRpcNotification>(response, "not a notification but a response");
    refused::<JsonRpcResponse>(request, "not a response but a request");
    refused::<JsonRpcResponse>(notification, "not a response but a notification");
}

#[test]
fn errors_name_the_fault() {
    for (text, why) in [
        (r#"[{"jsonrpc":"2.0","method":"m"}]"#, "must be an object"),
        ("7", "must be an object"),
        (r#"{"id":1,"method":"m"}"#, "`jsonrpc` is missing"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "must be the string \"2.0\""),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "must be the string \"2.0\""),
        (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "`id` must be"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "`id` must be"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "`method` must be a string"),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, "`method` must not be empty"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, "`params` must be"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}"#, "`params` must be"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, "occurs together with"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "none of `method`, `result` and `error`"),
        (r#"{"jsonrpc":"2.0","result":1}"#, "must carry the `id`"),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#, "not both"),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "`error` must be an object"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"message":""}}"#, "`error.code` is missing"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#, "must be an integer"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "`error.message` is missing"),
    ] {
        refused::<JsonRpcMessage>(text, why);
        refused::<JsonRpcRequest>(text, why);
        refused::<JsonRpcNotification>(text, why);
        refused::<JsonRpcResponse>(text, why);
    }
    let three = r#"{"jsonrpc":"1.0","method":"","id":2,"params":7}"#;
    for why in ["`jsonrpc` must", "`method` must", "`params` must"] {
        refused::<JsonRpcRequest>(three, why);
    }
}

#[test]
fn error_objects_and_ids_work_on_their_own() {
    let text = r#"{"code":-32000,"message":"no","data":{"a":[1.50]}}"#;
    let error: JsonRpcError = read(text).unwrap();
    assert_eq!(error, JsonRpcError { data: error.data.clone(), ..JsonRpcError::new(-32000, "no") });
    assert_eq!(serde_json::to_string(&error).unwrap(), text);
    refused::<JsonRpcError>("7", "`error` must be an object");
    refused::<JsonRpcError>("{}", "`error.code` is missing; `error.message` is missing");
    refused::<JsonRpcError>(r#"{"code":"1","message":7}"#, "must be an integer");
    for text in ["true", "[]", "{}", r#""\ud800""#] {
        let error = serde_json::from_str::<JsonRpcId>(text).unwrap_err().to_string();
        assert!(error.contains("`id` must be a string, a number or null"), "{error}");
    }
    assert_eq!(read::<JsonRpcId>("1.0").unwrap(), JsonRpcId::from(1));
    assert_eq!(read::<JsonRpcId>("null").unwrap(), JsonRpcId::Null);
}

#[test]
fn an_error_response_may_omit_the_id() {
    let text = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON"}}"#;
    let response: JsonRpcResponse = read(text).unwrap();
    assert_eq!(response.id, None);
    assert_eq!(serde_json::to_string(&response).unwrap(), text);
}

#[test]
fn they_work_as_members_of_other_types() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Line {
        from: String,
        msg: JsonRpcMessage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<JsonRpcId>,
    }
    let text = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"m"},"answers":"x"}"#;
    let line: Line = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&line).unwrap(), text);
    let value = serde_json::to_value(&line).unwrap();
    assert_eq!(serde_json::from_value::<Line>(value).unwrap(), line);
}

#[test]
fn untagged_and_flattened_input_is_an_error() {
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum Either {
        #[expect(dead_code, reason = "never read")]
        Message(JsonRpcMessage),
    }
    let text = r#"{"jsonrpc":"2.0","method":"m"}"#;
    assert!(serde_json::from_str::<Either>(text).is_err());
}

#[test]
fn invalid_messages_are_not_serialized() {
    let not_json = mcp_core::Json::already_parsed("{".into());
    for request in [
        JsonRpcRequest::new(1, "", None),
        JsonRpcRequest::new(1, "m", Some(json!(7))),
        JsonRpcRequest::new(JsonRpcId::Number("true".into()), "m", None),
        JsonRpcRequest::new(JsonRpcId::Number("1,2".into()), "m", None),
        JsonRpcRequest { params: Some(not_json), ..JsonRpcRequest::new(1, "m", None) },
    ] {
        assert!(serde_json::to_string(&request).is_err(), "{request:?}");
        assert!(serde_json::to_value(&request).is_err(), "{request:?}");
    }
    let nameless = JsonRpcResponse { id: None, ..JsonRpcResponse::success(1, json!({})) };
    assert!(serde_json::to_string(&nameless).is_err());
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{0,3}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn params() -> impl Strategy<Value = Option<Value>> {
    let structured =
        value().prop_filter("an object or an array", |value| value.is_object() || value.is_array());
    prop::option::of(structured)
}

fn id() -> impl Strategy<Value = JsonRpcId> {
    prop_oneof![
        Just(JsonRpcId::Null),
        any::<i64>().prop_map(JsonRpcId::from),
        "\\PC{0,8}".prop_map(JsonRpcId::from),
        "-?[1-9][0-9]{19,30}".prop_map(|digits| JsonRpcId::Number(digits.into())),
        "-?[1-9][0-9]{0,3}\\.[0-9]{1,5}(e-?[1-9])?".prop_map(|text| JsonRpcId::Number(text.into())),
    ]
}

fn error() -> impl Strategy<Value = JsonRpcError> {
    (any::<i64>(), "\\PC{0,8}", prop::option::of(value())).prop_map(|(code, message, data)| {
        let error = JsonRpcError::new(code, message);
        match data {
            Some(data) => error.with_data(data),
            None => error,
        }
    })
}

fn message() -> impl Strategy<Value = JsonRpcMessage> {
    let method = "\\PC{1,8}";
    prop_oneof![
        (id(), method, params())
            .prop_map(|(id, method, params)| JsonRpcRequest::new(id, method, params).into()),
        (method, params())
            .prop_map(|(method, params)| JsonRpcNotification::new(method, params).into()),
        (id(), value()).prop_map(|(id, result)| JsonRpcResponse::success(id, result).into()),
        (prop::option::of(id()), error()).prop_map(|(id, error)| JsonRpcResponse {
            id,
            outcome: Err(error)
        }
        .into()),
    ]
}

fn id_of(message: &JsonRpcMessage) -> Option<&JsonRpcId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        JsonRpcMessage::Response(response) => response.id.as_ref(),
        JsonRpcMessage::Notification(_) => None,
    }
}

/// An object in which each member is missing, valid or invalid.
fn near_message() -> impl Strategy<Value = String> {
    let member = |name: &'static str, values: &'static [&'static str]| {
        prop::option::weighted(0.7, select(values))
            .prop_map(move |value| value.map(|value| format!("{name:?}:{value}")))
    };
    (
        member("jsonrpc", &["\"2.0\"", "\"2.0\"", "\"2.0\"", "\"1.0\"", "2.0", "null"]),
        member("id", &["1", "null", "\"x\"", "1.5", "true", "{}"]),
        member("method", &["\"m\"", "\"m\"", "\"\"", "7", "null"]),
        member("params", &["{}", "[1]", "null", "\"x\""]),
        prop::option::weighted(0.3, select(&["1", "null", "{}"][..]))
            .prop_map(|value| value.map(|value| format!("\"result\":{value}"))),
        prop::option::weighted(
            0.3,
            select(
                &[
                    r#"{"code":1,"message":""}"#,
                    r#"{"code":1.0,"message":"","data":null}"#,
                    r#"{"code":1.5,"message":""}"#,
                    r#"{"message":1}"#,
                    "null",
                ][..],
            ),
        )
        .prop_map(|value| value.map(|value| format!("\"error\":{value}"))),
    )
        .prop_map(|(a, b, c, d, e, f)| {
            let members: Vec<String> = [a, b, c, d, e, f].into_iter().flatten().collect();
            format!("{{{}}}", members.join(","))
        })
}

proptest! {
    #[test]
    fn messages_round_trip(message in message()) {
        let text = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(text.as_bytes(), &message.to_bytes()[..]);
        prop_assert_eq!(&serde_json::from_str::<JsonRpcMessage>(&text).unwrap(), &message);
        // A `Value` cannot hold every digit of every number.
        if !matches!(id_of(&message), Some(JsonRpcId::Number(_))) {
            let value = serde_json::to_value(&message).unwrap();
            prop_assert_eq!(&serde_json::from_value::<JsonRpcMessage>(value).unwrap(), &message);
        }
    }

    #[test]
    fn exactly_what_the_envelope_rejects_is_rejected(text in near_message()) {
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        let envelope = Envelope::of(document.root());
        let is_good = envelope.faults().iter().all(|fault| {
            fault.kind == FaultKind::ResponseWithoutId && envelope.error.is_some()
        });
        let kind = envelope.kind().filter(|_| is_good);
        prop_assert_eq!(read::<JsonRpcMessage>(&text).is_ok(), is_good);
        prop_assert_eq!(
            read::<JsonRpcRequest>(&text).is_ok(), kind == Some(MessageKind::Request)
        );
        prop_assert_eq!(
            read::<JsonRpcNotification>(&text).is_ok(), kind == Some(MessageKind::Notification)
        );
        prop_assert_eq!(
            read::<JsonRpcResponse>(&text).is_ok(), kind == Some(MessageKind::Response)
        );
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,40}") {
        let _ = serde_json::from_str::<JsonRpcMessage>(&text);
        let _ = serde_json::from_str::<JsonRpcId>(&text);
        let _ = serde_json::from_str::<JsonRpcError>(&text);
    }
}
