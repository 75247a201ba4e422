//! Threads as rows of the timeline, pool workers first.

use workspan_dag::{Dag, ThreadId};

/// Rows that are drawn at most: a trace may tell of any number of threads.
pub const MOST_ROWS: usize = 256;

/// "No row" in columns of row numbers.
pub const NO_ROW: u16 = u16::MAX;

/// The rows of a run.
#[derive(Debug)]
pub struct Rows {
    /// The thread of each row.
    pub threads: Vec<ThreadId>,
    /// Threads that ran something and have no row.
    pub more: u64,
    row_of: Vec<u16>,
}

impl Rows {
    /// The pool's workers, then other threads that ran a strand, in their order; at most
    /// [`MOST_ROWS`].
    pub fn new(dag: &Dag) -> Rows {
        let mut ran = vec![false; dag.meta.threads as usize];
        for &thread in &dag.strands.thread {
            ran[thread as usize] = true;
        }
        Rows::of_threads(&ran, dag.meta.workers)
    }

    /// The same of threads that `ran` something; the first `workers` are the pool's.
    pub fn of_threads(ran: &[bool], workers: u32) -> Rows {
        let mut rows = Rows {
            threads: Vec::new(),
            more: 0,
            row_of: vec![NO_ROW; ran.len()],
        };
        for (thread, &ran) in (0..).zip(ran) {
            if !ran && thread >= workers {
                continue;
            }
            if rows.threads.len() < MOST_ROWS {
                rows.row_of[thread as usize] = rows.threads.len() as u16;
                rows.threads.push(thread);
            } else {
                rows.more += 1;
            }
        }
        rows
    }

    /// The row of a thread; [`NO_ROW`] when it has none.
    pub fn of(&self, thread: ThreadId) -> u16 {
        self.row_of.get(thread as usize).copied().unwrap_or(NO_ROW)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}
