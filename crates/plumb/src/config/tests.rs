use std::{fs, path::Path};

use annotate_snippets::Renderer;
use mcp_core::Revision;
use mcp_proxy::{Action, BadTools};
use mcp_rules::{Profile, Setting, Severity};

use super::{Config, ConfigError, FILE_NAME, find_upwards, reader::read};
use crate::args::{Enforced, FailOn, Format, MaxFindings, RevisionChoice};
use crate::levels::Levels;

#[track_caller]
fn check_faults(text: &str, expected: &str) {
    let faults = read(text).expect_err("the file should be refused");
    let error = ConfigError::new(Path::new("plumb.toml"), text.to_owned(), faults);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_key_is_read() {
    let config = read(
        r#"
revision = "2025-06-18"
from_start = true
profile = "house"
format = "json"
fail_on = "warning"
max_findings = 20
baseline = "known.json"
schema = ["a.json", "2025-11-25=b.json"]
schema_required = true
allowed_origins = ["https://app.example.com"]

[rules]
method-unknown = "off"
params-invalid = "warn"

[limits]
message_bytes = 0x400
depth = 9
batch = 2
pending = 3
findings = 4
sessions = 5
remembered = 6
session_bytes = 7

[profiles.house]
extends = "erlmcp"
rules = { result-invalid = "warning" }
requests = ["weather/forecast", "weather/now"]
notifications = "notifications/weather"
"#,
    )
    .unwrap();
    assert_eq!(config.revision, Some(RevisionChoice::Only(Revision::V2025_06_18)));
    assert_eq!(config.profile.as_deref(), Some("house"));
    assert_eq!(config.from_start, Some(true));
    assert_eq!(config.format, Some(Format::Json));
    assert_eq!(config.fail_on, Some(FailOn::At(Severity::Warning)));
    assert_eq!(config.max_findings, Some(MaxFindings::First(20)));
    assert_eq!(config.baseline.as_deref(), Some(Path::new("known.json")));
    assert_eq!(config.schemas, ["a.json", "2025-11-25=b.json"]);
    assert_eq!(config.schema_required, Some(true));
    assert_eq!(config.allowed_origins, ["https://app.example.com"]);
    assert_eq!(config.levels.by_rule()["method-unknown"], Setting::Off);
    assert_eq!(config.levels.by_rule()["params-invalid"], Setting::On(Severity::Warning));
    let limits = config.limits;
    assert_eq!((limits.message_bytes, limits.depth, limits.batch), (1024, 9, 2));
    assert_eq!((limits.pending, limits.findings, limits.sessions), (3, 4, 5));
    assert_eq!((limits.remembered, limits.session_bytes), (6, 7));
    let house = config.profiles.resolve("house").unwrap();
    assert_eq!(house.base, Profile::Erlmcp);
    assert_eq!(house.rules["result-invalid"], Setting::On(Severity::Warning));
    assert!(house.methods.requests.iter().eq(["weather/forecast", "weather/now"]));
    assert!(house.methods.notifications.iter().eq(["notifications/weather"]));
}

#[test]
fn patterns_and_layers_select_rules_in_profiles_too() {
    let config = read(
        "[rules]\n'batch-*' = 'off'\nbatch-empty = 'error'\n\
         [profiles.house]\nrules = { 'layer:json' = 'warning', '*' = 'off' }",
    )
    .unwrap();
    assert_eq!(config.levels.by_rule()["batch-mixed"], Setting::Off);
    assert_eq!(config.levels.by_rule()["batch-empty"], Setting::On(Severity::Error));
    let house = config.profiles.resolve("house").unwrap();
    assert_eq!(house.rules["json-duplicate-key"], Setting::On(Severity::Warning));
    assert_eq!(house.rules["params-invalid"], Setting::Off);
}

#[test]
fn an_empty_file_says_nothing() {
    let config = read("").unwrap();
    assert!(config.revision.is_none() && config.profile.is_none());
    assert_eq!(config.levels, Levels::default());
}

#[test]
fn a_single_schema_needs_no_array() {
    assert_eq!(read("schema = 'a.json'").unwrap().schemas, ["a.json"]);
}

#[test]
fn unknown_keys_are_rejected_at_every_level() {
    check_faults(
        "revison = 'auto'",
        "plumb.toml:1:1: unknown key `revison` (did you mean `revision`?)",
    );
    check_faults(
        "[limits]\nmessage-bytes = 3",
        "plumb.toml:2:1: unknown key `message-bytes` (did you mean `message_bytes`?)",
    );
    check_faults(
        "[profiles.mine]\nextend = 'spec'",
        "plumb.toml:2:1: unknown key `extend` (did you mean `extends`?)",
    );
    check_faults(
        "[limits]\nzzz = 3",
        "plumb.toml:2:1: unknown key `zzz` (use one of: batch, depth, findings, message_bytes, pending, remembered, session_bytes, sessions)",
    );
}

#[test]
fn origins_have_no_path() {
    assert_eq!(read("allowed_origins = 'null'").unwrap().allowed_origins, ["null"]);
    check_faults(
        "allowed_origins = ['https://example.com/app']",
        "plumb.toml:1:19: `https://example.com/app` is not a web origin (write scheme, host and any non-default port: `https://app.example.com`)",
    );
}

#[test]
fn unknown_names_suggest_near_ones() {
    check_faults(
        "[rules]\nparam-invalid = 'off'",
        "plumb.toml:2:1: there is no rule `param-invalid` (did you mean `params-invalid`?)",
    );
    check_faults(
        "[profiles.mine]\nrules = { wheather = 'off' }",
        "plumb.toml:2:11: there is no rule `wheather` (`plumb rules` lists them)",
    );
    check_faults(
        "[rules]\n'layer:jsonrcp' = 'off'",
        "plumb.toml:2:1: there is no layer `jsonrcp` (did you mean `jsonrpc`?)",
    );
    check_faults(
        "[rules]\n'[a' = 'off'",
        "plumb.toml:2:1: `[a` is not a pattern: invalid range pattern",
    );
    check_faults(
        "profile = 'base_stack'",
        "plumb.toml:1:11: there is no profile `base_stack` (did you mean `base-stack`?)",
    );
    check_faults(
        "revision = '2025-11-26'",
        "plumb.toml:1:12: `2025-11-26` is not a revision (did you mean `2025-11-25`?)",
    );
    check_faults(
        "[rules]\nparams-invalid = 'fatal'",
        "plumb.toml:2:18: `fatal` is not a level (use one of: error, warning, off)",
    );
    check_faults(
        "fail_on = 'nevre'",
        "plumb.toml:1:11: `nevre` is not a severity (did you mean `never`?)",
    );
    check_faults(
        "format = 'xml'",
        "plumb.toml:1:10: `xml` is not a format (use one of: human, json, sarif, junit, github)",
    );
}

#[test]
fn wrong_types_are_named() {
    check_faults("revision = 3", "plumb.toml:1:12: expected a string, found integer");
    check_faults("baseline = true", "plumb.toml:1:12: expected a string, found boolean");
    check_faults("rules = 'off'", "plumb.toml:1:9: expected a table, found string");
    check_faults("schema = ['a', 1]", "plumb.toml:1:16: expected a string, found integer");
    check_faults(
        "schema_required = 'yes'",
        "plumb.toml:1:19: expected true or false, found string",
    );
    check_faults("from_start = 1", "plumb.toml:1:14: expected true or false, found integer");
    check_faults("[limits]\ndepth = 0", "plumb.toml:2:9: expected an integer from 1 up, found 0");
    check_faults(
        "max_findings = 'al'",
        "plumb.toml:1:16: expected an integer or \"all\", found string",
    );
    check_faults("max_findings = -1", "plumb.toml:1:16: expected an integer from 0 up, found -1");
}

#[test]
fn profiles_must_be_new_and_acyclic() {
    check_faults(
        "[profiles.spec]\n",
        "plumb.toml:1:11: `spec` is a built-in profile and cannot be redefined (give it another name and say `extends = \"spec\"`)",
    );
    check_faults("[profiles.a]\nextends = 'a'", "plumb.toml:2:11: the profile `a` extends itself");
    check_faults(
        "[profiles.a]\nextends = 'spek'",
        "plumb.toml:2:11: there is no profile `spek` (did you mean `spec`?)",
    );
}

#[test]
fn every_fault_is_reported_in_order() {
    check_faults(
        "zz = 1\nrevision = 7\n",
        "plumb.toml:1:1: unknown key `zz` (use one of: allowed_origins, baseline, fail_on, format, from_start, limits, max_findings, profile, profiles, proxy, revision, rules, schema, schema_required, test)\nplumb.toml:2:12: expected a string, found integer",
    );
}

#[test]
fn a_proxy_has_levels_for_each_side() {
    let config = read(
        "[proxy]\nenforce = 'client'\nbad_tools = 'pass'\n[proxy.rules]\nparams-invalid = 'warn'\n\
         [proxy.client.rules]\n'batch-*' = 'off'\n[proxy.server.rules]\nbatch-empty = 'reject'",
    )
    .unwrap();
    assert_eq!(config.proxy.enforce, Some(Enforced::Client));
    assert_eq!(config.proxy.bad_tools, Some(BadTools::Pass));
    let said = |levels: &Levels<Action>| {
        let each = levels.ranked().map(|(selector, action)| (selector.text.clone(), *action));
        each.collect::<Vec<_>>()
    };
    assert_eq!(said(&config.proxy.levels), [("params-invalid".to_owned(), Action::Warn)]);
    let [client, server] = &config.proxy.of_side;
    assert_eq!(said(client), [("batch-*".to_owned(), Action::Off)]);
    assert_eq!(said(server), [("batch-empty".to_owned(), Action::Reject)]);
}

#[test]
fn settings_of_a_proxy_are_checked() {
    check_faults(
        "[proxy]\nenforce = 'clinet'\n[proxy.rules]\nparms-invalid = 'warn'\n\
         [proxy.client.rules]\nparams-invalid = 'error'\n[proxy.server]\nrule = {}\n",
        "plumb.toml:2:11: `clinet` is not a side (did you mean `client`?)\n\
         plumb.toml:4:1: there is no rule `parms-invalid` (did you mean `params-invalid`?)\n\
         plumb.toml:6:18: `error` is not a proxy level (use one of: off, warn, reject)\n\
         plumb.toml:8:1: unknown key `rule` (did you mean `rules`?)",
    );
    check_faults(
        "proxy.bad_tools = 'filtr'",
        "plumb.toml:1:19: `filtr` is not a value of bad_tools (did you mean `filter`?)",
    );
    check_faults(
        "proxy.enforce = 7",
        "plumb.toml:1:17: expected true, false, \"client\" or \"server\", found integer",
    );
}

#[test]
fn faults_are_shown_in_their_line() {
    let text = "# ours\n[rules]\nparam-invalid = 'off'\nmethod-unknown = 'of'\n\n[limits\n";
    let broken = read(text).unwrap_err();
    assert_eq!(broken.len(), 1, "{broken:?}");
    let text = &text[..text.len() - "[limits\n".len()];
    let faults = read(text).unwrap_err();
    let error = ConfigError::new(Path::new("plumb.toml"), text.to_owned(), faults);
    insta::assert_snapshot!(error.excerpts(&Renderer::plain()));
}

#[test]
fn the_nearest_file_upwards_is_found() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    fs::write(root.path().join(FILE_NAME), "").unwrap();
    assert_eq!(find_upwards(&deep), Some(root.path().join(FILE_NAME)));
    fs::write(root.path().join("a/b").join(FILE_NAME), "").unwrap();
    assert_eq!(find_upwards(&deep), Some(root.path().join("a/b").join(FILE_NAME)));
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::load(Path::new("no/such/plumb.toml")).unwrap_err();
    assert!(error.to_string().contains("no/such/plumb.toml"), "{error}");
}

