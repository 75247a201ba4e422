//! Facts about the run as a whole.

use crate::cpu_time::CpuTimes;
use crate::facts::RunFacts;
use crate::processes::Processes;
use crate::section::Section;
use crate::topology::Topology;

/// The unit of every time in a trace; the report's `metric_unit` for the metric *time*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[default]
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Ticks of a clock of [`Meta::ticks_per_second`] hertz.
    Cycles,
}

/// Which side a thief takes at a spawn; decides the edge that carries the burden (MODEL.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Steals {
    /// Thieves take the child (Rayon, OpenMP, oneTBB): the create edge carries the burden.
    #[default]
    Child,
    /// Thieves take the parent's continuation (Cilk, MassiveThreads): the create-continuation edge
    /// carries it.
    Continuation,
}

/// The run: machine, runtime, units, costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta {
    /// W of MODEL.md §5: the largest number of pool workers alive at the same time. At least 1.
    pub workers: u32,
    /// Number of threads seen; thread numbers are below it. Threads `0..workers` are the pool,
    /// others are outside.
    pub threads: u32,
    /// Unit of all times.
    pub time_unit: TimeUnit,
    /// Ticks of `time_unit` in a second (10^9 for ns; the clock's rate for cycles).
    pub ticks_per_second: u64,
    /// What thieves take.
    pub steals: Steals,
    /// Cost of a steal in ticks, stored with the trace; 0 when not calibrated.
    pub burden: u64,
    /// Cost of one probe (begin, resume, strand end) in ticks; taken out of the weights unless
    /// `--raw`.
    pub probe_cost: u64,
    /// Time that a join takes its thread without the recorder if it is not stolen, in ticks. Only
    /// for runtimes whose own time lies inside strands (Rayon); 0 when not calibrated.
    pub join_cost: u64,
    /// Names of the threads, by number; empty if unknown. If threads share a number, the first
    /// one's name.
    pub thread_names: Vec<String>,
    /// Short name of the program.
    pub name: Option<String>,
    /// Runtime and version, for instance `Rayon (rayon-core 1.13.0)`.
    pub runtime: Option<String>,
    /// Command line.
    pub command: Option<String>,
    /// Host name.
    pub host: Option<String>,
    /// Number of CPUs the process could use, where known.
    pub cpus: Option<u32>,
    /// Facts that analyses and views use.
    pub run: RunFacts,
    /// All further facts as texts for people, in the order to print them.
    pub facts: Vec<(String, String)>,
    /// What was repaired, dropped or not captured; each a full sentence.
    pub warnings: Vec<String>,
    /// True for a trace recorded by workspan (timestamps, steals and off-CPU times are measured),
    /// false for text.
    pub recorded: bool,
    /// CPU time of the process, for a recorded run.
    pub cpu: Option<CpuTimes>,
    /// The CPUs that the threads ran on.
    pub topology: Topology,
    /// Set if short subtrees were folded while the trace was read.
    pub read_folding: Option<ReadFolding>,
    /// The part of the trace that could not be read; `None` if all of it was. Measures of such a
    /// run hold for the rest only: counts are at least what is shown, and a time of 0 may be one
    /// that was not read.
    pub unread: Option<UnreadPart>,
    /// The section of the recorded run that this DAG is; `None` for the whole run.
    pub section: Option<Section>,
    /// Its processes, if there are several.
    pub processes: Processes,
}

impl Meta {
    /// The program's short name; `program` if it is not known.
    pub fn program_name(&self) -> &str {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        name.unwrap_or("program")
    }

    /// Ticks of a second. If the trace does not say, the unit decides; cycles then count as
    /// nanoseconds.
    pub fn tick_rate(&self) -> u64 {
        match (self.ticks_per_second, self.time_unit) {
            (0, TimeUnit::Us) => 1_000_000,
            (0, TimeUnit::Ms) => 1_000,
            (0, _) => 1_000_000_000,
            (rate, _) => rate,
        }
    }
}

/// The part of a trace that could not be read, or was lost while it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnreadPart {
    /// Number of damaged places in the file; a file that is cut off has one more.
    pub damaged: u64,
    /// Number of threads whose records could be read only up to a point.
    pub threads: u64,
    /// Bytes of records that were lost while the run was recorded.
    pub dropped: u64,
    /// Times off the CPU may be in the unread part, so that work may include them.
    pub off_cpu: bool,
}

/// The folding that was done while a trace was read (the grain is in `workspan_reader::open`); the
/// trace itself has all records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadFolding {
    /// Only subtrees shorter than this were folded, in ticks.
    pub grain: u64,
    /// Tasks in the trace.
    pub tasks: u64,
    /// Records in the trace.
    pub events: u64,
    /// Bytes of these records.
    pub bytes: u64,
    /// Size of the trace's file in bytes.
    pub size: u64,
    /// Number of folded records that replace the others.
    pub records: u64,
    /// The tick of the trace that is tick 0 of the run.
    pub origin: u64,
    /// Each thread's number in the trace, and its number in the run.
    pub threads: Vec<(u32, u32)>,
}
