//! Recordings hold what was found live, and no credentials.

use mcp_proxy::Policy;
use mcp_sdk::{
    Client, Server,
    transport::http::server::{HttpSettings, ServeSettings, serve},
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{Proxy, parts, post, raw_client, raw_server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn sdk_server() -> std::net::SocketAddr {
    let server = Server::builder("server", "1")
        .tool("echo", "Repeats", async |text: Echo, _| Ok(text.text))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_conversation_is_clean_and_faults_are_the_same_in_the_record() {
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(sdk_server().await, policy).await;
        let url = format!("http://{}/mcp", proxy.address);
        let client = Client::builder("client", "1").connect_http(&url).await.unwrap();
        client.list_tools(None).await.unwrap();
        client.close().await;
        let outcome = proxy.stop().await;
        assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
        assert!(outcome.counts.messages >= 4, "{:?}", outcome.counts);
        outcome.assert_same();
    }
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(sdk_server().await, policy).await;
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "{",
            "[]",
        ] {
            let (status, _) = parts(&raw_client(proxy.address, &post(body, "")).await);
            assert!(status == 200 || (400..500).contains(&status), "{status}");
        }
        let outcome = proxy.stop().await;
        assert!(outcome.live.len() >= 4, "{:?}", outcome.live);
        outcome.assert_same();
    }
}

#[tokio::test]
async fn credentials_do_not_reach_the_record() {
    let answer = "HTTP/1.1 200 OK\r\nSet-Cookie: secret-cookie\r\nContent-Length: 0\r\n\r\n";
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let request = post(&body, "Authorization: Bearer secret-token\r\nCookie: secret-crumb\r\n");
    let (upstream, serving) = raw_server(request.len() - 30, answer.into()).await;
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    raw_client(proxy.address, &request).await;
    let received = String::from_utf8(serving.await.unwrap()).unwrap();
    assert!(received.contains("Bearer secret-token") && received.contains("secret-crumb"));
    let outcome = proxy.stop().await;
    assert!(!outcome.record.contains("secret"), "{}", outcome.record);
    assert!(outcome.record.contains("Bearer xxxxxxxxxxxx"), "{}", outcome.record);
}
