//! `truth`: records programs whose work, span and number of tasks are known, and compares them with
//! what the report says.
//!
//! A program prints its own truth (see README.md). The harness runs it bare and recorded, on
//! several numbers of threads, on an idle or a busy machine, as often as requested, and prints one
//! row per program. It exits with 1 if any run was wrong, and keeps the trace of that run.

mod check;
mod compile;
mod load;
mod run;
mod same;
mod stated;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;

use compile::Program;
use table::Table;

/// Records programs of known work, span and tasks, and compares them with what the report says.
#[derive(Parser)]
struct Options {
    /// The `workspan` to test
    #[arg(long, default_value = "target/debug/workspan")]
    tool: PathBuf,
    /// Where programs are built and wrong traces are kept
    #[arg(long, default_value = "target/workspan/truth")]
    folder: PathBuf,
    /// How often each program is recorded on each number of threads
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Only programs whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The numbers of threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 16])]
    threads: Vec<usize>,
    /// How many processes keep CPUs busy meanwhile
    #[arg(long, default_value_t = 0)]
    load: usize,
    /// How many recordings run at the same time, each a load to the others
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Each program once on 2 threads, some on 16: what a change has to pass
    #[arg(long)]
    quick: bool,
    /// Print a line a run as cargo's test harness does
    #[arg(long)]
    lines: bool,
    /// Keep a CPU busy until standard input ends
    #[arg(long, hide = true)]
    burn: bool,
}

/// One program on one number of threads.
struct Case {
    program: Program,
    threads: usize,
}

impl Case {
    fn name(&self) -> String {
        match self.program.kind {
            compile::Kind::Truth => format!("{} on {} threads", self.program.name, self.threads),
            compile::Kind::Same => self.program.name.clone(),
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.burn {
        load::burn();
        return ExitCode::SUCCESS;
    }
    match run_all(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("truth: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cases; whether every run was right.
fn run_all(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let tool = std::path::absolute(&options.tool)?;
    let folder = std::path::absolute(&options.folder)?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let is_chosen =
        |name: &str| options.only.is_empty() || options.only.iter().any(|part| name.contains(part));
    eprintln!("programs are built");
    let built = compile::all(&tool, &folder, &is_chosen)?;
    for why in &built.skipped {
        println!("skipped: truth: {why}");
    }
    let cases = cases(built.programs, options);
    let runs = cases.len() * options.repeat;
    eprintln!(
        "{} programs and numbers of threads, {runs} recordings; building took {} s",
        cases.len(),
        started.elapsed().as_secs()
    );
    let _load = load::Burners::start(options.load)?;
    let table = Mutex::new(Table::new());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let said = Mutex::new(Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    // All cases run once before any runs again, so that an interrupted session has
                    // covered all cases.
                    let number = next.fetch_add(1, Relaxed);
                    if number >= runs {
                        break;
                    }
                    let case = &cases[number % cases.len()];
                    let mut outcome = run::once(&tool, &folder, case, number);
                    // With `--quick`, a wrong run is repeated, to tell a defect from an effect of
                    // the machine on a single run. The passes that count are those of `--repeat`.
                    for again in 1..if options.quick { 3 } else { 1 } {
                        if outcome.wrong.is_empty() {
                            break;
                        }
                        for wrong in &outcome.wrong {
                            println!("again, {again}: {}: {wrong}", case.name());
                        }
                        outcome = run::once(&tool, &folder, case, number);
                    }
                    if options.lines {
                        let word = if outcome.wrong.is_empty() {
                            "ok"
                        } else {
                            "FAILED"
                        };
                        println!("test truth: {} ... {word}", case.name());
                    }
                    for wrong in &outcome.wrong {
                        println!("wrong: {}: {wrong}", case.name());
                    }
                    if let Some(trace) = outcome.kept.as_ref().filter(|_| !outcome.wrong.is_empty())
                    {
                        println!("wrong: {}: the trace is {}", case.name(), trace.display());
                    }
                    lock(&table).add(case, &outcome);
                    let done = done.fetch_add(1, Relaxed) + 1;
                    let mut said = lock(&said);
                    if said.elapsed() > Duration::from_secs(10) {
                        *said = Instant::now();
                        eprintln!("{done} of {runs} recordings");
                    }
                }
            });
        }
    });
    let table = table.into_inner().unwrap_or_else(|e| e.into_inner());
    if !options.lines {
        print!("{table}");
    }
    println!(
        "truth: {} of {} recordings right, {} programs, load {}, {} at a time ({} s)",
        table.right(),
        table.all(),
        table.programs(),
        options.load,
        options.jobs.max(1),
        started.elapsed().as_secs()
    );
    Ok(table.right() == table.all())
}

/// The cases to run, program by program.
fn cases(programs: Vec<Program>, options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, program) in programs.into_iter().enumerate() {
        let threads = match (program.kind, options.quick) {
            (compile::Kind::Same, _) => vec![2],
            // Every fourth program also runs on many threads.
            (_, true) if number % 4 == 0 => vec![2, 16],
            (_, true) => vec![2],
            (_, false) => options.threads.clone(),
        };
        for threads in threads {
            let program = program.clone();
            cases.push(Case { program, threads });
        }
    }
    cases
}

/// Locks a mutex even if a holder has panicked: the data is consistent between statements.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
