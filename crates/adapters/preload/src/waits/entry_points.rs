//! The functions of the C library that wait or end a wait, and their entry points
//! ([`crate::entry_point`]).

use super::{Entry, Role, hooks, release};
use crate::entry_point::{c_name, entry_point};
use workspan_trace::entry::WaitKind as Kind;

macro_rules! entries {
    ($($constant:ident = $name:ident: $role:ident, $kind:ident);+ $(;)?) => {
        $(
            static $constant: Entry = Entry::new(c_name!($name), Role::$role, Kind::$kind);
        )+

        /// All entry points.
        pub(super) fn all() -> impl Iterator<Item = &'static Entry> {
            [$(&$constant),+].into_iter()
        }
    };
}

/// An entry point of a function that waits. The given instructions come first; a call that they do
/// not handle continues at label 2. The number is that of the arguments on the stack.
macro_rules! wait {
    ($name:ident, $entry:ident, ($($first:literal),*), stack: $stack:literal, $($operands:tt)*) => {
        entry_point! {
            $name, $entry, hooks,
            first: ($($first),*), stack: $stack, frame: 80,
            $($operands)*
        }
    };
}

macro_rules! waits {
    ($($name:ident, $entry:ident;)+) => { $(
        wait! { $name, $entry, (), stack: 0, }
    )+ };
}

/// A free lock is taken without a hook. The first word of glibc's mutexes and reader-writer locks
/// is 0 when they are free; the call then continues by a jump. If another thread takes the lock in
/// between, that wait is not logged. A lock that is not free may be the thread's own, or shared.
macro_rules! waits_after_a_try {
    ($($name:ident, $entry:ident, $try:ident;)+) => { $(
        wait! {
            $name,
            $entry,
            (
                "mov r11, [rip + {entry}]",
                "test r11, r11",
                "jz 2f",
                "cmp dword ptr [rdi], 0",
                "jne 4f",
                "jmp r11",
                "4:",
                "mov rax, [rip + {try_entry}]",
                "test rax, rax",
                "jz 2f",
                "push rdi",
                ".cfi_def_cfa_offset 16",
                "call rax",
                "pop rdi",
                ".cfi_def_cfa_offset 8",
                "cmp eax, {busy}",
                "je 2f",
                "ret"
            ),
            stack: 0,
            try_entry = sym $try,
            busy = const EBUSY,
        }
    )+ };
}

const EBUSY: i32 = 16;

/// Entry points of functions that end waits for the object of their first argument.
macro_rules! releases {
    ($($name:ident, $entry:ident;)+) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov eax, edi",
                "shr eax, {shift}",
                "and eax, {mask}",
                "lea r11, [rip + {waiters}]",
                "cmp dword ptr [r11 + rax * 4], 0",
                "jne 2f",
                "mov r11, [rip + {entry}]",
                "test r11, r11",
                "jz 2f",
                "jmp r11",
                "2:",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, 16",
                "mov [rbp - 8], rdi",
                "lea rdi, [rip + {entry}]",
                "mov rsi, rbp",
                "call {hook}",
                "mov rdi, [rbp - 8]",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "jmp rax",
                ".cfi_endproc",
                entry = sym $entry,
                waiters = sym release::WAITERS,
                shift = const release::SHIFT,
                mask = const release::PLACES - 1,
                hook = sym hooks::releases,
            )
        }
    )+ };
}

