//! What older revisions cannot express, and what is said instead.
//!
//! Members that a revision does not know are legal everywhere and stay; this is about what its
//! definitions refuse.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;

use crate::{
    CallToolResult, ClientCapabilities, Content, Era, GetPromptResult, Json, Revision, Tool,
};

/// A tool as the handshake era can read it, if that differs: its output is an object, or nothing is
/// said about it. Results leave other output out in the same way.
pub(crate) fn handshake_tool(tool: &Tool) -> Option<Tool> {
    let promises_object = tool.output_schema.as_ref().is_none_or(is_about_objects);
    (!promises_object).then(|| Tool { output_schema: None, ..tool.clone() })
}

fn is_about_objects(schema: &Json) -> bool {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    schema.read::<Typed<'_>>().is_ok_and(|schema| schema.kind == "object")
}

/// A tool's result as `revision` can read it.
pub(crate) fn tool_result(revision: Revision, mut result: CallToolResult) -> CallToolResult {
    result.content.iter_mut().for_each(|content| reshape(revision, content));
    let readable = revision.era() == Era::Modern
        || (revision >= Revision::V2025_06_18
            && result.structured_content.as_ref().is_some_and(Json::is_object));
    if !readable {
        result.structured_content = None;
    }
    result
}

/// A filled-in prompt as `revision` can read it.
pub(crate) fn prompt_result(revision: Revision, mut result: GetPromptResult) -> GetPromptResult {
    result.messages.iter_mut().for_each(|message| reshape(revision, &mut message.content));
    result
}

/// What a client can do for servers, as far as `revision` has words for it: whatever else it
/// declares, it cannot be asked for.
pub(crate) fn client_capabilities(
    revision: Revision,
    mut declared: ClientCapabilities,
) -> ClientCapabilities {
    if revision < Revision::V2025_06_18 {
        declared.elicitation = None;
    }
    if revision < Revision::V2025_11_25 {
        // Pages, and tools for the model, came with the parts of these; before, there were none.
        for capability in [&mut declared.elicitation, &mut declared.sampling].into_iter().flatten()
        {
            *capability = json!({});
        }
        declared.tasks = None;
    }
    declared
}

fn reshape(revision: Revision, content: &mut Content) {
    let words = match content {
        Content::Audio(audio) if revision < Revision::V2025_03_26 => {
            format!("[audio, {}, {} characters of Base64]", audio.mime_type, audio.data.len())
        }
        Content::ResourceLink(resource) if revision < Revision::V2025_06_18 => {
            format!("{}: {}", resource.name, resource.uri)
        }
        _ => return,
    };
    *content = Content::text(words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;

    #[test]
    fn output_that_is_no_object_is_not_promised_in_the_handshake_era() {
        let promises = |schema: &'static str| {
            let tool = Tool::new("t", Json::empty_object()).output_schema(Json::parse(schema)?);
            Ok::<_, serde_json::Error>(handshake_tool(&tool).is_none())
        };
        assert!(promises(r#"{"type":"object"}"#).unwrap());
        for schema in [r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#, "{}", "true"] {
            assert!(!promises(schema).unwrap(), "{schema}");
        }
        assert_eq!(handshake_tool(&Tool::new("t", Json::empty_object())), None);
    }

    #[test]
    fn a_client_cannot_be_asked_for_what_its_revision_does_not_have() {
        let declared = ClientCapabilities::new().with_url_elicitation().with_sampling_tools();
        let lacks = |revision, required: ClientCapabilities| {
            client_capabilities(revision, declared.clone()).missing(&required).is_some()
        };
        let forms = || ClientCapabilities::new().with_elicitation();
        let pages = || ClientCapabilities::new().with_url_elicitation();
        let models = || ClientCapabilities::new().with_sampling();
        let tools = || ClientCapabilities::new().with_sampling_tools();
        assert!(lacks(Revision::V2025_03_26, forms()) && !lacks(Revision::V2025_06_18, forms()));
        assert!(lacks(Revision::V2025_06_18, pages()) && !lacks(Revision::V2025_11_25, pages()));
        assert!(!lacks(Revision::V2024_11_05, models()));
        assert!(lacks(Revision::V2025_06_18, tools()) && !lacks(Revision::V2025_11_25, tools()));
    }

    #[test]
    fn a_link_is_text_before_there_were_links() {
        let link = || Content::resource_link(Resource::new("a:b", "b"));
        let result = |revision| tool_result(revision, CallToolResult::new(vec![link()])).content;
        assert_eq!(result(Revision::V2025_03_26), [Content::text("b: a:b")]);
        assert_eq!(result(Revision::V2025_06_18), [link()]);
    }

    #[test]
    fn structured_content_is_left_out_where_it_cannot_be_read() {
        let has = |revision, text: &'static str| {
            let result = CallToolResult::structured(Json::parse(text).unwrap());
            tool_result(revision, result).structured_content.is_some()
        };
        assert!(!has(Revision::V2025_03_26, "{}"));
        assert!(has(Revision::V2025_11_25, " {}"));
        assert!(!has(Revision::V2025_11_25, "[]"));
        assert!(has(Revision::V2026_07_28, "[]"));
    }
}
