//! The client that the official conformance suite drives: one process for each scenario.
//!
//! The suite starts it with the URL of a server as its last argument and the task in environment
//! variables. It exits with 0 if everything went well. `scripts/conformance` runs the suite;
//! findings go to standard error.

mod scenarios;
mod task;

use task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let task = Task::of_environment()?;
    scenarios::play(&task).await
}
