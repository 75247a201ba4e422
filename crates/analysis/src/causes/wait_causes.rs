//! The causes of blocked time by thread and time.

use workspan_dag::{Dag, OffWhy, ThreadId};

use super::Cause;
use crate::wait_kind::StopCauses;

/// What each thread waited for, and when, as far as it is known: start, end and cause, by start.
pub(super) struct WaitCauses(Vec<Vec<(u64, u64, Cause)>>);

impl WaitCauses {
    pub(super) fn new(dag: &Dag) -> WaitCauses {
        let threads = dag.meta.threads as usize;
        let mut of_thread = vec![Vec::new(); threads];
        let mut causes = StopCauses::new(dag);
        for (i, stop) in (0..).zip(&dag.samples.stops) {
            let cause = causes.of(i, stop);
            if let Some(times) = of_thread.get_mut(stop.thread as usize) {
                times.push((stop.t, stop.t.saturating_add(stop.ticks), cause));
            }
        }
        // What a text trace says of the interval itself.
        for off in dag.offs.iter().filter(|off| off.why == OffWhy::Blocked) {
            let told = off.on.as_deref().and_then(by_word);
            if let (Some(cause), Some(times)) = (told, of_thread.get_mut(off.thread as usize)) {
                times.push((off.start, off.end, cause));
            }
        }
        for times in &mut of_thread {
            times.sort_by_key(|time| (time.0, time.1));
        }
        WaitCauses(of_thread)
    }

    /// The cause of blocked time of `thread` from one moment to another.
    pub(super) fn during(&self, thread: ThreadId, from: u64, to: u64) -> Cause {
        let times = self.0.get(thread as usize).map_or(&[][..], Vec::as_slice);
        let begun = times.partition_point(|time| time.0 < to);
        let last = begun.checked_sub(1).map(|i| times[i]);
        last.filter(|time| time.1 > from)
            .map_or(Cause::Blocked, |time| time.2)
    }
}

/// The words for it in a text trace.
fn by_word(on: &str) -> Option<Cause> {
    Some(match on {
        "lock" | "mutex" | "rwlock" => Cause::Lock,
        "channel" | "condition" | "semaphore" => Cause::Channel,
        "io" | "I/O" => Cause::Io,
        "sleep" => Cause::Sleep,
        _ => return None,
    })
}
