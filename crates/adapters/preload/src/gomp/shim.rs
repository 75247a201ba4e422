//! Entry points as such: one piece of assembly that keeps all arguments and the return address, for any function of
//! libgomp's whatever its arguments, and one for those on a hot path that have none or one.
//!
//! The compiler may call an entry point by a jump at its own function's end; then the return address is that of the
//! function's caller ([`super::call`] finds that out where it matters).

/// What an entry point was called with, as it lies on the stack: six registers, the return address, and the arguments
/// on the stack from there on.
#[repr(transparent)]
pub(super) struct Call([usize; 7]);

/// Of the arguments on the stack, how many are passed on: the longest list but one has four.
const PASSED: usize = 4;
/// `GOMP_doacross_wait` takes a number for each loop of the nest.
const LONG: usize = 24;

/// Arguments on the stack: larger than two words, so passed by value where further arguments lie.
#[repr(C)]
#[derive(Clone, Copy)]
struct Stack<const N: usize>([usize; N]);

impl Call {
    /// Where the call returns to.
    pub(super) fn return_address(&self) -> usize {
        self.0[6]
    }

    /// The i-th argument of those in registers.
    pub(super) fn argument(&self, i: usize) -> usize {
        self.0[i]
    }

    /// Passes on another one instead.
    pub(super) fn set_argument(&mut self, i: usize, value: usize) {
        self.0[i] = value;
    }

    /// The argument after those in registers.
    ///
    /// # Safety
    /// The call has at least 7.
    pub(super) unsafe fn seventh(&self) -> usize {
        // SAFETY: the caller's; it lies behind the return address.
        unsafe { *self.0.as_ptr().add(7) }
    }

    /// Calls the real function with these arguments; what it returned.
    ///
    /// # Safety
    /// `self` lies on the stack of a call of an entry point; `real` is the function it stands for.
    pub(super) unsafe fn forward(&self, real: usize) -> usize {
        type Real = unsafe extern "C-unwind" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            Stack<PASSED>,
        ) -> usize;
        let [a, b, c, d, e, f, _] = self.0;
        // SAFETY: the caller's. An array of more than two words is passed by value on the stack, where further arguments lie;
        // what is there beyond the real ones is the caller's frame, which is readable.
        unsafe {
            let more = *self.0.as_ptr().add(7).cast::<Stack<PASSED>>();
            let real: Real = core::mem::transmute(real);
            real(a, b, c, d, e, f, more)
        }
    }

    /// The same for a function that takes any number of arguments.
    ///
    /// # Safety
    /// As [`Call::forward`].
    pub(super) unsafe fn forward_long(&self, real: usize) -> usize {
        type Real = unsafe extern "C-unwind" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            Stack<LONG>,
        ) -> usize;
        let [a, b, c, d, e, f, _] = self.0;
        // SAFETY: as above.
        unsafe {
            let more = *self.0.as_ptr().add(7).cast::<Stack<LONG>>();
            let real: Real = core::mem::transmute(real);
            real(a, b, c, d, e, f, more)
        }
    }
}

/// The first instructions of every entry point, before those given. `$key` puts into r11 what tells whose the call is: the outlined
/// function, or where the call returns to. Where the thread's last caller holds that, and the process has one runtime, the entry's
/// route is where the call goes. Else [`ask`](super::real::ask) says it. A function that is not libgomp's is jumped to: it
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
            "call {ask}",
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
            ours = const $crate::gomp::real::OURS,
            how = const $how,
            always = const $crate::gomp::real::ALWAYS,
            start = const core::mem::offset_of!($crate::runtimes::Caller, start),
            size = const core::mem::offset_of!($crate::runtimes::Caller, size),
            ask = sym $crate::gomp::real::ask,
        )
    };
}

/// Defines, in a module, entry points that a function `unsafe extern "C-unwind" fn(&mut Call, &Entry) -> usize` serves,
/// each with its [`form`](super::real::Entry::form), and the table of them. Whose a call is tells where it returns to, or, `by_function`, its first
/// argument; how it asks is then said as of [`ask`](super::real::ask).
macro_rules! entries {
    ($module:ident, $serve:ident, by_function $how:expr; $($names:tt)+) => {
        $crate::gomp::shim::entries! { @ $module, $serve, ("mov r11, rdi"), $how; $($names)+ }
    };
    ($module:ident, $serve:ident, by_return $how:expr; $($names:tt)+) => {
        $crate::gomp::shim::entries! {
            @ $module, $serve, ("mov r11, [rsp]"), $how | $crate::gomp::real::BY_RETURN; $($names)+
        }
    };
    ($module:ident, $serve:ident: $($names:tt)+) => {
        $crate::gomp::shim::entries! { $module, $serve, by_return 0; $($names)+ }
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

            pub(in crate::gomp) static TABLE: [$crate::gomp::real::Entry; COUNT] = [
                $($crate::gomp::real::Entry::named(concat!(stringify!($name), "\0"), $form)),+
            ];

            $(
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                unsafe extern "C-unwind" fn $name() {
                    $crate::gomp::shim::front!(
                        TABLE,
                        Index::$name as usize * size_of::<$crate::gomp::real::Entry>(),
                        $key,
                        $how,
                        "push r9",
                        "push r8",
                        "push rcx",
                        "push rdx",
                        "push rsi",
                        "push rdi",
                        "mov rdi, rsp",
                        "lea rsi, [rip + {entry} + {offset}]",
                        "sub rsp, 8",
                        ".cfi_def_cfa_offset 64",
                        "call {serve}",
                        "add rsp, 56",
                        ".cfi_def_cfa_offset 8",
                        "ret",
                        ".cfi_endproc",
                        serve = sym $serve,
                    )
                }
            )+
        }
    };
}

/// Defines an entry point of at most one argument that only hands its return address on, as a second argument.
macro_rules! returning {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::shim::front!(
                $entry,
                0,
                ("mov r11, [rsp]"),
                $crate::gomp::real::BY_RETURN,
                "mov rsi, [rsp]",
                "jmp {serve}",
                ".cfi_endproc",
                serve = sym $serve,
            )
        }
    )+ };
}

/// Defines an entry point whose first argument is an outlined function, and whose function takes the same arguments.
macro_rules! alike {
    ($($name:ident, $entry:path => $serve:ident);+ $(;)?) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            $crate::gomp::shim::front!(
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

pub(super) use {alike, entries, front, returning};
