//! Entry points as such: one piece of assembly that keeps all arguments and the return address, for any function of
//! libgomp's whatever its arguments, and one for those on a hot path that have none or one.
//!
//! The compiler may call an entry point by a jump at its own function's end; then the return address is that of the
//! function's caller ([`super::call_site`] finds that out where it matters).

use core::sync::atomic::{AtomicUsize, Ordering};

/// What an entry point was called with, as it lies on the stack: which arguments it has there ([`on_stack`]), six registers, the return
/// address, and the arguments on the stack from there on. What lies beyond those may be no memory at all: a compiler may jump to an entry
/// point at its own function's end, whose frame can be the first one of a stack.
#[repr(transparent)]
pub(super) struct Call([usize; 8]);

/// Where the return address is in a [`Call`].
const RETURN: usize = 7;
/// Added to [`on_stack`]: the first argument is the number of loops in the nest.
const LOOP_COUNT_FIRST: usize = 1 << 8;
/// Arguments in registers.
const REGISTERS: usize = 6;
/// Most loops in a nest that `GOMP_doacross_wait`, which takes a number for each, is called for.
const MAX_LOOPS: usize = 30;

/// The deepest nest of a doacross loop that began so far.
static DEEPEST_DOACROSS: AtomicUsize = AtomicUsize::new(0);

