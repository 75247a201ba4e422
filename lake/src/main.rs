//! The program `workspan-lake`, which `workspan lake` starts.

use std::process::ExitCode;

fn main() -> ExitCode {
    workspan_lake::command::main()
}
