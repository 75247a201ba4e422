//! The MPI functions that are interposed, and their entry points ([`crate::entry_point`]), which
//! have room for a status.

use workspan_trace::entry::CallRole;

use super::{Call, Entry, NO_ROOT, hooks};
use crate::entry_point::{c_name, entry_point};

macro_rules! entries {
    ($($constant:ident = $name:ident, $stack:literal: $call:expr);+ $(;)?) => { $(
        static $constant: Entry = Entry::new(c_name!($name), $call);

        entry_point! { $name, $constant, hooks, first: (), stack: $stack, frame: 208, }
    )+ };
}

/// An operation of all ranks of the communicator, which is in this argument.
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

/// An operation with a root, whose argument is the one before the communicator's.
const fn rooted(role: CallRole, communicator: usize) -> Call {
    Call::Collective {
        role,
        communicator,
        root: communicator - 1,
    }
}

// The number is that of the arguments on the stack.
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
