//! The processes of a run with several (MODEL.md §1).

use crate::dag::ThreadId;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// The program's name.
    pub name: String,
    /// The number that the launcher gave it.
    pub rank: Option<u32>,
    /// Its process id; 0 if unknown.
    pub pid: u32,
    /// The machine, if the processes ran on several.
    pub host: Option<String>,
    /// Number of its workers: W for this process alone.
    pub workers: u32,
    /// When it began, in ticks.
    pub from: u64,
    /// When it ended, in ticks.
    pub to: u64,
    /// Ticks that its threads spent in calls of MPI, waiting or not.
    pub in_mpi: u64,
}

impl Process {
    /// The name shown to people: `rank 3`, or the program's name and number.
    pub fn title(&self) -> String {
        match self.rank {
            Some(rank) => format!("rank {rank}"),
            None if self.pid == 0 => self.name.clone(),
            None => format!("{} {}", self.name, self.pid),
        }
    }
}

/// The clock of a host, relative to that of the run's first host (MODEL.md §1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostClock {
    /// The host.
    pub host: String,
    /// What is added to its clock when its part of the run begins, in nanoseconds.
    pub offset_ns: i64,
    /// How far the true offset may be from that, at any time of the run, in nanoseconds; `None` if
    /// calls do not bound it.
    pub uncertainty_ns: Option<u64>,
    /// By how much the offset grows, in nanoseconds a second; 0 if the run does not show it.
    pub drift: f64,
    /// The number of bounds from calls of MPI; 0 if the wall clocks alone were compared.
    pub bounds: u64,
    /// The number of bounds that contradict the others, and by how much at most, in nanoseconds.
    pub contradictions: (u64, u64),
}

impl HostClock {
    /// The clock for people, relative to the first host's: `0.000120 s behind, ± 12.3 µs (40 bounds
    /// from calls of MPI)`.
    pub fn describe(&self) -> String {
        let seconds = self.offset_ns.unsigned_abs() as f64 / 1e9;
        let side = match self.offset_ns {
            ..0 => "ahead",
            0.. => "behind",
        };
        let Some(uncertainty) = self.uncertainty_ns else {
            return match self.bounds {
                0 => format!("{seconds:.6} s {side} by the wall clocks, nothing confirms that"),
                n => {
                    format!("{seconds:.6} s {side} at least or at most ({n} bounds from one side)")
                }
            };
        };
        let uncertainty = match uncertainty {
            ..1_000_000 => format!("{:.1} µs", uncertainty as f64 / 1e3),
            _ => format!("{:.1} ms", uncertainty as f64 / 1e6),
        };
        // Nanoseconds a second are thousandths of a part in a million.
        let ppm = self.drift.abs() / 1e3;
        let drift = match self.drift {
            0.0 => String::new(),
            ..0.0 => format!(", {ppm:.3} ppm fast"),
            _ => format!(", {ppm:.3} ppm slow"),
        };
        let bounds = self.bounds;
        format!("{seconds:.6} s {side}, ± {uncertainty}{drift} ({bounds} bounds from calls of MPI)")
    }
}

/// An interval in which a thread number belonged to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadOfProcess {
    /// The thread.
    pub thread: ThreadId,
    /// Start of the interval, in ticks; processes that run one after the other may share thread
    /// numbers.
    pub from: u64,
    /// Index into [`Processes::list`].
    pub process: u32,
}

/// The processes of a run, and which threads belong to them; empty for a run of one process.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Processes {
    /// The processes, by rank, then time.
    pub list: Vec<Process>,
    /// The threads, by thread, then time.
    pub threads: Vec<ThreadOfProcess>,
    /// The clocks of the hosts but the first; empty for a run on one host.
    pub clocks: Vec<HostClock>,
}

impl Processes {
    /// True for a run of one process.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The process that had `thread` at `time`: an index into [`Processes::list`].
    pub fn of(&self, thread: ThreadId, time: u64) -> Option<usize> {
        let after = self
            .threads
            .partition_point(|period| (period.thread, period.from) <= (thread, time));
        let period = self.threads.get(after.checked_sub(1)?)?;
        (period.thread == thread).then_some(period.process as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_described_by_their_offset_and_drift() {
        let clock = HostClock {
            offset_ns: -49_000_000_012_345,
            uncertainty_ns: Some(12_345),
            drift: 50_000.0,
            bounds: 40,
            ..HostClock::default()
        };
        assert_eq!(
            clock.describe(),
            "49000.000012 s ahead, ± 12.3 µs, 50.000 ppm slow (40 bounds from calls of MPI)"
        );
        let unbounded = HostClock {
            uncertainty_ns: None,
            bounds: 0,
            ..clock
        };
        assert!(unbounded.describe().contains("by the wall clocks"));
    }

    #[test]
    fn a_thread_number_is_that_of_the_process_that_has_it_then() {
        let of = |thread, from, process| ThreadOfProcess {
            thread,
            from,
            process,
        };
        let processes = Processes {
            list: vec![Process::default(); 3],
            threads: vec![of(0, 0, 0), of(0, 50, 2), of(2, 10, 1)],
            clocks: Vec::new(),
        };
        let asked = [(0, 0), (0, 49), (0, 50), (1, 60), (2, 9), (2, 10)];
        let found = asked.map(|(thread, time)| processes.of(thread, time));
        assert_eq!(found, [Some(0), Some(0), Some(2), None, None, Some(1)]);
    }
}
