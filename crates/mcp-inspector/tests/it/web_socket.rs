//! A server over WebSocket.

use mcp_core::{Inbound, Outbound, OutboundRole, Transport as _};
use mcp_inspector::Target;
use mcp_proxy::Access;
use mcp_transport::{WsListener, WsTransport, ws::WsServerSettings};
use serde_json::{Value, json};

use crate::api::Page;

async fn serve(socket: WsTransport) {
    while let Ok(Some(Inbound::Message { bytes, .. })) = socket.receive().await {
        let answer = match serde_json::from_slice::<Value>(&bytes) {
            Ok(message) if message["method"] == "initialize" => json!({
                "jsonrpc": "2.0",
                "id": message["id"],
                "result": {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {},
                    "serverInfo": { "name": "socket", "version": "1" },
                },
            }),
            Ok(_) => continue,
            Err(_) => {
                let error = json!({ "code": -32700, "message": String::from_utf8_lossy(&bytes) });
                json!({ "jsonrpc": "2.0", "id": null, "error": error })
            }
        };
        let (bytes, role) = (answer.to_string().into(), OutboundRole::Notification);
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        socket.send(outbound).await.unwrap();
    }
}

#[tokio::test]
async fn text_that_is_not_json_reaches_the_server_and_its_answer_comes_back() {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr());
    tokio::spawn(async move { serve(listener.accept().await.unwrap()).await });
    let page = Page::about(Target::url(&url, Access::default()).unwrap()).await;
    let state = page.connect(None).await;
    assert_eq!(state["status"], "connected", "{state:#}");
    let sent = page.post("speak/raw", json!({ "text": "{not json" })).await;
    assert_eq!(sent["warning"], Value::Null, "{sent:#}");
    page.shown_refusal("{not json").await;
}
