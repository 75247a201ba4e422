//! Threads as rows of the timeline, pool workers first.

use workspan_dag::{Dag, ThreadId};

/// Maximum number of rows that are drawn: a trace may have any number of threads.
pub const MAX_ROWS: usize = 256;

/// Stands for no row in columns of row numbers.
pub const NO_ROW: u16 = u16::MAX;

/// The rows of a run.
#[derive(Debug)]
pub struct Rows {
    /// The thread of each row.
    pub threads: Vec<ThreadId>,
    /// Number of threads that ran something and have no row.
    pub more: u64,
    row_of: Vec<u16>,
}

impl Rows {
    /// Gives rows to the pool's workers, then to other threads that ran a strand, in their order.
    /// Their number is limited to [`MAX_ROWS`].
    pub fn new(dag: &Dag) -> Rows {
        let mut ran = vec![false; dag.meta.threads as usize];
        for &thread in &dag.strands.thread {
            ran[thread as usize] = true;
        }
        Rows::of_threads(&ran, dag.meta.workers)
    }

    /// Gives rows to threads that `ran` something; the first `workers` threads are the pool's.
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
            if rows.threads.len() < MAX_ROWS {
                rows.row_of[thread as usize] = rows.threads.len() as u16;
                rows.threads.push(thread);
            } else {
                rows.more += 1;
            }
        }
        rows
    }

    /// The row of a thread; [`NO_ROW`] if it has none.
    pub fn of(&self, thread: ThreadId) -> u16 {
        self.row_of.get(thread as usize).copied().unwrap_or(NO_ROW)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}
