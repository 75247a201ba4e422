//! Tasks that a program's own calls reported and tasks that a runtime's hooks reported,
//! distinguished in one run (the work time stretch profiler's application and library
//! instrumentation).

use workspan_dag::{Dag, ROOT_PLACE, Reporter};

use crate::sites::SiteRow;

/// The tasks that one side reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReporterTasks {
    /// The side; `None` if the trace does not say.
    pub reporter: Option<Reporter>,
    /// Number of tasks, including those in folded records.
    pub tasks: u64,
    /// Work of their own strands.
    pub work: u128,
}

/// The tasks by who reported them: the program's, the runtime's, the others; each only if there are
/// any. Roots belong to none.
pub fn tasks_by_reporter(dag: &Dag, sites: &[SiteRow]) -> Vec<ReporterTasks> {
    let tellers = Reporter::ALL.map(Some).into_iter().chain([None]);
    let sums = |reporter: Option<Reporter>| {
        let mut reported = ReporterTasks {
            reporter,
            tasks: 0,
            work: 0,
        };
        let created = sites.iter().filter(|row| row.site != ROOT_PLACE);
        for row in created.filter(|row| dag.places[row.site as usize].reporter == reporter) {
            reported.tasks += row.count;
            reported.work += row.blocks.iter().map(|block| block.work).sum::<u128>();
        }
        reported
    };
    tellers
        .map(sums)
        .filter(|reported| reported.tasks > 0)
        .collect()
}

/// The two sides' tasks, if the run has both.
pub fn both_reporters(reported: &[ReporterTasks]) -> Option<[ReporterTasks; 2]> {
    match reported {
        [program, runtime, ..] if program.reporter.is_some() && runtime.reporter.is_some() => {
            Some([*program, *runtime])
        }
        _ => None,
    }
}
