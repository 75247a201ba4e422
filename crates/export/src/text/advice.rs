//! Advice for a finding, in terms of the runtime that the program uses.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{BlockingPlace, WaitKind, blocked_in};
use workspan_dag::{ROOT_PLACE, TaskKind};

use super::View;

/// The runtime whose terms the advice uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runtime {
    Rayon,
    OpenMp,
    OneTbb,
    /// Several, or an unknown one.
    Any,
}

impl Runtime {
    fn from_view(view: &View) -> Runtime {
        let name = view.dag.meta.runtime.as_deref().unwrap_or("");
        let kinds = [
            ("Rayon", Runtime::Rayon),
            ("OpenMP", Runtime::OpenMp),
            ("TBB", Runtime::OneTbb),
        ];
        let mut known = kinds.iter().filter(|kind| name.contains(kind.0));
        match (known.next(), known.next()) {
            (Some(kind), None) => kind.1,
            _ => Runtime::Any,
        }
    }
}

pub(super) fn advice(view: &View, finding: &Finding) -> &'static str {
    let runtime = Runtime::from_view(view);
    match finding.cause {
        Cause::SerialStrand => "Make it parallel or shorter, or overlap it with other work.",
        Cause::SpawnLoop => match runtime {
            Runtime::Rayon => {
                "Use a parallel iterator or `join` on halves, so that tasks create tasks; or give each task more to do."
            }
            Runtime::OpenMp => {
                "Use `taskloop`, or let tasks create tasks; or give each task more to do."
            }
            Runtime::OneTbb => {
                "Use `parallel_for`, or let tasks create tasks; or give each task more to do."
            }
            Runtime::Any => {
                "Let tasks create tasks (halving the range), or give each task more to do."
            }
        },
        Cause::GrainFine => match runtime {
            Runtime::Rayon => {
                "Give each task more to do: `with_min_len`, `par_chunks`, or plain recursion below a certain size."
            }
            Runtime::OpenMp => {
                "Give each task more to do: `grainsize`, a larger chunk, or `final` or plain recursion below a certain size."
            }
            Runtime::OneTbb => {
                "Give each task more to do: a grain size in the range, or plain recursion below a certain size."
            }
            Runtime::Any => "Give each task more to do: a cutoff, a chunk size, fewer tasks.",
        },
        Cause::GrainCoarse => {
            "Split the work into more tasks of even length, and start the longest ones first."
        }
        Cause::SlowThief => slow_thief(view, finding, runtime),
        Cause::RestrainedStealing => match runtime {
            Runtime::OpenMp => {
                "Set KMP_TASK_STEALING_CONSTRAINT=0, or make the tasks `untied`: a thread that waits in a tied task runs only its descendants."
            }
            _ => {
                "Let a waiting worker run any task, or wait in fewer places: it runs only what descends from the task that waits."
            }
        },
        Cause::BuriedWait => "Shorten the tasks that run during a wait, or wait in fewer places.",
        Cause::BoundedQueue => "Create fewer and larger tasks, or create them from several tasks.",
        Cause::Stretch => {
            "Look at the data that its tasks touch: they share caches, memory or locks."
        }
        Cause::Descheduled => "Run the program alone on the machine.",
        Cause::Oversubscribed => {
            "Use as many threads as CPUs; more threads help only if tasks wait for I/O."
        }
        Cause::LockAcrossJoin => {
            "Release the lock before the join: if a task that the worker runs in it takes the same lock, the program hangs."
        }
        Cause::LateRank => {
            "Give this rank less to do, or the others more until then; or let them go on meanwhile, by calls that do not wait."
        }
        Cause::Lock | Cause::Channel | Cause::Io | Cause::Sleep | Cause::Blocked => {
            blocked(view, finding, runtime)
        }
        Cause::OtherThreads => {
            "Make the work of these threads parallel or shorter: it limits the program."
        }
        Cause::OtherPool if !view.dag.meta.processes.is_empty() => {
            "Divide the work among the processes more evenly, or give this one more threads: a process runs only its own tasks."
        }
        Cause::OtherPool => {
            "Use one pool for both, or give this one more threads: a worker takes tasks only from its own pool."
        }
        Cause::ThreadStart if view.report.on_a_quiet_machine().is_some() => BUSY,
        Cause::ThreadStart => {
            "Start threads once and hand them work, or use a pool: starting a thread takes tens of microseconds."
        }
        Cause::None => "",
    }
}

