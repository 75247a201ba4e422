//! The suite's turns as rows: a benchmark with a number of workers has a row for each runtime.

use serde::Serialize;

use super::super::result::{Recorded, median};
use super::super::runtime::Runtime;
use super::turn::{Cell, TurnResults};

/// Maximum cost of recording at default settings, as recorded over bare CPU time.
pub const MAX_CPU_RATIO: f64 = 1.3;
/// Minimum CPU time for a ratio, in ns: CPU times are in hundredths of a second, so ratios of
/// shorter ones are meaningless.
const MIN_CPU_NS: u64 = 200_000_000;

/// A program with a number of workers.
#[derive(Debug, Clone, Serialize)]
pub struct Benchmark {
    /// The program.
    pub program: &'static str,
    /// Its task structure.
    pub about: &'static str,
    /// Number of workers.
    pub workers: usize,
    /// Median of the serial elision, in ns.
    pub serial: Option<u64>,
    /// One row for each runtime, the serial elision first.
    pub rows: Vec<Row>,
}

/// A runtime's runs of a benchmark.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The runtime's name in flags.
    pub runtime: &'static str,
    /// The runtime's name in tables.
    pub title: &'static str,
    /// Elapsed times of the bare runs, sorted, in ns.
    pub bare: Vec<u64>,
    /// Elapsed times of the recorded runs, sorted, in ns.
    pub recorded: Vec<u64>,
    /// The speedup over the serial elision, by the medians.
    pub speedup: Option<f64>,
    /// The speedup by the slowest and by the fastest run.
    pub spread: Option<[f64; 2]>,
    /// The share of workers × elapsed that the serial elision would not have taken.
    pub loss: Option<f64>,
    /// Recorded over bare CPU time of the process.
    pub cpu_ratio: Option<f64>,
    /// The results from the trace of the fastest recorded run.
    pub says: Option<Recorded>,
    /// Why there are no results from a trace.
    pub silent: Option<String>,
    /// The trace of that run, below the suite's folder.
    pub trace: Option<String>,
    /// The traces of all runs.
    pub traces: Vec<String>,
    /// The viewer with the fastest recorded run inside, below the suite's folder.
    pub report: Option<String>,
}

/// The benchmarks of the turns up to now.
pub fn benchmarks(turns: &[(Cell, TurnResults)]) -> Vec<Benchmark> {
    let mut keys: Vec<(Cell, usize)> = Vec::new();
    let serial = |cell: &Cell| cell.runtime == Runtime::Serial;
    // The serial elision has no workers, so it has a row for every number of them.
    let only_serial = turns.iter().all(|(cell, _)| serial(cell));
    for (cell, _) in turns
        .iter()
        .filter(|(cell, _)| only_serial || !serial(cell))
    {
        let is_there =
            |key: &&(Cell, usize)| key.0.program == cell.program && key.0.workers == cell.workers;
        if keys.iter().find(is_there).is_none() {
            keys.push((*cell, cell.workers));
        }
    }
    let mut all: Vec<Benchmark> = keys
        .into_iter()
        .map(|(key, workers)| {
            let of_program = turns.iter().filter(|(cell, _)| cell.program == key.program);
            let own: Vec<&(Cell, TurnResults)> = of_program
                .filter(|(cell, _)| serial(cell) || cell.workers == workers)
                .collect();
            benchmark(&key, workers, &own)
        })
        .collect();
    all.sort_by_key(|b| order(b.program));
    all
}

fn order(program: &str) -> usize {
    let mut all = super::programs::PROGRAMS.iter();
    all.position(|p| p.name == program).unwrap_or(usize::MAX)
}

fn benchmark(cell: &Cell, workers: usize, turns: &[&(Cell, TurnResults)]) -> Benchmark {
    let elapsed = |runtime: Runtime| {
        let own = turns.iter().filter(|(cell, _)| cell.runtime == runtime);
        let mut bare: Vec<u64> = own.map(|(_, turn)| turn.bare.elapsed).collect();
        bare.sort_unstable();
        bare
    };
    let serial = median(&elapsed(Runtime::Serial));
    let present = super::super::runtime::RUNTIMES.into_iter();
    let rows = present
        .map(|runtime| (runtime, elapsed(runtime)))
        .filter(|(_, bare)| !bare.is_empty())
        .map(|(runtime, bare)| {
            let own: Vec<&TurnResults> = turns
                .iter()
                .filter(|(cell, _)| cell.runtime == runtime)
                .map(|(_, turn)| turn)
                .collect();
            row(runtime, workers, serial, bare, &own)
        })
        .collect();
    Benchmark {
        program: cell.program.name,
        about: cell.program.about,
        workers,
        serial,
        rows,
    }
}

