//! `workspan scale`: measured speedups of a program, compared with the predictions of one recorded
//! run.

mod cilkscale;
pub mod cpus;
mod predict;
mod program;
mod progress;
mod run;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use workspan_analysis::scale::{BareRuns, Runs, Scale, scale};
use workspan_analysis::simulate::Policy;
use workspan_export::plot;
use workspan_export::{ScaleView, scale_csv, scale_json, scale_text};

use crate::bench::{folder::RunFolder, writable};
use crate::compare::TextStyle;
use crate::output::print;
use crate::plot::{Format, format_of, put, write};
use crate::say;
use crate::section::SectionArgs;
use crate::simulate::{Workers, policy, workers};
use predict::Recorded;
use program::Program;
use progress::Progress;
pub use run::Runner;
use workspan_record::embedded;
use workspan_record::trace_file::destination::check_output;

/// The label of the region that was divided by the number of threads.
fn divided_region(recorded: &Recorded) -> Option<String> {
    let shares = recorded.logical.limits.shares?;
    let place = recorded.dag.places.get(shares.region as usize);
    place.map(|p| p.label.clone())
}

/// Measures a program on 1, 2, … workers and puts the speedups over what one recorded run predicts
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Measures a program on 1, 2, ... workers, and compares the speedups with the prediction from one recorded run.

