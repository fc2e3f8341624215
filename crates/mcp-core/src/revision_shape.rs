//! What older revisions cannot express, and what is said instead.
//!
//! Members that a revision does not know are legal everywhere and stay; this is about what its
//! definitions refuse, and about what would promise something that the revision cannot keep.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;

use crate::{CallToolResult, ClientCapabilities, Content, GetPromptResult, Json, Revision};

/// The first revision at which a tool lists this output schema: from there on its results have the
/// structured content that [`tool_result`] leaves in. Clients that know the schema refuse results
/// without it, whatever revision is spoken.
pub(crate) fn output_listed_since(schema: &Json) -> Revision {
    if is_about_objects(schema) { STRUCTURED_OBJECTS } else { STRUCTURED_ANYTHING }
}

/// Results have structured content since, which is an object;
const STRUCTURED_OBJECTS: Revision = Revision::V2025_06_18;
/// and since then any value.
const STRUCTURED_ANYTHING: Revision = Revision::V2026_07_28;

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
    let readable = revision >= STRUCTURED_ANYTHING
        || (revision >= STRUCTURED_OBJECTS
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
    fn output_is_promised_where_results_have_it() {
        let since = |schema: &'static str| output_listed_since(&Json::parse(schema).unwrap());
        assert_eq!(since(r#"{"type":"object"}"#), Revision::V2025_06_18);
        for schema in [r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#, "{}", "true"] {
            assert_eq!(since(schema), Revision::V2026_07_28, "{schema}");
        }
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