fn row(
    runtime: Runtime,
    workers: usize,
    serial: Option<u64>,
    bare: Vec<u64>,
    turns: &[&TurnResults],
) -> Row {
    let recorded = turns.iter().filter_map(|turn| turn.recorded.as_ref());
    let mut by_time: Vec<_> = recorded.collect();
    by_time.sort_by_key(|run| run.took.elapsed);
    let best = by_time
        .iter()
        .find(|run| run.says.is_ok())
        .or(by_time.first());
    let ratio = |elapsed: u64| Some(serial? as f64 / elapsed.max(1) as f64);
    let speedup = median(&bare).and_then(ratio);
    let spread = match (bare.last(), bare.first()) {
        (Some(&slow), Some(&fast)) => ratio(slow).zip(ratio(fast)).map(|(a, b)| [a, b]),
        _ => None,
    };
    let used = if runtime == Runtime::Serial {
        1
    } else {
        workers
    };
    Row {
        runtime: runtime.name(),
        title: runtime.title(),
        recorded: by_time.iter().map(|run| run.took.elapsed).collect(),
        speedup,
        spread,
        loss: speedup.map(|speedup| 1.0 - speedup / used as f64),
        cpu_ratio: match runtime {
            // Its recorded program differs from the bare one.
            Runtime::Serial => None,
            _ => cpu_ratio(turns),
        },
        says: best.and_then(|run| run.says.clone().ok()),
        silent: best.and_then(|run| run.says.clone().err()),
        trace: best.map(|run| run.trace.clone()),
        traces: by_time.iter().map(|run| run.trace.clone()).collect(),
        report: None,
        bare,
    }
}

/// The ratio over all turns together, because each CPU time is rounded.
fn cpu_ratio(turns: &[&TurnResults]) -> Option<f64> {
    let both = turns.iter().filter_map(|turn| {
        let recorded = turn.recorded.as_ref()?.took.cpu?;
        Some((turn.bare.cpu?, recorded))
    });
    let (bare, recorded) = both.fold((0, 0), |sum, turn| (sum.0 + turn.0, sum.1 + turn.1));
    (bare >= MIN_CPU_NS).then(|| recorded as f64 / bare as f64)
}

/// The cost of recording compared with the aim, with every program that misses it; `None` if no
/// ratio is known.
pub fn cost(benchmarks: &[Benchmark]) -> Option<String> {
    let rows = benchmarks
        .iter()
        .flat_map(|b| b.rows.iter().map(move |row| (b, row)));
    let mut ratios: Vec<(f64, String)> = rows
        .filter_map(|(b, row)| Some((row.cpu_ratio?, format!("{} on {}", b.program, row.title))))
        .collect();
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (worst, name) = ratios.first()?;
    let over = ratios.iter().take_while(|ratio| ratio.0 > MAX_CPU_RATIO);
    let over: Vec<String> = over
        .map(|(ratio, name)| format!("{name} {ratio:.2}"))
        .collect();
    let within = ratios.len() - over.len();
    let rest = match over.as_slice() {
        [] => format!("the largest is {worst:.2}, {name}"),
        over => format!("above it are {}", over.join(", ")),
    };
    Some(format!(
        "Recorded over bare CPU time: {within} of {} within {MAX_CPU_RATIO} (the aim); {rest}.",
        ratios.len()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::super::programs::PROGRAMS;
    use super::super::turn::RunTimes;
    use super::*;

    fn turn(runtime: Runtime, turn: usize, elapsed: u64) -> (Cell, TurnResults) {
        let cell = Cell {
            program: PROGRAMS[2],
            workers: if runtime == Runtime::Serial { 1 } else { 2 },
            runtime,
            turn,
        };
        let took = RunTimes {
            elapsed,
            cpu: Some(elapsed),
        };
        let recorded = super::super::turn::RecordedRun {
            took: RunTimes {
                elapsed: 2 * elapsed,
                cpu: Some(2 * elapsed),
            },
            trace: format!("traces/{turn}"),
            says: Ok(Recorded::default()),
        };
        let found = TurnResults {
            built: String::new(),
            printed: String::new(),
            bare: took,
            recorded: Some(recorded),
            turn_ns: 1,
        };
        (cell, found)
    }

    #[test]
    fn a_row_says_how_much_faster_and_what_was_lost() {
        let ms = 1_000_000;
        let turns = [
            turn(Runtime::Serial, 1, 100 * ms),
            turn(Runtime::OneTbb, 1, 80 * ms),
            turn(Runtime::OneTbb, 2, 50 * ms),
            turn(Runtime::OneTbb, 3, 100 * ms),
        ];
        let all = benchmarks(&turns);
        assert_eq!((all.len(), all[0].workers), (1, 2));
        assert_eq!(all[0].rows[0].runtime, "serial");
        let row = &all[0].rows[1];
        assert_eq!(row.speedup, Some(1.25));
        assert_eq!(row.spread, Some([1.0, 2.0]));
        assert_eq!(row.loss, Some(0.375));
        assert_eq!(row.trace.as_deref(), Some("traces/2"));
        assert_eq!(row.cpu_ratio, Some(2.0));
        let cost = cost(&all).unwrap();
        assert!(cost.contains("0 of 1 within 1.3"), "{cost}");
        assert!(cost.contains("above it are fib on oneTBB 2.00."), "{cost}");
    }
}
