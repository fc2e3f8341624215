//! Rewrites values that older revisions cannot express.
//!
//! Members unknown to a revision are legal everywhere and are kept. Only values that its definitions
//! reject are rewritten, and declarations of features that it does not have.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;

use crate::{CallToolResult, ClientCapabilities, Content, GetPromptResult, Json, Revision};

/// The first revision at which a tool lists this output schema: the first whose results keep their
/// structured content in [`tool_result`]. Clients that know the schema reject results without it,
/// at any revision.
pub(crate) fn output_listed_since(schema: &Json) -> Revision {
    if describes_objects(schema) { STRUCTURED_OBJECTS } else { STRUCTURED_ANYTHING }
}

/// The first revision whose results can have an object as structured content.
const STRUCTURED_OBJECTS: Revision = Revision::V2025_06_18;
/// The first revision whose results can have any value as structured content.
const STRUCTURED_ANYTHING: Revision = Revision::V2026_07_28;

fn describes_objects(schema: &Json) -> bool {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    schema.read::<Typed<'_>>().is_ok_and(|schema| schema.kind == "object")
}

/// A tool's result, adapted to `revision`.
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

/// A prompt's result, adapted to `revision`.
pub(crate) fn prompt_result(revision: Revision, mut result: GetPromptResult) -> GetPromptResult {
    result.messages.iter_mut().for_each(|message| reshape(revision, &mut message.content));
    result
}

/// The declared client capabilities that exist in `revision`. A server cannot use the others,
/// even if the client declares them.
pub(crate) fn client_capabilities(
    revision: Revision,
    mut declared: ClientCapabilities,
) -> ClientCapabilities {
    if revision < Revision::V2025_06_18 {
        declared.elicitation = None;
    }
    if revision < Revision::V2025_11_25 {
        // URL elicitation and sampling with tools came with the members of these capabilities.
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
    fn an_output_schema_is_listed_where_results_can_match_it() {
        let since = |schema: &'static str| output_listed_since(&Json::parse(schema).unwrap());
        assert_eq!(since(r#"{"type":"object"}"#), Revision::V2025_06_18);
        for schema in [r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#, "{}", "true"] {
            assert_eq!(since(schema), Revision::V2026_07_28, "{schema}");
        }
    }

    #[test]
    fn capabilities_that_the_revision_lacks_are_ignored() {
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
    fn a_link_becomes_text_in_revisions_without_links() {
        let link = || Content::resource_link(Resource::new("a:b", "b"));
        let result = |revision| tool_result(revision, CallToolResult::new(vec![link()])).content;
        assert_eq!(result(Revision::V2025_03_26), [Content::text("b: a:b")]);
        assert_eq!(result(Revision::V2025_06_18), [link()]);
    }

    #[test]
    fn structured_content_is_omitted_in_revisions_without_it() {
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
