//! `workspan help`: the commands, and the terms of the report in one or two sentences.

mod glossary;

use anyhow::bail;
use clap::CommandFactory;
use workspan_analysis::named_code::closest;
use workspan_export::paragraph;

use crate::command::Cli;
use crate::output::{print, width};

/// Explains a command or a term of the report
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan help
  workspan help report
  workspan help span
  workspan help terms      # the list of terms")]
pub struct HelpArgs {
    /// A command or a term
    #[arg(value_name = "TOPIC", num_args = 0..)]
    topic: Vec<String>,
}

/// `workspan help`.
///
/// # Errors
/// There is no such topic, or stdout can't be written.
pub fn run(args: &HelpArgs) -> anyhow::Result<()> {
    let topic = args.topic.join(" ").to_lowercase();
    let mut command = Cli::command();
    if topic.is_empty() {
        return print(&command.render_help().to_string());
    }
    if topic == "terms" {
        return print(&format!("{}\n", names().join("\n")));
    }
    if let Some(sub) = command.find_subcommand_mut(&topic) {
        let help = sub
            .clone()
            .bin_name(format!("workspan {topic}"))
            .render_help();
        return print(&help.to_string());
    }
    let terms = glossary::terms();
    match terms.iter().find(|term| term.is_called(&topic)) {
        Some(term) => {
            let meaning = paragraph(&term.meaning, 2, width(&std::io::stdout()));
            let examples = match term.examples.is_empty() {
                true => String::new(),
                false => format!("\nExamples:\n  {}\n", term.examples.join("\n  ")),
            };
            print(&format!("{}\n{meaning}{examples}", term.name))
        }
        None => {
            let mut known = names();
            known.extend(command.get_subcommands().map(clap::Command::get_name));
            bail!(
                "no command or term `{topic}`; the closest: {}; `workspan help terms` lists the terms",
                closest(&topic, &known).join(", ")
            )
        }
    }
}

fn names() -> Vec<&'static str> {
    glossary::terms()
        .into_iter()
        .map(|term| term.name)
        .collect()
}