After a warm-up, several rounds run the program without recording, once on each number of workers, each time on \
as many CPUs as workers. One recorded run gives the burdened lower bound, the upper bound and the simulation. \
Where the measured curve leaves that band, the output gives the reason if it is known, and the command to run \
next.",
    after_help = "\
Examples:
  workspan scale -- cargo run --release -- input.txt
  workspan scale --workers 1..8 --repeat 9 -o scale.svg -o scale.csv -- ./a.out
  workspan scale -- ./sort --threads '{workers}' 1000000
  workspan scale --only region:solve -- ./a.out          # of one section; `workspan help section`
  workspan scale --keep-runs runs -- ./a.out && workspan view runs/*.wspan
  workspan scale --from cilkscale.csv -o scale.svg       # what Cilkscale measured, over its bounds

The number of workers goes to the program as RAYON_NUM_THREADS, OMP_NUM_THREADS, CILK_NWORKERS and MYTH_NUM_WORKERS, as the \
number of CPUs it may use (which oneTBB follows, and what else asks the system), and as an argument where {workers} stands. \
A program that ignores all of them is noticed. The command runs many times, without input, its output thrown away."
)]
pub struct ScaleArgs {
    /// Numbers of workers to measure; `1..8` is 1, 2, 4 and 8 (default: up to the CPUs this process
    /// may use)
    #[arg(long, value_name = "N,...", value_parser = workers)]
    workers: Option<Workers>,
    /// More numbers of workers to predict for (default: up to four times as many, and at least 16)
    #[arg(long, value_name = "N,...", value_parser = workers)]
    predict: Option<Workers>,
    /// Rounds, each with one run on each number of workers
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Warm-up runs before the first round, on the largest number of workers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1000))]
    warmup: u32,
    /// Let the program use all CPUs, regardless of its number of workers
    #[arg(long)]
    no_pin: bool,
    /// The scheduling policy to simulate (see `workspan simulate --help`)
    #[arg(long, value_name = "POLICY", default_value = "help-first", value_parser = policy)]
    policy: Policy,
    /// Simulated runs on each number of workers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Measure only
    #[arg(long, conflicts_with = "only")]
    no_record: bool,
    /// Also record one run on each measured number of workers, and keep the traces in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_record")]
    keep_runs: Option<PathBuf>,
    /// Write the figure or its numbers to this file; its extension chooses the format: .svg, .png,
    /// .csv, .gnuplot (repeatable)
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    section: SectionArgs,
    #[command(flatten)]
    looks: TextStyle,
    /// Run nothing; draw the figure from this Cilkscale CSV file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workers", "repeat", "warmup", "no_pin", "policy", "seeds", "no_record", "keep_runs", "only", "command"])]
    from: Option<PathBuf>,
    /// With --from: the row with this tag (default: the whole program)
    #[arg(long, value_name = "TAG", requires = "from")]
    tag: Option<String>,
    /// The program and its arguments, or a cargo command
    #[arg(required_unless_present = "from", last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// `workspan scale`.
///
/// # Errors
/// The program can't be built or started or fails, or a file can't be written.
pub fn run(args: &ScaleArgs) -> anyhow::Result<ExitCode> {
    for file in &args.output {
        format_of(file)?;
        writable(file)?;
    }
    if let Some(file) = &args.from {
        return cilkscale::run(args, file);
    }
    let cpus = cpus::in_order()?;
    let counts = Counts::new(args, cpus.len());
    let folder = RunFolder::below(&embedded::unpack(None)?.folder.join("scale"))?;
    let program = Program::prepare(&args.command)?;
    let runner = Runner::new(&folder.path)?;
    let progress = Progress::new(&counts.measured, args.repeat);
    let mut session = Session {
        args,
        program: &program,
        runner: &runner,
        cpus: &cpus,
        counts: &counts,
        progress,
        folder: &folder.path,
    };
    let done = session.measure();
    drop(session);
    if runner.stopped() {
        // Everything that failed did so because of the interruption.
        say!("workspan: interrupted; nothing was written");
        return Ok(ExitCode::from(130));
    }
    let (runs, recorded, unrecorded) = done?;
    let scale = scale(runs);
    drop(folder);
    let meta = recorded.as_ref().map(|r| &r.dag.meta);
    let view = ScaleView {
        program: program.name(),
        command: program.line(),
        stretch: next_stretch(args, &program, &counts),
        bandwidth: format!("workspan bandwidth -- {}", program.line_on_one()),
        report: format!("workspan record -- {}", program.line_on_one()),
        section: args.section.only.as_ref().map(ToString::to_string),
        scale: &scale,
        region: recorded.as_ref().and_then(divided_region),
        ticks_per_second: recorded.as_ref().map_or(0, |r| r.ticks_per_second),
        burden: meta.map_or(0, |m| m.burden),
        policy: recorded.as_ref().map(|_| args.policy.to_string()),
        seeds: args.seeds,
        pinned: !args.no_pin,
        cpus: cpus.clone(),
        unrecorded,
        kept_folder: args
            .keep_runs
            .as_deref()
            .map(workspan_record::outcome::shown),
    };
    for file in &args.output {
        save(file, &view.program, &scale)?;
    }
    if args.json {
        print(&scale_json(&view))?;
    } else {
        print(&scale_text(&view, &args.looks.options(usize::MAX)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Numbers of workers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counts {
    /// Numbers to measure, ascending, including 1: speedups are relative to it.
    measured: Vec<u32>,
    /// Further numbers to predict for.
    predicted: Vec<u32>,
}

impl Counts {
    fn new(args: &ScaleArgs, cpus: usize) -> Counts {
        let cpus = u32::try_from(cpus).unwrap_or(1).max(1);
        let doubled = |to: u32| {
            std::iter::successors(Some(1u32), |n| n.checked_mul(2))
                .take_while(move |&n| n < to)
                .chain([to])
        };
        let mut measured: Vec<u32> = match &args.workers {
            Some(Workers(given)) => given.clone(),
            None => doubled(cpus).collect(),
        };
        measured.push(1);
        measured.sort_unstable();
        measured.dedup();
        let most = measured.last().copied().unwrap_or(1);
        let mut predicted: Vec<u32> = match &args.predict {
            Some(Workers(given)) => given.clone(),
            None => doubled(most.saturating_mul(4).clamp(16, 1 << 16)).collect(),
        };
        predicted.extend(&measured);
        predicted.sort_unstable();
        predicted.dedup();
        Counts {
            measured,
            predicted,
        }
    }
}

/// The state shared by all runs.
struct Session<'a> {
    args: &'a ScaleArgs,
    program: &'a Program,
    runner: &'a Runner,
    cpus: &'a [usize],
    counts: &'a Counts,
    progress: Progress,
    folder: &'a Path,
}

/// The runs; the recorded one that the predictions come from; and the reason if none was recorded.
type ScaleRuns = (Runs, Option<Recorded>, Option<String>);

impl Session<'_> {
    /// The CPUs for a number of workers; `None` for no restriction.
    fn place(&self, workers: u32) -> Option<&[usize]> {
        let count = self.cpus.len().min(workers as usize);
        (!self.args.no_pin).then(|| &self.cpus[..count])
    }

    fn measure(&mut self) -> anyhow::Result<ScaleRuns> {
        let mut runs = Runs {
            cpus: u32::try_from(self.cpus.len()).unwrap_or(u32::MAX),
            also: self.counts.measured.clone(),
            ..Runs::default()
        };
        let (mut first, mut unrecorded) = (None, None);
        if self.args.no_record {
            unrecorded = Some("--no-record was given".to_owned());
        } else {
            match self.recorded(&mut runs) {
                Ok(recorded) => first = Some(recorded),
                Err(why) if self.args.keep_runs.is_some() || self.args.section.only.is_some() => {
                    return Err(why);
                }
                Err(why) => unrecorded = Some(format!("{why:#}.")),
            }
        }
        if !self.runner.stopped() {
            runs.bare = self.bare()?;
        }
        Ok((runs, first, unrecorded))
    }

    /// Records the program and makes the predictions. It records with the largest number of workers
    /// that have a CPU each, and with one; or with all measured numbers if the runs are kept.
    fn recorded(&mut self, runs: &mut Runs) -> anyhow::Result<Recorded> {
        let measured = &self.counts.measured;
        let cpus = u32::try_from(self.cpus.len()).unwrap_or(u32::MAX);
        let most = measured.last().copied().unwrap_or(1).min(cpus);
        // The largest number comes first, so that cargo builds on all of these CPUs.
        let mut counts = vec![most];
        if self.args.keep_runs.is_some() {
            counts.extend(measured.iter().rev().filter(|&&n| n != most));
        } else if most > 1 {
            counts.push(1);
        }
        if let Some(folder) = &self.args.keep_runs {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{}: can't be made", folder.display()))?;
            for &workers in &counts {
                check_output(&trace_in(folder, workers))?;
            }
        }
        let mut first: Option<Recorded> = None;
        for &workers in &counts {
            if self.runner.stopped() {
                bail!("interrupted");
            }
            self.progress
                .say(&format!("recording a run on {workers} of {most} workers"));
            let trace = trace_in(
                self.args.keep_runs.as_deref().unwrap_or(self.folder),
                workers,
            );
            let given = self.program.arguments(workers);
            predict::record(self.runner, &given, workers, self.place(workers), &trace)?;
            let recorded = predict::read(&trace, workers, &self.args.section)?;
            if recorded.run.tasks <= 1 {
                bail!("nothing parallel was seen in the program when it was recorded");
            }
            if workers <= most {
                runs.recorded.push(recorded.run.clone());
            }
            if first.is_none() {
                first = Some(recorded);
            }
        }
        runs.recorded
            .sort_by_key(|run| std::cmp::Reverse(run.asked));
        let first = first.context("no run was recorded")?;
        runs.logical = Some(first.logical);
        self.progress.say("simulating");
        let predicted = &self.counts.predicted;
        runs.simulated = predict::simulate(&first, predicted, self.args.policy, self.args.seeds)?;
        Ok(first)
    }

    /// Runs all rounds: a slow moment of the machine affects all numbers of workers equally.
    fn bare(&mut self) -> anyhow::Result<Vec<BareRuns>> {
        let empty = |&workers: &u32| BareRuns {
            workers,
            times: Vec::new(),
        };
        let mut all: Vec<BareRuns> = self.counts.measured.iter().map(empty).collect();
        let most = self.counts.measured.last().copied().unwrap_or(1);
        let cpus = u32::try_from(self.cpus.len()).unwrap_or(u32::MAX);
        for _ in 0..self.args.warmup {
            self.progress.say("warming up");
            let took = self
                .runner
                .run(self.program.bare(most), most, self.place(most))?;
            self.progress.expect(most, cpus, took);
        }
        for round in 1..=self.args.repeat {
            for runs in &mut all {
                if self.runner.stopped() {
                    bail!("interrupted");
                }
                let workers = runs.workers;
                self.progress.begin(workers, round, self.args.repeat);
                let begin = Instant::now();
                let took = self.timed(workers)?;
                self.progress.end(workers, begin.elapsed());
                self.progress.expect(workers, cpus, begin.elapsed());
                let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                runs.times.push(ns.max(1));
            }
        }
        Ok(all)
    }

    /// The time of a run with `workers` workers: that of the bare program from its start to its
    /// end; or that of the section in a recorded run, because only a recorded run shows when it
    /// begins and ends.
    fn timed(&self, workers: u32) -> anyhow::Result<Duration> {
        if self.args.section.only.is_none() {
            let command = self.program.bare(workers);
            return self.runner.run(command, workers, self.place(workers));
        }
        let trace = self.folder.join("section.wspan");
        let given = self.program.arguments(workers);
        predict::record(self.runner, &given, workers, self.place(workers), &trace)?;
        let recorded = predict::read(&trace, workers, &self.args.section)?;
        Ok(Duration::from_nanos(recorded.elapsed_ns))
    }
}

/// The command that shows where the work grows; it uses existing runs if there are any.
fn next_stretch(args: &ScaleArgs, program: &Program, counts: &Counts) -> String {
    let most = counts.measured.last().copied().unwrap_or(1);
    let next_in = |folder: &Path| {
        let trace = |workers| workspan_record::outcome::shown(&trace_in(folder, workers));
        format!("workspan stretch {} {}", trace(1), trace(most))
    };
    match &args.keep_runs {
        Some(folder) => next_in(folder),
        // The number of workers is an argument, which `stretch` does not know.
        None if program.takes_argument() => format!(
            "workspan scale --keep-runs runs -- {}; {}",
            program.line(),
            next_in(Path::new("runs"))
        ),
        None => format!("workspan stretch -- {}", program.line()),
    }
}

/// Names that sort by the number of workers.
fn trace_in(folder: &Path, workers: u32) -> PathBuf {
    folder.join(format!("workers-{workers:03}.wspan"))
}

fn save(file: &Path, program: &str, found: &Scale) -> anyhow::Result<()> {
    match format_of(file)? {
        // All measurements, not only those in the figure.
        Format::Csv => put(file, scale_csv(found)),
        format => write(
            Some(file),
            &plot::Page::with_size(640.0, 400.0),
            &plot::scale(program, found),
            format,
        ),
    }
}
