//! Steals between the threads of oneTBB's arena.

use std::ffi::c_void;
use std::ptr;

use super::round::{Costs, MAX_ROUNDS, Round};
use crate::library::Library;
use crate::tbb::{Context, Functions, Table, Task, WaitContext};

struct Arena {
    functions: Functions,
    context: Context,
    wait: WaitContext,
    costs: Costs,
    /// The children, one after the other; none of them is moved.
    children: Vec<Child>,
}

#[repr(C)]
struct Root {
    task: Task,
    arena: *mut Arena,
}

#[repr(C)]
struct Child {
    task: Task,
    round: Round,
    wait: *const WaitContext,
    functions: Functions,
}

static ROOT: Table = Table::new(root);
static CHILD: Table = Table::new(child);

/// Measures steals of children of a task that this thread runs.
pub(super) fn measure(library: &Library) -> Result<Costs, String> {
    let functions = Functions::load(library)?;
    let mut arena = Arena {
        functions,
        context: Context::new(),
        wait: WaitContext::new(1),
        costs: Costs::default(),
        children: Vec::with_capacity(MAX_ROUNDS),
    };
    let arena = &raw mut arena;
    let mut first = Root {
        task: Task::new(&ROOT),
        arena,
    };
    // SAFETY: context, wait and tasks stay where they are until all tasks have ended, for which the
    // call waits.
    unsafe {
        let (context, wait) = (&raw mut (*arena).context, &raw mut (*arena).wait);
        (functions.initialize)(context);
        (functions.execute_and_wait)((&raw mut first).cast(), context, wait, context);
        (functions.destroy)(context);
        Ok(std::mem::take(&mut (*arena).costs))
    }
}

extern "C" fn root(task: *mut Task, _: *mut c_void) -> *mut Task {
    // SAFETY: the task is a `Root`. Its arena is used by this task only, except for the wait, which
    // is atomic, and for children, each of which belongs to its thief until it has ended.
    unsafe {
        let arena = (*task.cast::<Root>()).arena;
        let functions = (*arena).functions;
        while (*arena).costs.go_on() {
            (*arena).wait.reserve();
            let all = &mut (*arena).children;
            let at = all.as_mut_ptr().add(all.len());
            at.write(Child {
                task: Task::new(&CHILD),
                round: Round::new(),
                wait: &raw const (*arena).wait,
                functions,
            });
            all.set_len(all.len() + 1);
            (functions.spawn)(at.cast(), &raw mut (*arena).context);
            let stolen = (*at).round.stolen();
            (*arena).costs.add(stolen);
        }
        functions.release(&raw const (*arena).wait);
    }
    ptr::null_mut()
}

extern "C" fn child(task: *mut Task, _: *mut c_void) -> *mut Task {
    // SAFETY: the task is a `Child`, which is kept until all have ended.
    unsafe {
        let child = task.cast::<Child>();
        (*child).round.begins();
        (*child).functions.release((*child).wait);
    }
    ptr::null_mut()
}
