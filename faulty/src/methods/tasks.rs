//! Calls as tasks (2025-11-25). The work is done before the task is created.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::{faults::Fault, reply::Failure, revision::Revision, server::Faults, world::held};

/// The tool that can run as a task.
pub(crate) const TOOL: &str = "weather";
const TIME: &str = "2026-01-01T00:00:00Z";

/// The tasks of a conversation.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<Vec<Task>>);

struct Task {
    result: Value,
    ttl: Value,
    is_fetched: bool,
}

/// Whether a call requests a task.
pub(crate) fn is_asked_for(params: &Value, revision: Revision) -> bool {
    revision == Revision::V2025_11_25 && params["task"].is_object() && params["name"] == TOOL
}

impl Tasks {
    /// Stores a result, and answers with a task.
    pub(crate) fn create(&self, params: &Value, result: Value) -> Value {
        let mut tasks = held(&self.0);
        let ttl = params["task"]["ttl"].clone();
        tasks.push(Task { result, ttl, is_fetched: false });
        let (number, ttl) = (tasks.len() - 1, &params["task"]["ttl"]);
        json!({ "task": shown(number, "working", ttl) })
    }

    /// Answers a request about tasks.
    pub(crate) fn answer(
        &self,
        method: &str,
        params: &Value,
        faults: Faults,
    ) -> Result<Value, Failure> {
        let mut tasks = held(&self.0);
        if method == "tasks/list" {
            let all = tasks.iter().enumerate();
            let all: Vec<Value> = all.map(|(number, task)| task.shown(number, faults)).collect();
            return Ok(json!({ "tasks": all }));
        }
        let id = params["taskId"].as_str().and_then(|id| id.strip_prefix("task-")?.parse().ok());
        let Some((number, task)) =
            id.and_then(|number: usize| Some((number, tasks.get_mut(number)?)))
        else {
            return Err(Failure::params("there is no such task"));
        };
        match method {
            "tasks/get" => Ok(task.shown(number, faults)),
            "tasks/cancel" => Err(Failure::params("the task has ended")),
            _ => {
                task.is_fetched = true;
                let mut result = task.result.clone();
                if !faults.has(Fault::TaskResultUnrelated) {
                    let related = json!({ "taskId": name(number) });
                    result["_meta"] = json!({ "io.modelcontextprotocol/related-task": related });
                }
                Ok(result)
            }
        }
    }
}

impl Task {
    fn shown(&self, number: usize, faults: Faults) -> Value {
        let status = match &self.result["isError"] {
            _ if self.is_fetched && faults.has(Fault::TaskRevives) => "working",
            Value::Bool(true) => "failed",
            _ => "completed",
        };
        shown(number, status, &self.ttl)
    }
}

fn shown(number: usize, status: &str, ttl: &Value) -> Value {
    json!({
        "taskId": name(number),
        "status": status,
        "createdAt": TIME,
        "lastUpdatedAt": TIME,
        "ttl": ttl,
    })
}

fn name(number: usize) -> String {
    format!("task-{number}")
}
