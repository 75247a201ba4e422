//! MPI: calls by which the ranks of a run wait for each other.
//!
//! Interposes the library's `MPI_` functions, as its profiling interface provides for. Each entry
//! point calls the library's own function, and logs when the call began and ended, where it was
//! made, and which message or collective operation it was part of. Which rank waited for which is
//! found later, from the traces of all ranks. `README.md` beside this file describes the protocol.
//!
//! Works with Open MPI and with MPICH and its relatives, whose handles differ ([`library`]).
//! Nothing is linked against either. On processors other than x86-64 nothing is interposed.

mod entry_points;
mod hooks;
mod library;
mod messages;

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};

use workspan_trace::entry::{CallRole, FUNCTIONS};

/// The operation of an interposed function. Numbers are argument indices, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// A collective operation on a communicator, with the argument of the root, or [`NO_ROOT`].
    Collective {
        role: CallRole,
        communicator: usize,
        root: usize,
    },
    /// `MPI_Finalize`, which all ranks call.
    Finalize,
    /// `(buffer, count, type, destination, tag, communicator)`
    Send,
    /// `(buffer, count, type, destination, tag, communicator, request *)`
    StartSend,
    /// `(buffer, count, type, source, tag, communicator, status *)`
    Receive,
    /// `(buffer, count, type, source, tag, communicator, request *)`
    StartReceive,
    /// `(…, destination, tag, …, source, tag, communicator, status *)`
    Exchange { destination: usize, source: usize },
    /// `(source, tag, communicator, status *)`
    Probe,
    /// `(request *, status *)`
    Wait,
    /// `(count, requests, statuses)`
    WaitAll,
    /// `(count, requests, index *, status *)`
    WaitAny,
    /// `(count, requests, number of indices *, indices, statuses)`
    WaitSome,
    /// `(communicator *)`
    FreeCommunicator,
}

const NO_ROOT: usize = usize::MAX;

/// A function of MPI that is interposed.
#[repr(C)]
struct Entry {
    /// The library's function; 0 before it is looked up.
    next: AtomicUsize,
    name: &'static CStr,
    /// The function's number in the trace.
    function: u32,
    call: Call,
}

impl Entry {
    const fn new(name: &'static CStr, call: Call) -> Entry {
        Entry {
            next: AtomicUsize::new(0),
            name,
            function: number(name),
            call,
        }
    }

    /// The library's function.
    fn next(&self) -> usize {
        match self.next.load(Ordering::Acquire) {
            0 => {
                let found = match library::look_up(self.name) {
                    0 => missing as *const () as usize,
                    found => found,
                };
                self.next.store(found, Ordering::Release);
                found
            }
            next => next,
        }
    }
}

/// The number of a function in the trace; an invalid number for a function that is never logged.
const fn number(name: &CStr) -> u32 {
    let name = name.to_bytes();
    let mut at = 0;
    while at < FUNCTIONS.len() {
        let known = FUNCTIONS[at].as_bytes();
        let mut same = known.len() == name.len();
        let mut byte = 0;
        while same && byte < name.len() {
            same = known[byte] == name[byte];
            byte += 1;
        }
        if same {
            return at as u32;
        }
        at += 1;
    }
    u32::MAX
}

/// Replaces a function that no MPI library in the process has.
extern "C" fn missing() -> c_int {
    /// An error class of both libraries: other, or internal.
    const ERROR: c_int = 16;
    ERROR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_numbers() {
        assert_eq!(number(c"MPI_Finalize"), 0);
        assert_eq!(
            FUNCTIONS[number(c"MPI_Allreduce") as usize],
            "MPI_Allreduce"
        );
        assert_eq!(number(c"MPI_Send_"), u32::MAX);
        assert_eq!(number(c"MPI_Sen"), u32::MAX);
    }
}
