//! Messages over the size limit: they are not sent, and a received one fails its request at once,
//! on both sides and over every transport.

use std::time::Duration;

use mcp_sdk::{
    CallOptions, Client, ClientBuilder, ClientError, ClientEvent, Failure, NoArguments, Server,
    Validation,
    core::{
        Content, CreateMessageRequest, CreateMessageResult, Error, LogLevel, PeerError, Revision,
        SamplingMessage, TransportError,
    },
    schemars::JsonSchema,
};
use serde::Deserialize;
use serde_json::json;

use crate::over::{OVER, Over, connect};

const SMALL: usize = 1500;
const LARGE: usize = 1 << 20;

const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

fn long() -> String {
    "x".repeat(2 * SMALL)
}

fn sampling(text: String) -> CreateMessageRequest {
    CreateMessageRequest::new(vec![SamplingMessage::user(text)], 10)
}

/// Reports the error to the model.
fn report(sampled: Result<CreateMessageResult, Error>) -> Result<&'static str, Failure> {
    match sampled {
        Ok(_) => Ok("sampled"),
        Err(Error::InputRequired) => Err(Error::InputRequired.into()),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

fn server(limit: usize, validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .max_message_bytes(limit)
        .validation(validation)
        .tool("length", "Counts", async |text: Text, _| Ok(text.text.len().to_string()))
        .tool("long", "Says much", async |_: NoArguments, _| Ok(long()))
        .tool("slow", "Takes its time", async |_: NoArguments, context| {
            context.cancelled().await;
            Ok("never")
        })
        .tool("log", "Logs much", async |_: NoArguments, context| {
            context.log(LogLevel::Error, None, long()).await;
            context.log(LogLevel::Error, None, "short").await;
            Ok("logged")
        })
        .tool("ask", "Asks much", async |_: NoArguments, context| {
            report(context.sample("ask", &sampling(long())).await)
        })
        .tool("answer", "Asks a little", async |_: NoArguments, context| {
            report(context.sample("answer", &sampling("short".to_owned())).await)
        })
        .build()
        .unwrap()
}

fn client(limit: usize, revision: Revision) -> ClientBuilder {
    Client::builder("test", "1.0.0")
        .max_message_bytes(limit)
        .validation(Validation::off())
        .revision(revision)
        .on_sampling(async |_| Ok(CreateMessageResult::new("model", Content::text(long()))))
}

/// Far less than the timeout of a call.
async fn at_once<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("no timeout")
}

async fn everywhere(limits: (usize, usize), test: impl AsyncFn(Client, Over, Revision)) {
    let (theirs, ours) = limits;
    for over in OVER {
        for revision in ERAS {
            for validation in [Validation::off(), Validation::enforce()] {
                let server = server(theirs, validation);
                let client = client(ours, revision);
                let client = at_once(Box::pin(connect(over, server, client, limits))).await;
                at_once(test(client, over, revision)).await;
            }
        }
    }
}

async fn still_works(client: &Client) {
    let length = client.call_tool("length", json!({ "text": "short" })).await;
    assert_eq!(length.unwrap().all_text(), "5");
}

fn cause(error: &ClientError) -> &PeerError {
    let ClientError::Call { cause, .. } = error else { panic!("{error}") };
    cause
}

#[tokio::test]
async fn a_server_sends_an_error_instead_of_a_response_that_is_too_long() {
    everywhere((SMALL, LARGE), async |client, over, revision| {
        let error = client.call_tool("long", json!({})).await.unwrap_err();
        assert_eq!(error.code(), Some(-32603), "{over:?} {revision}: {error}");
        assert!(error.to_string().contains("exceeds the limit of 1500"), "{error}");
        still_works(&client).await;
    })
    .await;
}

#[tokio::test]
async fn a_client_does_not_send_a_request_that_is_too_long() {
    everywhere((LARGE, SMALL), async |client, over, revision| {
        let error = client.call_tool("length", json!({ "text": long() })).await.unwrap_err();
        let is_held_back = matches!(cause(&error), PeerError::NotSent { .. });
        assert!(is_held_back, "{over:?} {revision}: {error}");
        assert!(error.to_string().contains("exceeds the limit of 1500"), "{error}");
        still_works(&client).await;
    })
    .await;
}

#[tokio::test]
async fn notifications_that_are_too_long_are_dropped() {
    everywhere((SMALL, LARGE), async |client, over, revision| {
        client.set_log_level(LogLevel::Info).await.unwrap();
        let mut events = client.events();
        assert_eq!(client.call_tool("log", json!({})).await.unwrap().all_text(), "logged");
        let logged = loop {
            match events.recv().await {
                Ok(ClientEvent::Log(message)) => break message.data,
                Ok(_) => {}
                Err(error) => panic!("{over:?} {revision}: nothing was received: {error}"),
            }
        };
        assert_eq!(logged, json!("short"), "{over:?} {revision}");
        still_works(&client).await;
    })
    .await;
}

