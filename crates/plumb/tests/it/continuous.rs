//! Continuous integration: the action and the hooks of this repository, run as they stand.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use yaml_rust2::{Yaml, YamlLoader};

use super::{Place, Run, lock::ECHO};

/// A server that answers what nobody can have asked for.
const AGREEABLE: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"agreeable","version":"1"}}}\n' "$id" ;;
    *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
  esac
done"#;

const ONLY: &str = "--only\nrequests/unknown-method\n\n--env\nWORDS=hello";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn yaml(name: &str) -> Yaml {
    let text = fs::read_to_string(root().join(name)).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

/// Runs the steps of the action as a runner does.
fn act(place: &Place, inputs: &[(&str, &str)]) -> Run {
    let action = yaml("action.yml");
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, input) in action["inputs"].as_hash().unwrap() {
        given.insert(name.as_str().unwrap(), input["default"].as_str().unwrap());
        assert!(input["description"].as_str().is_some_and(|text| !text.is_empty()));
    }
    for (name, value) in inputs {
        assert!(given.insert(name, value).is_some(), "no input {name}");
    }
    let root = root();
    let evaluate = |text: &str| {
        let Some(name) = text.strip_prefix("${{ ").and_then(|text| text.strip_suffix(" }}")) else {
            assert!(!text.contains("${{"), "{text}");
            return text.to_owned();
        };
        match name.strip_prefix("inputs.") {
            Some(name) => given[name].to_owned(),
            None if name == "github.action_path" => root.to_str().unwrap().to_owned(),
            None => panic!("unknown expression {name}"),
        }
    };
    let mut runs = Vec::new();
    for step in action["runs"]["steps"].as_vec().unwrap() {
        let script = step["run"].as_str().unwrap();
        // What users write must not become part of a script.
        assert!(!script.contains("${{"), "{script}");
        assert_eq!(step["shell"].as_str(), Some("bash"));
        fs::write(place.0.path().join("step.sh"), script).unwrap();
        let folder = evaluate(step["working-directory"].as_str().unwrap());
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail"]);
        bash.arg(place.0.path().join("step.sh")).current_dir(place.0.path().join(folder));
        bash.env("GITHUB_OUTPUT", place.0.path().join("outputs"));
        for (name, value) in step["env"].as_hash().unwrap() {
            bash.env(name.as_str().unwrap(), evaluate(value.as_str().unwrap()));
        }
        let output = bash.output().unwrap();
        runs.push(Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        });
    }
    runs.pop().unwrap()
}

/// The inputs for a server that is a script.
fn of_shell<'i>(args: &'i str, more: &[(&'i str, &'i str)]) -> Vec<(&'i str, &'i str)> {
    let binary = env!("CARGO_BIN_EXE_plumb");
    let own = [("binary", binary), ("command", "sh"), ("args", args), ("options", ONLY)];
    own.into_iter().chain(more.iter().copied()).collect()
}

/// A script as one of the lines of `args`.
fn script(place: &Place, text: &str) -> String {
    let path = place.0.path().join("a server.sh");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_action_passes_a_good_server() {
    let place = Place::new();
    let args = script(&place, ECHO);
    act(&place, &of_shell(&args, &[])).exits(0).prints("no findings");
    act(&place, &of_shell(&args, &[("format", "human")]))
        .exits(0)
        .prints("requests/unknown-method");
}

#[test]
fn the_action_annotates_what_is_wrong() {
    let place = Place::new();
    let args = script(&place, AGREEABLE);
    let run = act(&place, &of_shell(&args, &[])).exits(1);
    assert!(
        run.stdout.contains("::error file=requests/unknown-method@2025-11-25"),
        "{}",
        run.stdout
    );
    act(&place, &of_shell(&args, &[("fail-on", "never")])).exits(0);
}

#[test]
fn the_action_writes_reports_to_a_file() {
    let place = Place::new();
    let args = script(&place, AGREEABLE);
    let inputs = [("format", "sarif"), ("output", "found.sarif")];
    act(&place, &of_shell(&args, &inputs)).exits(1);
    let text = fs::read_to_string(place.0.path().join("found.sarif")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "unknown-method-accepted");
    let outputs = fs::read_to_string(place.0.path().join("outputs")).unwrap();
    assert_eq!(outputs, "report=found.sarif\n");
    act(&place, &of_shell(&args, &[("format", "junit")])).exits(1);
    let text = fs::read_to_string(place.0.path().join("plumb-test-report")).unwrap();
    assert!(text.contains("<failure "), "{text}");
}

#[test]
fn the_action_wants_one_server_or_a_configuration() {
    let place = Place::new();
    let both = act(&place, &of_shell("", &[("url", "http://127.0.0.1:1/")]));
    both.exits(2).prints("not both");
    let binary = [("binary", env!("CARGO_BIN_EXE_plumb"))];
    act(&place, &binary).exits(2).complains("no server given");
    let command = serde_json::to_string(&["sh", "-c", ECHO]).unwrap();
    let text = format!("[test.servers.echo]\ncommand = {command}\n");
    let place = Place::new().file("inner/plumb.toml", &text);
    let inputs = [binary[0], ("options", ONLY), ("working-directory", "inner")];
    act(&place, &inputs).exits(0);
}

#[test]
fn the_hooks_run() {
    let command = serde_json::to_string(&["sh", "-c", ECHO]).unwrap();
    let text = format!("[test]\nskip = ['ids']\n[test.servers.echo]\ncommand = {command}\n");
    let place = Place::new().file("plumb.toml", &text).file("bad.jsonl", super::BAD);
    let run = |id: &str, more: &[&str]| {
        let hooks = yaml(".pre-commit-hooks.yaml");
        let hook = hooks.as_vec().unwrap().iter().find(|hook| hook["id"].as_str() == Some(id));
        let hook = hook.unwrap();
        assert_eq!(hook["language"].as_str(), Some("script"));
        let mut words = hook["entry"].as_str().unwrap().split(' ');
        let output = Command::new(root().join(words.next().unwrap()))
            .args(words)
            .args(more)
            .current_dir(place.0.path())
            .env("PLUMB_BINARY", env!("CARGO_BIN_EXE_plumb"))
            .output()
            .unwrap();
        output.status.code()
    };
    assert_eq!(run("plumb-check", &["bad.jsonl"]), Some(1));
    assert_eq!(run("plumb-test", &["--only", "requests/unknown-method"]), Some(0));
    assert_eq!(run("plumb-test", &["no-such-server"]), Some(2));
}
