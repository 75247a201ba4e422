//! The causes of blocked time by thread and time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use workspan_dag::{Dag, OffCpuReason, StrandId, ThreadId};

use super::Cause;
use crate::blocks::CodeBlock;
use crate::off_cpu::OffCpuCursor;
use crate::wait_kind::StopCauses;

/// Minimum number of stacks in a code block from which its other stops are classified.
const MIN_STACKS: u64 = 8;
/// The percentage of a block's stacks that must be of one kind for its other stops to count as that
/// kind.
const MIN_USUAL_PERCENT: u64 = 90;

/// By thread: what it waited for and when, as far as it is known (start, end and cause), by start.
pub(super) struct WaitCauses(Vec<Vec<(u64, u64, Cause)>>);

impl WaitCauses {
    pub(super) fn new(dag: &Dag) -> WaitCauses {
        let threads = dag.meta.threads as usize;
        let mut of_thread = vec![Vec::new(); threads];
        let mut causes = StopCauses::new(dag);
        let stops = (0..).zip(&dag.samples.stops);
        let of_stops: Vec<Cause> = stops.map(|(i, stop)| causes.of(i, stop)).collect();
        for (stop, &cause) in dag.samples.stops.iter().zip(&of_stops) {
            if let Some(times) = of_thread.get_mut(stop.thread as usize) {
                times.push((stop.t, stop.t.saturating_add(stop.ticks), cause));
            }
        }
        // In a text trace, the interval itself has the cause.
        for off in dag
            .offs
            .iter()
            .filter(|off| off.why == OffCpuReason::Blocked)
        {
            let cause = off.on.as_deref().and_then(by_word);
            if let (Some(cause), Some(times)) = (cause, of_thread.get_mut(off.thread as usize)) {
                times.push((off.start, off.end, cause));
            }
        }
        let mut causes = WaitCauses(of_thread);
        causes.sort();
        causes.add_alike(dag, &usual_causes(dag, &of_stops));
        causes
    }

    fn sort(&mut self) {
        for times in &mut self.0 {
            times.sort_by_key(|time| (time.0, time.1));
        }
    }

    /// Adds the stops without a stack under the usual cause of their code block: the kernel takes
    /// the stacks of some thousand stops a second and leaves out the rest.
    fn add_alike(&mut self, dag: &Dag, usual: &BTreeMap<CodeBlock, Cause>) {
        if usual.is_empty() {
            return;
        }
        let mut offs = OffCpuCursor::new(dag);
        let mut alike = Vec::new();
        for s in 0..dag.strands.len() as StrandId {
            if offs.inside(s).blocked == 0 {
                continue;
            }
            let Some(&cause) = usual.get(&CodeBlock::from_strand(dag, s)) else {
                continue;
            };
            let thread = dag.strands.thread[s as usize];
            let unknown = offs
                .blocked(s)
                .filter(|&(from, to)| self.known(thread, from, to).is_none());
            alike.extend(unknown.map(|(from, to)| (thread, from, to, cause)));
        }
        for (thread, from, to, cause) in alike {
            self.0[thread as usize].push((from, to, cause));
        }
        self.sort();
    }

    /// The cause of blocked time of `thread` between two moments.
    pub(super) fn during(&self, thread: ThreadId, from: u64, to: u64) -> Cause {
        self.known(thread, from, to).unwrap_or(Cause::Blocked)
    }

    fn known(&self, thread: ThreadId, from: u64, to: u64) -> Option<Cause> {
        let times = self.0.get(thread as usize).map_or(&[][..], Vec::as_slice);
        let begun = times.partition_point(|time| time.0 < to);
        // A thread has one wait at a time. Of several in the interval the longest counts.
        let inside = times[..begun].iter().rev();
        let inside = inside.take_while(|time| time.1 > from);
        let share = |time: &&(u64, u64, Cause)| time.1.min(to) - time.0.max(from);
        Some(inside.min_by_key(|time| Reverse(share(time)))?.2)
    }
}

/// The usual cause of waits by code block, from the stacks of its stops: only blocks of which
/// nearly all stacks are of one kind. Waits that the process logged don't count, as it logs every
/// one.
fn usual_causes(dag: &Dag, of_stops: &[Cause]) -> BTreeMap<CodeBlock, Cause> {
    let mut stacks: BTreeMap<CodeBlock, BTreeMap<Cause, u64>> = BTreeMap::new();
    for (stop, &cause) in dag.samples.stops.iter().zip(of_stops) {
        if stop.wait.is_none() && (stop.strand as usize) < dag.strands.len() {
            let block = CodeBlock::from_strand(dag, stop.strand);
            let of_block = stacks.entry(block).or_default();
            *of_block.entry(cause).or_default() += 1;
        }
    }
    let usual = |(block, of_block): (CodeBlock, BTreeMap<Cause, u64>)| {
        let all: u64 = of_block.values().sum();
        let (cause, most) = of_block.into_iter().max_by_key(|&(_, count)| count)?;
        let enough = all >= MIN_STACKS && most * 100 >= all * MIN_USUAL_PERCENT;
        // A single stack in the recorder is reason enough not to blame the program.
        let tells = enough || cause == Cause::None && most == all;
        (tells && cause != Cause::Blocked).then_some((block, cause))
    };
    stacks.into_iter().filter_map(usual).collect()
}

/// The cause for the word in a text trace.
fn by_word(on: &str) -> Option<Cause> {
    Some(match on {
        "lock" | "mutex" | "rwlock" => Cause::Lock,
        "channel" | "condition" | "semaphore" => Cause::Channel,
        "io" | "I/O" => Cause::Io,
        "sleep" => Cause::Sleep,
        "rank" => Cause::LateRank,
        _ => return None,
    })
}
