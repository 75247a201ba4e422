//! `workspan`.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when nobody reads; `say!` and `output::print` do not"
)]

use std::process::ExitCode;

use workspan_dag::memory::ColumnMemory;

/// The columns of a large run take hundreds of megabytes, one after the other.
#[global_allocator]
static MEMORY: ColumnMemory = ColumnMemory;

fn main() -> ExitCode {
    if let Some(code) = workspan_record::dispatch_role() {
        return code;
    }
    workspan_cli::stack::with_enough(workspan_cli::command::main)
}
