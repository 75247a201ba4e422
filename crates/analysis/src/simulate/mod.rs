//! The recorded computation on other numbers of workers, under other schedulers.
//!
//! Discrete events: virtual workers run the strands of the DAG, create, wait and steal as the
//! policy says. What a strand takes is its weight (MODEL.md §2); what creating and stealing cost is
//! given. The same seed gives the same run. With one worker the elapsed time is work + spawn cost ×
//! spawns, exactly; with any number it is at least the span and the work's share.
//!
//! * `fix`: changes to the program.
//! * `program`: the DAG as a list of operations a task, fixes put in.
//! * `engine`: workers, their queues and stacks, and the events.
//! * `schedule`: what ran when and where, as a trace like any other.

mod engine;
mod fix;
mod program;
mod random;
mod schedule;

use workspan_dag::Dag;
use workspan_dag::build::{Mode, build};

use crate::options::{Error, Options};
use crate::weight::Weights;
use engine::Engine;
pub use fix::Fix;
use program::Program;
use schedule::Schedule;

/// How workers choose what to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// A new child runs at once, the rest of its creator can be stolen (Cilk, MassiveThreads). Who
    /// ends the last task waited for goes on after the wait.
    WorkFirst,
    /// A new child can be stolen, its creator goes on; a worker in a wait runs any other task, and
    /// goes on after the wait when that has ended (Rayon, oneTBB).
    HelpFirst,
    /// The same, but nobody sees a child before its creator waits or ends.
    DelayedChildren,
    /// Help-first, but a worker with so many tasks in its queue runs a new child inside of its
    /// creator (OpenMP's throttling).
    BoundedQueue(u32),
    /// Help-first, but a worker in a wait runs nothing but children of the waiting task from its
    /// own queue.
    RestrainedStealing,
    /// One queue for all, first in, first out.
    BreadthFirst,
}

/// A run to simulate. Costs are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Virtual workers, at least 1.
    pub workers: u32,
    /// The scheduler.
    pub policy: Policy,
    /// From the decision to take another worker's task to its start.
    pub steal_cost: u64,
    /// A look at another worker's queue that finds it empty.
    pub attempt_cost: u64,
    /// Decides whom thieves ask.
    pub seed: u64,
}

/// What a look at another worker's empty queue costs where nobody says, in ticks: a 32nd of a
/// steal.
pub fn usual_attempt_cost(steal_cost: u64) -> u64 {
    steal_cost / 32
}

/// What a simulated run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Simulated {
    /// From the start to the last end, in ticks.
    pub elapsed: u64,
    /// Tasks taken from another worker.
    pub steals: u64,
    /// Looks at empty queues.
    pub failed: u64,
    /// Times at which no worker could go on under the policy and one did against it: what waits for
    /// what is buried below it.
    pub unstuck: u64,
}

/// A computation, ready to be run in different ways.
pub struct Simulation<'a> {
    dag: &'a Dag,
    program: Program,
}

impl<'a> Simulation<'a> {
    /// Prepares `dag`, weighed by `options`, with `fixes` made. Each deferred create costs
    /// `spawn_cost` ticks on its creator's worker.
    ///
    /// # Errors
    /// See [`Error`]: a factor is no positive number.
    pub fn new(
        dag: &'a Dag,
        options: &Options,
        spawn_cost: u64,
        fixes: &[Fix],
    ) -> Result<Simulation<'a>, Error> {
        let weights = Weights::new(dag, options)?;
        let program = Program::new(dag, &weights, options, spawn_cost, fixes)?;
        Ok(Simulation { dag, program })
    }

    /// Work that is run, spawn costs included.
    pub fn work(&self) -> u128 {
        self.program.work
    }

    /// Runs it. O(n log P) for n strands and P workers.
    pub fn run(&self, setup: &Setup) -> Simulated {
        Engine::new(&self.program, *setup, None).run().0
    }

    /// Runs it and tells what ran when and where, as a run like any recorded one.
    ///
    /// # Errors
    /// The schedule has too many strands for a trace.
    pub fn trace(&self, setup: &Setup) -> Result<(Simulated, Dag), workspan_dag::Error> {
        let schedule = Schedule::new(self.dag, &self.program);
        let (simulated, schedule) = Engine::new(&self.program, *setup, Some(schedule)).run();
        let raw = match schedule {
            Some(schedule) => schedule.finish(setup),
            None => workspan_dag::raw::RawTrace::default(),
        };
        Ok((simulated, build(raw, Mode::Repair)?))
    }
}
