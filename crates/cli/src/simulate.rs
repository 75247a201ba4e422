//! `workspan simulate`: the recorded computation on other numbers of workers, under other
//! schedulers.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use workspan_analysis::named_code::{self, closest, line_range};
use workspan_analysis::simulate::{Fix, Policy, Setup, Simulation, usual_attempt_cost};
use workspan_analysis::{Options, Target, report};
use workspan_dag::Dag;
use workspan_export::{SimulationRow, SimulationView, simulation_json, simulation_text};
use workspan_reader::packed;

use crate::advise::ticks;
use crate::compare::TextStyle;
use crate::output::print;
use crate::output_file;
use crate::section::SectionArgs;
use crate::trace::TraceArgs;
use crate::whatif::factor;
use workspan_record::progress::Progress;
use workspan_record::units::time;

/// Runs the recorded computation on virtual workers under a scheduling policy
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Runs the recorded computation on virtual workers under a scheduling policy.

Strands take as long as in the trace; creating and stealing tasks takes the times given. Thieves choose their \
victims at random, the same for the same seed. -o writes the simulated run as a trace, which every other command \
reads.",
    after_help = "\
Examples:
  workspan simulate run.wspan --workers 1,2,4..64
  workspan simulate run.wspan --only region:solve --workers 64
  workspan simulate run.wspan --workers 64 --policy work-first -o on64.jsonl
  workspan simulate run.wspan --workers 16 --fix 'lines:src/sort.rs:43-50 x4'
  workspan simulate run.wspan --workers 16 --fix 'lines:src/sort.rs:43-50 into 50us' --fix 'site:src/fib.rs:9 cutoff 64'
  workspan simulate run.wspan --policy bounded-queue:64 --steal-cost 2us --spawn-cost 20ns --seeds 10"
)]
pub struct SimulateArgs {
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    section: SectionArgs,
    /// Numbers of virtual workers; `4..64` is 4, 8, 16, 32 and 64
    #[arg(long, value_name = "N,...", default_value = "1..128", value_parser = workers)]
    workers: Workers,
    /// work-first, help-first, delayed-children, bounded-queue:N, restrained-stealing or
    /// breadth-first
    #[arg(long, value_name = "POLICY", default_value = "help-first", value_parser = policy)]
    policy: Policy,
    /// Cost of a steal (default: the trace's burden)
    #[arg(long, value_name = "TIME", value_parser = time)]
    steal_cost: Option<f64>,
    /// Cost of looking at another worker's empty queue (default: 1/32 of a steal)
    #[arg(long, value_name = "TIME", value_parser = time)]
    attempt_cost: Option<f64>,
    /// Cost of creating a task (default: the cost of a probe in the trace, which is similar)
    #[arg(long, value_name = "TIME", value_parser = time)]
    spawn_cost: Option<f64>,
    /// Number of runs, each with another seed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10000))]
    seeds: u32,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// A change to simulate. `site:SITE xK`, `lines:FILE:FROM-TO xK` or `region:NAME xK` spreads
    /// code over K tasks; `CODE into TIME` spreads it over tasks of at most TIME; the work stays
    /// the same. `site:SITE cutoff N` runs subtrees with at most N of the site's tasks serially.
    /// Repeatable
    #[arg(long, value_name = "CODE xK")]
    fix: Vec<String>,
    /// Write the run of the first seed as a text trace, compressed if FILE ends in .gz; needs a
    /// single number of workers
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Count blocked time (I/O, locks) as work
    #[arg(long)]
    count_blocked: bool,
    /// Print one JSON object with stable keys instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    looks: TextStyle,
}

