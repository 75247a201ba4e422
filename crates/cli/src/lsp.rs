//! `workspan lsp`: shows the last run in an editor.

use std::path::PathBuf;

/// Shows the last run in an editor: a Language Server Protocol server on standard input and output
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Shows the last run in an editor: a Language Server Protocol server on standard input and output.

Findings are diagnostics at their lines; spawn sites and hot lines have code lenses and hovers. It shows the \
newest trace of the workspace (run.wspan next to the sources, or one in target/workspan/runs), and switches when \
a newer one is recorded. Lines that changed since the recording are marked as stale. docs/editors.md shows how \
to set up editors.",
    after_help = "\
Examples:
  workspan lsp
  workspan lsp --trace run.wspan"
)]
pub struct LspArgs {
    /// The trace to show (default: the newest one of the workspace)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// `workspan lsp`.
///
/// # Errors
/// The editor does not speak the protocol, or closed the connection without `exit`.
pub fn run(args: &LspArgs) -> anyhow::Result<()> {
    workspan_lsp::serve(args.trace.clone())
}
