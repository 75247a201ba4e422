//! `workspan lsp`: shows the last run in an editor.

use std::path::PathBuf;

/// Shows the last run in an editor: a server of the Language Server Protocol on standard input and
/// output
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Shows the last run in an editor: a server of the Language Server Protocol on standard input and output.

Findings are diagnostics at their lines, spawn sites and hot lines have code lenses and hovers. The newest trace of the \
workspace is shown (run.wspan beside the sources, or target/workspan/runs), and replaced when a newer one is recorded. Lines \
that changed since the recording are marked as stale. docs/editors.md shows how editors are told of it.",
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
