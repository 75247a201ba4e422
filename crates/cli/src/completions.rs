//! `workspan completions`: the data for a shell to complete workspan's commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::command::Cli;
use crate::output;

/// Prints a shell completion script
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  workspan completions bash > ~/.local/share/bash-completion/completions/workspan
  workspan completions zsh > ~/.zfunc/_workspan       # with fpath+=~/.zfunc before compinit
  workspan completions fish > ~/.config/fish/completions/workspan.fish

Packages of workspan install them; only `cargo install` needs this.")]
pub struct CompletionsArgs {
    /// The shell that will read them
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the completions.
///
/// # Errors
/// stdout can't be written.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    generate(args.shell, &mut Cli::command(), "workspan", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}
