//! The flags of `workspan record` and `cargo workspan`.

use std::ffi::OsString;
use std::path::PathBuf;

use workspan_record::options::fold::FoldArgs;
use workspan_record::options::keep_windows::WindowArgs;
use workspan_record::options::max_overhead::MaxOverhead;
use workspan_record::options::settings::Sampling;

/// How to record, whoever is recorded.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordingArgs {
    /// Where the trace goes (default: ./PROGRAM.wspan, numbered when it exists; for cargo target/workspan/runs/TIME/)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Record only, print no report
    #[arg(long)]
    pub no_report: bool,
    /// Leave cargo's profile as it is: no line tables and stripping as it says (sites may lose their lines)
    #[arg(long)]
    pub keep_profile: bool,
    /// Don't have the kernel watch context switches: off-CPU times are estimates then (also: WORKSPAN_NO_PERF=1)
    #[arg(long)]
    pub no_perf: bool,
    /// How often a second of CPU time the program's code is sampled, or `off`: for function and line inside strands, and
    /// flame graphs (default 997, or fewer where that would take 1 % of the time; also: WORKSPAN_SAMPLE)
    #[arg(long, value_name = "off|HZ")]
    pub sample: Option<Sampling>,
    /// Performance counters to read at every strand's ends, as instructions,cache-misses,page-faults (each reading takes
    /// time: `--metric` weighs by them)
    #[arg(long, value_name = "NAMES")]
    pub counters: Option<String>,
    /// Which parts of the run are kept.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// What recording may add to the program's time where its tasks are very short, or `off`: most subtrees then run
    /// unrecorded, and what is inside is estimated from others, drawn by chance (Rayon's joins, tasks of OpenMP and
    /// oneTBB; when not given, 5% once a thread has recorded a million tasks)
    #[arg(long, value_name = "off|PERCENT")]
    pub max_overhead: Option<MaxOverhead>,
    /// Folding
    #[command(flatten)]
    pub fold: FoldArgs,
    /// Record what the program starts as well, each process into a trace of its own: scripts, launchers, workers started by
    /// exec (children that only fork, setuid and static programs stay unrecorded; the environment keeps LD_PRELOAD)
    #[arg(long)]
    pub follow: bool,
}

/// Runs a program, records it, and reports.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan record -- cargo run --release -- input.txt
  workspan record -o run.wspan -- cargo bench --bench sort
  workspan record -- ./sort 1000000       # OpenMP, oneTBB; Rayon when built by `cargo workspan build`
  workspan record --follow -- ./run.sh    # every program that the script starts

The program's output and exit code are its own; the report goes to stderr.")]
pub struct RecordArgs {
    /// What both have.
    #[command(flatten)]
    pub common: RecordingArgs,
    /// Run a program that GCC compiled on LLVM's libomp instead of its own libgomp: another scheduler, and some programs
    /// crash there
    #[arg(long)]
    pub swap_runtime: bool,
    /// The program and its arguments, or a cargo command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Flags of `cargo workspan`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  cargo workspan run --release -- input.txt
  cargo workspan test --release --lib
  cargo workspan bench --bench sort
  cargo workspan run --example mandelbrot -o mandelbrot.wspan
  cargo workspan build --release          # for `workspan record -- target/...`

All of cargo's own flags work; the flags above may stand anywhere before `--`.
The program's output and exit code are its own; the report goes to stderr.
Traces are kept in target/workspan/runs/.")]
pub struct CargoWorkspanArgs {
    /// What both have.
    #[command(flatten)]
    pub common: RecordingArgs,
    /// cargo's subcommand with its flags: run, test, bench, build, …
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "CARGO COMMAND"
    )]
    pub cargo: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use clap::Args;
    use workspan_record::cargo::command_line::CargoLine;

    use super::RecordingArgs;

    fn line(text: &str) -> CargoLine {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        CargoLine::parse(&words)
    }

    fn text(line: &CargoLine) -> String {
        let words = line.arguments().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Each flag of ours that has a value may have it as the next word.
    #[test]
    fn values_of_our_flags_are_not_the_programs() {
        let ours = RecordingArgs::augment_args(clap::Command::new("record"));
        let valued = ours
            .get_arguments()
            .filter(|arg| arg.get_action().takes_values());
        let names: Vec<&str> = valued.filter_map(clap::Arg::get_long).collect();
        assert!(
            names.contains(&"ring") && names.contains(&"keep"),
            "{names:?}"
        );
        for name in names {
            let flag = format!("--{name}");
            let mut run = line(&format!("run {flag} 1h --release input {flag} 2h"));
            assert_eq!(run.take(&flag).as_deref(), Some(OsStr::new("1h")), "{flag}");
            assert_eq!(text(&run), format!("run --release input {flag} 2h"));
        }
    }
}
