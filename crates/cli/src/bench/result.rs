//! What was measured, as plain numbers.

use serde::{Deserialize, Serialize};

use super::kernels::Kernel;
use super::runtime::Runtime;

/// Where the worker time of a recorded run went, in ns; all but `oversubscribed` add up to workers
/// × elapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// W.
    pub workers: u32,
    /// First start to last end of the whole program.
    pub elapsed: u64,
    /// Working.
    pub work: u64,
    /// A worker was free and a strand ready.
    pub delay: u64,
    /// Nothing was ready, as the scheduler had not brought on what would have been.
    pub no_work_sched: u64,
    /// Nothing was ready: the program gave nothing to do.
    pub no_work_app: u64,
    /// Preempted.
    pub descheduled: u64,
    /// Gave up the CPU.
    pub blocked: u64,
    /// The recorder's own.
    pub recording: u64,
    /// Strand time beyond W.
    pub oversubscribed: u64,
}

/// Name and text of the parts that add up, in the order they are shown.
pub const PARTS: [(&str, &str); 7] = [
    ("work", "work"),
    ("delay", "delay: a strand was ready and a worker free"),
    (
        "no_work_sched",
        "no work, as the scheduler had not brought it on",
    ),
    ("no_work_app", "no work, as the program gave none"),
    ("descheduled", "descheduled: the system ran something else"),
    ("blocked", "blocked"),
    ("recording", "recording"),
];

impl Parts {
    /// In the order of [`PARTS`].
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

/// What a recorded run's trace says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Where the time went.
    pub parts: Parts,
    /// Work, span in ns.
    pub work: u64,
    /// See `work`.
    pub span: u64,
    /// Tasks, the root included.
    pub tasks: u64,
    /// Deferred creates.
    pub spawns: u64,
    /// Strands another worker started than the one that made them ready.
    pub steals: u64,
    /// Of `parts.delay`: until created tasks began.
    pub delay_create: u64,
    /// Of `parts.delay`: waits that were over, buried below a foreign task.
    pub delay_buried: u64,
    /// What the recorder says ran.
    pub runtime: String,
    /// CPU time of the process, in ns.
    pub cpu: Option<u64>,
    /// Worker time that other programs, or more threads than CPUs, took, in ns.
    #[serde(default)]
    pub lost_to_load: u64,
    /// When the measured part began and ended, in ticks of the trace.
    #[serde(default)]
    pub window: Option<[u64; 2]>,
    /// The first finding's cause by id; `None` where the report has no finding.
    pub cause: Option<String>,
    /// What the report says first.
    pub says: String,
}

/// One kernel on one runtime with one number of workers.
#[derive(Debug, Clone)]
pub struct Row {
    /// The runtime.
    pub runtime: Runtime,
    /// The kernel's own time of each bare run, in ns, sorted.
    pub bare: Vec<u64>,
    /// The same of the recorded runs.
    pub recorded: Vec<u64>,
    /// Of the fastest recorded run; or why there is none.
    pub trace: Result<Recorded, String>,
}

/// The middle one of sorted numbers; of two, the smaller.
pub fn median(sorted: &[u64]) -> Option<u64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

impl Row {
    /// Median of the bare runs.
    pub fn elapsed(&self) -> u64 {
        median(&self.bare).unwrap_or(0)
    }

    /// Median of the recorded ones over that of the bare ones, less 1.
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
    /// Workers asked for.
    pub workers: usize,
    /// The serial elision first.
    pub rows: Vec<Row>,
}

impl Group {
    /// The serial elision's median, if it ran.
    pub fn serial(&self) -> Option<u64> {
        let row = self.rows.iter().find(|r| r.runtime == Runtime::Serial)?;
        median(&row.bare)
    }

    /// How much faster a row is than the serial elision.
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
    /// One for each kernel and number of workers.
    pub groups: Vec<Group>,
    /// The runtimes that ran, with what builds them.
    pub runtimes: Vec<(Runtime, String)>,
    /// Those that could not, with the reason.
    pub missing: Vec<(Runtime, String)>,
    /// Runs of each variant.
    pub repeat: usize,
    /// CPUs of this machine, and its load when the measuring began.
    pub cpus: usize,
    /// See `cpus`.
    pub load: Option<f64>,
    /// What makes numbers doubtful; full sentences.
    pub warnings: Vec<String>,
}
