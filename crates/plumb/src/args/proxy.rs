use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

use super::{
    Enforced, JudgingArgs, LOCK_FILE, LogFormat, LogLevel, OUTPUT, ReportFormat,
    upstream::{HeaderFromEnvironment, UpstreamArg},
    values::size,
};

const UPSTREAM: &str = "Access to the upstream server";
const LIMITS: &str = "Limits";
const REPLICAS: &str = "Replicas";

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct ProxyArgs {
    /// Command that starts the server, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    /// Serve HTTP and WebSocket clients on this address, instead of one client on standard input
    /// and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Forward to the server at this URL (http, https, ws or wss), instead of starting one; with
    /// --listen, may be repeated with a path prefix for each server: /files=http://…/mcp
    #[arg(long, value_name = "[/PREFIX=]URL", conflicts_with = "command")]
    pub(crate) upstream: Vec<UpstreamArg>,
    /// File with the token to send to the server as `Authorization: Bearer`
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_auth_token_file: Option<PathBuf>,
    /// File with headers to send to the server, one `Name: value` per line. There is no option for
    /// a header itself, since other users of this machine can see the command line
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_header_file: Option<PathBuf>,
    /// Send this header to the server, with its value taken from an environment variable; may be
    /// repeated
    #[arg(long, value_name = "NAME=VARIABLE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_header_env: Vec<HeaderFromEnvironment>,
    /// File with the CA certificates (PEM) to verify the server against, instead of those of the
    /// system
    #[arg(long, value_name = "FILE", requires = "upstream", help_heading = UPSTREAM)]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// Also accept HTTP requests addressed to this host; by default only this machine is accepted;
    /// may be repeated
    #[arg(long = "allow-host", value_name = "HOST", requires = "listen")]
    pub(crate) hosts: Vec<String>,
    /// Also accept requests from web pages of this origin; by default only this machine is
    /// accepted; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    pub(crate) origins: Vec<String>,
    /// File with the token that HTTP clients must send as `Authorization: Bearer`
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) auth_token_file: Option<PathBuf>,
    /// File with the certificate chain (PEM) of the proxy, to serve clients over TLS
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// File with the private key (PEM) for --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// File with CA certificates (PEM); only clients with a certificate signed by one of them are
    /// served. Replaces the token
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Allow listening beyond this machine without a token or client certificates
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// Maximum number of server processes for HTTP clients, one per session
    #[arg(long, value_name = "NUMBER", default_value_t = 100, requires = "listen", help_heading = LIMITS)]
    pub(crate) max_children: u16,
    /// Maximum number of client connections; at the limit, idle ones are closed, then new ones wait
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10_000,
        requires = "listen",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = LIMITS
    )]
    pub(crate) max_connections: u32,
    /// Maximum memory for messages that are incomplete or waiting to be sent
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "256M",
        requires = "listen",
        value_parser = size,
        help_heading = LIMITS
    )]
    pub(crate) max_buffered: u64,
    /// Seconds that a server at --upstream may take to begin its answer to an HTTP request
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 600,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = LIMITS
    )]
    pub(crate) answer_timeout: u32,
    /// Share sessions with other replicas of this proxy through the Redis or Valkey at this URL,
    /// such as `redis://127.0.0.1:6379/0`, or `rediss://` for TLS
    #[arg(long, value_name = "URL", requires = "listen", help_heading = REPLICAS)]
    pub(crate) store: Option<String>,
    /// File with the CA certificates (PEM) to verify a store at `rediss://` against, instead of
    /// those of the system
    #[arg(long, value_name = "FILE", requires = "store", help_heading = REPLICAS)]
    pub(crate) store_ca: Option<PathBuf>,
    /// File with the key that replicas encrypt session ids with, at least 32 bytes [default: a key
    /// kept in the store]
    #[arg(long, value_name = "FILE", requires = "listen", help_heading = REPLICAS)]
    pub(crate) store_key_file: Option<PathBuf>,
    /// Address at which other replicas reach this one [default: the address of --listen]
    #[arg(long, value_name = "HOST:PORT", requires = "listen", help_heading = REPLICAS)]
    pub(crate) advertise: Option<String>,
    /// Hold back messages that break the protocol, and answer the sender with an error;
    /// `--enforce=client` or `=server` does so only for what that side sends
    #[arg(
        long,
        value_name = "SIDE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both"
    )]
    pub(crate) enforce: Option<Enforced>,
    /// Report where the server differs from a lock file written by `plumb lock`, and with --enforce
    /// hold back what differs [default: plumb.lock]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = LOCK_FILE
    )]
    pub(crate) locked: Option<PathBuf>,
    /// Record the traffic to this file, or to a new file in this directory
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Start a new file when the recording would grow beyond this size, such as 100M; older files
    /// are numbered
    #[arg(long, value_name = "SIZE", requires = "record", value_parser = size)]
    pub(crate) record_max_size: Option<u64>,
    /// Record every conversation to its own file, in the directory given with --record
    #[arg(long, requires = "record")]
    pub(crate) record_per_session: bool,
    /// Keep only the N newest finished files, and delete older ones
    #[arg(long, value_name = "N", requires = "record")]
    pub(crate) record_keep: Option<u16>,
    /// Mask likely secrets in the recording, as `plumb redact` does
    #[arg(long, requires = "record")]
    pub(crate) redact: bool,
    /// Also mask the value at this JSON pointer in every message; `*` matches any one member or
    /// element; may be repeated
    #[arg(long, value_name = "POINTER", requires = "record")]
    pub(crate) redact_pointer: Vec<PointerPattern>,
    /// Serve a page at this address that shows the traffic in a browser
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) ui: Option<String>,
    /// Serve /metrics, /healthz and /readyz on this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<String>,
    /// Export a span for every request to the OpenTelemetry collector at this URL (OTLP/HTTP), such
    /// as `http://127.0.0.1:4318`
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Seconds that the server may stay silent after the client has left before it is terminated
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) exit_wait: u16,
    /// Seconds to let open requests finish when the proxy is asked to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) drain_wait: u16,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Print a line for every message to standard error
    #[arg(long, conflicts_with_all = ["quiet", "format"], help_heading = OUTPUT)]
    pub(crate) tail: bool,
    /// Format of findings, which are printed to standard error; json prints one per line
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Log format; json writes everything on standard error, findings included, as one object per
    /// line
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = OUTPUT)]
    pub(crate) log_format: LogFormat,
    /// Log messages of this level and above [default: info, or error with --quiet or --format json]
    #[arg(long, value_name = "LEVEL", help_heading = OUTPUT)]
    pub(crate) log_level: Option<LogLevel>,
    /// Do not print findings or the summary
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}
