//! The text below the options in `--help`.

pub(super) const PLUMB: &str = "\
Examples:
  plumb check trace.jsonl            check a recording
  plumb explain params-invalid       explain a rule
  plumb schema tools/call            show the params and result of a method

Exit codes: 0 clean, 1 findings of severity error, 2 could not run.";

pub(super) const CHECK: &str = "\
Examples:
  plumb check trace.jsonl                       one recording
  plumb check 'traces/**/*.jsonl' --fail-on warning
  my-recorder | plumb check -                   from standard input
  plumb check --from server server-output.ndjson
  plumb check --from-start --revision 2025-11-25 trace.jsonl
  plumb check --rule 'capability-*=off' --rule layer:http=warn trace.jsonl
  plumb check --format json trace.jsonl | jq .message
  plumb check --format sarif traces/ > plumb.sarif
  plumb check --write-baseline plumb-baseline.json traces/
  plumb check --baseline plumb-baseline.json traces/

The human format shows the first 10 findings per file, rule, severity and side, and counts the rest;
sarif and junit, which print at the end, show the first 5000; json and github show every finding as
soon as it is found. --max-findings changes the limit for any format.

If several --rule options match a rule, the most specific one wins: a name over a pattern, a pattern
over a layer.

A baseline identifies findings by rule, sender, method, position and message, not by line. Findings
in it do not affect the exit code. Entries that no longer occur are listed, and do not affect it either.

Exit codes: 0 clean, 1 findings of severity error (see --fail-on), 2 could not run.";

pub(super) const PROXY: &str = "\
Examples:
  plumb proxy -- npx -y my-server               the command to put into a client's configuration
  plumb proxy --record traces/ -- npx my-server record the traffic, for plumb check
  plumb proxy --tail -- ./my-server             show every message on standard error
  plumb proxy --enforce -- ./my-server          hold back messages that break the protocol
  plumb proxy --listen 127.0.0.1:8900 --upstream http://127.0.0.1:3000/mcp
  plumb proxy --upstream https://example.com/mcp
                                                connect a client that only starts programs
                                                to a remote server
  plumb proxy --listen 127.0.0.1:8900 -- ./my-server
                                                start a server for HTTP and WebSocket clients
  plumb proxy --listen 127.0.0.1:8900 --upstream /a=http://a.test/mcp --upstream /b=ws://b.test/
                                                several servers, each at its own path

Without --enforce, bytes are forwarded unchanged, or messages if the two sides use different
transports. Findings go to standard error, which clients usually keep in a log; standard output
carries the protocol.

With --listen and a command, every session gets its own server process; all requests without a
session (2026-07-28) share one.

Exit codes: the server's own, or 2 if it could not be started. With --listen or --upstream: 0.";

pub(super) const SCHEMA: &str = "\
Examples:
  plumb schema                                  methods and definitions of the newest revision
  plumb schema tools/call --revision 2025-11-25
  plumb schema Tool --format json > tool.schema.json";

pub(super) const RULES: &str = "\
Examples:
  plumb rules --layer jsonrpc
  plumb rules --revision 2025-06-18
  plumb rules --profile schema
  plumb rules --format json | jq -r '.[].name'";

pub(super) const EXPLAIN: &str = "\
Examples:
  plumb explain params-invalid method-unknown
  plumb explain \"$(plumb check --format json trace.jsonl | head -1)\"
  plumb check --format json trace.jsonl | plumb explain -

Findings are printed before the explanation of their rule; each rule is explained once.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  plumb completions bash > ~/.local/share/bash-completion/completions/plumb
  plumb completions zsh > ~/.zfunc/_plumb
  plumb completions fish > ~/.config/fish/completions/plumb.fish";
