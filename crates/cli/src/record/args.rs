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
    /// Where the trace goes (default: ./PROGRAM.wspan, numbered when it exists; for cargo
    /// target/workspan/runs/TIME/)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Record only, print no report
    #[arg(long)]
    pub no_report: bool,
    /// Leave cargo's profile as it is: no line tables and stripping as it says (sites may lose
    /// their lines)
    #[arg(long)]
    pub keep_profile: bool,
    /// Don't have the kernel watch context switches: off-CPU times are estimates then (also:
    /// WORKSPAN_NO_PERF=1)
    #[arg(long)]
    pub no_perf: bool,
    /// How often a second of CPU time the program's code is sampled, or `off`: for function and
    /// line inside strands, and flame graphs (default 997, or fewer where that would take 1 % of
    /// the time; also: WORKSPAN_SAMPLE)
    #[arg(long, value_name = "off|HZ")]
    pub sample: Option<Sampling>,
    /// Performance counters to read at every strand's ends, as
    /// instructions,cache-misses,page-faults (each reading takes time: `--metric` weighs by them)
    #[arg(long, value_name = "NAMES")]
    pub counters: Option<String>,
    /// Count instructions on any x86-64 machine by running the program under valgrind, some ten to
    /// a hundred times as slow: for `--metric instructions` where the CPU tells no counters
    #[arg(long, value_name = "instructions", value_parser = COUNTED)]
    pub count: Option<String>,
    /// The parts of the run to keep.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// End the program once it has stood still for so long, that is, used no CPU: the report says
    /// what each thread waits for (Ctrl-C in a program that hangs does the same)
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub stall: Option<Length>,
    /// What recording may add to the program's time where its tasks are very short, or `off`: most
    /// subtrees then run unrecorded, and what is inside is estimated from others, drawn by chance
    /// (Rayon's joins, tasks of OpenMP and oneTBB; when not given, 10% once a thread has recorded
    /// 16,384 tasks)
    #[arg(long, value_name = "off|PERCENT")]
    pub max_overhead: Option<MaxOverhead>,
    /// Folding
    #[command(flatten)]
    pub fold: FoldArgs,
    /// Record what the program starts as well, each process into a trace of its own: scripts,
    /// launchers, workers started by exec (children that only fork, setuid and static programs stay
    /// unrecorded; the environment keeps LD_PRELOAD)
    #[arg(long)]
    pub follow: bool,
    /// Add the run to this lake when it is recorded: a folder, s3://…, gs://… or az://…
    /// (`workspan lake`)
    #[arg(long, value_name = "ROOT")]
    pub lake: Option<OsString>,
    /// With --lake: what is known of the run, as commit=3f1c9a (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub tag: Vec<String>,
    /// For cargo test and bench: run each test or benchmark in a process of its own, and print a
    /// table with a row each (libtest, Criterion and divan list their names; programs that list
    /// none run as always)
    #[arg(long)]
    pub each: bool,
}

/// Runs a program, records it, and reports.
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
    /// Run a program that GCC compiled on LLVM's libomp instead of its own libgomp: another
    /// scheduler, and some programs crash there
    #[arg(long)]
    pub swap_runtime: bool,
    /// With --follow, which this implies: all processes in one trace, or a trace for each (default:
    /// one where the program is a launcher, as mpirun, torchrun, parallel or make; else each)
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