#[tokio::test]
async fn requests_from_a_server_and_their_responses_have_the_same_limit() {
    // The server's request is too long; in the stateless era, its result.
    everywhere((SMALL, LARGE), async |client, over, revision| {
        let message = match client.call_tool("ask", json!({})).await {
            Ok(result) => result.all_text(),
            Err(error) => error.to_string(),
        };
        assert!(message.contains("exceeds the limit of 1500"), "{over:?} {revision}: {message}");
        still_works(&client).await;
    })
    .await;
    // The client's response is too long; in the stateless era, its next request.
    everywhere((LARGE, SMALL), async |client, over, revision| {
        let message = match client.call_tool("answer", json!({})).await {
            Ok(result) => result.all_text(),
            Err(error) => error.to_string(),
        };
        assert!(message.contains("exceeds the limit of 1500"), "{over:?} {revision}: {message}");
        still_works(&client).await;
    })
    .await;
}

#[tokio::test]
async fn a_response_over_the_limit_of_the_client_fails_its_call_at_once() {
    everywhere((LARGE, SMALL), async |client, over, revision| {
        // Another call is in flight, and not affected.
        let (other, options) = (client.clone(), CallOptions::new());
        let slow =
            tokio::spawn(async move { other.call_tool_with("slow", json!({}), &options).await });
        still_works(&client).await;
        let error = client.call_tool("long", json!({})).await.unwrap_err();
        assert!(error.to_string().contains("exceeds the limit of 1500"), "{over:?}: {error}");
        if over == Over::WebSocket {
            // Here a message over the limit ends the connection and everything on it.
            assert!(error.is_disconnected(), "{error}");
            assert!(slow.await.unwrap().is_err());
            return;
        }
        let is_too_long =
            matches!(cause(&error), PeerError::Transport(TransportError::TooLong { .. }));
        assert!(is_too_long, "{over:?} {revision}: {error}");
        still_works(&client).await;
        assert!(!slow.is_finished(), "{over:?} {revision}");
        slow.abort();
    })
    .await;
}

#[tokio::test]
async fn a_response_over_the_limit_of_the_server_fails_its_request_at_once() {
    everywhere((SMALL, LARGE), async |client, over, revision| {
        let message = match client.call_tool("answer", json!({})).await {
            Ok(result) => result.all_text(),
            Err(error) => error.to_string(),
        };
        let expected = match over {
            Over::Http if revision == Revision::LATEST_LEGACY => "HTTP status 413",
            Over::Memory | Over::Lines | Over::Http => "exceeds the limit of 1500",
            Over::WebSocket => "code 1009",
        };
        assert!(message.contains(expected), "{over:?} {revision}: {message}");
        if over != Over::WebSocket {
            still_works(&client).await;
        }
    })
    .await;
}

/// A server that answers everything with one event and leaves the stream open.
async fn leaving_streams_open(event: impl Fn(&str) -> String + Send + Sync + 'static) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let event = std::sync::Arc::new(event);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let event = std::sync::Arc::clone(&event);
            tokio::spawn(async move {
                let mut request = String::new();
                while !request.contains("\"id\":") {
                    let mut part = [0; 4096];
                    let length = stream.read(&mut part).await.unwrap();
                    request.push_str(std::str::from_utf8(&part[..length]).unwrap());
                }
                let (_, id) = request.split_once("\"id\":").unwrap();
                let id: String = id.chars().take_while(char::is_ascii_digit).collect();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n",
                    event(&id)
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
                std::future::pending::<()>().await;
            });
        }
    });
    url
}

#[tokio::test]
async fn an_event_over_the_limit_fails_its_call_while_the_stream_stays_open() {
    for id_first in [true, false] {
        let url = leaving_streams_open(move |id| {
            let result = format!(r#""result":{{"content":[],"x":"{}"}}"#, long());
            if id_first {
                format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#)
            } else {
                format!(r#"{{{result},"jsonrpc":"2.0","id":{id}}}"#)
            }
        })
        .await;
        // Its first request asks for the server's capabilities.
        let connecting = client(SMALL, Revision::LATEST).connect_http(&url);
        let error = at_once(connecting).await.unwrap_err();
        let is_too_long =
            matches!(cause(&error), PeerError::Transport(TransportError::TooLong { .. }));
        assert!(is_too_long, "{error}");
    }
}
