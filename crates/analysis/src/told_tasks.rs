//! Tasks that a program's own calls reported and tasks that a runtime's hooks reported,
//! distinguished in one run (the work time stretch profiler's application and library
//! instrumentation).

use workspan_dag::{Dag, ROOT_PLACE, ToldBy};

use crate::sites::SiteRow;

/// The tasks that one side reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldTasks {
    /// The side; `None` if the trace does not say.
    pub told_by: Option<ToldBy>,
    /// Number of tasks, including those in folded records.
    pub tasks: u64,
    /// Work of their own strands.
    pub work: u128,
}

/// The tasks by who reported them: the program's, the runtime's, the others; each only if there are
/// any. Roots belong to none.
pub fn told_tasks(dag: &Dag, sites: &[SiteRow]) -> Vec<ToldTasks> {
    let tellers = ToldBy::ALL.map(Some).into_iter().chain([None]);
    let of = |told_by: Option<ToldBy>| {
        let mut told = ToldTasks {
            told_by,
            tasks: 0,
            work: 0,
        };
        let created = sites.iter().filter(|row| row.site != ROOT_PLACE);
        for row in created.filter(|row| dag.places[row.site as usize].told_by == told_by) {
            told.tasks += row.count;
            told.work += row.blocks.iter().map(|block| block.work).sum::<u128>();
        }
        told
    };
    tellers.map(of).filter(|told| told.tasks > 0).collect()
}

/// The two sides' tasks, if the run has both.
pub fn told_by_both(told: &[ToldTasks]) -> Option<[ToldTasks; 2]> {
    match told {
        [program, runtime, ..] if program.told_by.is_some() && runtime.told_by.is_some() => {
            Some([*program, *runtime])
        }
        _ => None,
    }
}
