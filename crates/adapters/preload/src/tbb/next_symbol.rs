//! libtbb's own functions: those of the only libtbb in the process, or of the caller's
//! ([`crate::runtimes`]).

use std::ffi::{CStr, c_char, c_void};

use workspan_recorder::adapter::KeepErrno;

use super::arena::Delegate;
use super::task::Task;
use crate::runtimes::{Caller, Function, Instance, Key, Resolution, RuntimeCopies};

static TBB: RuntimeCopies = RuntimeCopies::new(
    c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
    "oneTBB",
    forget,
);

// With one libtbb in the process: the file that made the thread's last call.
workspan_recorder::tls_slot!(LastCaller: Caller, "workspan_tbb_caller");

/// A function of libtbb, by its mangled name.
pub(super) struct NextSymbol<F> {
    function: Function,
    as_type: std::marker::PhantomData<F>,
}

// SAFETY: it holds a name and atomics.
unsafe impl<F> Sync for NextSymbol<F> {}

impl<F: Copy> NextSymbol<F> {
    const fn new(name: &'static CStr) -> Self {
        Self {
            function: Function::new(name),
            as_type: std::marker::PhantomData,
        }
    }

    /// The function that the caller with this return address would have reached without us. If
    /// there is none the process ends, as the loader would have ended it at the first call.
    #[inline]
    pub(super) fn get(&self, ret: usize) -> F {
        // SAFETY: null or a caller, and callers are never freed.
        let is_known = unsafe { LastCaller::get().as_ref() }.is_some_and(|last| last.contains(ret));
        let mut at = if is_known { self.function.in_only() } else { 0 };
        if at == 0 {
            at = self.find(ret);
        }
        // SAFETY: the statics below give each name its type.
        unsafe { std::mem::transmute_copy(&at) }
    }

    #[cold]
    #[inline(never)]
    fn find(&self, ret: usize) -> usize {
        let _errno = KeepErrno::new();
        let at = instance(ret).map_or(0, |instance| self.function.find_in(&TBB, instance));
        if at == 0 {
            eprintln!(
                "workspan: oneTBB's function {} is called but in no loaded library; record this program without its \
                 oneTBB part, or report it",
                self.function.name.to_string_lossy()
            );
            std::process::abort();
        }
        at
    }
}

/// The libtbb that a call with this return address goes to; the first one if that is ambiguous.
fn instance(ret: usize) -> Option<&'static Instance> {
    match TBB.resolve(Key::Return(ret)) {
        Resolution::Runtime(instance, caller) => {
            if let Some(caller) = caller {
                LastCaller::set(std::ptr::from_ref(caller).cast_mut());
            }
            Some(instance)
        }
        Resolution::Ambiguous | Resolution::Missing => TBB.first(),
    }
}

/// An algorithm begins: detects files that were loaded or unloaded.
#[inline]
pub(super) fn notice_changes() {
    crate::runtimes::now_and_then(&TBB);
}

/// Discards the addresses in the only libtbb.
fn forget() {
    SPAWN.function.forget();
    SPAWN_TO.function.forget();
    SUBMIT.function.forget();
    ENQUEUE.function.forget();
    ENQUEUE_IN.function.forget();
    EXECUTE_AND_WAIT.function.forget();
    WAIT.function.forget();
    EXECUTE.function.forget();
    SUSPEND.function.forget();
    RESUME.function.forget();
    INITIALIZE.function.forget();
    PIPELINE.function.forget();
}

/// The version of libtbb as a text; `None` if it has none.
pub(super) fn version() -> Option<*const c_char> {
    static VERSION: Function = Function::new(c"TBB_runtime_version");
    // The current call may be the first that we see: an `enqueue` in versions that call their own
    // functions directly.
    TBB.look();
    let at = VERSION.find_in(&TBB, TBB.first()?);
    if at == 0 {
        return None;
    }
    // SAFETY: oneTBB's `const char* TBB_runtime_version()`.
    let text = unsafe { std::mem::transmute::<usize, extern "C" fn() -> *const c_char>(at)() };
    (!text.is_null()).then_some(text)
}

pub(super) type Spawn = unsafe extern "C-unwind" fn(*mut Task, usize);
pub(super) type SpawnTo = unsafe extern "C-unwind" fn(*mut Task, usize, u16);
pub(super) type Submit = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void, usize);
pub(super) type Enqueue = unsafe extern "C-unwind" fn(*mut Task, *mut c_void);
pub(super) type EnqueueIn = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void);
pub(super) type ExecuteAndWait = unsafe extern "C-unwind" fn(*mut Task, usize, *mut c_void, usize);
pub(super) type Wait = unsafe extern "C-unwind" fn(*mut c_void, usize);
pub(super) type Execute = unsafe extern "C-unwind" fn(*mut c_void, *mut Delegate);
pub(super) type Callback = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);
pub(super) type Suspend = unsafe extern "C-unwind" fn(Callback, *mut c_void);
pub(super) type ResumeFunction = unsafe extern "C-unwind" fn(*mut c_void);
pub(super) type Initialize = unsafe extern "C-unwind" fn(usize);
pub(super) type Pipeline = unsafe extern "C-unwind" fn(usize, usize, *mut c_void);

pub(super) static SPAWN: NextSymbol<Spawn> =
    NextSymbol::new(c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE");
pub(super) static SPAWN_TO: NextSymbol<SpawnTo> =
    NextSymbol::new(c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt");
pub(super) static SUBMIT: NextSymbol<Submit> = NextSymbol::new(
    c"_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm",
);
pub(super) static ENQUEUE: NextSymbol<Enqueue> =
    NextSymbol::new(c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE");
pub(super) static ENQUEUE_IN: NextSymbol<EnqueueIn> = NextSymbol::new(
    c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
);
pub(super) static EXECUTE_AND_WAIT: NextSymbol<ExecuteAndWait> = NextSymbol::new(
    c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
);
pub(super) static WAIT: NextSymbol<Wait> =
    NextSymbol::new(c"_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE");
pub(super) static EXECUTE: NextSymbol<Execute> =
    NextSymbol::new(c"_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE");
pub(super) static SUSPEND: NextSymbol<Suspend> =
    NextSymbol::new(c"_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_");
pub(super) static RESUME: NextSymbol<ResumeFunction> =
    NextSymbol::new(c"_ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE");
pub(super) static INITIALIZE: NextSymbol<Initialize> =
    NextSymbol::new(c"_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE");
pub(super) static PIPELINE: NextSymbol<Pipeline> = NextSymbol::new(
    c"_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
);
