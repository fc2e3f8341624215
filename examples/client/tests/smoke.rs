//! Runs the example against the test's own server.

use mcp_sdk::{NoArguments, Server, transport::http::server::HttpSettings};
use tokio::{net::TcpListener, process::Command};

#[tokio::test]
async fn it_shows_and_calls_tools() {
    let server = Server::builder("test", "1.0.0")
        .tool("hello", "Greets", async |_: NoArguments, _| Ok("good morning"))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
    });

    let run = Command::new(env!("CARGO_BIN_EXE_example-client"))
        .args(["--call", "hello", "{}", &url])
        .output()
        .await
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "test speaks 2026-07-28\ntool hello: Greets\nhello said: good morning\n"
    );
}

#[tokio::test]
async fn it_says_why_it_cannot_connect() {
    let run = Command::new(env!("CARGO_BIN_EXE_example-client"))
        .arg("./no-such-program")
        .output()
        .await
        .unwrap();
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("no such program"));
}
