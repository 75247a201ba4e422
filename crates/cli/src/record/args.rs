//! The flags of `workspan record` and `cargo workspan`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as _;
use workspan_record::cargo::command_line::{CargoLine, OwnFlags};
use workspan_record::instructions::COUNTED;
use workspan_record::options::fold::FoldArgs;
use workspan_record::options::keep_windows::{Length, WindowArgs, positive};
use workspan_record::options::max_overhead::MaxOverhead;
use workspan_record::options::processes::ProcessesArg;
use workspan_record::options::settings::Sampling;
use workspan_record::options::triggers::TriggerArgs;

/// How to record, whoever is recorded.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordingArgs {
    /// Where to write the trace (default: ./PROGRAM.wspan, with a number if that exists; for cargo
    /// target/workspan/runs/TIME/)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Record without printing a report
    #[arg(long)]
    pub no_report: bool,
    /// Use cargo's profile unchanged: do not add line tables or turn off stripping (sites may then
    /// have no lines)
    #[arg(long)]
    pub keep_profile: bool,
    /// Do not let the kernel report context switches; off-CPU times are then estimates (also:
    /// WORKSPAN_NO_PERF=1)
    #[arg(long)]
    pub no_perf: bool,
    /// Samples per second of CPU time, or `off`. Samples give the function and line inside strands,
    /// and flame graphs (default 997, or fewer if they would take 1 % of the time; also:
    /// WORKSPAN_SAMPLE)
    #[arg(long, value_name = "off|HZ")]
    pub sample: Option<Sampling>,
    /// Performance counters to read at both ends of every strand, such as
    /// instructions,cache-misses,page-faults (`--metric` then measures by them; each reading takes
    /// time)
    #[arg(long, value_name = "NAMES")]
    pub counters: Option<String>,
    /// Count instructions by running the program under valgrind, 10 to 100 times slower: for
    /// `--metric instructions` on x86-64 machines without performance counters
    #[arg(long, value_name = "instructions", value_parser = COUNTED)]
    pub count: Option<String>,
    /// The parts of the run to keep.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// End the program once it has used no CPU for this long; the report says what each thread
    /// waits for (Ctrl-C in a program that hangs does the same)
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub stall: Option<Length>,
    /// Maximum time that recording may add where tasks are very short, or `off`. To keep it, most
    /// subtrees are skipped, and their contents are estimated from sampled ones (Rayon's joins,
    /// OpenMP and oneTBB tasks; default: 10% once a thread has recorded 16,384 tasks)
    #[arg(long, value_name = "off|PERCENT")]
    pub max_overhead: Option<MaxOverhead>,
    /// Folding
    #[command(flatten)]
    pub fold: FoldArgs,
    /// Also record the programs that this one starts (from scripts, launchers, by exec), each
    /// process in its own trace. Children that only fork, setuid programs and static programs are
    /// not recorded; the environment keeps LD_PRELOAD
    #[arg(long)]
    pub follow: bool,
    /// Add the recorded run to this lake (`workspan lake`): a folder, s3://…, gs://… or
    /// az://… (default: WORKSPAN_LAKE). In a Slurm job, the run gets tags of the job
    #[arg(long, value_name = "ROOT")]
    pub lake: Option<OsString>,
    /// With --lake: a tag for the run, such as commit=3f1c9a (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub tag: Vec<String>,
    /// With cargo test or bench: run each test or benchmark in its own process, and print a table
    /// with one row for each (libtest, Criterion and divan list their names; other programs run as
    /// usual)
    #[arg(long)]
    pub each: bool,
}

/// Runs a program, records it, and prints a report.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan record -- cargo run --release -- input.txt
  workspan record -o run.wspan -- cargo bench --bench sort
  workspan record -- ./sort 1000000       # OpenMP, oneTBB; Rayon when built by `cargo workspan build`
  workspan record --stall 10s -- ./server # what a program that hangs waits for
  workspan record --follow -- ./run.sh    # every program that the script starts
  workspan record -- mpirun -n 8 ./solve  # all ranks as one run: which of them the others waited for
  workspan record --processes one -- ./run.sh
  workspan record --ring 5s --on-stall 50ms --on 'delay > 20%' -- ./server  # a trace each time
  workspan record --ring 5s --on-signal --on-exit-code failure --lake ~/lake -- ./server

