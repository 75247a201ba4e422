//! A range of the run in equal bins: what each thread did, and the number of running and ready
//! strands.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, PlaceId, StrandId, ThreadId};

use crate::off_cpu::off_between;
use crate::options::Options;
use crate::ready::Readiness;
use crate::runtime_gaps::{runtime_gaps, share_within};
use crate::sweep::extent;
use crate::weight::Weights;

/// One thread in bins, as shares of a bin's time from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadTrack {
    /// The thread.
    pub thread: ThreadId,
    /// Running a strand, on the CPU.
    pub working: Vec<f64>,
    /// Inside a strand, preempted.
    pub descheduled: Vec<f64>,
    /// Inside a strand, blocked.
    pub blocked: Vec<f64>,
    /// Share of the range in which it was busy: on the CPU, in the program's own code, without the
    /// time that recording took.
    pub busy: f64,
    /// The spawn site whose tasks ran longest in the bin.
    pub site: Vec<Option<PlaceId>>,
}

/// A range of the run. Bin i of n covers [from + ⌊length·i/n⌋, from + ⌊length·(i+1)/n⌋).
#[derive(Debug, Clone, PartialEq)]
pub struct BinnedTimeline {
    /// Start of the range, in ticks.
    pub from: u64,
    /// End of the range, in ticks.
    pub to: u64,
    /// Mean number of running strands (off the CPU or not) per bin.
    pub running: Vec<f64>,
    /// Mean number of busy workers per bin, at most W: on the CPU, in the program's own code.
    pub busy: Vec<f64>,
    /// Mean number of ready strands per bin.
    pub ready: Vec<f64>,
    /// The threads that have a strand in the run, ascending, at most [`MAX_TRACKS`].
    pub threads: Vec<ThreadTrack>,
    /// Number of further threads that have a strand; they count in `running`.
    pub more_threads: usize,
    /// Time of each spawn site's strands in the range, in ticks, longest first.
    pub sites: Vec<(PlaceId, u64)>,
}

/// Maximum number of threads with a track of their own; a trace may have any number of threads.
pub const MAX_TRACKS: usize = 256;

/// The range [from, to) of the run, clamped to it, in at most `bins` bins and never more than
/// ticks. O(n log n).
pub fn binned_timeline(dag: &Dag, (from, to): (u64, u64), bins: usize) -> BinnedTimeline {
    let (begin, end) = extent(dag);
    let from = from.clamp(begin, end);
    let to = to.clamp(from, end);
    let bins = bins.min(usize::try_from(to - from).unwrap_or(usize::MAX));
    let grid = Grid { from, to, bins };
    let strands = &dag.strands;
    let mut seen = vec![false; dag.meta.threads as usize];
    for &thread in &strands.thread {
        seen[thread as usize] = true;
    }
    let shown: Vec<usize> = (0..seen.len()).filter(|&t| seen[t]).collect();
    let more_threads = shown.len().saturating_sub(MAX_TRACKS);
    let mut sums: Vec<Option<Sums>> = vec![None; seen.len()];
    for &thread in shown.iter().take(MAX_TRACKS) {
        sums[thread] = Some(Sums::new(bins));
    }
    let (mut running, mut ready) = (vec![0u128; bins], vec![0u128; bins]);
    let mut busy = vec![0f64; bins];
    // The metric *time* exists in every trace.
    let weights = Weights::new(dag, &Options::default()).ok();
    let mut sites = vec![0u64; dag.places.len()];
    let inside = runtime_gaps(dag);
    let mut inside = inside.iter().peekable();
    for s in checked(0..strands.len()) {
        let mut thread = sums[strands.thread[s] as usize].as_mut();
        let site = dag.tasks.site[strands.task[s] as usize];
        let (start, end) = (strands.start[s], strands.end[s]);
        let between = inside
            .next_if(|b| b.strand as usize == s)
            .map_or(0, |b| b.ticks);
        let work = weights.as_ref().map_or(0, |w| w.work(s as StrandId));
        let whole = off_between(dag, s as StrandId, start, end);
        let on_cpu = (end - start).saturating_sub(between + whole.descheduled + whole.blocked);
        let own = (work as f64 / on_cpu.max(1) as f64).min(1.0);
        grid.each(start, end, |bin, a, b| {
            let between = share_within(between, (start, end), (a, b));
            running[bin] += u128::from(b - a - between);
            ready[bin] += u128::from(between);
            let sum = &mut sites[site as usize];
            *sum = sum.saturating_add(b - a);
            let off = off_between(dag, s as StrandId, a, b);
            let inside = (b - a - between).saturating_sub(off.descheduled + off.blocked);
            busy[bin] += inside as f64 * own;
            let Some(thread) = &mut thread else { return };
            thread.busy += inside as f64 * own;
            let cell = &mut thread.cells[bin];
            cell.inside += b - a - between;
            cell.descheduled += off.descheduled;
            cell.blocked += off.blocked;
            match cell.sites.iter_mut().find(|c| c.0 == site) {
                Some(known) => known.1 += b - a,
                None => cell.sites.push((site, b - a)),
            }
        });
    }
    // Bins that an interval covers completely are counted by where it enters and leaves them.
    let mut whole = vec![0i64; bins + 1];
    for waiting in Readiness::new(dag).waiting {
        let (a, b) = (
            waiting.ready.max(from),
            strands.start[waiting.strand as usize].min(to),
        );
        if a >= b || bins == 0 {
            continue;
        }
        let (first, last) = (grid.bin(a), grid.bin(b - 1));
        if first == last {
            ready[first] += u128::from(b - a);
        } else {
            ready[first] += u128::from(grid.start(first + 1) - a);
            ready[last] += u128::from(b - grid.start(last));
            whole[first + 1] += 1;
            whole[last] -= 1;
        }
    }
    let mut covering = 0;
    for bin in 0..bins {
        covering += whole[bin];
        ready[bin] += u128::from(grid.length(bin)) * covering.max(0) as u128;
    }
    let lane = |(thread, sums): (usize, Option<Sums>)| Some(sums?.lane(thread as ThreadId, &grid));
    let threads = sums.into_iter().enumerate().filter_map(lane).collect();
    let mut sites: Vec<(PlaceId, u64)> = (0..).zip(sites).filter(|s| s.1 > 0).collect();
    sites.sort_by_key(|s| (std::cmp::Reverse(s.1), s.0));
    let workers = f64::from(dag.meta.workers.max(1));
    let mean = |(bin, sum): (usize, &u128)| *sum as f64 / grid.length(bin) as f64;
    BinnedTimeline {
        from,
        to,
        busy: busy
            .iter()
            .enumerate()
            .map(|(bin, sum)| (sum / grid.length(bin) as f64).min(workers))
            .collect(),
        running: running.iter().enumerate().map(mean).collect(),
        ready: ready.iter().enumerate().map(mean).collect(),
        threads,
        more_threads,
        sites,
    }
}

