//! `[test]` in plumb.toml: servers by name.

use super::{Place, lock::ECHO};

/// A plumb.toml with two servers, one of which does not run.
fn place(more: &str) -> Place {
    let command = serde_json::to_string(&["sh", "-c", ECHO]).unwrap();
    let text = format!(
        "[test]\nskip_tools = 'nothing'\n{more}\n\
         [test.servers.echo]\ncommand = {command}\nenv = {{ WORDS = 'hello' }}\n\
         [test.servers.gone]\ncommand = 'no-such-program-anywhere'\nargs = ['--x']\n"
    );
    Place::new().file("plumb.toml", &text)
}

const ONLY: [&str; 2] = ["--only", "requests/unknown-method"];

#[test]
fn a_server_is_tested_by_its_name() {
    let place = place("");
    let run = place.run(&["test", "echo", ONLY[0], ONLY[1]]).exits(0);
    assert!(run.stdout.contains("━━ echo ━━"), "{}", run.stdout);
    place.run(&["lock", "echo"]).exits(0).prints("plumb-echo.lock");
    place.run(&["test", "echo", "--locked", "--only", "lock"]).exits(0);
    let other = ["test", "echo", "--locked", "--only", "lock", "--env", "WORDS=bye"];
    let run = place.run(&other).exits(1);
    // The name stands for the command in the line that repeats it.
    assert!(run.stdout.contains("--env WORDS=bye --locked echo"), "{}", run.stdout);
}

#[test]
fn all_servers_are_tested_even_if_one_does_not_run() {
    let run = place("").run(&["test", "--format", "junit", ONLY[0], ONLY[1]]).exits(2);
    assert!(run.stderr.contains("`gone` was not tested"), "{}", run.stderr);
    assert!(run.stdout.contains("name=\"echo protocol 2025-11-25\""), "{}", run.stdout);
}

#[test]
fn a_name_that_is_not_there_is_refused_with_a_suggestion() {
    place("").run(&["test", "ehco"]).exits(2).complains("did you mean `echo`?");
    Place::new().run(&["test", "echo"]).exits(2).complains("names no servers");
    Place::new().run(&["test"]).exits(2).complains("[test.servers]");
}

#[test]
fn the_section_is_read_strictly() {
    for (more, message) in [
        ("allow_write = true", "did you mean `allow_writes`?"),
        ("time_limit = 'long'", "a number of seconds"),
        ("time_limit = 0", "more than 0 seconds"),
        ("arguments = { echo = 3 }", "a table of arguments"),
        ("[test.servers.a]\nurl = 'http://x/'\ncommand = 'y'", "either a `url` or a `command`"),
        (
            "[test.servers.a]\nurl = 'http://x/'\nenv = { A = 'b' }",
            "are for servers with a `command`",
        ),
        ("[test.servers.a]\ncomand = 'y'", "did you mean `command`?"),
    ] {
        place(more).run(&["test", "echo"]).exits(2).complains(message);
    }
}

#[test]
fn options_of_the_file_count() {
    let baseline = r#"{"plumbBaseline":1,"findings":[]}"#;
    let more = "baseline = 'known.json'\ntimeout = 3\nskip = 'requests'";
    let place = place(more).file("known.json", baseline);
    let run = place.run(&["test", "echo", "--only", "requests"]).exits(0);
    assert!(!run.stdout.contains("requests/"), "{}", run.stdout);
}

#[test]
fn headers_come_from_the_environment() {
    let text = "[test.servers.a]\nurl = 'http://127.0.0.1:1/'\nheader_env = { Authorization = 'NO_SUCH_VARIABLE_HERE' }";
    let place = Place::new().file("plumb.toml", text);
    place.run(&["test", "a"]).exits(2).complains("NO_SUCH_VARIABLE_HERE");
}
