//! `tools/call`.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    methods::logging::log,
    offer::{arguments::problem, resources::DOT, tools},
    outbox::{Outbox, notify},
    reply::{Failure, TRACE},
    revision::Revision,
    server::{Faults, Server, die},
    world::{Change, held},
};

/// A call under way.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) revision: Revision,
    pub(crate) params: &'a Value,
    pub(crate) outbox: &'a Outbox,
    /// The minimum log level, if the client requested logs.
    pub(crate) level: Option<usize>,
}

impl Call<'_> {
    /// Runs the call. None if there is no answer.
    pub(crate) async fn run(&self) -> Option<Result<Value, Failure>> {
        let faults = self.server.faults;
        let Some(name) = self.params["name"].as_str() else {
            let code = if faults.has(Fault::MissingParamsInternalError) { -32603 } else { -32602 };
            return Some(Err(Failure::new(code, "name must be a string")));
        };
        let schema = tools::input_schema(&self.server.world, name);
        let hidden = faults.has(Fault::ListedToolUnknown) && name == "status";
        let Some(schema) = schema.filter(|_| !hidden) else {
            return match faults.0 {
                Some(Fault::UnknownToolSucceeds) => Some(Ok(text("done"))),
                Some(Fault::UnknownToolDies) => die(),
                Some(Fault::UnknownToolSilent) => None,
                _ => Some(Err(Failure::params("there is no such tool"))),
            };
        };
        let arguments = match &self.params["arguments"] {
            Value::Null if faults.has(Fault::NoArgumentsDies) => die(),
            Value::Null if faults.has(Fault::NoArgumentsRefused) => {
                return Some(Err(Failure::params("arguments is required")));
            }
            Value::Null => json!({}),
            arguments @ Value::Object(_) => arguments.clone(),
            _ => return Some(Err(Failure::params("arguments must be an object"))),
        };
        if let Some(why) = self.refusal(&schema, &arguments) {
            return (!faults.has(Fault::InvalidArgumentsHang)).then_some(why);
        }
        log(self.outbox, self.level, 1, &format!("{name} is called"), faults);
        log(self.outbox, self.level, 3, "this is only a test", faults);
        match faults.0 {
            Some(Fault::ToolHangs) if name == "status" => return None,
            Some(Fault::ToolDies) if name == "statistics" => die(),
            Some(Fault::ToolPrints) => self.outbox.send(format!("calling {name}")),
            Some(Fault::SamplingUndeclared) => self.ask(
                "sampling/createMessage",
                &json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}], "maxTokens": 10}),
            ),
            Some(Fault::ElicitationUndeclared) => self.ask(
                "elicitation/create",
                &json!({"message": "Your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}),
            ),
            Some(Fault::RequestInStateless) => self.ask("roots/list", &json!({})),
            _ => {}
        }
        if name == "wait" {
            self.wait(&arguments).await;
        } else {
            self.report(1, 1);
        }
        Some(Ok(self.spoiled(name, self.result(name, &arguments).await)))
    }

    fn refusal(&self, schema: &Value, arguments: &Value) -> Option<Result<Value, Failure>> {
        let faults = self.server.faults;
        if faults.has(Fault::OptionalArgumentRequired)
            && let Some(optional) =
                schema["properties"].as_object().into_iter().flatten().find(|(name, property)| {
                    property.get("default").is_some() && arguments.get(name.as_str()).is_none()
                })
        {
            return Some(Err(Failure::params(format!("{} is required", optional.0))));
        }
        let why = problem(schema, arguments, faults)?;
        Some(match faults.0 {
            Some(Fault::InvalidArgumentsDie) if why.contains("type") => die(),
            Some(Fault::InvalidArgumentsInternalError) => Err(Failure::new(-32603, why)),
            _ if self.revision >= Revision::V2025_11_25 => Ok(self.failed(&why)),
            _ => Err(Failure::params(why)),
        })
    }

    async fn result(&self, name: &str, arguments: &Value) -> Value {
        let world = &self.server.world;
        let string = |name: &str| arguments[name].as_str().unwrap_or_default();
        match name {
            "echo" => text(&self.echoed(&format!("{}{}", string("prefix"), string("text"))).await),
            "divide" => {
                let quotient = arguments["dividend"].as_f64().unwrap_or(0.0)
                    / arguments["divisor"].as_f64().unwrap_or(0.0);
                if quotient.is_finite() {
                    text(&quotient.to_string())
                } else {
                    self.failed("that has no result")
                }
            }
            "repeat_number" => {
                let mut value = arguments["value"].clone();
                if self.server.faults.has(Fault::BigNumberRounded) {
                    value = json!(
                        serde_json::from_str::<Value>(&format!(
                            "{:.0}",
                            value.as_f64().unwrap_or(0.0)
                        ))
                        .unwrap_or(value)
                    );
                }
                self.structured(json!({"value": if value.is_null() { json!(0) } else { value }}))
            }
            "statistics" => self.structured(statistics(&arguments["numbers"])),
            "weather" => text(&format!(
                "{}: {} days of sun",
                string("city"),
                arguments["days"].as_u64().unwrap_or(1)
            )),
            "status" => self.structured(json!({"state": "ready"})),
            "picture" => picture(self.server.faults),
            "find_note" => match world.notes().get(string("name")) {
                Some(note) => text(note),
                None => self.failed("there is no such note"),
            },
            "write_note" => {
                let uri = format!("note://{}", string("name"));
                if world
                    .notes()
                    .insert(string("name").to_owned(), string("text").to_owned())
                    .is_none()
                {
                    world.announce(self.server.faults, &Change::Resources);
                }
                world.announce(self.server.faults, &Change::Updated(uri));
                text("written")
            }
            "wipe_notes" => {
                world.notes().clear();
                world.announce(self.server.faults, &Change::Resources);
                text("wiped")
            }
            "switch_extra" => {
                if world.set_extra(arguments["on"] == true) {
                    world.announce(self.server.faults, &Change::Tools);
                }
                text("switched")
            }
            _ => text("done"),
        }
    }

    async fn echoed(&self, said: &str) -> String {
        let world = &self.server.world;
        let others = world.running.load(Ordering::SeqCst) > 1;
        match self.server.faults.0 {
            Some(Fault::EmojiMangled) => said
                .chars()
                .map(|letter| if u32::from(letter) > 0xffff { '?' } else { letter })
                .collect(),
            Some(Fault::NulCuts) => said.split('\0').next().unwrap_or_default().to_owned(),
            Some(Fault::LongTextCut) => said.chars().take(1000).collect(),
            Some(Fault::SpacesTrimmed) => said.trim().to_owned(),
            Some(Fault::StateLeaks) => {
                std::mem::replace(&mut *held(&world.previous), said.to_owned())
            }
            Some(Fault::AnswersCrossed) => {
                said.clone_into(&mut held(&world.previous));
                tokio::time::sleep(Duration::from_millis(if others { 40 } else { 15 })).await;
                held(&world.previous).clone()
            }
            _ => said.to_owned(),
        }
    }

    async fn wait(&self, arguments: &Value) {
        let time = Duration::from_millis(arguments["milliseconds"].as_u64().unwrap_or(300));
        for step in 1..=4 {
            tokio::time::sleep(time / 4).await;
            self.report(step, 4);
            log(self.outbox, self.level, 0, "still waiting", self.server.faults);
        }
    }

    fn report(&self, step: i64, of: i64) {
        let faults = self.server.faults;
        let token = match (&self.params["_meta"]["progressToken"], faults.0) {
            (Value::Null, Some(Fault::ProgressUnasked)) => json!("unasked"),
            (Value::Null, _) => return,
            (_, Some(Fault::ProgressWrongToken)) => json!("another-token"),
            (Value::String(token), Some(Fault::ProgressTokenRetyped)) => json!(token.len()),
            (token, Some(Fault::ProgressTokenRetyped)) => json!(token.to_string()),
            (token, _) => token.clone(),
        };
        let send = |progress: Option<i64>| {
            let mut params = json!({"progressToken": token, "total": of});
            if let Some(progress) = progress {
                params["progress"] = json!(progress);
            }
            notify(self.outbox, "notifications/progress", &params);
        };
        match faults.0 {
            Some(Fault::ProgressBackwards) => {
                send(Some(of + 1 - step));
                send(Some(of - step));
            }
            Some(Fault::ProgressStalls) => (0..3).for_each(|_| send(Some(1))),
            Some(Fault::ProgressWithoutValue) => send(None),
            _ => send(Some(step)),
        }
    }

    /// Sends a request to the client.
    fn ask(&self, method: &str, params: &Value) {
        self.outbox.send(
            json!({"jsonrpc": "2.0", "id": "question-1", "method": method, "params": params})
                .to_string(),
        );
    }

    fn structured(&self, value: Value) -> Value {
        let mut result = text(&value.to_string());
        if self.revision.has_structure() && !self.server.faults.has(Fault::StructuredContentMissing)
        {
            result["structuredContent"] = value;
        }
        result
    }

    fn failed(&self, why: &str) -> Value {
        let said = match self.server.faults.0 {
            Some(Fault::ToolLeaksTrace) => TRACE,
            Some(Fault::ToolLeaksPath) => {
                "ENOENT: no such file or directory, open '/home/deploy/app/data/notes.json'"
            }
            _ => why,
        };
        let mut result = text(said);
        result["isError"] = json!(true);
        if self.server.faults.has(Fault::ErrorWithoutContent) {
            result.as_object_mut().map(|result| result.remove("content"));
        }
        result
    }

    fn spoiled(&self, name: &str, mut result: Value) -> Value {
        match self.server.faults.0 {
            Some(Fault::OutputMismatch) if name == "status" && self.revision.has_structure() => {
                result["structuredContent"] = json!({"state": "well"});
            }
            Some(Fault::ContentNotArray) => result["content"] = json!("done"),
            Some(Fault::ContentWithoutType) => result["content"] = json!([{"text": "done"}]),
            Some(Fault::EmptyTextLost) if result["content"][0]["text"] == "" => {
                return self.failed("no text");
            }
            _ => {}
        }
        result
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn picture(faults: Faults) -> Value {
    let data = if faults.has(Fault::ImageNotBase64) { "<svg/>" } else { DOT };
    json!({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]})
}

#[expect(clippy::cast_precision_loss, reason = "at most a hundred numbers")]
fn statistics(numbers: &Value) -> Value {
    let numbers: Vec<f64> =
        numbers.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let count = numbers.len().max(1);
    let mean: f64 = numbers.iter().map(|number| number / count as f64).sum();
    let largest = numbers.iter().copied().reduce(f64::max).unwrap_or(0.0);
    json!({"count": count, "mean": mean, "largest": largest})
}
