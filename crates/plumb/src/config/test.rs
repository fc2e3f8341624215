//! `[test]`: named servers for `plumb test` and `plumb lock`, and how to test them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Number};
use toml::de::DeValue;

use super::{
    fault::Fault,
    reader::{
        Faults, Value, boolean, count, keep, string, strings, table, unknown_key, wrong_type,
    },
};

/// The table `[test]`; what it leaves out is `None` or empty.
#[derive(Debug, Default)]
pub(crate) struct TestConfig {
    /// For all servers.
    pub(crate) options: TestOptions,
    /// The servers by name.
    pub(crate) servers: BTreeMap<String, ServerConfig>,
}

/// How to test. Paths are relative to the file.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct TestOptions {
    pub(crate) allow_writes: Option<bool>,
    pub(crate) allow_destructive: Option<bool>,
    pub(crate) tools: Vec<String>,
    pub(crate) skip_tools: Vec<String>,
    /// Probes to leave out.
    pub(crate) skip: Vec<String>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_calls: Option<u64>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) lock: Option<PathBuf>,
    /// Sample arguments by tool.
    pub(crate) arguments: BTreeMap<String, Vec<serde_json::Value>>,
}

/// A table of `[test.servers]`.
#[derive(Debug, Default)]
pub(crate) struct ServerConfig {
    /// Empty if there is a URL.
    pub(crate) command: Vec<String>,
    /// Empty if there is a command.
    pub(crate) url: String,
    pub(crate) environment: BTreeMap<String, String>,
    /// Relative to the file.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Headers whose values come from environment variables.
    pub(crate) header_env: Vec<(HeaderName, String)>,
    pub(crate) options: TestOptions,
}

impl TestOptions {
    /// These options, with `others` as defaults. Lists are joined.
    pub(crate) fn or(mut self, others: &TestOptions) -> TestOptions {
        self.allow_writes = self.allow_writes.or(others.allow_writes);
        self.allow_destructive = self.allow_destructive.or(others.allow_destructive);
        self.tools.extend(others.tools.iter().cloned());
        self.skip_tools.extend(others.skip_tools.iter().cloned());
        self.skip.extend(others.skip.iter().cloned());
        self.time_limit = self.time_limit.or(others.time_limit);
        self.timeout = self.timeout.or(others.timeout);
        self.max_calls = self.max_calls.or(others.max_calls);
        self.baseline = self.baseline.or_else(|| others.baseline.clone());
        self.lock = self.lock.or_else(|| others.lock.clone());
        for (tool, samples) in &others.arguments {
            self.arguments.entry(tool.clone()).or_insert_with(|| samples.clone());
        }
        self
    }
}

const OPTIONS: [&str; 11] = [
    "allow_destructive",
    "allow_writes",
    "arguments",
    "baseline",
    "lock",
    "max_calls",
    "skip",
    "skip_tools",
    "time_limit",
    "timeout",
    "tools",
];
const OF_SERVER: [&str; 7] = ["args", "command", "cwd", "env", "header_env", "headers", "url"];

pub(super) fn read(value: &Value<'_>, faults: &mut Faults) -> TestConfig {
    let mut config = TestConfig::default();
    let Some(entries) = keep(table(value), faults) else {
        return config;
    };
    for (key, value) in entries {
        match key.get_ref().as_ref() {
            "servers" => {
                let Some(servers) = keep(table(value), faults) else { continue };
                for (name, value) in servers {
                    if name.get_ref().contains("://") || name.get_ref().is_empty() {
                        let message = "a name like this would be taken for a URL";
                        faults.push(Fault::new(name.span(), message));
                    } else if let Some(server) = server(value, faults) {
                        config.servers.insert(name.get_ref().to_string(), server);
                    }
                }
            }
            name if option(&mut config.options, name, value, faults) => {}
            unknown => {
                let known: Vec<&str> = OPTIONS.into_iter().chain(["servers"]).collect();
                faults.push(unknown_key(unknown, key.span(), &known));
            }
        }
    }
    config
}

/// Reads an option; false if there is none of this name.
fn option(options: &mut TestOptions, name: &str, value: &Value<'_>, faults: &mut Faults) -> bool {
    match name {
        "allow_writes" => options.allow_writes = keep(boolean(value), faults),
        "allow_destructive" => options.allow_destructive = keep(boolean(value), faults),
        "tools" => options.tools = keep(strings(value), faults).unwrap_or_default(),
        "skip_tools" => options.skip_tools = keep(strings(value), faults).unwrap_or_default(),
        "skip" => options.skip = keep(strings(value), faults).unwrap_or_default(),
        "time_limit" => options.time_limit = keep(seconds(value), faults),
        "timeout" => options.timeout = keep(seconds(value), faults),
        "max_calls" => options.max_calls = keep(count(value, 0), faults),
        "baseline" => options.baseline = keep(string(value), faults).map(PathBuf::from),
        "lock" => options.lock = keep(string(value), faults).map(PathBuf::from),
        "arguments" => options.arguments = arguments(value, faults),
        _ => return false,
    }
    true
}

