//! The entry points, in assembly: the call stack is walked from their frame pointer, and no frame
//! of Rust is on the stack while the library's function runs, which may be cancelled or unwound.
//!
//! The frame, from its frame pointer down: the first six arguments, when the call began, its
//! result, what it waits for ([`super::hooks::Frame`]), room for a status; then a copy of the
//! arguments that came on the stack, for the library's function.

use workspan_trace::entry::CallRole;

use super::{Call, Entry, NO_ROOT, hooks};

macro_rules! entries {
    ($($constant:ident = $name:ident, $stack:literal: $call:expr);+ $(;)?) => { $(
        static $constant: Entry = Entry::new(
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name with a 0 at its end"),
            },
            $call,
        );

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the name is MPI's")]
        unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, 208",
                "mov [rbp - 8], rdi",
                "mov [rbp - 16], rsi",
                "mov [rbp - 24], rdx",
                "mov [rbp - 32], rcx",
                "mov [rbp - 40], r8",
                "mov [rbp - 48], r9",
                "mov qword ptr [rbp - 72], 0",
                "lea rdi, [rip + {entry}]",
                "mov rsi, rbp",
                "call {before}",
                "mov [rbp - 56], rdx",
                ".set workspan_at, 0",
                ".rept {stack}",
                "mov r11, [rbp + 16 + 8 * workspan_at]",
                "mov [rsp + 8 * workspan_at], r11",
                ".set workspan_at, workspan_at + 1",
                ".endr",
                "mov rdi, [rbp - 8]",
                "mov rsi, [rbp - 16]",
                "mov rdx, [rbp - 24]",
                "mov rcx, [rbp - 32]",
                "mov r8, [rbp - 40]",
                "mov r9, [rbp - 48]",
                "call rax",
                "mov rdx, [rbp - 56]",
                "test rdx, rdx",
                "jz 3f",
                "mov [rbp - 64], rax",
                "lea rdi, [rip + {entry}]",
                "mov rsi, rbp",
                "call {after}",
                "mov rax, [rbp - 64]",
                "3:",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                entry = sym $constant,
                before = sym hooks::before,
                after = sym hooks::after,
                stack = const $stack,
            )
        }
    )+ };
}

/// An operation of all ranks of the communicator in that argument.
const fn all(communicator: usize) -> Call {
    Call::Collective {
        role: CallRole::All,
        communicator,
        root: NO_ROOT,
    }
}

const fn prefix(communicator: usize) -> Call {
    Call::Collective {
        role: CallRole::Prefix,
        communicator,
        root: NO_ROOT,
    }
}

/// An operation with a root in the argument before the communicator's.
const fn rooted(role: CallRole, communicator: usize) -> Call {
    Call::Collective {
        role,
        communicator,
        root: communicator - 1,
    }
}

// The number is that of the arguments that come on the stack.
entries! {
    FINALIZE = MPI_Finalize, 0: Call::Finalize;
    SEND = MPI_Send, 0: Call::Send;
    SSEND = MPI_Ssend, 0: Call::Send;
    RSEND = MPI_Rsend, 0: Call::Send;
    BSEND = MPI_Bsend, 0: Call::Send;
    ISEND = MPI_Isend, 1: Call::StartSend;
    ISSEND = MPI_Issend, 1: Call::StartSend;
    IRSEND = MPI_Irsend, 1: Call::StartSend;
    IBSEND = MPI_Ibsend, 1: Call::StartSend;
    RECV = MPI_Recv, 1: Call::Receive;
    IRECV = MPI_Irecv, 1: Call::StartReceive;
    SENDRECV = MPI_Sendrecv, 6: Call::Exchange { destination: 3, source: 8 };
    SENDRECV_REPLACE = MPI_Sendrecv_replace, 3: Call::Exchange { destination: 3, source: 5 };
    PROBE = MPI_Probe, 0: Call::Probe;
    WAIT = MPI_Wait, 0: Call::Wait;
    WAITALL = MPI_Waitall, 0: Call::WaitAll;
    WAITANY = MPI_Waitany, 0: Call::WaitAny;
    WAITSOME = MPI_Waitsome, 0: Call::WaitSome;
    BARRIER = MPI_Barrier, 0: all(0);
    BCAST = MPI_Bcast, 0: rooted(CallRole::FromRoot, 4);
    SCATTER = MPI_Scatter, 2: rooted(CallRole::FromRoot, 7);
    SCATTERV = MPI_Scatterv, 3: rooted(CallRole::FromRoot, 8);
    REDUCE = MPI_Reduce, 1: rooted(CallRole::ToRoot, 6);
    GATHER = MPI_Gather, 2: rooted(CallRole::ToRoot, 7);
    GATHERV = MPI_Gatherv, 3: rooted(CallRole::ToRoot, 8);
    ALLREDUCE = MPI_Allreduce, 0: all(5);
    ALLGATHER = MPI_Allgather, 1: all(6);
    ALLGATHERV = MPI_Allgatherv, 2: all(7);
    ALLTOALL = MPI_Alltoall, 1: all(6);
    ALLTOALLV = MPI_Alltoallv, 3: all(8);
    ALLTOALLW = MPI_Alltoallw, 3: all(8);
    REDUCE_SCATTER = MPI_Reduce_scatter, 0: all(5);
    REDUCE_SCATTER_BLOCK = MPI_Reduce_scatter_block, 0: all(5);
    SCAN = MPI_Scan, 0: prefix(5);
    EXSCAN = MPI_Exscan, 0: prefix(5);
    COMM_DUP = MPI_Comm_dup, 0: all(0);
    COMM_SPLIT = MPI_Comm_split, 0: all(0);
    COMM_FREE = MPI_Comm_free, 0: Call::FreeCommunicator;
    COMM_DISCONNECT = MPI_Comm_disconnect, 0: Call::FreeCommunicator;
}
