//! How do I write a server that a desktop application starts?
//!
//! Three tools over standard input and output: find text in files below a directory, count words,
//! convert units. The directory is its argument, by default the working directory:
//!
//! ```sh
//! cargo run -p example-client -- cargo run -q -p example-stdio-tools -- docs
//! ```

mod conversion;
mod search;
mod statistics;

use std::{env, path::PathBuf};

use anyhow::Context as _;
use mcp_sdk::{Server, Structured};

use crate::{conversion::Conversion, search::Search, statistics::Text};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let root = env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let root = root.canonicalize().with_context(|| format!("no directory {}", root.display()))?;

    let server = Server::builder("tools", "1.0.0")
        .instructions("Paths are relative to the directory the server was started for.")
        .tool("search_files", "Finds lines of text files that contain a text", {
            move |search: Search, _| {
                let root = root.clone();
                async move { Ok(Structured(search.run(root).await?)) }
            }
        })
        .tool("text_statistics", "Counts lines, words and characters", async |text: Text, _| {
            Ok(Structured(text.count()))
        })
        .tool("convert", "Converts lengths and temperatures", async |asked: Conversion, _| {
            Ok(Structured(asked.result()?))
        })
        .build()?;
    // Standard output belongs to the protocol; anything else goes to standard error.
    Ok(server.serve_stdio().await?)
}
