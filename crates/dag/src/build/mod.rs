//! Builds the [`Dag`] from a run as read ([`RawTrace`]).
//!
//! The stages, in order: `indices`, `joins` and `structure` (every task has strands, a creator and
//! an end), `tasks` (number order), `members` (who is in which scope), `strands` and `waits`
//! (zero-length strands merged, waits resolved), `order` (a topological order; `late` and `clamp`
//! first bend times that contradict the edges, in recorded traces) and `columns`. All but the order
//! are linear passes over columns, each of which is freed where it is used last, as a large run has
//! tens of millions of rows. The result depends on task numbers, never on the order in which a
//! reader met tasks.

mod clamp;
mod columns;
mod graph;
mod indices;
mod joins;
mod late_ends;
mod marks;
mod members;
pub mod order;
mod strands;
mod structure;
mod tasks;
mod waits;

use std::collections::BTreeMap;
use std::fmt;

use crate::cancel;
use crate::dag::Dag;
use crate::error::Error;
use crate::raw::RawTrace;

/// What to do about a run that contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is an error (text traces: their writer has a bug).
    Strict,
    /// It is clamped, joined at the sink or dropped, counted, and reported in
    /// [`crate::Meta::warnings`] (recorded traces: clocks are not perfect and processes are
    /// killed).
    Repair,
}

/// Maximum number of threads in a trace: analyses keep something per thread.
pub const MAX_THREADS: u32 = 1 << 20;

/// Builds the DAG. O(n log n) time for n strands, no allocation per strand.
///
/// # Errors
/// With [`Mode::Strict`] any contradiction; with either mode indices out of range, a task number
/// used twice, and traces beyond 2^32 − 2 strands or 2^20 threads.
pub fn build(raw: RawTrace, mode: Mode) -> Result<Dag, Error> {
    assemble(raw, mode).map_err(|fault| Error::Trace(fault.to_string()))
}

/// Where a contradiction was found, for a reader that can name the place more exactly than the
/// builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The start of a raw strand.
    Start(u32),
    /// The end of a raw strand.
    End(u32),
    /// A raw task.
    Task(u32),
    /// A raw scope.
    Scope(u32),
    /// The trace as a whole.
    Whole,
}

/// A contradiction.
#[derive(Debug)]
pub struct Fault {
    /// The place.
    pub at: At,
    /// Number of the task it is about.
    pub task: Option<u64>,
    /// What was found and what was expected.
    pub what: String,
}

impl Fault {
    fn new(at: At, task: u64, what: impl Into<String>) -> Fault {
        Fault {
            at,
            task: Some(task),
            what: what.into(),
        }
    }
    fn whole(what: impl Into<String>) -> Fault {
        Fault {
            at: At::Whole,
            task: None,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "task {task}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// The repairs made, by kind.
struct Repairs {
    mode: Mode,
    counts: BTreeMap<&'static str, u64>,
}

impl Repairs {
    /// In strict mode returns the fault as an error. In repair mode counts `kind`, and the caller
    /// repairs.
    fn or(&mut self, kind: &'static str, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
        match self.mode {
            Mode::Strict => Err(fault()),
            Mode::Repair => {
                self.note(kind);
                Ok(())
            }
        }
    }

    /// Counts a repair.
    fn note(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// One sentence per kind of repair.
    fn sentences(self) -> impl Iterator<Item = String> {
        self.counts
            .into_iter()
            .map(|(kind, n)| format!("{kind}: {n}."))
    }
}

/// Does what [`build`] does, and keeps the place of a fault.
pub fn assemble(mut raw: RawTrace, mode: Mode) -> Result<Dag, Fault> {
    let mut repairs = Repairs {
        mode,
        counts: BTreeMap::new(),
    };
    indices::check_indices(&mut raw, mode)?;
    joins::settle(&mut raw);
    structure::complete(&mut raw, &mut repairs)?;
    let mut tasks = tasks::in_number_order(&mut raw)?;
    let scopes = members::Scopes::new(&raw, &tasks, &mut repairs)?;
    let (mut columns, mut strands, mut waits) =
        strands::merge(&mut raw, &tasks, &scopes, &mut repairs)?;
    cancel::check();
    let mut depends = graph::depends(&raw, &tasks, mode)?;
    let sorted = order::order(
        graph::Graph {
            tasks: &mut columns,
            strands: &mut strands,
            waits: &mut waits,
            depends: &mut depends,
        },
        order::ReaderFacts {
            signals: &raw.signals,
            ticks_per_second: raw.meta.ticks_per_second,
            late_ends: raw.late_ends,
        },
        &mut tasks,
        &mut repairs,
    )?;
    cancel::check();
    let mut dag = columns::fill(
        raw,
        columns,
        strands,
        waits,
        depends,
        tasks,
        scopes,
        sorted,
        &mut repairs,
    );
    dag.meta.warnings.extend(repairs.sentences());
    Ok(dag)
}
