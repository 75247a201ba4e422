//! Dense indices for the threads that occur.

use workspan_dag::{Dag, ThreadId};

/// Maps the threads that have a strand or an off-CPU interval to `0..len`.
///
/// A text trace may state four billion threads and use two of them; tables by thread are sized by what is used.
pub(crate) struct Threads {
    sparse: Option<Vec<ThreadId>>,
    len: usize,
}

/// Up to here a table indexed by the thread number itself costs nothing worth saving.
const DENSE: u32 = 1 << 16;

impl Threads {
    pub(crate) fn new(dag: &Dag) -> Threads {
        let used = || {
            let off = dag.offs.iter().map(|o| o.thread);
            dag.strands.thread.iter().copied().chain(off)
        };
        let largest = used().max().unwrap_or(0);
        if largest < DENSE {
            return Threads {
                sparse: None,
                len: largest as usize + 1,
            };
        }
        let mut list: Vec<ThreadId> = used().collect();
        list.sort_unstable();
        list.dedup();
        let len = list.len();
        Threads {
            sparse: Some(list),
            len,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The index of a thread that occurs in the trace.
    pub(crate) fn index(&self, thread: ThreadId) -> usize {
        match &self.sparse {
            None => thread as usize,
            Some(list) => list.binary_search(&thread).unwrap_or(0),
        }
    }
}