/// The bins of a range.
struct Grid {
    from: u64,
    to: u64,
    bins: usize,
}

impl Grid {
    fn start(&self, bin: usize) -> u64 {
        let length = u128::from(self.to - self.from);
        self.from + (length * bin as u128 / self.bins as u128) as u64
    }

    fn length(&self, bin: usize) -> u64 {
        self.start(bin + 1) - self.start(bin)
    }

    /// The bin of a moment inside the range.
    fn bin(&self, t: u64) -> usize {
        let length = u128::from(self.to - self.from);
        let at = u128::from(t - self.from);
        let mut bin = (at * self.bins as u128 / length) as usize;
        // Both divisions round down, so the guess can be one too low.
        while bin + 1 < self.bins && self.start(bin + 1) <= t {
            bin += 1;
        }
        bin
    }

    /// Calls `f(bin, begin, end)` for the bins that [begin, end) touches.
    fn each(&self, begin: u64, end: u64, mut f: impl FnMut(usize, u64, u64)) {
        let (mut a, b) = (begin.max(self.from), end.min(self.to));
        if a >= b || self.bins == 0 {
            return;
        }
        let mut bin = self.bin(a);
        while a < b {
            let next = self.start(bin + 1).min(b);
            f(bin, a, next);
            a = next;
            bin += 1;
        }
    }
}

#[derive(Debug, Clone, Default)]
struct CellSum {
    inside: u64,
    descheduled: u64,
    blocked: u64,
    sites: Vec<(PlaceId, u64)>,
}

#[derive(Debug, Clone)]
struct Sums {
    cells: Vec<CellSum>,
    busy: f64,
}

impl Sums {
    fn new(bins: usize) -> Sums {
        Sums {
            cells: vec![CellSum::default(); bins],
            busy: 0.0,
        }
    }

    fn lane(&self, thread: ThreadId, grid: &Grid) -> ThreadTrack {
        let share = |f: fn(&CellSum) -> u64| -> Vec<f64> {
            let cells = self.cells.iter().enumerate();
            cells
                .map(|(bin, c)| f(c) as f64 / grid.length(bin) as f64)
                .collect()
        };
        ThreadTrack {
            thread,
            busy: self.busy / (grid.to - grid.from).max(1) as f64,
            working: share(|c| c.inside.saturating_sub(c.descheduled + c.blocked)),
            descheduled: share(|c| c.descheduled),
            blocked: share(|c| c.blocked),
            site: self
                .cells
                .iter()
                .map(|c| {
                    let longest = c.sites.iter().max_by_key(|s| (s.1, std::cmp::Reverse(s.0)));
                    longest.map(|s| s.0)
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use super::*;

    /// MODEL.md's example A: task 2 stands ready from 90 to 92 and runs on thread 1 until 122.
    fn example() -> Dag {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../export/tests/golden/example_a.jsonl"
        );
        workspan_reader::open(file.as_ref(), &workspan_reader::OpenOptions::default()).unwrap()
    }

    #[test]
    fn bins_add_up_to_the_strands_whatever_their_number() {
        let dag = example();
        for bins in [1, 2, 7, 29, 144, 145, 1000] {
            let lanes = binned_timeline(&dag, (0, u64::MAX), bins);
            let n = lanes.running.len();
            assert_eq!(n, bins.min(145));
            let grid = Grid {
                from: 0,
                to: 145,
                bins: n,
            };
            let sum = |v: &[f64]| -> f64 {
                let ticks = v.iter().enumerate().map(|(i, x)| x * grid.length(i) as f64);
                ticks.sum()
            };
            assert!((sum(&lanes.running) - 175.0).abs() < 1e-6, "{bins}");
            assert!((sum(&lanes.ready) - 2.0).abs() < 1e-6, "{bins}");
            assert!(
                (sum(&lanes.threads[1].working) - 30.0).abs() < 1e-6,
                "{bins}"
            );
        }
    }

    #[test]
    fn a_range_is_cut_out() {
        let lanes = binned_timeline(&example(), (91, 101), 10);
        assert_eq!((lanes.from, lanes.to), (91, 101));
        assert_eq!(
            lanes.ready,
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(lanes.running[0], 1.0);
        assert_eq!(lanes.running[1], 2.0);
        let none = super::binned_timeline(&example(), (500, 600), 10);
        assert!(none.running.is_empty());
    }
}
