//! Steals between the threads of an OpenMP team, by the entry points that GCC's code calls: libgomp has them, and LLVM's and
//! Intel's libomp have them too, so no compiler is needed.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::transmute;
use std::ptr;

use crate::library::Library;
use crate::round::{Costs, Round, WANTED};

type Body = extern "C" fn(*mut c_void);
type Parallel = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint);
/// Body, its data, how to copy it, size and alignment of the data, deferred, flags, dependences, priority, event. Older
/// versions have fewer.
type CreateTask = unsafe extern "C" fn(
    Body,
    *mut c_void,
    *const c_void,
    c_long,
    c_long,
    bool,
    c_uint,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);

struct Team {
    create: CreateTask,
    taskwait: unsafe extern "C" fn(),
    thread: unsafe extern "C" fn() -> c_int,
    costs: Costs,
    /// One after the other; none is moved.
    rounds: Vec<Round>,
}

/// Steals by the second thread of a team of two, which waits at the region's end.
pub(crate) fn measure(library: &Library) -> Result<Costs, String> {
    // SAFETY: these are the types of the functions of these names in every version of libgomp since GCC 4.9 and of libomp.
    let (parallel, mut team) = unsafe {
        (
            transmute::<*mut c_void, Parallel>(library.function(c"GOMP_parallel")?),
            Team {
                create: transmute::<*mut c_void, CreateTask>(library.function(c"GOMP_task")?),
                taskwait: transmute::<*mut c_void, unsafe extern "C" fn()>(
                    library.function(c"GOMP_taskwait")?,
                ),
                thread: transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(
                    library.function(c"omp_get_thread_num")?,
                ),
                costs: Costs::default(),
                rounds: Vec::with_capacity(WANTED),
            },
        )
    };
    // SAFETY: the region ends before this returns, and the team outlives it.
    unsafe { parallel(region, (&raw mut team).cast(), 2, 0) };
    Ok(team.costs)
}

extern "C" fn region(team: *mut c_void) {
    let team = team.cast::<Team>();
    // SAFETY: only the thread 0 goes beyond the first line, so the team is its alone; rounds stay where they are, as there
    // is room for all, and the region's tasks end before it does.
    unsafe {
        if ((*team).thread)() != 0 {
            return;
        }
        let team = &mut *team;
        while team.costs.go_on() {
            team.rounds.push(Round::new());
            let mut round: *const Round = &raw const team.rounds[team.rounds.len() - 1];
            (team.create)(
                task,
                (&raw mut round).cast(),
                ptr::null(),
                size_of::<*const Round>() as c_long,
                align_of::<*const Round>() as c_long,
                true,
                0,
                ptr::null_mut(),
                0,
                ptr::null_mut(),
            );
            let stolen = (*round).stolen();
            if stolen.is_none() {
                // It is run here, and counts for nothing.
                (team.taskwait)();
            }
            team.costs.add(stolen);
        }
    }
}

extern "C" fn task(data: *mut c_void) {
    // SAFETY: the data is a copy of the pointer that the task was created with; the round outlives it.
    unsafe { (**data.cast::<*const Round>()).begins() };
}
