//! oneTBB's entry points as programs call them. Each is a few instructions that pass on the
//! arguments, together with the caller's frame pointer and stack pointer, which locate the call.

use std::arch::naked_asm;

use workspan_recorder::is_on;

use super::{arena, budget, context, next_symbol, suspend, task, wait};

/// Defines `$symbol`, which jumps to `$to` with two more arguments.
/// [`super::call_site::Call::made`] takes them: the caller's frame pointer (on AArch64 the return
/// address), and the stack pointer after the return. The registers are those after the function's
/// own arguments.
macro_rules! entry {
    ($name:ident = $symbol:literal, $to:path, $a:literal, $b:literal, $c:literal, $d:literal) => {
        /// The function with the symbol's name.
        ///
        /// # Safety
        /// As for oneTBB's function.
        #[unsafe(export_name = $symbol)]
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name() {
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                concat!("mov ", $a, ", rbp"),
                concat!("lea ", $b, ", [rsp + 8]"),
                "jmp {to}",
                to = sym $to,
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                concat!("mov ", $c, ", x30"),
                concat!("mov ", $d, ", sp"),
                "b {to}",
                to = sym $to,
            );
        }
    };
}

entry!(
    spawn = "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
    task::spawn,
    "rdx",
    "rcx",
    "x2",
    "x3"
);
entry!(
    spawn_to = "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt",
    task::spawn_to,
    "rcx",
    "r8",
    "x3",
    "x4"
);
entry!(
    submit = "_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm",
    task::submit,
    "r8",
    "r9",
    "x4",
    "x5"
);
entry!(
    enqueue = "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE",
    task::enqueue,
    "rdx",
    "rcx",
    "x2",
    "x3"
);
entry!(
    enqueue_in =
        "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
    task::enqueue_in,
    "rcx",
    "r8",
    "x3",
    "x4"
);
entry!(
    execute_and_wait = "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
    wait::execute_and_wait,
    "r8",
    "r9",
    "x4",
    "x5"
);
entry!(
    wait_for = "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE",
    wait::wait,
    "rdx",
    "rcx",
    "x2",
    "x3"
);
entry!(
    execute = "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE",
    arena::execute,
    "rdx",
    "rcx",
    "x2",
    "x3"
);
entry!(
    suspend_task = "_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_",
    suspend::suspend,
    "rdx",
    "rcx",
    "x2",
    "x3"
);
entry!(
    resume_task = "_ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE",
    suspend::resume,
    "rsi",
    "rdx",
    "x1",
    "x2"
);
entry!(
    pipeline =
        "_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
    wait::pipeline,
    "rcx",
    "r8",
    "x3",
    "x4"
);

entry!(
    initialize = "_ZN3tbb6detail2r110initializeERNS0_2d118task_group_contextE",
    make_context,
    "rsi",
    "rdx",
    "x1",
    "x2"
);

/// `r1::initialize(task_group_context&)`: creates a context.
///
/// # Safety
/// As for oneTBB's function; the last two arguments locate the call.
unsafe extern "C-unwind" fn make_context(context: usize, from: usize, sp: usize) {
    next_symbol::notice_changes();
    // SAFETY: the caller passes a context of 128 bytes that it is constructing.
    unsafe {
        if is_on() {
            context::made(context, budget::made());
        }
        next_symbol::INITIALIZE.get(super::call_site::returns_to(from, sp))(context);
    }
}
