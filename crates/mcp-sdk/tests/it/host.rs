//! A host with several servers.

use std::{collections::BTreeMap, time::Duration};

use mcp_sdk::{
    Client, ClientEvent, Host, HostError, MergedList, NoArguments, Server, ServerBuilder,
    core::{
        CompleteRequest, Completion, CompletionReference, Content, Context, GetPromptResult,
        Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate, Revision,
    },
    schemars::JsonSchema,
    transport::memory,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<f64>,
}

fn named(name: &'static str) -> ServerBuilder {
    Server::builder(name, "1.0.0").tool(
        "who",
        "Says who it is",
        move |_: NoArguments, _| async move { Ok(name) },
    )
}

async fn connect(server: &Server, revision: Option<Revision>) -> Client {
    let (near, far) = memory::pair(16);
    let server = server.clone();
    tokio::spawn(async move { server.serve(far).await });
    let mut builder = Client::builder("host", "1.0.0");
    if let Some(revision) = revision {
        builder = builder.revision(revision);
    }
    builder.connect(near).await.unwrap()
}

async fn add(host: &Host, name: &str, server: &Server) {
    assert!(host.add(name, connect(server, None).await).unwrap().is_none());
}

fn empty() -> Host {
    Host::builder().build().unwrap()
}

fn names<T>(list: &MergedList<T>) -> Vec<&str> {
    list.entries.iter().map(|entry| entry.name.as_str()).collect()
}

async fn call(host: &Host, tool: &str) -> String {
    host.call_tool(tool, json!({})).await.unwrap().all_text()
}

