use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

use super::{JudgingArgs, OUTPUT, ReportFormat, values::size};

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct ProxyArgs {
    /// The server to start, with its arguments
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "upstream")]
    pub(crate) command: Vec<OsString>,
    /// Serve clients over HTTP and WebSocket on this address, instead of one client on the standard
    /// streams
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Pass messages on to the server at this URL (http, https, ws or wss), instead of starting one
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,
    /// A host, besides this machine, that HTTP clients may address; may be repeated
    #[arg(long = "allow-host", value_name = "HOST", requires = "listen")]
    pub(crate) hosts: Vec<String>,
    /// An origin, besides this machine, whose pages may send requests; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    pub(crate) origins: Vec<String>,
    /// A file with the token that HTTP clients must send as `Authorization: Bearer`
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) auth_token_file: Option<PathBuf>,
    /// Listen beyond this machine without a token
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// How many copies of the server HTTP clients may have running, one for each session
    #[arg(long, value_name = "NUMBER", default_value_t = 100, requires = "listen")]
    pub(crate) max_children: u16,
    /// Hold back what breaks the protocol, and answer in the other side's place
    #[arg(long)]
    pub(crate) enforce: bool,
    /// Write the traffic to this file, or to a new file in this directory
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Begin another file when this one would grow beyond a size such as 100M; older ones are
    /// numbered
    #[arg(long, value_name = "SIZE", requires = "record", value_parser = size)]
    pub(crate) record_max_size: Option<u64>,
    /// Write every conversation to a file of its own, in the directory that --record names
    #[arg(long, requires = "record")]
    pub(crate) record_per_session: bool,
    /// Keep only the newest N finished files, and delete older ones
    #[arg(long, value_name = "N", requires = "record")]
    pub(crate) record_keep: Option<u16>,
    /// Mask what looks like a secret in the recording, as `plumb redact` does
    #[arg(long, requires = "record")]
    pub(crate) redact: bool,
    /// Also mask what this JSON pointer leads to in messages; `*` is any one member or element; may
    /// be repeated
    #[arg(long, value_name = "POINTER", requires = "record")]
    pub(crate) redact_pointer: Vec<PointerPattern>,
    /// Serve /metrics, /healthz and /readyz on this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<String>,
    /// Send a span for every request to the OpenTelemetry collector at this URL (OTLP/HTTP), such as
    /// http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Seconds that the server may stay silent after the client has left, before it is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) exit_wait: u16,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Print a line for every message, on standard error
    #[arg(long, conflicts_with_all = ["quiet", "format"], help_heading = OUTPUT)]
    pub(crate) tail: bool,
    /// Print findings for people, or as JSON, one per line; always on standard error
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Print no findings and no summary
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}
