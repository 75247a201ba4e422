//! `workspan bandwidth`.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;
use workspan_runtimes::thread_count_variables;

/// Shows whether memory is the limit: runs serial copies of a program at once, each on its own CPU,
/// and compares them with one copy alone
///
/// The copies share nothing but the machine: caches, memory bandwidth, clock rate. No scheduler can
/// win back what they lose by running together (Cilkview, SPAA'10, section 5).
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan bandwidth -- target/release/sort 10000000
  workspan bandwidth --copies 4 --repeat 5 -- ./a.out
  workspan bandwidth --json -- ./a.out

Each copy runs with RAYON_NUM_THREADS=1 and OMP_NUM_THREADS=1, pinned to one CPU, without input, its output thrown away.
Copies run in the same folder at the same time: a program that writes files needs names of its own for each run.")]
pub struct BandwidthArgs {
    /// Number of copies at once (default: the CPUs this process may use)
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=4096))]
    copies: Option<u32>,
    /// Number of rounds; each runs one copy alone, then all at once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print one JSON object, with times in nanoseconds
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROG")]
    program: Vec<std::ffi::OsString>,
}

/// The measurements, in ns.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct BandwidthResult {
    workspan_bandwidth: u32,
    copies: usize,
    cpus: usize,
    /// One copy at a time, by round.
    alone: Vec<u64>,
    /// Each copy of each round with all at once.
    together: Vec<u64>,
    /// Median of `together` over median of `alone`.
    slower: f64,
    /// The fastest of `together` over the slowest of `alone`, and the slowest over the fastest.
    slower_range: [f64; 2],
    /// Copies over `slower`: the upper bound of the speedup on this many CPUs, however well the
    /// work is divided.
    at_most: f64,
}

/// `workspan bandwidth`.
///
/// # Errors
/// There are fewer than two CPUs or copies, or the program can't be started or fails.
pub fn run(args: &BandwidthArgs) -> anyhow::Result<()> {
    let cpus = usable()?;
    let copies = args.copies.map_or(cpus.len(), |p| p as usize);
    ensure!(
        copies >= 2,
        "this process may use only one CPU, so no two copies can run at once; see `taskset -p $$`"
    );
    let mut progress = Progress::new(args.repeat);
    // The first run fills the page cache.
    progress.report("warming up");
    round(&args.program, &cpus[..1])?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for n in 1..=args.repeat {
        progress.report(&format!("round {n} of {}: one alone", args.repeat));
        // Another CPU each time, because one may be slower than the others.
        let cpu = cpus[(n as usize - 1) % cpus.len()];
        alone.extend(round(&args.program, &[cpu])?);
        progress.report(&format!("round {n} of {}: {copies} at once", args.repeat));
        let places: Vec<usize> = (0..copies).map(|i| cpus[i % cpus.len()]).collect();
        together.extend(round(&args.program, &places)?);
    }
    drop(progress);
    let measured = BandwidthResult::new(copies, cpus.len(), alone, together);
    if args.json {
        let json = serde_json::to_string(&measured)?;
        return crate::output::print(&format!("{json}\n"));
    }
    crate::output::print(&measured.text(&name(&args.program)))
}

