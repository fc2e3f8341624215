//! The `plumb` executable; see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    plumb::main()
}
