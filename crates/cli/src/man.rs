//! `workspan man`: the manual pages, made from the same definitions as `--help`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use crate::command::Cli;
use crate::output;

/// Writes the manual pages: `workspan.1` and one page for each command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  workspan man --into ~/.local/share/man/man1    # then: man workspan, man workspan-record
  workspan man | man -l -                        # the page of `workspan` itself

Packages of workspan install them; only `cargo install` needs this.")]
pub struct ManArgs {
    /// The folder for the pages (default: print the page of `workspan`)
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
}

/// Writes or prints the pages.
///
/// # Errors
/// The folder or stdout can't be written.
pub fn run(args: &ManArgs) -> anyhow::Result<()> {
    let mut command = Cli::command();
    command.build();
    match &args.into {
        None => output::print(&page(&command, "workspan")?),
        Some(folder) => write_pages(&command, folder),
    }
}

fn write_pages(command: &Command, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let write = |command: &Command, name: &str| {
        let file = folder.join(format!("{name}.1"));
        fs::write(&file, page(command, name)?).with_context(|| file.display().to_string())
    };
    write(command, "workspan")?;
    for sub in command.get_subcommands() {
        write(sub, &format!("workspan-{}", sub.get_name()))?;
    }
    Ok(())
}

/// The text of one page, in roff.
fn page(command: &Command, name: &str) -> anyhow::Result<String> {
    let title: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let mut text = Vec::new();
    Man::new(command.clone().name(title)).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Cli::command();
        command.build();
        write_pages(&command, folder.path()).unwrap();
        for sub in command.get_subcommands() {
            let page = folder.path().join(format!("workspan-{}.1", sub.get_name()));
            let text = fs::read_to_string(&page).unwrap();
            assert!(text.contains("Examples:"), "{}", page.display());
        }
        let all = fs::read_to_string(folder.path().join("workspan.1")).unwrap();
        assert!(all.contains(".TH workspan 1") && all.contains("workspan\\-record"));
    }
}