fn server(value: &Value<'_>, faults: &mut Faults) -> Option<ServerConfig> {
    let mut server = ServerConfig::default();
    let mut args = Vec::new();
    for (key, value) in keep(table(value), faults)? {
        match key.get_ref().as_ref() {
            "command" => server.command = keep(strings(value), faults).unwrap_or_default(),
            "args" => args = keep(strings(value), faults).unwrap_or_default(),
            "url" => server.url = keep(string(value), faults).unwrap_or_default().to_owned(),
            "cwd" => server.cwd = keep(string(value), faults).map(PathBuf::from),
            "env" => server.environment = texts(value, faults).into_iter().collect(),
            "headers" => server.headers = headers(value, faults),
            "header_env" => server.header_env = header_env(value, faults),
            name if option(&mut server.options, name, value, faults) => {}
            unknown => {
                let known: Vec<&str> = OF_SERVER.into_iter().chain(OPTIONS).collect();
                faults.push(unknown_key(unknown, key.span(), &known));
            }
        }
    }
    if server.url.is_empty() == server.command.is_empty() {
        let fault = Fault::new(value.span(), "a server has either a `url` or a `command`");
        faults.push(fault.help("write url = \"http://…\" or command = [\"my-server\"]"));
    }
    let of_command = !args.is_empty() || !server.environment.is_empty() || server.cwd.is_some();
    if of_command && !server.url.is_empty() {
        let message = "`args`, `env` and `cwd` are for servers with a `command`";
        faults.push(Fault::new(value.span(), message));
    }
    if server.url.is_empty() && !(server.headers.is_empty() && server.header_env.is_empty()) {
        faults.push(Fault::new(value.span(), "headers are for servers with a `url`"));
    }
    server.command.extend(args);
    Some(server)
}

/// A table of strings.
fn texts(value: &Value<'_>, faults: &mut Faults) -> Vec<(String, String)> {
    let entries = keep(table(value), faults).into_iter().flatten();
    let read = entries.filter_map(|(key, value)| {
        let text = keep(string(value), faults)?;
        Some((key.get_ref().to_string(), text.to_owned()))
    });
    read.collect()
}

fn headers(value: &Value<'_>, faults: &mut Faults) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    for (name, text) in texts(value, faults) {
        // The error does not repeat the value, which may be a secret.
        match (name.parse(), text.parse()) {
            (Ok(name), Ok(value)) => headers.push((name, value)),
            _ => faults.push(Fault::new(value.span(), format!("`{name}` is not a valid header"))),
        }
    }
    headers
}

fn header_env(value: &Value<'_>, faults: &mut Faults) -> Vec<(HeaderName, String)> {
    let mut headers = Vec::new();
    for (name, variable) in texts(value, faults) {
        match name.parse() {
            Ok(name) if !variable.is_empty() => headers.push((name, variable)),
            _ => {
                let message = format!("`{name}` does not map a header to a variable");
                let help = "write { Authorization = \"MY_TOKEN\" }, with the name of a variable";
                faults.push(Fault::new(value.span(), message).help(help));
            }
        }
    }
    headers
}

/// Sample arguments: a table for each tool, or several.
fn arguments(value: &Value<'_>, faults: &mut Faults) -> BTreeMap<String, Vec<serde_json::Value>> {
    let mut arguments = BTreeMap::new();
    for (tool, value) in keep(table(value), faults).into_iter().flatten() {
        let samples = match value.get_ref() {
            DeValue::Table(_) => vec![json(value)],
            DeValue::Array(samples) if samples.iter().all(|it| it.get_ref().is_table()) => {
                samples.iter().map(json).collect()
            }
            _ => vec![Err(wrong_type(value, "a table of arguments, or an array of them"))],
        };
        let samples: Vec<_> = samples.into_iter().filter_map(|it| keep(it, faults)).collect();
        arguments.insert(tool.get_ref().to_string(), samples);
    }
    arguments
}

/// A TOML value as JSON. The parser bounds its depth.
fn json(value: &Value<'_>) -> Result<serde_json::Value, Fault> {
    Ok(match value.get_ref() {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Integer(integer) => {
            let read = i64::from_str_radix(integer.as_str(), integer.radix());
            read.map_err(|_| Fault::new(value.span(), "this integer is too large"))?.into()
        }
        DeValue::Float(float) => {
            let read = float.as_str().parse().ok().and_then(Number::from_f64);
            let fault = || Fault::new(value.span(), "JSON has no such number");
            read.ok_or_else(fault)?.into()
        }
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(array) => array.iter().map(json).collect::<Result<Vec<_>, _>>()?.into(),
        DeValue::Table(table) => {
            let mut members = Map::new();
            for (key, value) in table {
                members.insert(key.get_ref().to_string(), json(value)?);
            }
            members.into()
        }
    })
}

fn seconds(value: &Value<'_>) -> Result<Duration, Fault> {
    let seconds = match value.get_ref() {
        DeValue::Integer(integer) => integer.as_str().parse::<f64>().ok(),
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        _ => return Err(wrong_type(value, "a number of seconds")),
    };
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        Fault::new(value.span(), "expected more than 0 seconds and less than a million")
    })
}
