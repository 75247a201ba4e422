//! Writes the samples with their logical stacks (spawn sites from the root, then code) in the
//! formats of other profilers.

mod firefox;
mod pprof;
mod speedscope;

pub use firefox::firefox;
pub use pprof::{PprofMessage, pprof};
pub use speedscope::speedscope;

use workspan_analysis::{Error, LogicalSamples, Options, logical_samples};
use workspan_dag::{Dag, ThreadId};

/// The samples of a run, ready to be written.
#[derive(Debug)]
pub struct Profile<'a> {
    dag: &'a Dag,
    logical: LogicalSamples,
    /// Time that a sample stands for, in nanoseconds.
    sample_ns: u64,
}

impl<'a> Profile<'a> {
    /// # Errors
    /// The run can't be measured with these options.
    pub fn new(dag: &'a Dag, options: &Options) -> Result<Profile<'a>, Error> {
        Ok(Profile {
            dag,
            logical: logical_samples(dag, options)?,
            sample_ns: 1_000_000_000 / u64::from(dag.samples.hertz.max(1)),
        })
    }

    /// The program's name.
    fn name(&self) -> &str {
        self.dag.meta.name.as_deref().unwrap_or("program")
    }

    /// Nanoseconds from the beginning of the run to the sample.
    fn time_ns(&self, sample: usize) -> u64 {
        let begin = self.dag.strands.start.first().copied().unwrap_or(0);
        let ticks = u128::from(self.dag.samples.t[sample].saturating_sub(begin));
        let rate = u128::from(self.dag.meta.tick_rate());
        u64::try_from(ticks * 1_000_000_000 / rate).unwrap_or(u64::MAX)
    }

    /// Elapsed time of the run, in nanoseconds.
    fn duration_ns(&self) -> u64 {
        let strands = &self.dag.strands;
        let begin = strands.start.first().copied().unwrap_or(0);
        let end = strands.end.iter().copied().max().unwrap_or(begin);
        let ticks = u128::from(end.saturating_sub(begin));
        let rate = u128::from(self.dag.meta.tick_rate());
        u64::try_from(ticks * 1_000_000_000 / rate).unwrap_or(u64::MAX)
    }

    /// Threads that have samples, ascending.
    fn threads(&self) -> Vec<ThreadId> {
        let mut threads = self.dag.samples.thread.clone();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The name of a thread.
    fn thread_name(&self, thread: ThreadId) -> String {
        if thread < self.dag.meta.workers {
            format!("worker {thread}")
        } else {
            format!("thread {thread}")
        }
    }
}
