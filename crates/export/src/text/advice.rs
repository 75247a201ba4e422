//! What to do about a finding: something that a user of that runtime can do.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{WaitKind, blocked_in};
use workspan_dag::{ROOT_PLACE, TaskKind};

use super::View;

/// Whose words the program speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runtime {
    Rayon,
    OpenMp,
    OneTbb,
    /// Several, or one that is not known.
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
        Cause::SerialStrand => "Make it parallel or shorter, or let it run beside something else.",
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
                "Give each task more to do: `with_min_len`, `par_chunks`, or plain recursion below a size."
            }
            Runtime::OpenMp => {
                "Give each task more to do: `grainsize`, a larger chunk, or `final` or plain recursion below a size."
            }
            Runtime::OneTbb => {
                "Give each task more to do: a grain size in the range, or plain recursion below a size."
            }
            Runtime::Any => "Give each task more to do: a cutoff, a chunk size, fewer tasks.",
        },
        Cause::GrainCoarse => "Split the work into more and more even tasks, the longest first.",
        Cause::SlowThief => late(view, finding, runtime),
        Cause::BuriedWait => {
            "Make the tasks that run while something waits shorter, or wait in fewer places."
        }
        Cause::BoundedQueue => "Create fewer and larger tasks, or create them from several tasks.",
        Cause::Stretch => "Its tasks share caches, memory or locks: look at what they touch.",
        Cause::Descheduled => "Run it alone on the machine.",
        Cause::Oversubscribed => {
            "Use as many threads as CPUs: more of them pay only where tasks wait for I/O."
        }
        Cause::Blocked => blocked(view, finding, runtime),
        Cause::OtherThreads => {
            "What these threads do bounds the program: make that parallel or shorter."
        }
        Cause::OtherPool => {
            "A worker takes tasks of its own pool alone: use one pool for both, or give this one more threads."
        }
        Cause::None => "",
    }
}

/// Strands stood ready beside a free worker.
fn late(view: &View, finding: &Finding, runtime: Runtime) -> &'static str {
    if view.report.quiet.is_some() {
        return "The machine was busy: a thread that is woken waits for a CPU like any other. Look at it again on a quiet one.";
    }
    let task = view.dag.strands.task.get(finding.place.strand as usize);
    let is_put = task.is_some_and(|&t| view.dag.tasks.kind[t as usize] == TaskKind::Inline);
    match runtime {
        Runtime::Rayon => {
            "Each parallel call wakes sleeping workers: make one call of several short ones, or do what is short serially."
        }
        Runtime::OpenMp if is_put => {
            "The region's threads came late: OMP_WAIT_POLICY=active keeps them awake between regions; one region around several loops opens fewer."
        }
        Runtime::OpenMp => {
            "OMP_WAIT_POLICY=active keeps threads awake; tasks that create tasks are found by more thieves."
        }
        Runtime::OneTbb => {
            "Each parallel call wakes sleeping workers: make one call of several short ones, or do what is short serially."
        }
        Runtime::Any => {
            "Workers that sleep take time to wake: make one parallel part of several short ones, or do what is short serially."
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
            "Hold the lock for less, or give each task its own part and put the parts together at the end."
        }
        Some(WaitKind::Channel) => {
            "A channel is as fast as its other end: look at what that does, or let the tasks do it themselves."
        }
        _ if finding.place.site == ROOT_PLACE => {
            "If what it waits for can be had earlier, or beside other work, start it there."
        }
        Some(WaitKind::Sleep | WaitKind::Io) => match runtime {
            Runtime::Rayon => {
                "Tasks that wait leave CPUs idle: more threads than CPUs (RAYON_NUM_THREADS, num_threads) do other work meanwhile."
            }
            Runtime::OpenMp => {
                "Tasks that wait leave CPUs idle: more threads than CPUs (OMP_NUM_THREADS) do other work meanwhile."
            }
            _ => "Tasks that wait leave CPUs idle: more threads than CPUs do other work meanwhile.",
        },
        _ => {
            "More threads than CPUs hide waiting for I/O; where it is a lock or a channel, let less of the work need it."
        }
    }
}
