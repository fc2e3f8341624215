//! The client that the official conformance suite drives: one process for each scenario.
//!
//! The suite starts it with the URL of a server as its last argument and says in the environment
//! what to do there. It leaves with 0 when everything went as it should. `scripts/conformance` runs
//! the suite; whatever validation finds goes to standard error.

mod scenarios;
mod task;

use task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let task = Task::of_environment()?;
    scenarios::play(&task).await
}
