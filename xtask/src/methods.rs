//! A revision's `methods.json`.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::schema::Definitions;

/// One row of the method table.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Method {
    pub name: String,
    pub kind: Kind,
    pub sender: Sender,
    pub params: Option<String>,
    pub params_required: bool,
    pub result: Option<String>,
    pub task_result: Option<String>,
    pub input_required: Option<String>,
    #[serde(default)]
    pub cacheable: bool,
    #[serde(default)]
    pub input_request_only: bool,
    pub capability: Option<Capability>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Request,
    Notification,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Sender {
    Client,
    Server,
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Capability {
    pub declared_by: Declarer,
    pub path: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Declarer {
    Client,
    Server,
    Receiver,
    Sender,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    methods: Vec<Method>,
}

/// Reads the table and checks it against the definitions it names.
pub(crate) fn parse_table(text: &str, definitions: &Definitions) -> Result<Vec<Method>> {
    let table: Table = serde_json::from_str(text).context("the table does not have its form")?;
    let mut names = BTreeSet::new();
    for method in &table.methods {
        ensure!(names.insert(&method.name), "`{}` stands twice", method.name);
        check(method, definitions).with_context(|| format!("in method `{}`", method.name))?;
    }
    Ok(table.methods)
}

fn check(method: &Method, definitions: &Definitions) -> Result<()> {
    let named = [&method.params, &method.result, &method.task_result, &method.input_required];
    for name in named.into_iter().flatten() {
        ensure!(definitions.contains_key(name), "`{name}` is not defined");
    }
    ensure!(
        method.result.is_some() == (method.kind == Kind::Request),
        "a request has a result and a notification has none"
    );
    ensure!(
        method.params.is_some() || !method.params_required,
        "required params need a definition"
    );
    Ok(())
}
