//! `workspan`.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = workspan_cli::record::dispatch_role() {
        return code;
    }
    workspan_cli::command::main()
}
