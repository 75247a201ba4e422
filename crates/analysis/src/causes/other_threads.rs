//! Decides whether a thread that waits without an edge waits for threads that the trace has no
//! records of.

use workspan_dag::Dag;

/// Times in which threads without records used the CPUs.
pub(super) struct OtherThreads<'a> {
    dag: &'a Dag,
    /// Ticks between two samples of a thread on a CPU; 0 without samples.
    period: u64,
    /// Ticks that one of their samples stands for: a thread that is preempted often has fewer
    /// samples than time.
    each: u128,
    /// For runs without samples: they used the CPUs for a good part of the run.
    always: bool,
    /// The last queried interval, by thread and start, and its answer.
    asked: Option<((u32, u64), bool)>,
}

/// Minimum length of an interval in which samples are counted, in sampling periods; shorter
/// intervals are widened to it.
const MIN_PERIODS: u64 = 16;
/// They count as waited for if they ran for at least one part in this many of the time.
const RAN_SHARE_DIVISOR: u128 = 8;

impl<'a> OtherThreads<'a> {
    pub(super) fn new(dag: &'a Dag) -> OtherThreads<'a> {
        let hertz = u64::from(dag.samples.hertz);
        let period = dag.meta.ticks_per_second.checked_div(hertz).unwrap_or(0);
        let strands = &dag.strands;
        let begin = strands.start.first().copied().unwrap_or(0);
        let end = strands.end.iter().copied().max().unwrap_or(0);
        let used = dag.meta.run.cpu_time_of_others.unwrap_or(0);
        OtherThreads {
            dag,
            period,
            each: u128::from(used)
                .checked_div(dag.samples.others.len() as u128)
                .map_or(0, |each| each.max(u128::from(period))),
            always: period == 0
                && used > 0
                && u128::from(used) * RAN_SHARE_DIVISOR >= u128::from(end - begin),
            asked: None,
        }
    }

    /// Whether threads without records ran while `thread` was off the CPU around `time`.
    pub(super) fn ran(&mut self, thread: u32, time: u64) -> bool {
        if self.period == 0 || self.dag.samples.others.is_empty() {
            return self.always;
        }
        let offs = &self.dag.offs;
        let after = offs.partition_point(|off| (off.thread, off.start) <= (thread, time));
        let off = after.checked_sub(1).map(|last| &offs[last]);
        let (from, to) = match off {
            Some(off) if off.thread == thread && time < off.end => (off.start, off.end),
            _ => (time, time),
        };
        if let Some((asked, answer)) = self.asked
            && asked == (thread, from)
        {
            return answer;
        }
        let missing = (MIN_PERIODS * self.period).saturating_sub(to - from);
        let (first, last) = (
            from.saturating_sub(missing / 2),
            to.saturating_add(missing / 2),
        );
        let others = &self.dag.samples.others;
        let count = |until: u64| others.partition_point(|&(t, _)| t < until) as u128;
        let ran = (count(last) - count(first)) * self.each;
        let answer = ran * RAN_SHARE_DIVISOR >= u128::from(last - first);
        self.asked = Some(((thread, from), answer));
        answer
    }
}
