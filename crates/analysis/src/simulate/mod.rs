//! Simulates the recorded computation on other numbers of workers and under other schedulers.
//!
//! This is a discrete-event simulation: virtual workers run the strands of the DAG, and create,
//! wait and steal according to the policy. A strand takes its weight (MODEL.md §2); the costs of
//! creating and stealing are parameters. The same seed gives the same run. With one worker the
//! elapsed time is work + spawn cost × spawns, exactly; with any number it is at least the span and
//! the work's share.
//!
//! * `fix`: changes to the program.
//! * `program`: the DAG as a list of operations per task, with the fixes applied.
//! * `engine`: workers, their queues and stacks, and the events.
//! * `schedule`: the simulated schedule as a trace.

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
    /// A new child runs at once, and the rest of its creator can be stolen (Cilk, MassiveThreads).
    /// The worker that ends the last task waited for continues after the wait.
    WorkFirst,
    /// A new child can be stolen, and its creator continues. A worker in a wait runs any other
    /// task, and continues after the wait when that task has ended (Rayon, oneTBB).
    HelpFirst,
    /// Help-first, but a child becomes visible only when its creator waits or ends.
    DelayedChildren,
    /// Help-first, but a worker with this many tasks in its queue runs a new child inside its
    /// creator (OpenMP's throttling).
    BoundedQueue(u32),
    /// Help-first, but a worker in a wait runs only children of the waiting task from its own
    /// queue.
    RestrainedStealing,
    /// One queue for all workers, first in, first out.
    BreadthFirst,
}

/// A run to simulate. Costs are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Number of virtual workers, at least 1.
    pub workers: u32,
    /// The scheduler.
    pub policy: Policy,
    /// Time from the decision to take another worker's task to the task's start.
    pub steal_cost: u64,
    /// Time for a look at another worker's queue that finds it empty.
    pub attempt_cost: u64,
    /// Seed for the choice of victims.
    pub seed: u64,
}

/// Default cost of a look at another worker's empty queue, in ticks: a 32nd of a steal.
pub fn usual_attempt_cost(steal_cost: u64) -> u64 {
    steal_cost / 32
}

/// The result of a simulated run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Simulated {
    /// Time from the start to the last end, in ticks.
    pub elapsed: u64,
    /// Number of tasks taken from another worker.
    pub steals: u64,
    /// Number of looks at empty queues.
    pub failed: u64,
    /// How often no worker could continue under the policy, so that one continued against it. What
    /// it waits for is then buried below it.
    pub unstuck: u64,
}

/// A computation, ready to be run in different ways.
pub struct Simulation<'a> {
    dag: &'a Dag,
    program: Program,
}

impl<'a> Simulation<'a> {
    /// Prepares `dag` with weights by `options` and with `fixes` applied. Each deferred create
    /// costs `spawn_cost` ticks on its creator's worker.
    ///
    /// # Errors
    /// See [`Error`]: a factor is not a positive number.
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

    /// The work that is run, including spawn costs.
    pub fn work(&self) -> u128 {
        self.program.work
    }

    /// Runs the simulation. O(n log P) for n strands and P workers.
    pub fn run(&self, setup: &Setup) -> Simulated {
        Engine::new(&self.program, *setup, None).run().0
    }

    /// Runs the simulation, and returns the schedule in the form of a recorded run.
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
