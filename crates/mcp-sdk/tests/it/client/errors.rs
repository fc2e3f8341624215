use std::error::Error;

use mcp_sdk::{
    ClientError, Host, HostError,
    core::{PeerError, Revision},
    transport::ChildCommand,
};
use serde_json::json;

use super::{builder, connected, within};

/// Checks that an error and its causes repeat nothing.
#[track_caller]
fn check_no_repetition(error: &(dyn Error + 'static)) -> String {
    let mut messages = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        messages.push(error.to_string());
        cause = error.source();
    }
    for (index, text) in messages.iter().enumerate() {
        let again = messages.iter().skip(index + 1).any(|other| text.contains(other.as_str()));
        assert!(!again, "{messages:#?}");
    }
    messages.join(": ")
}

#[tokio::test]
async fn errors_repeat_nothing() {
    let (client, script) =
        connected(builder(), Revision::LATEST_LEGACY, json!({ "tools": {} })).await;
    let refusing = async {
        let request = script.expect("tools/call").await;
        script.refuse(&request, -32000, "out of order").await;
    };
    let (called, ()) = tokio::join!(client.call_tool("lift", ()), refusing);
    let error = called.unwrap_err();
    assert_eq!(check_no_repetition(&error), "`tools/call` of `lift`: out of order (-32000)");
    let error = HostError::Server { server: "house".to_owned(), cause: Box::new(error) };
    let message = "server `house`: `tools/call` of `lift`: out of order (-32000)";
    assert_eq!(check_no_repetition(&error), message);
    let cause = serde_json::from_str::<bool>("7").unwrap_err();
    check_no_repetition(&ClientError::Unreadable { method: "x".to_owned(), cause });
}

#[cfg(feature = "stdio")]
#[tokio::test]
async fn a_missing_program_is_named_once() {
    let error = builder().connect_child(&ChildCommand::new("no-such-program")).await.unwrap_err();
    let message = check_no_repetition(&error);
    assert_eq!(message.matches("could not connect").count(), 1, "{message}");
    assert!(message.contains("`no-such-program`"), "{message}");
}

#[cfg(feature = "http")]
mod http {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_unreachable_address_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        drop(listener);
        let error = within(builder().connect_http(&format!("{url}?key=secret"))).await.unwrap_err();
        let message = check_no_repetition(&error);
        assert!(message.contains(&url) && !message.contains("secret"), "{message}");
    }

    #[tokio::test]
    async fn an_invalid_url_is_named_without_its_secrets() {
        let url = "ftp://user:secret@files.example/mcp?key=secret";
        let error = within(builder().connect_http(url)).await.unwrap_err();
        let message = check_no_repetition(&error);
        assert!(message.contains("ftp://files.example/mcp"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }

    #[tokio::test]
    async fn a_wrong_path_gets_a_hint() {
        let server = mcp_sdk::Server::builder("test", "1.0.0").build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let settings = mcp_sdk::transport::http::server::HttpSettings::default();
        tokio::spawn(async move {
            server.serve_http_on(listener, settings, std::future::pending()).await;
        });
        for builder in [
            builder(),
            builder().revision(Revision::LATEST),
            builder().revision(Revision::LATEST_LEGACY),
        ] {
            let error = within(builder.connect_http(&format!("{url}/sse"))).await.unwrap_err();
            assert!(matches!(error, ClientError::NoEndpoint { .. }), "{error}");
            let message = check_no_repetition(&error);
            assert!(
                message.contains(&format!("{url}/sse")) && message.contains("`/mcp`"),
                "{message}"
            );
        }
    }
}

#[cfg(feature = "stdio")]
#[tokio::test]
async fn a_server_that_exits_at_once_is_reported_with_its_status() {
    for _ in 0..200 {
        let command = ChildCommand::new("sh").arg("-c").arg("exit 3");
        let error = within(builder().connect_child(&command)).await.unwrap_err();
        assert!(error.to_string().contains("exited with status 3"), "{error}");
    }
}

#[tokio::test]
async fn a_duplicate_server_name_is_an_error() {
    let (one, _script) = connected(builder(), Revision::LATEST_LEGACY, json!({})).await;
    let host = Host::builder().server("a", one.clone()).server("b", one.clone());
    let error = host.server("a", one).build().unwrap_err();
    assert_eq!(error.to_string(), "two servers are called `a`");
}

#[tokio::test]
async fn a_request_that_the_server_drops_does_not_end_the_conversation() {
    // Only subscriptions may be ended like this; a gate would block it.
    let careless = builder().validation(mcp_sdk::Validation::off());
    let (client, script) = connected(careless, Revision::LATEST, json!({ "tools": {} })).await;
    let serving = async {
        let request = script.expect("tools/call").await;
        script.notify("notifications/cancelled", json!({ "requestId": request["id"] })).await;
    };
    let (called, ()) = tokio::join!(client.call_tool("lift", ()), serving);
    let unanswered = matches!(called, Err(ClientError::Call { cause: PeerError::Unanswered, .. }));
    assert!(unanswered);
    let (pinged, ()) = tokio::join!(client.ping(), script.discovered(json!({})));
    pinged.unwrap();
}