/// Advice for threads that came late in a run in which other programs used the CPUs.
const BUSY: &str = "Measure again on a quiet machine: on a busy one, a thread that starts or wakes up waits for a CPU like any other.";

/// Advice for strands that were ready while a worker was free.
fn slow_thief(view: &View, finding: &Finding, runtime: Runtime) -> &'static str {
    if view.report.on_a_quiet_machine().is_some() {
        return BUSY;
    }
    let task = view.dag.strands.task.get(finding.strand as usize);
    let is_put = task.is_some_and(|&t| view.dag.tasks.kind[t as usize] == TaskKind::Inline);
    match runtime {
        Runtime::Rayon | Runtime::OneTbb => {
            "Merge several short parallel calls into one, or do short work serially: each call wakes sleeping workers."
        }
        Runtime::OpenMp if is_put => {
            "Set OMP_WAIT_POLICY=active, which keeps threads awake between regions, or open one region around several loops: the region's threads arrived late."
        }
        Runtime::OpenMp => {
            "Set OMP_WAIT_POLICY=active, which keeps threads awake, or let tasks create tasks, so that more thieves find them."
        }
        Runtime::Any => {
            "Merge several short parallel parts into one, or do short work serially: sleeping workers take time to wake."
        }
    }
}

fn blocked(view: &View, finding: &Finding, runtime: Runtime) -> &'static str {
    let by_cause = match finding.cause {
        Cause::Lock => Some(WaitKind::Lock),
        Cause::Channel => Some(WaitKind::Channel),
        Cause::Io => Some(WaitKind::Io),
        Cause::Sleep => Some(WaitKind::Sleep),
        _ => None,
    };
    let at = blocked_in(view.dag, finding);
    if at.as_ref().is_some_and(BlockingPlace::is_c_library_lock) {
        return "Allocate less in tasks, or use another allocator (mimalloc, jemalloc), if it is the allocator's lock; write in larger pieces, if it is a stream's.";
    }
    let kind = at.map(|at| at.kind);
    match kind.or(by_cause) {
        Some(WaitKind::Bridge) => {
            "Collect the items first and use `into_par_iter`, or make the iterator cheap: `par_bridge` hands out items one at a time under a lock."
        }
        Some(WaitKind::Lock) => {
            "Hold the lock for less time, or give each task its own data and combine the results at the end."
        }
        Some(WaitKind::Channel) => {
            "Look at what the channel's other end does, or let the tasks do it themselves."
        }
        Some(WaitKind::Condition) => {
            "Look at what the thread does that signals it, or let the tasks do it themselves."
        }
        Some(WaitKind::Barrier) => {
            "Divide the work before the barrier more evenly, or do without the barrier."
        }
        _ if finding.block.site == ROOT_PLACE => {
            "Start earlier what it waits for, or overlap it with other work."
        }
        Some(WaitKind::Sleep | WaitKind::Io) => match runtime {
            Runtime::Rayon => {
                "Use more threads than CPUs (RAYON_NUM_THREADS, num_threads), so that others run while these tasks wait."
            }
            Runtime::OpenMp => {
                "Use more threads than CPUs (OMP_NUM_THREADS), so that others run while these tasks wait."
            }
            _ => "Use more threads than CPUs, so that others run while these tasks wait.",
        },
        _ => {
            "Use more threads than CPUs if it waits for I/O. Let less of the work need the lock or channel if it waits for one."
        }
    }
}

#[cfg(test)]
mod tests {
    /// Verbs that a piece of advice may begin with.
    const VERBS: [&str; 18] = [
        "Allocate", "Collect", "Create", "Give", "Hold", "Let", "Look", "Make", "Measure", "Merge",
        "Release", "Run", "Set", "Shorten", "Split", "Start", "Use", "Divide",
    ];

    #[test]
    fn advice_says_what_to_do() {
        let source = include_str!("advice.rs").split("#[cfg(test)]").next();
        let texts = source.unwrap_or_default().split('"').skip(1).step_by(2);
        let sentences: Vec<&str> = texts.filter(|text| text.ends_with('.')).collect();
        assert!(sentences.len() > 20, "{sentences:#?}");
        for text in sentences {
            let first = text.split(' ').next().unwrap_or_default();
            assert!(VERBS.contains(&first), "{text}");
        }
    }
}
