//! The measurements as plain numbers.

use serde::{Deserialize, Serialize};

use super::kernels::Kernel;
use super::runtime::Runtime;

/// The parts of the worker time of a recorded run, in ns; all but `oversubscribed` add up to
/// workers × elapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// W: the number of workers.
    pub workers: u32,
    /// Time from the first start to the last end of the whole program.
    pub elapsed: u64,
    /// Time in the program's own code on a CPU.
    pub work: u64,
    /// Time in which a worker was free while a strand was ready.
    pub delay: u64,
    /// Time in which nothing was ready because the scheduler delayed a strand that would have
    /// created work.
    pub no_work_sched: u64,
    /// Time in which nothing was ready because the program offered no work.
    pub no_work_app: u64,
    /// Preempted time.
    pub descheduled: u64,
    /// Blocked time.
    pub blocked: u64,
    /// Time of the recorder.
    pub recording: u64,
    /// Strand time beyond W workers.
    pub oversubscribed: u64,
}

/// Name and text of the parts that add up, in the order in which they are shown.
pub const PARTS: [(&str, &str); 7] = [
    ("work", "work"),
    ("delay", "delay: a strand was ready and a worker free"),
    ("no_work_sched", "no work, because of the scheduler"),
    ("no_work_app", "no work, because of the program"),
    ("descheduled", "descheduled: the system ran something else"),
    ("blocked", "blocked"),
    ("recording", "recording"),
];

impl Parts {
    /// The values in the order of [`PARTS`].
    pub fn list(&self) -> [u64; 7] {
        [
            self.work,
            self.delay,
            self.no_work_sched,
            self.no_work_app,
            self.descheduled,
            self.blocked,
            self.recording,
        ]
    }

    /// Workers × elapsed.
    pub fn total(&self) -> u64 {
        self.list().iter().sum()
    }
}

/// The results from a recorded run's trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The division of the worker time.
    pub parts: Parts,
    /// Work, in ns.
    pub work: u64,
    /// Span, in ns.
    pub span: u64,
    /// Number of tasks, including the root.
    pub tasks: u64,
    /// Number of deferred creates.
    pub spawns: u64,
    /// Number of strands that another worker started than the one that made them ready.
    pub steals: u64,
    /// The part of `parts.delay` before created tasks began.
    pub delay_create: u64,
    /// The part of `parts.delay` of waits that were over, but buried below an unrelated task.
    pub delay_buried: u64,
    /// The runtime, according to the recorder.
    pub runtime: String,
    /// CPU time of the process, in ns.
    pub cpu: Option<u64>,
    /// Worker time lost to other programs, or to more threads than CPUs, in ns.
    #[serde(default)]
    pub lost_to_load: u64,
    /// When the measured part began and ended, in ticks of the trace.
    #[serde(default)]
    pub window: Option<[u64; 2]>,
    /// The first finding's cause by id; `None` if the report has no finding.
    pub cause: Option<String>,
    /// The report's first statement.
    pub says: String,
}

/// One kernel on one runtime with one number of workers.
#[derive(Debug, Clone)]
pub struct Row {
    /// The runtime.
    pub runtime: Runtime,
    /// The kernel's own time of each bare run, in ns, sorted.
    pub bare: Vec<u64>,
    /// The kernel's own time of each recorded run, in ns, sorted.
    pub recorded: Vec<u64>,
    /// The results of the fastest recorded run, or the reason why there are none.
    pub trace: Result<Recorded, String>,
}

/// The median of sorted numbers; the smaller one of two in the middle.
pub fn median(sorted: &[u64]) -> Option<u64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

impl Row {
    /// Median of the bare runs.
    pub fn elapsed(&self) -> u64 {
        median(&self.bare).unwrap_or(0)
    }

    /// Median of the recorded runs over that of the bare runs, minus 1.
    pub fn overhead(&self) -> Option<f64> {
        let recorded = median(&self.recorded)?;
        (self.elapsed() > 0).then(|| recorded as f64 / self.elapsed() as f64 - 1.0)
    }
}

/// All runtimes on one kernel with one number of workers.
#[derive(Debug, Clone)]
pub struct Group {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of workers requested.
    pub workers: usize,
    /// The results by runtime, the serial elision first.
    pub rows: Vec<Row>,
}

impl Group {
    /// The median of the serial elision, if it ran.
    pub fn serial(&self) -> Option<u64> {
        let row = self.rows.iter().find(|r| r.runtime == Runtime::Serial)?;
        median(&row.bare)
    }

    /// The speedup of a row over the serial elision.
    pub fn speedup(&self, row: &Row) -> Option<f64> {
        let elapsed = median(&row.bare).filter(|&e| e > 0)?;
        Some(self.serial()? as f64 / elapsed as f64)
    }

    /// The rows that run on a runtime.
    pub fn parallel(&self) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(|r| r.runtime != Runtime::Serial && !r.bare.is_empty())
    }
}

/// A run of `workspan bench runtimes`.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// One group for each kernel and number of workers.
    pub groups: Vec<Group>,
    /// The runtimes that ran, with their compilers.
    pub runtimes: Vec<(Runtime, String)>,
    /// The runtimes that could not run, with the reason.
    pub missing: Vec<(Runtime, String)>,
    /// Number of runs of each variant.
    pub repeat: usize,
    /// Number of CPUs of this machine.
    pub cpus: usize,
    /// Load of the machine when measuring began.
    pub load: Option<f64>,
    /// Doubts about the numbers, as full sentences.
    pub warnings: Vec<String>,
}
