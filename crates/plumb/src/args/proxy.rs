use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

use super::{
    Enforced, JudgingArgs, LOCK_FILE, LogFormat, LogLevel, OUTPUT, ReportFormat,
    upstream::{HeaderFromEnvironment, UpstreamArg},
    values::size,
};

const UPSTREAM: &str = "Access to the server at --upstream";
const LIMITS: &str = "Limits";
const REPLICAS: &str = "Several replicas of this proxy";

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct ProxyArgs {
    /// The server to start, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    /// Serve clients over HTTP and WebSocket on this address, instead of one client on the standard
    /// streams
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Pass messages on to the server at this URL (http, https, ws or wss), instead of starting one;
    /// with --listen there may be several, each below a path of its own: /files=http://…/mcp
    #[arg(long, value_name = "[/PREFIX=]URL", conflicts_with = "command")]
    pub(crate) upstream: Vec<UpstreamArg>,
    /// A file with a token that is sent to the server as `Authorization: Bearer`
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_auth_token_file: Option<PathBuf>,
    /// A file with headers that are sent to the server, each on a line as `Name: value`. Secrets are
    /// not taken from the command line itself, which other users of this machine can see
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_header_file: Option<PathBuf>,
    /// A header that is sent to the server, with the value of an environment variable; may be
    /// repeated
    #[arg(long, value_name = "NAME=VARIABLE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_header_env: Vec<HeaderFromEnvironment>,
    /// A file with the certificates (PEM) to trust the server by, instead of those of the system
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// A host, besides this machine, that HTTP clients may address; may be repeated
    #[arg(long = "allow-host", value_name = "HOST", requires = "listen")]
    pub(crate) hosts: Vec<String>,
    /// An origin, besides this machine, whose pages may send requests; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    pub(crate) origins: Vec<String>,
    /// A file with the token that HTTP clients must send as `Authorization: Bearer`
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) auth_token_file: Option<PathBuf>,
    /// A file with the certificates (PEM) of this proxy, to serve clients over TLS
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// A file with the private key (PEM) of --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A file with certificates (PEM): only clients with a certificate signed by one of them are
    /// served. Takes the place of a token
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Listen beyond this machine without a token or certificates of clients
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// How many copies of the server HTTP clients may have running, one for each session
    #[arg(long, value_name = "NUMBER", default_value_t = 100, requires = "listen", help_heading = LIMITS)]
    pub(crate) max_children: u16,
    /// How many connections clients may have; beyond it idle ones are closed, then new ones wait
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10_000,
        requires = "listen",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = LIMITS
    )]
    pub(crate) max_connections: u32,
    /// How much may be held at once of messages that are not complete or wait to be sent
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "256M",
        requires = "listen",
        value_parser = size,
        help_heading = LIMITS
    )]
    pub(crate) max_buffered: u64,
    /// Seconds until a server at --upstream has to begin its answer to an HTTP request
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 600,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = LIMITS
    )]
    pub(crate) answer_timeout: u32,
    /// Share sessions with other replicas of this proxy through Redis or Valkey, such as
    /// `redis://127.0.0.1:6379/0`, or `rediss://` for TLS
    #[arg(long, value_name = "URL", requires = "listen", help_heading = REPLICAS)]
    pub(crate) store: Option<String>,
    /// Trust a store at `rediss://` by the certificates in this file alone (PEM)
    #[arg(long, value_name = "FILE", requires = "store", help_heading = REPLICAS)]
    pub(crate) store_ca: Option<PathBuf>,
    /// A file with the key that replicas seal session ids with, at least 32
    /// bytes; without it they keep one in the store
    #[arg(long, value_name = "FILE", requires = "listen", help_heading = REPLICAS)]
    pub(crate) store_key_file: Option<PathBuf>,
    /// Where other replicas reach this one, if not where it listens
    #[arg(long, value_name = "HOST:PORT", requires = "listen", help_heading = REPLICAS)]
    pub(crate) advertise: Option<String>,
    /// Hold back what breaks the protocol, and answer in the other side's place; `--enforce=client` or
    /// `=server` only what that side sends
    #[arg(
        long,
        value_name = "SIDE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both"
    )]
    pub(crate) enforce: Option<Enforced>,
    /// Report what the server offers otherwise than `plumb lock` has written, and with --enforce
    /// hold it back [default: plumb.lock]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = LOCK_FILE
    )]
    pub(crate) locked: Option<PathBuf>,
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
    /// Show the traffic in a browser, on a page at this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) ui: Option<String>,
    /// Serve /metrics, /healthz and /readyz on this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<String>,
    /// Send a span for every request to the OpenTelemetry collector at this URL (OTLP/HTTP), such as
    /// `http://127.0.0.1:4318`
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Seconds that the server may stay silent after the client has left, before it is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) exit_wait: u16,
    /// Seconds that requests may still take once the proxy is told to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) drain_wait: u16,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Print a line for every message, on standard error
    #[arg(long, conflicts_with_all = ["quiet", "format"], help_heading = OUTPUT)]
    pub(crate) tail: bool,
    /// Print findings for people, or as JSON, one per line; always on standard error
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Log for people, or write everything on standard error as JSON, one object per line
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = OUTPUT)]
    pub(crate) log_format: LogFormat,
    /// How much to log [default: info, or error with --quiet and --format json]
    #[arg(long, value_name = "LEVEL", help_heading = OUTPUT)]
    pub(crate) log_level: Option<LogLevel>,
    /// Print no findings and no summary
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}
