//! What stands below the options in `--help`.

pub(super) const PLUMB: &str = "\
Examples:
  plumb check trace.jsonl            say what is wrong in a recorded conversation
  plumb explain params-invalid       why that matters and how to fix it
  plumb schema tools/call            what a method takes and returns

Exit codes: 0 clean, 1 findings of severity error, 2 could not run.";

pub(super) const CHECK: &str = "\
Examples:
  plumb check trace.jsonl                       one recording
  plumb check 'traces/**/*.jsonl' --fail-on warning
  my-recorder | plumb check -                   from standard input
  plumb check --from server server-output.ndjson
  plumb check --rule method-unknown=off --format json trace.jsonl | jq .message
  plumb check --format sarif traces/ > plumb.sarif

The formats human, json and github print findings as they come. sarif and junit print everything
at the end, and show at most 5000 findings unless --max-findings says otherwise.

Exit codes: 0 clean, 1 findings of severity error (see --fail-on), 2 could not run.";

pub(super) const SCHEMA: &str = "\
Examples:
  plumb schema                                  methods and definitions of the newest revision
  plumb schema tools/call --revision 2025-11-25
  plumb schema Tool --format json > tool.schema.json";

pub(super) const RULES: &str = "\
Examples:
  plumb rules --layer jsonrpc
  plumb rules --revision 2025-06-18
  plumb rules --format json | jq -r '.[].name'";

pub(super) const EXPLAIN: &str = "\
Examples:
  plumb explain params-invalid
  plumb explain \"$(plumb check --format json trace.jsonl | head -1)\"";

pub(super) const COMPLETIONS: &str = "\
Examples:
  plumb completions bash > ~/.local/share/bash-completion/completions/plumb
  plumb completions zsh > ~/.zfunc/_plumb
  plumb completions fish > ~/.config/fish/completions/plumb.fish";