fn name(program: &[std::ffi::OsString]) -> String {
    let path = Path::new(&program[0]);
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

impl BandwidthResult {
    fn new(copies: usize, cpus: usize, mut alone: Vec<u64>, mut together: Vec<u64>) -> Self {
        alone.sort_unstable();
        together.sort_unstable();
        let ratio = |a: u64, b: u64| a as f64 / b.max(1) as f64;
        let slower = ratio(median(&together), median(&alone));
        Self {
            workspan_bandwidth: 1,
            copies,
            cpus,
            slower,
            slower_range: [
                ratio(together[0], alone[alone.len() - 1]),
                ratio(together[together.len() - 1], alone[0]),
            ],
            at_most: (copies.min(cpus) as f64 / (slower * shared(copies, cpus)).max(1.0)).max(1.0),
            alone,
            together,
        }
    }

    fn text(&self, program: &str) -> String {
        let Self { copies, cpus, .. } = *self;
        let seconds = |ns: u64| ns as f64 / 1e9;
        let mut text = format!(
            "  {program}: alone {:.3} s, {copies} at once {:.3} s each (medians of {} and {} runs)\n  {:.2} times as slow \
             ({:.2} to {:.2} over the runs)\n\n",
            seconds(median(&self.alone)),
            seconds(median(&self.together)),
            self.alone.len(),
            self.together.len(),
            self.slower,
            self.slower_range[0],
            self.slower_range[1],
        );
        let sentence = if copies > cpus {
            format!(
                "  {copies} copies shared {cpus} CPUs, so this says nothing about memory: leave --copies out.\n"
            )
        } else if self.slower_range[0] <= 1.1 && self.slower > 1.1 {
            "  The runs differ too much for a conclusion: try again on a quieter machine, or with --repeat 9.\n"
                .to_owned()
        } else if self.slower <= 1.1 {
            "  Copies hardly slow each other down, so memory and caches do not limit this program.\n"
                .to_owned()
        } else {
            format!(
                "  What they share (memory, caches, clock rate) allows at most {:.1}x on {copies} CPUs, however the work is \
                 divided.\n  To see which code it is:  workspan stretch -- {program} ...\n",
                self.at_most
            )
        };
        text.push_str(&sentence);
        if self.alone[0] < 100_000_000 {
            text.push_str("  A run takes less than 0.1 s: starting the process is a part of that. Give it more to do.\n");
        }
        text
    }
}

/// The factor by which copies are slower because they share a CPU, which is taken out.
fn shared(copies: usize, cpus: usize) -> f64 {
    if copies > cpus {
        cpus as f64 / copies as f64
    } else {
        1.0
    }
}

fn median(sorted: &[u64]) -> u64 {
    sorted[sorted.len() / 2]
}

/// The CPUs that this process may use.
fn usable() -> anyhow::Result<Vec<usize>> {
    let set = sched_getaffinity(None).context("which CPUs may be used")?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Starts one copy on each of the CPUs at once, and returns the time of each, in ns.
fn round(program: &[std::ffi::OsString], cpus: &[usize]) -> anyhow::Result<Vec<u64>> {
    std::thread::scope(|scope| {
        let copies: Vec<_> = cpus
            .iter()
            .map(|&cpu| scope.spawn(move || copy(program, cpu)))
            .collect();
        copies
            .into_iter()
            .map(|copy| match copy.join() {
                Ok(took) => Ok(took?.as_nanos() as u64),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// Runs a copy on a CPU. Must be called on a thread of its own: a process inherits the affinity of
/// the thread that starts it.
fn copy(program: &[std::ffi::OsString], cpu: usize) -> anyhow::Result<Duration> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).with_context(|| format!("pin a copy to CPU {cpu}"))?;
    let shown = Path::new(&program[0]).display();
    let begin = Instant::now();
    let child = Command::new(&program[0])
        .args(&program[1..])
        .envs(thread_count_variables().map(|name| (name, "1")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{shown}: can't be started"))?;
    let (status, said) = wait(child)?;
    let took = begin.elapsed();
    if !status.success() {
        let last = said.lines().last().unwrap_or("it says nothing").to_owned();
        bail!("{shown}: it ended with {status}: {last}");
    }
    Ok(took)
}

/// Its exit status, and its output on stderr.
fn wait(child: Child) -> anyhow::Result<(ExitStatus, String)> {
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((output.status, said))
}

/// A progress line on a terminal.
struct Progress {
    terminal: bool,
    begin: Instant,
    rounds: u32,
}

impl Progress {
    fn new(rounds: u32) -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            begin: Instant::now(),
            rounds,
        }
    }

    fn report(&mut self, what: &str) {
        if self.terminal && (self.rounds > 1 || self.begin.elapsed() > Duration::from_secs(1)) {
            // If the terminal is gone, the message is not needed.
            let _ = write!(std::io::stderr(), "\r\x1b[K{what}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn copies_that_slow_each_other_down_bound_the_speedup() {
        let alone = vec![1_000 * MS, 1_010 * MS, 990 * MS];
        let together = vec![1_600 * MS; 12];
        let measured = BandwidthResult::new(4, 4, alone, together);
        assert!((measured.slower - 1.6).abs() < 1e-9);
        assert!((measured.at_most - 2.5).abs() < 1e-9);
        let text = measured.text("sort");
        assert!(text.contains("at most 2.5x on 4 CPUs"), "{text}");
    }

    #[test]
    fn independent_copies_are_not_limited() {
        let measured = BandwidthResult::new(2, 2, vec![500 * MS; 3], vec![505 * MS; 6]);
        let text = measured.text("fib");
        assert!(text.contains("hardly slow each other down"), "{text}");
        assert!(measured.at_most > 1.95 && measured.at_most <= 2.0);
    }

    #[test]
    fn noise_and_shared_cpus_give_no_verdict() {
        let noisy =
            BandwidthResult::new(2, 2, vec![500 * MS, 900 * MS, 510 * MS], vec![600 * MS; 6]);
        assert!(noisy.text("x").contains("differ too much"));
        let shared = BandwidthResult::new(4, 2, vec![500 * MS; 3], vec![1_000 * MS; 12]);
        assert!(shared.text("x").contains("says nothing about memory"));
        assert!((shared.at_most - 2.0).abs() < 1e-9);
        let short = BandwidthResult::new(2, 2, vec![5 * MS; 3], vec![5 * MS; 6]);
        assert!(short.text("x").contains("less than 0.1 s"));
    }
}