/// `workspan simulate`.
///
/// # Errors
/// The trace can't be read or has no critical path, a fix names code that the trace does not have,
/// or the output can't be written.
pub fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    if args.output.is_some() && args.workers.0.len() != 1 {
        bail!("-o writes one run: choose its number of workers, such as --workers 64");
    }
    let progress = Progress::new("workspan: simulating …");
    let of_file = || args.trace.file.display().to_string();
    let measured = Options {
        count_blocked: args.count_blocked,
        ..Options::default()
    };
    let opening = args.trace.reading.each_task();
    let dag = args.section.open(&args.trace.file, opening, &measured)?;
    let was = report(&dag, &measured).with_context(of_file)?.work_span;
    if was.span == 0 {
        bail!(
            "{}: has no critical path, because all its strands have no weight",
            of_file()
        );
    }
    let fixes: Vec<Fix> = args
        .fix
        .iter()
        .map(|text| fix(&dag, text))
        .collect::<anyhow::Result<_>>()
        .with_context(of_file)?;
    let given = |ns: Option<f64>, or: u64| ns.map_or(or, |ns| ticks(&dag, ns));
    let spawn_cost = given(args.spawn_cost, dag.meta.probe_cost);
    let steal_cost = given(args.steal_cost, dag.meta.burden);
    let attempt_cost = given(args.attempt_cost, usual_attempt_cost(steal_cost));
    let simulation = Simulation::new(&dag, &measured, spawn_cost, &fixes).with_context(of_file)?;
    let mut rows = Vec::new();
    for &workers in &args.workers.0 {
        let setup = Setup {
            workers,
            policy: args.policy,
            steal_cost,
            attempt_cost,
            seed: args.seed,
        };
        let (first, trace) = simulation.trace(&setup).with_context(of_file)?;
        let mut runs = vec![first];
        for more in 1..u64::from(args.seeds) {
            let seed = args.seed.wrapping_add(more);
            runs.push(simulation.run(&Setup { seed, ..setup }));
        }
        let found = report(&trace, &Options::default())?;
        rows.push(SimulationRow {
            setup,
            runs,
            bounds: was.speedup(workers),
            breakdown: found.breakdown,
        });
        if let Some(path) = &args.output {
            let name = || format!("{}: can't be written", path.display());
            let is_text = |start: &[u8]| {
                use workspan_reader::open::FileKind;
                let text = FileKind::from_bytes(start) == Some(FileKind::Text);
                text || packed::is_packed(start) && !packed::is_recorded(start)
            };
            let mut out = BufWriter::new(output_file::create(path, is_text)?);
            if path.extension().is_some_and(|end| end == "gz") {
                // Fast compression, because a million tasks are hundreds of megabytes of text.
                let mut packed = GzEncoder::new(&mut out, Compression::fast());
                workspan_reader::text::write(&trace, &mut packed).with_context(name)?;
                packed.finish().with_context(name)?;
            } else {
                workspan_reader::text::write(&trace, &mut out).with_context(name)?;
            }
            out.flush().with_context(name)?;
        }
    }
    drop(progress);
    let view = SimulationView {
        dag: &dag,
        work: was.work,
        span: was.span,
        limits: was.limits,
        spawn_cost,
        fixes: &args.fix,
        rows,
    };
    if args.json {
        return print(&simulation_json(&view));
    }
    print(&simulation_text(&view, &args.looks.options(usize::MAX)))
}

/// Numbers of workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workers(pub Vec<u32>);

/// Maximum number of virtual workers.
const MAX_WORKERS: u32 = 65536;

/// Parses a list of numbers of workers: `1,2,4..64`.
///
/// # Errors
/// A part is not a number, or is greater than the maximum.
pub fn workers(text: &str) -> Result<Workers, String> {
    let one = |text: &str| match text.trim().parse() {
        Ok(n) if (1..=MAX_WORKERS).contains(&n) => Ok(n),
        _ => Err(format!(
            "`{text}` is not a number of workers from 1 to {MAX_WORKERS}; expected a list or range such as 1,2,4 or 4..64"
        )),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let Some((from, to)) = part.split_once("..") else {
            all.push(one(part)?);
            continue;
        };
        let (from, to) = (one(from)?, one(to)?);
        if from > to {
            return Err(format!("`{part}` ends before it starts"));
        }
        all.extend(std::iter::successors(Some(from), |n| n.checked_mul(2)).take_while(|&n| n < to));
        all.push(to);
    }
    Ok(Workers(all))
}

