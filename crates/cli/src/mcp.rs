//! `workspan mcp`: gives coding agents access to recorded runs.

use std::path::PathBuf;

use anyhow::Context;
use workspan_mcp::Settings;

/// Serves coding agents: a Model Context Protocol server on standard input and output
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Serves coding agents: a Model Context Protocol server on standard input and output.

Its tools are findings, site, source_heat, what_if, compare, query and, with --allow-record, record. It reads \
and writes nothing outside the allowed folders, not even through `..` or links. docs/agents.md shows how to set \
it up.",
    after_help = "\
Examples:
  workspan mcp                                   # traces and sources below the current folder
  workspan mcp --allow ~/project --allow ~/runs
  workspan mcp --allow-record                    # agents may also run and record programs"
)]
pub struct McpArgs {
    /// A folder whose files agents may see (repeatable; default: the current one); names are
    /// relative to the first
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
    /// Let agents run programs: the tool `record` runs any command as you, without a shell
    #[arg(long)]
    allow_record: bool,
}

/// `workspan mcp`.
///
/// # Errors
/// An allowed folder does not exist, or the client does not speak the protocol.
pub fn run(args: &McpArgs) -> anyhow::Result<()> {
    let mut allow = args.allow.clone();
    if allow.is_empty() {
        allow.push(std::env::current_dir().context("the current folder")?);
    }
    let recorder = args.allow_record.then(std::env::current_exe).transpose();
    let recorder = recorder.context("the path of `workspan` itself")?;
    workspan_mcp::serve(&Settings { allow, recorder })
}