#[test]
fn servers_to_test_are_read() {
    let config = read(
        r#"
[test]
allow_writes = true
allow_destructive = false
tools = "a"
skip_tools = ["b"]
skip = ["ids"]
time_limit = 60
timeout = 0.5
max_calls = 7
baseline = "known.json"
lock = "all.lock"
arguments = { search = [{ query = "x", n = 3, f = 0.5, deep = [{ t = true }] }], one = { a = 1 } }

[test.servers.files]
command = "npx"
args = ["files", "."]
env = { LOG = "debug" }
cwd = "fixtures"
lock = "files.lock"
arguments = { one = { a = 2 } }

[test.servers.remote]
url = "https://example.com/mcp"
headers = { X-Team = "tools" }
header_env = { Authorization = "TOKEN" }
"#,
    )
    .unwrap();
    let test = config.test;
    let files = &test.servers["files"];
    assert_eq!(files.command, ["npx", "files", "."]);
    assert_eq!(files.environment["LOG"], "debug");
    let options = files.options.clone().or(&test.options);
    assert_eq!(options.lock.as_deref(), Some(Path::new("files.lock")));
    assert_eq!(options.baseline.as_deref(), Some(Path::new("known.json")));
    assert_eq!(options.timeout, Some(std::time::Duration::from_millis(500)));
    assert_eq!((options.max_calls, options.allow_writes), (Some(7), Some(true)));
    assert_eq!(options.arguments["one"], [serde_json::json!({ "a": 2 })]);
    let search = serde_json::json!({ "query": "x", "n": 3, "f": 0.5, "deep": [{ "t": true }] });
    assert_eq!(options.arguments["search"], [search]);
    let remote = &test.servers["remote"];
    assert_eq!(remote.url, "https://example.com/mcp");
    assert_eq!((remote.headers.len(), remote.header_env[0].1.as_str()), (1, "TOKEN"));
}
