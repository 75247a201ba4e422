//! Entry points in assembly. One form preserves all arguments and the return address, for any
//! function of libgomp whatever its type. Two shorter forms are for hot functions with few
//! arguments.
//!
//! The compiler may turn a call of an entry point into a jump at its own function's end. Then the
//! return address is that of the function's caller (handled by [`super::call_site`] where it
//! matters).

use core::sync::atomic::{AtomicUsize, Ordering};

/// How an entry point was called, as it lies on the stack: a word that describes the stack
/// arguments ([`on_stack`]), six registers, the return address, and from there on the stack
/// arguments.
///
/// The memory beyond those may be inaccessible: the compiler may jump to an entry point at its own
/// function's end, and that function's frame can be the first one of a stack.
#[repr(transparent)]
pub(super) struct Call([usize; 8]);

/// Index of the return address in a [`Call`].
const RETURN: usize = 7;
/// Added to [`on_stack`]: the first argument is the number of loops in the nest.
const LOOP_COUNT_FIRST: usize = 1 << 8;
/// Number of arguments in registers.
const REGISTERS: usize = 6;
/// The deepest nest for which `GOMP_doacross_wait`, which takes a number for each loop, is
/// forwarded.
const MAX_LOOPS: usize = 30;

/// The deepest nest of a doacross loop that has begun so far.
static DEEPEST_DOACROSS: AtomicUsize = AtomicUsize::new(0);

