//! `workspan`.

fn main() -> std::process::ExitCode {
    if let Some(code) = workspan_cli::record::dispatch_role() {
        return code;
    }
    std::process::ExitCode::SUCCESS
}
