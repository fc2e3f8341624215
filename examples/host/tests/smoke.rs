//! Runs the example.

use std::process::Command;

#[test]
fn it_tells_the_servers_apart() {
    let run = Command::new(env!("CARGO_BIN_EXE_example-host")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let shown = String::from_utf8(run.stdout).unwrap();
    for line in [
        "oslo__greet (greet at oslo)",
        "about_oslo (about_oslo at oslo)",
        "paris__greet (greet at paris)",
        "Bonjour, Ada!",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{shown}");
    }
    assert!(shown.contains("invalid arguments for tool `greet` of server `oslo`"), "{shown}");
}