#[tokio::test]
async fn colliding_names_are_qualified() {
    let host = empty();
    let only = |_: NoArguments, _: Context| async { Ok("only") };
    add(&host, "a", &named("first").tool("only", "Only here", only).build().unwrap()).await;
    add(&host, "b", &named("second").build().unwrap()).await;

    let tools = host.tools().await;
    assert_eq!(names(&tools), ["a__who", "only", "b__who"]);
    assert_eq!(tools.entries[2].entry.name, "who");
    assert_eq!(tools.entries[2].server, "b");
    assert!(tools.failures.is_empty());
    assert_eq!(tools.collisions[0].name, "who");
    assert_eq!(tools.collisions[0].servers, ["a", "b"]);

    assert_eq!(call(&host, "a__who").await, "first");
    assert_eq!(call(&host, "b__who").await, "second");
    assert_eq!(call(&host, "only").await, "only");
    assert_eq!(call(&host, "a__only").await, "only");
    let error = host.call_tool("who", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "several servers have the tool `who`; use `a__who` or `b__who`");
    let error = host.call_tool("nobody", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no server has the tool `nobody`");
}

#[tokio::test]
async fn a_qualified_name_keeps_working_after_the_collision() {
    let host = empty();
    add(&host, "a", &named("first").build().unwrap()).await;
    add(&host, "b", &named("second").build().unwrap()).await;
    assert_eq!(call(&host, "b__who").await, "second");
    let gone = host.remove("a").unwrap();
    assert!(host.remove("a").is_none());
    assert_eq!(names(&host.tools().await), ["who"]);
    assert_eq!(call(&host, "who").await, "second");
    assert_eq!(call(&host, "b__who").await, "second");
    let error = host.call_tool("a__who", json!({})).await.unwrap_err();
    assert!(matches!(error, HostError::Unknown { .. }), "{error}");
    assert_eq!(host.servers(), ["b"]);
    // The client was returned, not closed.
    assert_eq!(gone.call_tool("who", json!({})).await.unwrap().all_text(), "first");
}

#[tokio::test]
async fn a_server_that_is_gone_is_reported_and_hides_no_other() {
    let host = empty();
    let server = named("first").build().unwrap();
    let only = |_: NoArguments, _: Context| async { Ok("only") };
    let dying = named("second").tool("last", "Last words", only).build().unwrap();
    add(&host, "alive", &server).await;
    let mut events = host.events();
    let (near, far) = memory::pair(16);
    let serving = tokio::spawn(async move { dying.serve(far).await });
    let client = Client::builder("host", "1.0.0").connect(near).await.unwrap();
    host.add("dying", client).unwrap();
    assert_eq!(names(&host.tools().await), ["alive__who", "dying__who", "last"]);

    serving.abort();
    loop {
        let event = events.recv().await.unwrap();
        if matches!(event.event, ClientEvent::Closed) {
            assert_eq!(&*event.server, "dying");
            break;
        }
    }
    let tools = host.tools().await;
    // Names do not change while a server is away.
    assert_eq!(names(&tools), ["alive__who"]);
    assert_eq!(tools.failures.len(), 1);
    assert_eq!(tools.failures[0].0, "dying");
    assert_eq!(call(&host, "alive__who").await, "first");
    let error = host.call_tool("last", json!({})).await.unwrap_err();
    assert_eq!(error.server(), Some("dying"));
    assert!(error.to_string().contains("`dying`"), "{error}");
    let error = host.call_tool("unheard", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("server `dying`"), "{error}");

    // The server returns.
    let again = connect(&named("third").build().unwrap(), None).await;
    assert!(host.add("dying", again).unwrap().is_some());
    assert_eq!(host.servers(), ["alive", "dying"]);
    assert_eq!(names(&host.tools().await), ["alive__who", "dying__who"]);
    assert_eq!(call(&host, "dying__who").await, "third");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_costs_one_timeout_and_does_not_affect_others() {
    let host = Host::builder().list_timeout(Duration::from_secs(3)).build().unwrap();
    add(&host, "quick", &named("quick").build().unwrap()).await;
    let server = named("slow").build().unwrap();
    let client = connect(&server, Some(Revision::V2025_11_25)).await;
    host.add("slow", client).unwrap();
    // A peer that completes the handshake and then never responds.
    let (near, far) = memory::pair(16);
    let silent = tokio::spawn(async move { Silent::after_handshake(far).await });
    let builder = Client::builder("host", "1.0.0").revision(Revision::V2025_11_25);
    host.add("silent", builder.connect(near).await.unwrap()).unwrap();

    let start = tokio::time::Instant::now();
    let tools = host.tools().await;
    assert_eq!(start.elapsed().as_secs(), 3);
    assert_eq!(names(&tools), ["quick__who", "slow__who"]);
    assert_eq!(tools.failures[0].1.to_string(), "server `silent` did not list its tools within 3s");

    let start = tokio::time::Instant::now();
    assert_eq!(call(&host, "quick__who").await, "quick");
    assert_eq!(call(&host, "slow__who").await, "slow");
    assert_eq!(start.elapsed().as_secs(), 0);
    silent.abort();
}

/// Completes the handshake and then never responds.
struct Silent;

impl Silent {
    async fn after_handshake(transport: memory::MemoryTransport) {
        use mcp_sdk::core::{Inbound, Outbound, OutboundRole, ResponseStatus, Transport as _};
        let Ok(Some(Inbound::Message { .. })) = transport.receive().await else { return };
        let bytes = json!({"jsonrpc": "2.0", "id": 1, "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "silent", "version": "1"},
        }});
        let outbound = Outbound {
            bytes: bytes.to_string().into(),
            role: OutboundRole::Response(ResponseStatus::Served),
            ticket: None,
            headers: None,
            parsed: None,
        };
        transport.send(outbound).await.unwrap();
        while let Ok(Some(_)) = transport.receive().await {}
    }
}

#[tokio::test]
async fn notifications_are_forwarded_and_lists_updated_in_both_eras() {
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let host = empty();
        let server = named("first").build().unwrap();
        host.add("a", connect(&server, Some(revision)).await).unwrap();
        let mut events = host.events();
        assert_eq!(names(&host.tools().await), ["who"]);

        // A subscription takes a moment to take effect.
        let change = async {
            loop {
                server.mcp().tools().announce();
                let wait = Duration::from_millis(50);
                if let Ok(event) = tokio::time::timeout(wait, events.recv()).await {
                    return event.unwrap();
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), change).await.unwrap();
        let new = |_: NoArguments, _: Context| async { Ok("new") };
        server.add_tool("new", "Was not there before", new).unwrap();
        let waiting = async {
            loop {
                let event = events.recv().await.unwrap();
                assert_eq!(&*event.server, "a");
                assert!(matches!(event.event, ClientEvent::ToolsChanged), "{event:?}");
                if names(&host.tools().await) == ["who", "new"] {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
        assert_eq!(call(&host, "new").await, "new");
        assert!(server.remove_tool("new"));
    }
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let host = empty();
    let sum = |sum: Sum, _: Context| async move { Ok(sum.numbers.iter().sum::<f64>().to_string()) };
    add(&host, "calc", &named("calc").tool("sum", "Adds", sum).build().unwrap()).await;
    let error = host.call_tool("sum", json!({ "numbers": ["x"] })).await.unwrap_err();
    assert!(matches!(error, HostError::InvalidArguments { .. }), "{error}");
    let shown = error.to_string();
    for part in ["tool `sum`", "server `calc`", "at /numbers/0"] {
        assert!(shown.contains(part), "{shown}");
    }
    // Once the tool is listed, the client's gate blocks such a call too.
    let client = host.client("calc").unwrap();
    let error = client.call_tool("sum", json!({ "numbers": ["x"] })).await.unwrap_err();
    assert!(error.to_string().contains("not sent"), "{error}");
    assert_eq!(host.call_tool("sum", json!({ "numbers": [1, 2] })).await.unwrap().all_text(), "3");
}

fn library(name: &'static str, uri: &'static str, template: &'static str) -> Server {
    let read = move |uri: String, _: BTreeMap<String, String>, _: Context| async move {
        Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, name)]))
    };
    Server::builder(name, "1.0.0")
        .resource(Resource::new(uri, "one"), read)
        .template(ResourceTemplate::new(template, "more"), read)
        .prompt(
            Prompt::new("greet").argument(PromptArgument::optional("name")),
            move |_: BTreeMap<String, String>, _| async move {
                Ok(GetPromptResult::new(vec![PromptMessage::user(Content::text(name))]))
            },
        )
        .completions(move |_: CompleteRequest, _| async move {
            Ok(Completion::new(vec![name.to_owned()]))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn resources_and_prompts_find_their_server() {
    let host = empty();
    add(&host, "a", &library("a", "books://one", "books://a/{id}")).await;
    add(&host, "b", &library("b", "books://one", "books://b/{id}")).await;
    let text = async |uri: &str| {
        host.read_resource(uri).await.map(|read| read.contents[0].text.clone().unwrap())
    };
    assert_eq!(text("books://one").await.unwrap(), "a");
    assert_eq!(text("books://a/7").await.unwrap(), "a");
    assert_eq!(text("books://b/7").await.unwrap(), "b");
    let error = text("books://c/7").await.unwrap_err();
    assert_eq!(error.to_string(), "no server has the resource `books://c/7`");

    let resources = host.resources().await;
    assert_eq!(names(&resources), ["books://one"]);
    assert_eq!(resources.collisions[0].servers, ["a", "b"]);
    assert_eq!(names(&host.resource_templates().await), ["books://a/{id}", "books://b/{id}"]);
    assert_eq!(names(&host.prompts().await), ["a__greet", "b__greet"]);
    let greeting = host.get_prompt("b__greet", &BTreeMap::new()).await.unwrap();
    assert_eq!(greeting.messages[0].content.as_text(), Some("b"));

    let reference = CompletionReference::Prompt { name: "b__greet".into() };
    let request = CompleteRequest::new(reference, "name", "");
    assert_eq!(host.complete(&request).await.unwrap().values, ["b"]);
    let reference = CompletionReference::Resource { uri: "books://a/{id}".into() };
    let request = CompleteRequest::new(reference, "id", "");
    assert_eq!(host.complete(&request).await.unwrap().values, ["a"]);
}

#[tokio::test]
async fn twenty_servers_of_both_eras_work_concurrently() {
    let host = empty();
    for index in 0..20 {
        let revisions = Revision::ALL;
        let revision = revisions[index % revisions.len()];
        let own = move |_: NoArguments, _: Context| async move { Ok(index.to_string()) };
        let server = named("one of many").tool(format!("own-{index}"), "Own", own).build().unwrap();
        let client = connect(&server, Some(revision)).await;
        host.add(&format!("s{index}"), client).unwrap();
    }
    let tools = host.tools().await;
    assert!(tools.failures.is_empty(), "{:?}", tools.failures);
    assert_eq!(tools.entries.len(), 40);
    assert_eq!(names(&tools)[..3], ["s0__who", "own-0", "s1__who"]);
    let calls = (0..20).map(|index| {
        let host = host.clone();
        async move { call(&host, &format!("own-{index}")).await }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert_eq!(answers, (0..20).map(|index| index.to_string()).collect::<Vec<_>>());
    host.close().await;
    assert!(host.tools().await.entries.is_empty());
}

#[tokio::test]
async fn a_server_with_too_much_to_list_is_a_failure() {
    let host = Host::builder().max_entries(3).build().unwrap();
    let mut server = named("big");
    for index in 0..3 {
        let run = |_: NoArguments, _: Context| async { Ok("") };
        server = server.tool(format!("t{index}"), "One of many", run);
    }
    add(&host, "big", &server.build().unwrap()).await;
    add(&host, "small", &named("small").build().unwrap()).await;
    let tools = host.tools().await;
    assert_eq!(names(&tools), ["who"]);
    assert_eq!(tools.failures[0].1.to_string(), "server `big` lists more than 3 tools");
}

#[tokio::test]
async fn dropping_a_host_disconnects_its_servers() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (near, far) = memory::pair(16);
        let server = named("left").build().unwrap();
        let serving = tokio::spawn(async move { server.serve(far).await });
        let client = Client::builder("host", "1.0.0").revision(revision).connect(near).await;
        let host = Host::builder().server("a", client.unwrap()).build().unwrap();
        assert_eq!(names(&host.tools().await), ["who"]);
        drop(host);
        let left = tokio::time::timeout(Duration::from_secs(20), serving).await;
        left.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_server_without_list_changes_is_listed_each_time() {
    let mut settings = mcp_sdk::core::McpSettings::default();
    settings.list_changes = false;
    let server = named("quiet").settings(settings).build().unwrap();
    let host = empty();
    add(&host, "a", &server).await;
    assert_eq!(names(&host.tools().await), ["who"]);
    let new = |_: NoArguments, _: Context| async { Ok("new") };
    server.add_tool("new", "Was not there before", new).unwrap();
    // So is an unknown name.
    assert_eq!(call(&host, "new").await, "new");
    server.remove_tool("who");
    assert_eq!(names(&host.tools().await), ["new"]);
}
