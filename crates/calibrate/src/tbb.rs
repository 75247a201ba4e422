//! Steals between the threads of oneTBB's arena, by the functions that its headers' templates call. Tasks, contexts and
//! waits are laid out as those headers have them since 2021.1.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::library::Library;
use crate::round::{Costs, Round, WANTED};

/// `d1::task`: its table, `m_version_and_traits`, and what is the library's.
#[repr(C, align(64))]
struct Task {
    table: *const Table,
    words: [u64; 7],
}

/// A task's virtual functions: two destructors that nobody calls, `execute` and `cancel`.
#[repr(C)]
struct Table {
    destructors: [extern "C" fn(*mut Task); 2],
    run: [extern "C" fn(*mut Task, *mut c_void) -> *mut Task; 2],
}

/// `d1::task_group_context`, an isolated one with nothing special: version 1 and zeros, for `r1::initialize` to fill.
#[repr(C, align(64))]
struct Context([u8; 128]);

const CONTEXT_VERSION: usize = 12;

/// `d1::wait_context`.
#[repr(C)]
struct WaitContext {
    version: u64,
    count: AtomicU64,
}

struct Arena {
    spawn: unsafe extern "C" fn(*mut Task, *mut Context),
    notify: unsafe extern "C" fn(usize),
    context: Context,
    wait: WaitContext,
    costs: Costs,
    /// One after the other; none is moved.
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
    notify: unsafe extern "C" fn(usize),
}

extern "C" fn nothing(_: *mut Task) {}

static ROOT: Table = Table {
    destructors: [nothing; 2],
    run: [root; 2],
};
static CHILD: Table = Table {
    destructors: [nothing; 2],
    run: [child; 2],
};

fn task(table: &'static Table) -> Task {
    Task {
        table,
        words: [0; 7],
    }
}

/// Steals of what a task spawned that this thread runs.
pub(crate) fn measure(library: &Library) -> Result<Costs, String> {
    type OfContext = unsafe extern "C" fn(*mut Context);
    type ExecuteAndWait =
        unsafe extern "C" fn(*mut Task, *mut Context, *mut WaitContext, *mut Context);
    // SAFETY: these are the types of the functions of these names.
    let (initialize, destroy, execute, mut arena) = unsafe {
        (
            transmute::<*mut c_void, OfContext>(
                library.function(c"_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE")?,
            ),
            transmute::<*mut c_void, OfContext>(
                library.function(c"_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE")?,
            ),
            transmute::<*mut c_void, ExecuteAndWait>(library.function(
                c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
            )?),
            Arena {
                spawn: transmute::<*mut c_void, unsafe extern "C" fn(*mut Task, *mut Context)>(
                    library.function(
                        c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
                    )?,
                ),
                notify: transmute::<*mut c_void, unsafe extern "C" fn(usize)>(
                    library.function(c"_ZN3tbb6detail2r114notify_waitersEm")?,
                ),
                context: Context([0; 128]),
                wait: WaitContext {
                    version: 1,
                    count: AtomicU64::new(1),
                },
                costs: Costs::default(),
                children: Vec::with_capacity(WANTED),
            },
        )
    };
    arena.context.0[CONTEXT_VERSION] = 1;
    let arena = &raw mut arena;
    let mut first = Root {
        task: task(&ROOT),
        arena,
    };
    // SAFETY: context, wait and tasks stay where they are until all tasks have ended, for which the call waits.
    unsafe {
        let (context, wait) = (&raw mut (*arena).context, &raw mut (*arena).wait);
        initialize(context);
        execute((&raw mut first).cast(), context, wait, context);
        destroy(context);
        Ok(std::mem::take(&mut (*arena).costs))
    }
}

/// One of those that are waited for has ended: the last one says so.
///
/// # Safety
/// `wait` is live until this says so.
unsafe fn release(wait: *const WaitContext, notify: unsafe extern "C" fn(usize)) {
    // SAFETY: the caller's; the function takes the address alone.
    unsafe {
        if (*wait).count.fetch_sub(1, Ordering::AcqRel) == 1 {
            notify(wait as usize);
        }
    }
}

extern "C" fn root(task_of: *mut Task, _: *mut c_void) -> *mut Task {
    // SAFETY: the task is a `Root`; its arena is this task's alone but for the wait, which is atomic, and for
    // children, each of which its thief has until it has ended.
    unsafe {
        let arena = (*task_of.cast::<Root>()).arena;
        while (*arena).costs.go_on() {
            (*arena).wait.count.fetch_add(1, Ordering::Relaxed);
            let all = &mut (*arena).children;
            let at = all.as_mut_ptr().add(all.len());
            at.write(Child {
                task: task(&CHILD),
                round: Round::new(),
                wait: &raw const (*arena).wait,
                notify: (*arena).notify,
            });
            all.set_len(all.len() + 1);
            ((*arena).spawn)(at.cast(), &raw mut (*arena).context);
            let stolen = (*at).round.stolen();
            (*arena).costs.add(stolen);
        }
        release(&raw const (*arena).wait, (*arena).notify);
    }
    ptr::null_mut()
}

extern "C" fn child(task: *mut Task, _: *mut c_void) -> *mut Task {
    // SAFETY: the task is a `Child`, which is kept until all have ended.
    unsafe {
        let child = task.cast::<Child>();
        (*child).round.begins();
        release((*child).wait, (*child).notify);
    }
    ptr::null_mut()
}
