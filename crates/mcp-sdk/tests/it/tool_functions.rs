//! Functions as tools.

use std::sync::{Mutex, mpsc};

use mcp_sdk::{
    Client, NoArguments, Server, ToolFunction,
    core::{Icon, Meta, Revision, ToolAnnotations},
    transport::memory,
};
use serde_json::json;

async fn client(server: &Server, revision: Revision) -> Client {
    let (near, far) = memory::pair(16);
    let server = server.clone();
    tokio::spawn(async move { server.serve(far).await });
    Client::builder("test", "1.0.0").revision(revision).connect(near).await.unwrap()
}

/// On one thread, which a blocking tool would hold up.
#[tokio::test]
async fn a_blocking_tool_does_not_hold_up_other_calls() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let server = Server::builder("test", "1.0.0")
        .tool("quick", "Is quick", async |_: NoArguments, _| Ok("quick"))
        .blocking_tool("slow", "Blocks", move |_: NoArguments, _| {
            released.lock().unwrap().recv()?;
            Ok("slow")
        })
        .blocking_tool("broken", "Panics", |_: NoArguments, _| -> Result<(), _> {
            panic!("on purpose")
        })
        .build()
        .unwrap();
    let client = client(&server, Revision::LATEST).await;
    let other = client.clone();
    let slow = tokio::spawn(async move { other.call_tool("slow", json!({})).await });
    tokio::task::yield_now().await;
    assert_eq!(client.call_tool("quick", json!({})).await.unwrap().all_text(), "quick");
    assert!(client.call_tool("broken", json!({})).await.unwrap().is_error);
    assert!(!slow.is_finished());
    release.send(()).unwrap();
    assert_eq!(slow.await.unwrap().unwrap().all_text(), "slow");
}

#[tokio::test]
async fn clients_see_all_metadata_of_a_function() {
    let mut meta = Meta::default();
    meta.insert("example.com/since", "1.0.0");
    let function = ToolFunction::new("now", "Tells the time", async |_: NoArguments, _| Ok("late"))
        .title("Clock")
        .annotations(ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() })
        .icon(Icon::new("https://example.com/clock.png"))
        .meta(meta.clone());
    let server = Server::builder("test", "1.0.0").tool_function(function).build().unwrap();
    for revision in Revision::ALL {
        let tools = client(&server, revision).await.all_tools().await.unwrap();
        let tool = &tools[0];
        assert_eq!(tool.title.as_deref(), Some("Clock"), "{revision}");
        assert_eq!(tool.annotations.as_ref().unwrap().read_only_hint, Some(true));
        assert_eq!(tool.icons.len(), 1);
        assert_eq!(tool.meta.as_ref(), Some(&meta));
    }
}
