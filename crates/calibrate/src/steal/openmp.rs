//! Steals between the threads of an OpenMP team.

use std::ffi::c_void;

use super::round::{Costs, MAX_ROUNDS, Round};
use crate::library::Library;
use crate::openmp::Functions;

struct Team {
    functions: Functions,
    costs: Costs,
    /// The rounds, one after the other; none of them is moved.
    rounds: Vec<Round>,
}

/// Steals by the second thread of a team of two, which waits at the region's end.
pub(super) fn measure(library: &Library) -> Result<Costs, String> {
    let mut team = Team {
        functions: Functions::load(library)?,
        costs: Costs::default(),
        rounds: Vec::with_capacity(MAX_ROUNDS),
    };
    let functions = team.functions;
    // SAFETY: the region ends before this returns, and the team outlives it.
    unsafe { functions.parallel(2, region, (&raw mut team).cast()) };
    Ok(team.costs)
}

extern "C" fn region(team: *mut c_void) {
    let team = team.cast::<Team>();
    // SAFETY: only thread 0 goes beyond the first line, so it is the only user of the team. Rounds
    // stay where they are, as there is room for all, and the region's tasks end before it does.
    unsafe {
        if (*team).functions.thread() != 0 {
            return;
        }
        let team = &mut *team;
        while team.costs.go_on() {
            team.rounds.push(Round::new());
            let round: *const Round = &raw const team.rounds[team.rounds.len() - 1];
            team.functions.task(task, round);
            let stolen = (*round).stolen();
            if stolen.is_none() {
                // The task runs here, and does not count.
                team.functions.taskwait();
            }
            team.costs.add(stolen);
        }
    }
}

extern "C" fn task(data: *mut c_void) {
    // SAFETY: the data is a copy of the pointer that the task was created with; the round outlives
    // it.
    unsafe { (**data.cast::<*const Round>()).begins() };
}