The program's output and exit code are its own; the report goes to stderr.")]
pub struct RecordArgs {
    /// The common recording flags.
    #[command(flatten)]
    pub common: RecordingArgs,
    /// Run a program that was compiled with GCC on LLVM's libomp instead of libgomp. The scheduler
    /// is then a different one, and some programs crash
    #[arg(long)]
    pub swap_runtime: bool,
    /// Record all processes in one trace, or each in its own; implies --follow (default: one if the
    /// program is a launcher, such as mpirun, torchrun, parallel or make; otherwise each)
    #[arg(long, value_name = "one|each")]
    pub processes: Option<ProcessesArg>,
    /// Triggers that keep parts of the run while it goes on.
    #[command(flatten)]
    pub triggers: TriggerArgs,
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
    /// The common recording flags.
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

/// The arguments of `cargo workspan` with its own flags first, wherever they were before the
/// arguments of the program.
pub fn own_flags_first(args: &[OsString]) -> Vec<OsString> {
    let command = RecordingArgs::augment_args(clap::Command::new("record"));
    let (own, line) = CargoLine::split(args, &OwnFlags::from_clap(&command));
    own.iter().chain(line.arguments()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{Args, Parser};

    use super::{CargoWorkspanArgs, RecordingArgs, own_flags_first};

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: CargoWorkspanArgs,
    }

    /// The recording flags and cargo's arguments, as text.
    fn parsed(words: &[&str]) -> (String, Vec<OsString>) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut all = vec![OsString::from("cargo-workspan")];
        all.extend(own_flags_first(&words));
        let cli = Cli::try_parse_from(all);
        let args = cli
            .unwrap_or_else(|error| panic!("{words:?}: {error}"))
            .args;
        (format!("{:?}", args.common), args.cargo)
    }

    /// An example value for each kind of flag, by the value name in its help.
    fn example(value_name: &str) -> &'static str {
        match value_name {
            "FILE" => "run.wspan",
            "TIME" => "1h",
            "SIZE" => "1MB",
            "off|HZ" => "99",
            "NAMES" | "instructions" => "instructions",
            "off|PERCENT" => "5%",
            "auto|off|steals|TIME" => "10us",
            "N" | "N|off" => "500",
            "SITE" => "sort.rs:1",
            "ROOT" => "runs",
            "KEY=VALUE" => "branch=main",
            other => panic!("no example of a {other}"),
        }
    }

    #[test]
    fn every_recording_flag_works_before_and_after_cargos_subcommand() {
        let command = RecordingArgs::augment_args(clap::Command::new("record"));
        let (nothing, _) = parsed(&["run"]);
        for argument in command.get_arguments() {
            let long = argument.get_long().map(|name| format!("--{name}"));
            let short = argument.get_short().map(|letter| format!("-{letter}"));
            let value = argument.get_action().takes_values().then(|| {
                let names = argument.get_value_names().unwrap_or_default();
                example(names.first().map_or("", |name| name.as_str()))
            });
            let mut spellings = Vec::new();
            for flag in long.iter().chain(&short) {
                spellings.push(
                    [Some(flag.as_str()), value]
                        .into_iter()
                        .flatten()
                        .map(str::to_owned)
                        .collect(),
                );
            }
            if let (Some(flag), Some(value)) = (&long, value) {
                spellings.push(vec![format!("{flag}={value}")]);
            }
            if let (Some(flag), Some(value)) = (&short, value) {
                spellings.push(vec![format!("{flag}{value}")]);
            }
            assert!(!spellings.is_empty(), "{argument:?}");
            let cargo = ["run", "--release", "input"];
            for flag in spellings {
                let flag: Vec<&str> = flag.iter().map(String::as_str).collect();
                let program = ["input", flag[0]];
                let before = [&flag[..], &["+nightly", "run", "--release"], &program].concat();
                let after = [&["+nightly", "run"], &flag[..], &["--release"], &program].concat();
                let (settings, rest) = parsed(&before);
                assert_ne!(settings, nothing, "{flag:?}");
                let expected = [&["+nightly"], &cargo[..], &flag[..1]].concat();
                assert_eq!(rest, expected, "{flag:?}");
                assert_eq!(parsed(&after), (settings, rest), "{flag:?}");
            }
        }
    }

    #[test]
    fn flags_that_exclude_each_other_do_so_anywhere() {
        let words = ["--delay", "1s", "run", "--ring", "1s"].map(OsString::from);
        let mut all = vec![OsString::from("cargo-workspan")];
        all.extend(own_flags_first(&words));
        assert!(Cli::try_parse_from(all).is_err());
    }
}