/// The number of stack arguments of libgomp's function with this name, according to its header.
/// Functions that are not listed have none.
pub(super) const fn on_stack(name: &str) -> usize {
    const STACK_ARGUMENTS: [(&str, usize); 33] = [
        // Function, data, threads, start, end, step, chunk, flags.
        ("GOMP_parallel_loop_static", 2),
        ("GOMP_parallel_loop_dynamic", 2),
        ("GOMP_parallel_loop_guided", 2),
        ("GOMP_parallel_loop_nonmonotonic_dynamic", 2),
        ("GOMP_parallel_loop_nonmonotonic_guided", 2),
        // The same as above, without a chunk.
        ("GOMP_parallel_loop_runtime", 1),
        ("GOMP_parallel_loop_nonmonotonic_runtime", 1),
        ("GOMP_parallel_loop_maybe_nonmonotonic_runtime", 1),
        // The same as above, without flags.
        ("GOMP_parallel_loop_static_start", 1),
        ("GOMP_parallel_loop_dynamic_start", 1),
        ("GOMP_parallel_loop_guided_start", 1),
        // Whether it counts upwards, start, end, step, chunk, first, last.
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

/// Stack arguments. A struct larger than two words is passed by value, at the place of further
/// arguments.
#[repr(C)]
#[derive(Clone, Copy)]
struct Stack<const N: usize>([usize; N]);

impl Call {
    /// The address that the call returns to.
    pub(super) fn return_address(&self) -> usize {
        self.0[RETURN]
    }

    /// The i-th of the arguments in registers.
    pub(super) fn argument(&self, i: usize) -> usize {
        self.0[1 + i]
    }

    /// Replaces the i-th of the arguments in registers.
    pub(super) fn set_argument(&mut self, i: usize, value: usize) {
        self.0[1 + i] = value;
    }

    /// The first stack argument.
    ///
    /// # Safety
    /// The call has at least 7 arguments.
    pub(super) unsafe fn seventh(&self) -> usize {
        // SAFETY: the caller says that it is there.
        unsafe { self.stacked(0) }
    }

    /// The i-th stack argument.
    ///
    /// # Safety
    /// The call has more than `i` stack arguments.
    unsafe fn stacked(&self, i: usize) -> usize {
        // SAFETY: the caller says that it is there; stack arguments lie behind the return address.
        unsafe { *self.0.as_ptr().add(RETURN + 1 + i) }
    }

    /// Calls the next symbol with these arguments and returns its result.
    ///
    /// # Safety
    /// `self` lies on the stack of a call of an entry point; `next` is the function it interposes.
    pub(super) unsafe fn forward(&self, next: usize) -> usize {
        type W = usize;
        type None = unsafe extern "C-unwind" fn(W, W, W, W, W, W) -> W;
        type SevenWords = unsafe extern "C-unwind" fn(W, W, W, W, W, W, W) -> W;
        type EightWords = unsafe extern "C-unwind" fn(W, W, W, W, W, W, W, W) -> W;
        type Some = unsafe extern "C-unwind" fn(W, W, W, W, W, W, Stack<4>) -> W;
        let [on_stack, a, b, c, d, e, f, _] = self.0;
        if on_stack & LOOP_COUNT_FIRST != 0 {
            DEEPEST_DOACROSS.fetch_max(a & 0xffff_ffff, Ordering::Relaxed);
        }
        let count = on_stack & !LOOP_COUNT_FIRST;
        // SAFETY: the function has this type; only stack arguments that are there are read.
        unsafe {
            match count {
                0 => core::mem::transmute::<usize, None>(next)(a, b, c, d, e, f),
                1 => core::mem::transmute::<usize, SevenWords>(next)(
                    a,
                    b,
                    c,
                    d,
                    e,
                    f,
                    self.stacked(0),
                ),
                2 => {
                    let (g, h) = (self.stacked(0), self.stacked(1));
                    core::mem::transmute::<usize, EightWords>(next)(a, b, c, d, e, f, g, h)
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

    /// [`Call::forward`] for a function that takes a number for each loop of a doacross nest. It
    /// passes as many as the deepest nest so far has.
    ///
    /// # Safety
    /// As for [`Call::forward`].
    pub(super) unsafe fn forward_long(&self, next: usize) -> usize {
        const MORE: usize = MAX_LOOPS - REGISTERS;
        type TaskFunction = unsafe extern "C-unwind" fn(
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
        // SAFETY: the nest of the call is no deeper than that, so these arguments are there. The
        // array is larger than two words and therefore passed by value, at the place of further
        // arguments.
        unsafe {
            if loops <= REGISTERS {
                return self.forward(next);
            }
            let mut more = [0; MORE];
            for (i, to) in more.iter_mut().take(loops - REGISTERS).enumerate() {
                *to = self.stacked(i);
            }
            core::mem::transmute::<usize, TaskFunction>(next)(a, b, c, d, e, f, Stack(more))
        }
    }
}

/// The first instructions of every entry point, followed by those given.
///
/// `$key` puts into r11 what identifies the caller: the outlined function or the return address. If
/// the thread's last caller contains it, the process has one runtime, and the entry's route says
/// where the call goes. Otherwise [`resolve`](super::next_symbol::resolve) does. A function that is
/// not libgomp's is reached by a jump, because it may look at its return address. No caller expects
/// r10 and r11, the other registers used here, to be kept.
macro_rules! resolve_then {
    ($entry:path, $offset:expr, ($($key:literal),+), $flags:expr, $($rest:tt)*) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            $($key,)+
            ".if {flags} & {always}",
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
            "mov edx, {flags}",
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
            flags = const $flags,
            always = const $crate::gomp::next_symbol::ASK_ALWAYS,
            start = const core::mem::offset_of!($crate::runtimes::Caller, start),
            size = const core::mem::offset_of!($crate::runtimes::Caller, size),
            resolve = sym $crate::gomp::next_symbol::resolve,
        )
    };
}

/// Defines a module with entry points that one function serves, of the type `unsafe extern
/// "C-unwind" fn(&mut Call, &Entry) -> usize`. Each has its
/// [`form`](super::next_symbol::Entry::form), and the module has the table of them. The return
/// address identifies the caller; with `by_function` the first argument does. The flags after that
/// are those of [`resolve`](super::next_symbol::resolve).
macro_rules! entries {
    ($module:ident, $serve:ident, by_function $flags:expr; $($names:tt)+) => {
        $crate::gomp::entry_points::entries! { @ $module, $serve, ("mov r11, rdi"), $flags; $($names)+ }
    };
    ($module:ident, $serve:ident, by_return $flags:expr; $($names:tt)+) => {
        $crate::gomp::entry_points::entries! {
            @ $module, $serve, ("mov r11, [rsp]"), $flags | $crate::gomp::next_symbol::KEY_IS_RETURN_ADDRESS; $($names)+
        }
    };
    ($module:ident, $serve:ident: $($names:tt)+) => {
        $crate::gomp::entry_points::entries! { $module, $serve, by_return 0; $($names)+ }
    };
    (@ $module:ident, $serve:ident, $key:tt, $flags:expr; $($name:ident = $form:expr),+ $(,)?) => {
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
                    $crate::gomp::entry_points::resolve_then!(
                        TABLE,
                        Index::$name as usize * size_of::<$crate::gomp::next_symbol::Entry>(),
                        $key,
                        $flags,
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

/// Defines an entry point with at most one argument. Its function gets the return address as a
/// second argument.
macro_rules! with_return_address {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::entry_points::resolve_then!(
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

/// Defines an entry point whose first argument is an outlined function. Its function takes the same
/// arguments.
macro_rules! same_arguments {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::entry_points::resolve_then!(
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

pub(super) use {entries, resolve_then, same_arguments, with_return_address};
