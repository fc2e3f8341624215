//! Forms, and answers that do not match them.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use mcp_sdk::{
    Client, NoArguments, Server, Validation,
    core::{ElicitForm, ElicitRequest, ElicitResult, Revision},
    transport::{http::server::HttpSettings, memory},
};
use serde_json::{Value, json};

const WITH_FORMS: [Revision; 3] =
    [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

/// Its tool asks for an age, and counts the answers.
fn server(validation: Validation, given: Arc<AtomicUsize>) -> Server {
    Server::builder("test", "1.0.0")
        .validation(validation)
        .tool("greet", "Greets", move |_: NoArguments, context| {
            let given = Arc::clone(&given);
            async move {
                let form = ElicitForm::new().required("age", ElicitForm::integer());
                let answer = context.elicit("age", &ElicitRequest::form("How old?", form)).await?;
                given.fetch_add(1, Ordering::Relaxed);
                Ok(format!("{:?}", answer.action))
            }
        })
        .build()
        .unwrap()
}

fn client(
    revision: Revision,
    validation: Validation,
    answer: ElicitResult,
) -> mcp_sdk::ClientBuilder {
    Client::builder("test", "1.0.0")
        .revision(revision)
        .validation(validation.on_finding(|_| {}))
        .on_elicitation(move |_| {
            let answer = answer.clone();
            async move { Ok(answer) }
        })
}

fn filled_in(content: &Value) -> ElicitResult {
    ElicitResult::accept(content.as_object().unwrap().clone())
}

/// The tool's output, and how many answers it got.
async fn greet(
    revision: Revision,
    (ours, theirs): (Validation, Validation),
    answer: ElicitResult,
    over_http: bool,
) -> (String, usize) {
    let given = Arc::new(AtomicUsize::new(0));
    let server = server(ours, Arc::clone(&given));
    let builder = client(revision, theirs, answer);
    let client = if over_http {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
        });
        builder.connect_http(&url).await.unwrap()
    } else {
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        builder.connect(near).await.unwrap()
    };
    let message = match client.call_tool("greet", json!({})).await {
        Ok(result) => result.all_text(),
        Err(error) => format!("{error:?}"),
    };
    (message, given.load(Ordering::Relaxed))
}

#[tokio::test]
async fn an_answer_that_does_not_match_its_form_never_reaches_the_tool() {
    for revision in WITH_FORMS {
        for over_http in [false, true] {
            for ours in [Validation::enforce(), Validation::observe()] {
                for (answer, what) in [
                    (filled_in(&json!({ "age": "old" })), "/age: "),
                    (filled_in(&json!({})), "`age`"),
                ] {
                    let strictness = (ours.clone(), Validation::off());
                    let (message, given) = greet(revision, strictness, answer, over_http).await;
                    assert!(
                        message.contains("the answer to `age` does not match the form"),
                        "{message}"
                    );
                    assert!(message.contains(what), "{revision}: {message}");
                    assert_eq!(given, 0, "{revision}");
                }
            }
        }
    }
}

#[tokio::test]
async fn valid_and_declined_answers_reach_the_tool() {
    for revision in WITH_FORMS {
        for (answer, action) in [
            (filled_in(&json!({ "age": 35 })), "Accept"),
            (ElicitResult::decline(), "Decline"),
            (ElicitResult::cancel(), "Cancel"),
        ] {
            for over_http in [false, true] {
                let strictness = (Validation::enforce(), Validation::enforce());
                let outcome = greet(revision, strictness, answer.clone(), over_http).await;
                assert_eq!(outcome, (action.to_owned(), 1), "{revision}");
            }
        }
    }
}

#[tokio::test]
async fn a_client_does_not_send_an_invalid_answer() {
    for revision in WITH_FORMS {
        let strictness = (Validation::off(), Validation::enforce());
        let wrong = filled_in(&json!({ "age": "old" }));
        let (message, given) = greet(revision, strictness, wrong.clone(), false).await;
        assert_eq!(given, 0, "{revision}: {message}");
        let (_, given) =
            greet(revision, (Validation::off(), Validation::off()), wrong, false).await;
        assert_eq!(given, 1, "{revision}: nobody looks");
    }
}

#[tokio::test]
async fn an_invalid_answer_is_reported_once() {
    for revision in WITH_FORMS {
        for over_http in [false, true] {
            let found = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&found);
            let ours = Validation::enforce()
                .on_finding(move |finding| sink.lock().unwrap().push(finding.rule.name));
            let wrong = filled_in(&json!({ "age": "old" }));
            greet(revision, (ours, Validation::off()), wrong, over_http).await;
            assert_eq!(*found.lock().unwrap(), ["elicitation-content-invalid"], "{revision}");
        }
    }
}
