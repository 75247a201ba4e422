//! Advice for a finding, in terms of the runtime that the program uses.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{WaitKind, blocked_in};
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
    fn of(view: &View) -> Runtime {
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
    let runtime = Runtime::of(view);
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
        Cause::BuriedWait => "Shorten the tasks that run during a wait, or wait in fewer places.",
        Cause::BoundedQueue => "Create fewer and larger tasks, or create them from several tasks.",
        Cause::Stretch => "Its tasks share caches, memory or locks: look at the data they touch.",
        Cause::Descheduled => "Run the program alone on the machine.",
        Cause::Oversubscribed => {
            "Use as many threads as CPUs; more threads help only if tasks wait for I/O."
        }
        Cause::Blocked => blocked(view, finding, runtime),
        Cause::OtherThreads => {
            "The work of these threads limits the program: make it parallel or shorter."
        }
        Cause::OtherPool => {
            "A worker takes tasks only from its own pool: use one pool for both, or give this one more threads."
        }
        Cause::None => "",
    }
}

/// Advice for strands that were ready while a worker was free.
fn slow_thief(view: &View, finding: &Finding, runtime: Runtime) -> &'static str {
    if view.report.critical_block.is_some() {
        return "The machine was busy, and a thread that wakes up waits for a CPU like any other. Measure again on a quiet machine.";
    }
    let task = view.dag.strands.task.get(finding.place.strand as usize);
    let is_put = task.is_some_and(|&t| view.dag.tasks.kind[t as usize] == TaskKind::Inline);
    match runtime {
        Runtime::Rayon | Runtime::OneTbb => {
            "Each parallel call wakes sleeping workers: merge several short calls into one, or do short work serially."
        }
        Runtime::OpenMp if is_put => {
            "The region's threads arrived late: OMP_WAIT_POLICY=active keeps them awake between regions, and one region around several loops avoids opening many."
        }
        Runtime::OpenMp => {
            "OMP_WAIT_POLICY=active keeps threads awake. If tasks create tasks, more thieves can find them."
        }
        Runtime::Any => {
            "Sleeping workers take time to wake: merge several short parallel parts into one, or do short work serially."
        }
    }
}

fn blocked(view: &View, finding: &Finding, runtime: Runtime) -> &'static str {
    let kind = blocked_in(view.dag, finding).map(|at| at.kind);
    match kind {
        Some(WaitKind::Bridge) => {
            "`par_bridge` hands out items one at a time under a lock: collect them first and use `into_par_iter`, or make the iterator cheap."
        }
        Some(WaitKind::Lock) => {
            "Hold the lock for less time, or give each task its own data and combine the results at the end."
        }
        Some(WaitKind::Channel) => {
            "A channel is as fast as its other end: look at what that end does, or let the tasks do it themselves."
        }
        _ if finding.place.site == ROOT_PLACE => {
            "If what it waits for can start earlier, or overlap with other work, start it there."
        }
        Some(WaitKind::Sleep | WaitKind::Io) => match runtime {
            Runtime::Rayon => {
                "Waiting tasks leave CPUs idle: use more threads than CPUs (RAYON_NUM_THREADS, num_threads), so that others can run."
            }
            Runtime::OpenMp => {
                "Waiting tasks leave CPUs idle: use more threads than CPUs (OMP_NUM_THREADS), so that others can run."
            }
            _ => {
                "Waiting tasks leave CPUs idle: use more threads than CPUs, so that others can run."
            }
        },
        _ => {
            "If it waits for I/O, use more threads than CPUs. If it waits for a lock or a channel, let less of the work need it."
        }
    }
}