const POLICIES: [&str; 6] = [
    "work-first",
    "help-first",
    "delayed-children",
    "bounded-queue:N",
    "restrained-stealing",
    "breadth-first",
];

/// Parses the name of a scheduling policy.
///
/// # Errors
/// There is no such policy; the message lists the closest.
pub fn policy(text: &str) -> Result<Policy, String> {
    Ok(match text {
        "work-first" => Policy::WorkFirst,
        "help-first" => Policy::HelpFirst,
        "delayed-children" => Policy::DelayedChildren,
        "restrained-stealing" => Policy::RestrainedStealing,
        "breadth-first" => Policy::BreadthFirst,
        other => match other.strip_prefix("bounded-queue:").map(str::parse) {
            Some(Ok(most)) => Policy::BoundedQueue(most),
            Some(Err(_)) => {
                return Err(format!(
                    "`{text}` has no number of tasks; expected one, as bounded-queue:64"
                ));
            }
            None => {
                let near = closest(other, &POLICIES);
                return Err(format!(
                    "there is no policy `{text}`; the closest: {}",
                    near.join(", ")
                ));
            }
        },
    })
}

/// Parses a fix, for instance `site:src/sort.rs:37 x2`.
fn fix(dag: &Dag, text: &str) -> anyhow::Result<Fix> {
    let expected = || {
        format!(
            "`{text}` is not a fix; expected CODE as `site:SITE`, `lines:FILE:FROM-TO` or `region:NAME`, and behind it `xK`, `into TIME` \
             or, for a site, `cutoff N`, as 'site:src/sort.rs:37 x2'"
        )
    };
    if let Some((code, most)) = text.rsplit_once(" cutoff ") {
        let tasks = most.trim().parse().ok().filter(|&n: &u64| n > 0);
        return match (target(dag, code, &expected)?, tasks) {
            (Target::Site { places, .. }, Some(tasks)) => Ok(Fix::Cutoff { places, tasks }),
            _ => bail!("{}", expected()),
        };
    }
    if let Some((code, most)) = text.rsplit_once(" into ") {
        let most = time(most)?;
        let ticks = ticks(dag, most).max(1);
        let target = target(dag, code, &expected)?;
        return Ok(Fix::Pieces { target, ticks });
    }
    let (code, times) = text.rsplit_once('x').with_context(expected)?;
    let factor = factor(times).map_err(anyhow::Error::msg)?;
    let target = target(dag, code, &expected)?;
    Ok(Fix::Spread { target, factor })
}

/// The code of a fix.
fn target(dag: &Dag, code: &str, expected: &dyn Fn() -> String) -> anyhow::Result<Target> {
    let (kind, name) = code.trim().split_once(':').with_context(expected)?;
    match kind {
        "site" => Ok(named_code::site(dag, name, false)?),
        "lines" => {
            let range = line_range(name).map_err(anyhow::Error::msg)?;
            Ok(named_code::lines(dag, &range)?)
        }
        "region" => Ok(named_code::region(dag, name)?),
        _ => bail!("{}", expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_by_name() {
        assert_eq!(policy("bounded-queue:64"), Ok(Policy::BoundedQueue(64)));
        for (name, words) in [
            ("bounded-queue:", "has no number"),
            ("bounded-queue:-1", "has no number"),
            ("worst-first", "work-first"),
            ("", "no policy"),
        ] {
            let error = policy(name).err().unwrap_or_default();
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn numbers_of_workers_are_listed_or_doubled() {
        let parsed = |text| workers(text).map(|workers| workers.0);
        assert_eq!(parsed("1,2,4..32"), Ok(vec![1, 2, 4, 8, 16, 32]));
        assert_eq!(parsed("3..10"), Ok(vec![3, 6, 10]));
        assert_eq!(parsed("64"), Ok(vec![64]));
        assert_eq!(parsed("7..7"), Ok(vec![7]));
        assert_eq!(parsed("1..65536").map(|all| all.len()), Ok(17));
        for wrong in ["0", "", "4..", "..4", "8..2", "65537", "1,,2", "2..0", "x"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
