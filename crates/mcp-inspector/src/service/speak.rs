//! The API for sending requests to a server.

use axum::{
    Json,
    extract::{State, rejection::JsonRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::State as Served;
use crate::speak::{InspectorClient, Refusal, RefusalKind, shown};

/// The body of a request, or why it cannot be used.
type Sent<T> = Result<Json<T>, JsonRejection>;

#[derive(Debug, Deserialize)]
pub(super) struct Connect {
    server: Option<String>,
    revision: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    method: String,
    params: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Raw {
    text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    id: String,
    result: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Cancel {
    id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Replay {
    frame: u64,
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Demo {
    misbehave: Option<bool>,
    tool_results: Option<bool>,
}

pub(super) async fn state(State(served): State<Served>) -> Response {
    match &served.client {
        Some(client) => Json(client.view()).into_response(),
        None => mute(),
    }
}

pub(super) async fn offer(State(served): State<Served>) -> Response {
    match &served.client {
        Some(client) => Json(client.offer()).into_response(),
        None => mute(),
    }
}

pub(super) async fn connect(State(served): State<Served>, body: Sent<Connect>) -> Response {
    let (client, Connect { server, revision }) = match taken(&served, body) {
        Ok(taken) => taken,
        Err(refused) => return *refused,
    };
    answered(client.connect(server.as_deref(), revision.as_deref()).await)
}

pub(super) async fn disconnect(State(served): State<Served>, body: Sent<Nothing>) -> Response {
    with(&served, body, |client, Nothing {}| {
        client.disconnect();
        Ok(client.view())
    })
}

pub(super) async fn refresh(State(served): State<Served>, body: Sent<Nothing>) -> Response {
    match taken(&served, body) {
        Ok((client, Nothing {})) => answered(client.refresh().await),
        Err(refused) => *refused,
    }
}

pub(super) async fn compose(State(served): State<Served>, body: Sent<Request>) -> Response {
    with(&served, body, |client, Request { method, params }| {
        client.compose(&method, params.as_deref())
    })
}

pub(super) async fn request(State(served): State<Served>, body: Sent<Request>) -> Response {
    with(&served, body, |client, Request { method, params }| {
        client.request(&method, params.as_deref())
    })
}

pub(super) async fn raw(State(served): State<Served>, body: Sent<Raw>) -> Response {
    with(&served, body, |client, Raw { text }| client.send_raw(&text))
}

pub(super) async fn answer(State(served): State<Served>, body: Sent<Answer>) -> Response {
    with(&served, body, |client, Answer { id, result, error }| {
        client.answer(&id, result.as_deref(), error.as_deref())
    })
}

pub(super) async fn cancel(State(served): State<Served>, body: Sent<Cancel>) -> Response {
    with(&served, body, |client, Cancel { id }| client.cancel(&id))
}

pub(super) async fn replay(State(served): State<Served>, body: Sent<Replay>) -> Response {
    with(&served, body, |client, Replay { frame, text }| client.replay(frame, text.as_deref()))
}

pub(super) async fn demo(State(served): State<Served>, body: Sent<Demo>) -> Response {
    with(&served, body, |client, Demo { misbehave, tool_results }| {
        if client.set_demo(misbehave, tool_results) {
            return Ok(client.view());
        }
        let help = "start `plumb inspect` without a target to use it";
        Err(Refusal::unknown("this page has no demonstration server", help))
    })
}

fn with<T, R: Serialize>(
    served: &Served,
    body: Sent<T>,
    act: impl FnOnce(&InspectorClient, T) -> Result<R, Refusal>,
) -> Response {
    match taken(served, body) {
        Ok((client, body)) => answered(act(client, body)),
        Err(refused) => *refused,
    }
}

fn taken<T>(served: &Served, body: Sent<T>) -> Result<(&InspectorClient, T), Box<Response>> {
    let client = served.client.as_ref().ok_or_else(|| Box::new(mute()))?;
    match body {
        Ok(Json(body)) => Ok((client, body)),
        Err(rejection) => {
            let help = "send the members of the call as JSON, with content type `application/json`";
            let body = json!({ "error": rejection.body_text(), "help": help });
            Err(Box::new((rejection.status(), Json(body)).into_response()))
        }
    }
}

fn answered<R: Serialize>(outcome: Result<R, Refusal>) -> Response {
    match outcome {
        Ok(view) => Json(view).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Response {
    let status = match refusal.kind {
        RefusalKind::Invalid => StatusCode::BAD_REQUEST,
        RefusalKind::Unknown => StatusCode::NOT_FOUND,
        RefusalKind::NotConnected => StatusCode::CONFLICT,
        RefusalKind::Stuck => StatusCode::TOO_MANY_REQUESTS,
    };
    (status, Json(shown(refusal))).into_response()
}

/// The response when there is no server to send to.
fn mute() -> Response {
    let help =
        "start `plumb inspect -- COMMAND` or `plumb inspect URL` to send requests to a server";
    let error = "this page only shows a conversation".to_owned();
    refused(&Refusal { kind: RefusalKind::NotConnected, error, help })
}