/// How many arguments on the stack libgomp's function of that name has, as its header says. Others have none.
pub(super) const fn on_stack(name: &str) -> usize {
    const STACK_ARGUMENTS: [(&str, usize); 33] = [
        // Function, data, threads, start, end, step, chunk, flags.
        ("GOMP_parallel_loop_static", 2),
        ("GOMP_parallel_loop_dynamic", 2),
        ("GOMP_parallel_loop_guided", 2),
        ("GOMP_parallel_loop_nonmonotonic_dynamic", 2),
        ("GOMP_parallel_loop_nonmonotonic_guided", 2),
        // ... without a chunk.
        ("GOMP_parallel_loop_runtime", 1),
        ("GOMP_parallel_loop_nonmonotonic_runtime", 1),
        ("GOMP_parallel_loop_maybe_nonmonotonic_runtime", 1),
        // ... without flags.
        ("GOMP_parallel_loop_static_start", 1),
        ("GOMP_parallel_loop_dynamic_start", 1),
        ("GOMP_parallel_loop_guided_start", 1),
        // Upwards or not, start, end, step, chunk, first, last.
        ("GOMP_loop_ull_static_start", 1),
        ("GOMP_loop_ull_dynamic_start", 1),
        ("GOMP_loop_ull_guided_start", 1),
        ("GOMP_loop_ull_nonmonotonic_dynamic_start", 1),
        ("GOMP_loop_ull_nonmonotonic_guided_start", 1),
        ("GOMP_loop_ull_ordered_static_start", 1),
        ("GOMP_loop_ull_ordered_dynamic_start", 1),
        ("GOMP_loop_ull_ordered_guided_start", 1),
        // Start, end, step, schedule, chunk, first, last, reductions, memory.
        ("GOMP_loop_start", 3),
        ("GOMP_loop_ordered_start", 3),
        ("GOMP_loop_ull_start", 4),
        ("GOMP_loop_ull_ordered_start", 4),
        // Loops, their counts, schedule, chunk, first, last, reductions, memory.
        ("GOMP_loop_doacross_start", 2 | LOOP_COUNT_FIRST),
        ("GOMP_loop_ull_doacross_start", 2 | LOOP_COUNT_FIRST),
        ("GOMP_loop_doacross_static_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_doacross_dynamic_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_doacross_guided_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_doacross_runtime_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_ull_doacross_static_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_ull_doacross_dynamic_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_ull_doacross_guided_start", LOOP_COUNT_FIRST),
        ("GOMP_loop_ull_doacross_runtime_start", LOOP_COUNT_FIRST),
    ];
    let mut i = 0;
    while i < STACK_ARGUMENTS.len() {
        if same(STACK_ARGUMENTS[i].0.as_bytes(), name.as_bytes()) {
            return STACK_ARGUMENTS[i].1;
        }
        i += 1;
    }
    0
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Arguments on the stack: larger than two words, so passed by value where further arguments lie.
#[repr(C)]
#[derive(Clone, Copy)]
struct Stack<const N: usize>([usize; N]);

impl Call {
    /// Where the call returns to.
    pub(super) fn return_address(&self) -> usize {
        self.0[RETURN]
    }

    /// The i-th argument of those in registers.
    pub(super) fn argument(&self, i: usize) -> usize {
        self.0[1 + i]
    }

    /// Passes on another one instead.
    pub(super) fn set_argument(&mut self, i: usize, value: usize) {
        self.0[1 + i] = value;
    }

    /// The argument after those in registers.
    ///
    /// # Safety
    /// The call has at least 7.
    pub(super) unsafe fn seventh(&self) -> usize {
        // SAFETY: the caller's.
        unsafe { self.stacked(0) }
    }

    /// The i-th argument on the stack.
    ///
    /// # Safety
    /// The call has this number of stack arguments.
    unsafe fn stacked(&self, i: usize) -> usize {
        // SAFETY: the caller's; they lie behind the return address.
        unsafe { *self.0.as_ptr().add(RETURN + 1 + i) }
    }

    /// Calls the real function with these arguments; what it returned.
    ///
    /// # Safety
    /// `self` lies on the stack of a call of an entry point; `real` is the function it stands for.
    pub(super) unsafe fn forward(&self, next: usize) -> usize {
        type W = usize;
        type None = unsafe extern "C-unwind" fn(W, W, W, W, W, W) -> W;
        type One = unsafe extern "C-unwind" fn(W, W, W, W, W, W, W) -> W;
        type Two = unsafe extern "C-unwind" fn(W, W, W, W, W, W, W, W) -> W;
        type Some = unsafe extern "C-unwind" fn(W, W, W, W, W, W, Stack<4>) -> W;
        let [on_stack, a, b, c, d, e, f, _] = self.0;
        if on_stack & LOOP_COUNT_FIRST != 0 {
            DEEPEST_DOACROSS.fetch_max(a & 0xffff_ffff, Ordering::Relaxed);
        }
        let count = on_stack & !LOOP_COUNT_FIRST;
        // SAFETY: the caller's; arguments are read from the stack that are there alone.
        unsafe {
            match count {
                0 => core::mem::transmute::<usize, None>(next)(a, b, c, d, e, f),
                1 => core::mem::transmute::<usize, One>(next)(a, b, c, d, e, f, self.stacked(0)),
                2 => {
                    let (g, h) = (self.stacked(0), self.stacked(1));
                    core::mem::transmute::<usize, Two>(next)(a, b, c, d, e, f, g, h)
                }
                _ => {
                    let mut more = [0; 4];
                    for (i, to) in more.iter_mut().take(count).enumerate() {
                        *to = self.stacked(i);
                    }
                    core::mem::transmute::<usize, Some>(next)(a, b, c, d, e, f, Stack(more))
                }
            }
        }
    }

    /// The same for a function that takes a number for each loop of a doacross nest, the first one before the others: as many as the deepest
    /// nest has that there was.
    ///
    /// # Safety
    /// As [`Call::forward`].
    pub(super) unsafe fn forward_long(&self, next: usize) -> usize {
        const MORE: usize = MAX_LOOPS - REGISTERS;
        type Real = unsafe extern "C-unwind" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            Stack<MORE>,
        ) -> usize;
        let loops = DEEPEST_DOACROSS.load(Ordering::Relaxed);
        let [_, a, b, c, d, e, f, _] = self.0;
        // SAFETY: as above. An array of more than two words is passed by value on the stack, where further arguments lie.
        unsafe {
            if loops <= REGISTERS {
                return self.forward(next);
            }
            let mut more = [0; MORE];
            for (i, to) in more.iter_mut().take(loops - REGISTERS).enumerate() {
                *to = self.stacked(i);
            }
            core::mem::transmute::<usize, Real>(next)(a, b, c, d, e, f, Stack(more))
        }
    }
}