entries! {
    MUTEX_LOCK = pthread_mutex_lock: Acquire, Mutex;
    MUTEX_TRY = pthread_mutex_trylock: Called, Mutex;
    MUTEX_TIMED = pthread_mutex_timedlock: Acquire, Mutex;
    MUTEX_CLOCK = pthread_mutex_clocklock: Acquire, Mutex;
    MUTEX_UNLOCK = pthread_mutex_unlock: Release, Mutex;
    READ_LOCK = pthread_rwlock_rdlock: AcquireToRead, RwLock;
    READ_TRY = pthread_rwlock_tryrdlock: Called, RwLock;
    WRITE_LOCK = pthread_rwlock_wrlock: Acquire, RwLock;
    WRITE_TRY = pthread_rwlock_trywrlock: Called, RwLock;
    RW_UNLOCK = pthread_rwlock_unlock: ReleaseReadOrWrite, RwLock;
    CONDITION_WAIT = pthread_cond_wait: Condition, Condition;
    CONDITION_TIMED = pthread_cond_timedwait: Condition, Condition;
    CONDITION_CLOCK = pthread_cond_clockwait: Condition, Condition;
    CONDITION_SIGNAL = pthread_cond_signal: Release, Condition;
    CONDITION_BROADCAST = pthread_cond_broadcast: Release, Condition;
    BARRIER = pthread_barrier_wait: Barrier, Barrier;
    SEMAPHORE_WAIT = sem_wait: Acquire, Semaphore;
    SEMAPHORE_TIMED = sem_timedwait: Acquire, Semaphore;
    SEMAPHORE_CLOCK = sem_clockwait: Acquire, Semaphore;
    SEMAPHORE_POST = sem_post: Release, Semaphore;
    SYSCALL = syscall: Syscall, Futex;
    NANOSLEEP = nanosleep: Outside, Sleep;
    CLOCK_NANOSLEEP = clock_nanosleep: Outside, Sleep;
    USLEEP = usleep: Outside, Sleep;
    SLEEP = sleep: Outside, Sleep;
    READ = read: Outside, Io;
    WRITE = write: Outside, Io;
    PREAD = pread: Outside, Io;
    PREAD64 = pread64: Outside, Io;
    PWRITE = pwrite: Outside, Io;
    PWRITE64 = pwrite64: Outside, Io;
    READV = readv: Outside, Io;
    WRITEV = writev: Outside, Io;
    RECV = recv: Outside, Io;
    RECVFROM = recvfrom: Outside, Io;
    RECVMSG = recvmsg: Outside, Io;
    SEND = send: Outside, Io;
    SENDTO = sendto: Outside, Io;
    SENDMSG = sendmsg: Outside, Io;
    ACCEPT = accept: Outside, Io;
    ACCEPT4 = accept4: Outside, Io;
    CONNECT = connect: Outside, Io;
    POLL = poll: Outside, Io;
    PPOLL = ppoll: Outside, Io;
    SELECT = select: Outside, Io;
    EPOLL_WAIT = epoll_wait: Outside, Io;
    FSYNC = fsync: Outside, Io;
    FDATASYNC = fdatasync: Outside, Io;
}

waits_after_a_try! {
    pthread_mutex_lock, MUTEX_LOCK, MUTEX_TRY;
    pthread_rwlock_rdlock, READ_LOCK, READ_TRY;
    pthread_rwlock_wrlock, WRITE_LOCK, WRITE_TRY;
}

waits! {
    pthread_mutex_timedlock, MUTEX_TIMED;
    pthread_mutex_clocklock, MUTEX_CLOCK;
    pthread_cond_wait, CONDITION_WAIT;
    pthread_cond_timedwait, CONDITION_TIMED;
    pthread_cond_clockwait, CONDITION_CLOCK;
    pthread_barrier_wait, BARRIER;
    sem_wait, SEMAPHORE_WAIT;
    sem_timedwait, SEMAPHORE_TIMED;
    sem_clockwait, SEMAPHORE_CLOCK;
    nanosleep, NANOSLEEP;
    clock_nanosleep, CLOCK_NANOSLEEP;
    usleep, USLEEP;
    sleep, SLEEP;
    read, READ;
    write, WRITE;
    pread, PREAD;
    pread64, PREAD64;
    pwrite, PWRITE;
    pwrite64, PWRITE64;
    readv, READV;
    writev, WRITEV;
    recv, RECV;
    recvfrom, RECVFROM;
    recvmsg, RECVMSG;
    send, SEND;
    sendto, SENDTO;
    sendmsg, SENDMSG;
    accept, ACCEPT;
    accept4, ACCEPT4;
    connect, CONNECT;
    poll, POLL;
    ppoll, PPOLL;
    select, SELECT;
    epoll_wait, EPOLL_WAIT;
    fsync, FSYNC;
    fdatasync, FDATASYNC;
}

releases! {
    pthread_mutex_unlock, MUTEX_UNLOCK;
    pthread_rwlock_unlock, RW_UNLOCK;
    pthread_cond_signal, CONDITION_SIGNAL;
    pthread_cond_broadcast, CONDITION_BROADCAST;
    sem_post, SEMAPHORE_POST;
}

// `long syscall(long, ...)`: calls other than `futex` go directly to the C library's function,
// which matters for those that return twice.
wait! {
    syscall,
    SYSCALL,
    (
        "cmp rdi, {futex}",
        "je 2f",
        "mov r11, [rip + {entry}]",
        "test r11, r11",
        "jz 2f",
        "jmp r11"
    ),
    stack: 1,
    futex = const hooks::FUTEX,
}
