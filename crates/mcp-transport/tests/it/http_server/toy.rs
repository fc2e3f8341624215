use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{StatusCode, request::Parts};
use mcp_core::{
    BoxFuture, Inbound, Outbound, OutboundRole, ResponseStatus, Revision, Ticket, Transport,
};
use mcp_json::Parsed;
use mcp_transport::http::{
    server::{Application, HttpFault, RejectionResponse, RequestInfo},
    watch::HttpWatch,
};
use tokio::sync::Semaphore;

/// Messages are words. The first is the command.
#[derive(Debug)]
pub(super) struct Toy {
    /// What happened, in order.
    pub(super) diary: Arc<Mutex<Vec<String>>>,
    /// `hold` waits for a permit.
    pub(super) gate: Arc<Semaphore>,
}

impl Default for Toy {
    fn default() -> Self {
        Toy { diary: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }
}

impl Toy {
    pub(super) fn has_noted(&self, entry: &str) -> bool {
        self.count(entry) > 0
    }

    pub(super) fn count(&self, entry: &str) -> usize {
        self.diary.lock().unwrap().iter().filter(|noted| *noted == entry).count()
    }
}

impl Application for Toy {
    fn inspect(
        &self,
        head: &Parts,
        body: &Bytes,
        _: Option<&Parsed>,
    ) -> Result<RequestInfo, RejectionResponse> {
        let text = str::from_utf8(body).unwrap_or("garbage");
        let word = text.split(' ').next().unwrap_or_default();
        if word == "garbage" {
            let body = Bytes::from_static(b"refused");
            return Err(RejectionResponse { status: StatusCode::BAD_REQUEST, body });
        }
        let stated = head.headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap());
        Ok(RequestInfo {
            expects_response: word != "tell",
            opens_session: word == "init",
            stateless: stated == Some("2026-07-28"),
            long_lived: word == "listen",
            revision: stated.and_then(|stated| stated.parse().ok()),
        })
    }

    fn principal(&self, head: &Parts) -> Option<Arc<str>> {
        head.headers.get("x-user").map(|user| user.to_str().unwrap().into())
    }

    fn converse(
        &self,
        transport: Arc<dyn Transport>,
        _: &Parts,
        _: Option<Arc<dyn HttpWatch>>,
    ) -> BoxFuture<'static, ()> {
        let (diary, gate) = (self.diary.clone(), self.gate.clone());
        Box::pin(async move {
            let note = |entry: String| diary.lock().unwrap().push(entry);
            while let Some(inbound) = transport.receive().await.unwrap() {
                match inbound {
                    Inbound::Message { ticket: Some(ticket), bytes } => {
                        let text = String::from_utf8(bytes.to_vec()).unwrap();
                        note(text.clone());
                        assert_ne!(text, "panic", "as told");
                        if text == "leave" {
                            return;
                        }
                        let deed = obey(transport.clone(), ticket, text.clone(), gate.clone());
                        // Commands that take no time need no task.
                        if text.starts_with("echo") {
                            deed.await;
                        } else {
                            tokio::spawn(deed);
                        }
                    }
                    Inbound::Message { ticket: None, bytes } => {
                        note(String::from_utf8(bytes.to_vec()).unwrap());
                    }
                    Inbound::ExchangeEnded { .. } => note("over".to_owned()),
                    other => panic!("{other:?}"),
                }
            }
            note("end".to_owned());
        })
    }

    fn explain(&self, fault: &HttpFault) -> Bytes {
        Bytes::from(fault.to_string())
    }
}

async fn obey(transport: Arc<dyn Transport>, ticket: Ticket, text: String, gate: Arc<Semaphore>) {
    let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let send = async |role, ticket, text: String| {
        let bytes = Bytes::from(text);
        transport.send(Outbound { bytes, role, ticket, headers: None, parsed: None }).await
    };
    let tell = async |text: String| send(OutboundRole::Notification, Some(ticket), text).await;
    let pass = async || gate.acquire().await.unwrap().forget();
    let mut status = ResponseStatus::Served;
    let answer = match word {
        "init" if rest == "badly" => {
            status = ResponseStatus::BadRequest;
            "no".to_owned()
        }
        "init" if rest == "in vain" => "no".to_owned(),
        "init" => {
            transport.established(rest.parse().unwrap_or(Revision::LATEST_LEGACY));
            "welcome".to_owned()
        }
        "stream" => {
            for index in 0..rest.parse().unwrap() {
                let _ = tell(format!("n{index}")).await;
            }
            "done".to_owned()
        }
        // One notification per permit.
        "drip" => {
            for index in 0..rest.parse().unwrap() {
                pass().await;
                let _ = tell(format!("n{index}")).await;
            }
            "done".to_owned()
        }
        "flood" => {
            let mut outcome = Ok(());
            for _ in 0..rest.parse().unwrap() {
                outcome = outcome.and(tell("x".repeat(64 << 10)).await);
            }
            format!("{outcome:?}")
        }
        "hold" => {
            pass().await;
            rest.to_owned()
        }
        "listen" => {
            let _ = tell("news".to_owned()).await;
            std::future::pending().await
        }
        "release" => {
            transport.release_stream(ticket);
            pass().await;
            let _ = tell("later".to_owned()).await;
            "done".to_owned()
        }
        "settle" => return transport.finish_exchange(ticket),
        "close" => return transport.close().await,
        "never" => return tokio::time::sleep(Duration::from_secs(3600)).await,
        "unasked" => {
            format!("{:?}", send(OutboundRole::Notification, None, rest.to_owned()).await)
        }
        "ask" => format!("{:?}", send(OutboundRole::Request, None, rest.to_owned()).await),
        "bad" => {
            status = ResponseStatus::BadRequest;
            "bad".to_owned()
        }
        "unknown" => {
            status = ResponseStatus::UnknownMethod;
            "unknown".to_owned()
        }
        _ => rest.to_owned(),
    };
    let _ = send(OutboundRole::Response(status), Some(ticket), answer).await;
}