/// The first instructions of every entry point, before those given. `$key` puts into r11 what tells whose the call is: the outlined
/// function, or where the call returns to. Where the thread's last caller holds that, and the process has one runtime, the entry's
/// route is where the call goes. Else [`resolve`](super::next_symbol::resolve) says it. A function that is not libgomp's is jumped to: it
/// may look where it returns to. What they use besides, r10 and r11, no caller expects to be kept.
macro_rules! front {
    ($entry:path, $offset:expr, ($($key:literal),+), $how:expr, $($rest:tt)*) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            $($key,)+
            ".if {how} & {always}",
            "jmp 4f",
            ".endif",
            "mov r10, qword ptr [rip + workspan_gomp_caller@GOTTPOFF]",
            "mov r10, qword ptr fs:[r10]",
            "test r10, r10",
            "jz 4f",
            "sub r11, [r10 + {start}]",
            "cmp r11, [r10 + {size}]",
            "jae 5f",
            "mov r11, [rip + {entry} + {offset}]",
            "cmp r11, {ours}",
            "je 3f",
            "jb 5f",
            "jmp r11",
            "5:",
            $($key,)+
            "4:",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "sub rsp, 8",
            ".cfi_def_cfa_offset 64",
            "lea rdi, [rip + {entry} + {offset}]",
            "mov rsi, r11",
            "mov edx, {how}",
            "call {resolve}",
            "mov r11, rax",
            "add rsp, 8",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            ".cfi_def_cfa_offset 8",
            "cmp r11, {ours}",
            "je 3f",
            "jmp r11",
            "3:",
            $($rest)*
            entry = sym $entry,
            offset = const $offset,
            ours = const $crate::gomp::next_symbol::OURS,
            how = const $how,
            always = const $crate::gomp::next_symbol::ASK_ALWAYS,
            start = const core::mem::offset_of!($crate::runtimes::Caller, start),
            size = const core::mem::offset_of!($crate::runtimes::Caller, size),
            resolve = sym $crate::gomp::next_symbol::resolve,
        )
    };
}

/// Defines, in a module, entry points that a function `unsafe extern "C-unwind" fn(&mut Call, &Entry) -> usize` serves,
/// each with its [`form`](super::next_symbol::Entry::form), and the table of them. Whose a call is tells where it returns to, or, `by_function`, its first
/// argument; how it asks is then said as of [`resolve`](super::next_symbol::resolve).
macro_rules! entries {
    ($module:ident, $serve:ident, by_function $how:expr; $($names:tt)+) => {
        $crate::gomp::entry_points::entries! { @ $module, $serve, ("mov r11, rdi"), $how; $($names)+ }
    };
    ($module:ident, $serve:ident, by_return $how:expr; $($names:tt)+) => {
        $crate::gomp::entry_points::entries! {
            @ $module, $serve, ("mov r11, [rsp]"), $how | $crate::gomp::next_symbol::KEY_IS_RETURN_ADDRESS; $($names)+
        }
    };
    ($module:ident, $serve:ident: $($names:tt)+) => {
        $crate::gomp::entry_points::entries! { $module, $serve, by_return 0; $($names)+ }
    };
    (@ $module:ident, $serve:ident, $key:tt, $how:expr; $($name:ident = $form:expr),+ $(,)?) => {
        pub(super) mod $module {
            #[allow(unused_imports, reason = "not all have forms")]
            use super::*;

            #[allow(non_camel_case_types, reason = "libgomp's names")]
            enum Index {
                $($name),+
            }

            const COUNT: usize = [$(stringify!($name)),+].len();

            pub(in crate::gomp) static TABLE: [$crate::gomp::next_symbol::Entry; COUNT] = [
                $($crate::gomp::next_symbol::Entry::named(concat!(stringify!($name), "\0"), $form)),+
            ];

            $(
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                unsafe extern "C-unwind" fn $name() {
                    $crate::gomp::entry_points::front!(
                        TABLE,
                        Index::$name as usize * size_of::<$crate::gomp::next_symbol::Entry>(),
                        $key,
                        $how,
                        "push r9",
                        "push r8",
                        "push rcx",
                        "push rdx",
                        "push rsi",
                        "push rdi",
                        "push {on_stack}",
                        "mov rdi, rsp",
                        "lea rsi, [rip + {entry} + {offset}]",
                        ".cfi_def_cfa_offset 64",
                        "call {serve}",
                        "add rsp, 56",
                        ".cfi_def_cfa_offset 8",
                        "ret",
                        ".cfi_endproc",
                        on_stack = const $crate::gomp::entry_points::on_stack(stringify!($name)),
                        serve = sym $serve,
                    )
                }
            )+
        }
    };
}

/// Defines an entry point of at most one argument that only hands its return address on, as a second argument.
macro_rules! with_return_address {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::entry_points::front!(
                $entry,
                0,
                ("mov r11, [rsp]"),
                $crate::gomp::next_symbol::KEY_IS_RETURN_ADDRESS,
                "mov rsi, [rsp]",
                "jmp {serve}",
                ".cfi_endproc",
                serve = sym $serve,
            )
        }
    )+ };
}

/// Defines an entry point whose first argument is an outlined function, and whose function takes the same arguments.
macro_rules! same_arguments {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::entry_points::front!(
                $entry,
                0,
                ("mov r11, rdi"),
                0,
                "jmp {serve}",
                ".cfi_endproc",
                serve = sym $serve,
            )
        }
    )+ };
}

pub(super) use {entries, front, same_arguments, with_return_address};
