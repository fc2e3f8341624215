use mcp_sdk::core::Revision;
use serde_json::json;

use super::{Script, builder, connected};

/// Two pages with one entry each.
async fn serve_pages(script: &Script, method: &str, key: &str, entry: serde_json::Value) {
    let request = script.expect(method).await;
    script.answer(&request, json!({ key: [entry], "nextCursor": "2" })).await;
    let request = script.expect(method).await;
    assert_eq!(request["params"]["cursor"], "2");
    script.answer(&request, json!({ key: [entry] })).await;
}

#[tokio::test]
async fn every_list_can_be_fetched_completely() {
    let offered = json!({ "prompts": {}, "resources": {} });
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, offered).await;
    let serving = serve_pages(&script, "prompts/list", "prompts", json!({ "name": "a" }));
    let (prompts, ()) = tokio::join!(client.all_prompts(), serving);
    assert_eq!(prompts.unwrap().len(), 2);
    let entry = json!({ "name": "a", "uri": "test://a" });
    let serving = serve_pages(&script, "resources/list", "resources", entry);
    let (resources, ()) = tokio::join!(client.all_resources(), serving);
    assert_eq!(resources.unwrap().len(), 2);
    let entry = json!({ "name": "a", "uriTemplate": "test://{a}" });
    let serving = serve_pages(&script, "resources/templates/list", "resourceTemplates", entry);
    let (templates, ()) = tokio::join!(client.all_resource_templates(), serving);
    assert_eq!(templates.unwrap().len(), 2);
}
