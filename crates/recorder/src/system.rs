//! The C library's functions that the recorder needs, declared by hand (Linux, 64-bit).

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

pub(crate) const O_RDONLY: c_int = 0;
pub(crate) const O_WRONLY: c_int = 1;
pub(crate) const O_APPEND: c_int = 0o2000;
pub(crate) const O_RDWR: c_int = 2;
pub(crate) const O_CREAT: c_int = 0o100;
pub(crate) const O_EXCL: c_int = 0o200;
pub(crate) const O_CLOEXEC: c_int = 0o2_000_000;
pub(crate) const O_NOFOLLOW: c_int = if cfg!(target_arch = "aarch64") {
    0o100_000
} else {
    0o400_000
};
pub(crate) const F_DUPFD_CLOEXEC: c_int = 1030;
pub(crate) const PROT_READ: c_int = 1;
pub(crate) const PROT_READ_WRITE: c_int = 3;
pub(crate) const MAP_SHARED: c_int = 1;
pub(crate) const MAP_PRIVATE: c_int = 2;
pub(crate) const MAP_ANONYMOUS: c_int = 0x20;
pub(crate) const MAP_POPULATE: c_int = 0x8000;
pub(crate) const MADV_WIPEONFORK: c_int = 18;
pub(crate) const MADV_POPULATE_WRITE: c_int = 23;
pub(crate) const CLOCK_REALTIME: c_int = 0;
pub(crate) const CLOCK_MONOTONIC_RAW: c_int = 4;
pub(crate) const RLIMIT_FSIZE: c_int = 1;
pub(crate) const RLIMIT_NOFILE: c_int = 7;
pub(crate) const EEXIST: c_int = 17;
pub(crate) const EINTR: c_int = 4;
pub(crate) const EOPNOTSUPP: c_int = 95;
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const FALLOC_FL_KEEP_SIZE: c_int = 1;
pub(crate) const FALLOC_FL_PUNCH_HOLE: c_int = 2;
pub(crate) const SC_PAGESIZE: c_int = 30;
pub(crate) const PR_GET_NAME: c_int = 16;
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_NOTE: u32 = 4;
pub(crate) const PF_X: u32 = 1;

#[repr(C)]
pub(crate) struct Timespec {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: c_long,
}

#[repr(C)]
pub(crate) struct Limit {
    pub(crate) current: u64,
    pub(crate) maximum: u64,
}

/// `struct rusage`: user and system time as seconds and microseconds, followed by unused fields.
#[repr(C)]
struct ResourceUsage {
    times: [i64; 4],
    rest: [c_long; 14],
}

/// `Elf64_Phdr`.
#[repr(C)]
pub(crate) struct ProgramHeader {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) physical: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) align: u64,
}

/// The front of `struct dl_phdr_info`.
#[repr(C)]
pub(crate) struct LoadedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) headers: *const ProgramHeader,
    pub(crate) header_count: u16,
    /// The number of files loaded, and of files unloaded, since the process began.
    pub(crate) loads: u64,
    pub(crate) unloads: u64,
}

pub(crate) type ObjectVisitor =
    unsafe extern "C" fn(*mut LoadedObject, usize, *mut c_void) -> c_int;
pub(crate) type KeyDestructor = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    pub(crate) fn unlink(path: *const c_char) -> c_int;
    pub(crate) fn madvise(at: *mut c_void, length: usize, advice: c_int) -> c_int;
    pub(crate) fn mmap(
        at: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub(crate) fn munmap(at: *mut c_void, length: usize) -> c_int;
    pub(crate) fn clock_gettime(clock: c_int, out: *mut Timespec) -> c_int;
    pub(crate) fn getrlimit(resource: c_int, out: *mut Limit) -> c_int;
    fn getrusage(who: c_int, out: *mut ResourceUsage) -> c_int;
    pub(crate) fn setrlimit(resource: c_int, to: *const Limit) -> c_int;
    pub(crate) fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    pub(crate) fn getpid() -> c_int;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
    pub(crate) fn sysconf(name: c_int) -> c_long;
    pub(crate) fn prctl(option: c_int, ...) -> c_int;
    pub(crate) fn __errno_location() -> *mut c_int;
    pub(crate) fn dl_iterate_phdr(visit: ObjectVisitor, data: *mut c_void) -> c_int;
    pub(crate) fn pthread_key_create(key: *mut c_uint, destructor: Option<KeyDestructor>) -> c_int;
    pub(crate) fn pthread_key_delete(key: c_uint) -> c_int;
    pub(crate) fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    pub(crate) fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
}

/// The numbers of system calls that are made directly. Their functions in the C library are
/// cancellation points: in a thread that another one has cancelled they unwind the stack, and with
/// it the recorder in the middle of its work.
#[cfg(target_arch = "x86_64")]
mod number {
    use core::ffi::c_long;
    pub(super) const READ: c_long = 0;
    pub(super) const CLOSE: c_long = 3;
    pub(super) const PWRITE: c_long = 18;
    pub(super) const OPENAT: c_long = 257;
    pub(super) const FALLOCATE: c_long = 285;
}
#[cfg(not(target_arch = "x86_64"))]
mod number {
    use core::ffi::c_long;
    pub(super) const READ: c_long = 63;
    pub(super) const CLOSE: c_long = 57;
    pub(super) const PWRITE: c_long = 68;
    pub(super) const OPENAT: c_long = 56;
    pub(super) const FALLOCATE: c_long = 47;
}

/// Like `open`, but not a cancellation point.
///
/// # Safety
/// `path` is a C string.
pub(crate) unsafe fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    const AT_FDCWD: c_long = -100;
    // SAFETY: the caller guarantees the path.
    unsafe { syscall(number::OPENAT, AT_FDCWD, path, flags, mode) as c_int }
}

/// Like `read`, but not a cancellation point.
///
/// # Safety
/// `to` has room for `length` bytes.
unsafe fn read(fd: c_int, to: *mut c_void, length: usize) -> isize {
    // SAFETY: the caller guarantees the room.
    unsafe { syscall(number::READ, fd, to, length) as isize }
}

/// Like `close`, but not a cancellation point.
///
/// # Safety
/// The descriptor belongs to the caller.
pub(crate) unsafe fn close(fd: c_int) -> c_int {
    // SAFETY: the caller guarantees the descriptor.
    unsafe { syscall(number::CLOSE, fd) as c_int }
}

/// Like `fallocate`, but not a cancellation point.
///
/// # Safety
/// Nothing refers to a part of the file that is given back.
pub(crate) unsafe fn fallocate(fd: c_int, mode: c_int, offset: i64, length: i64) -> c_int {
    // SAFETY: the caller guarantees it.
    unsafe { syscall(number::FALLOCATE, fd, mode, offset, length) as c_int }
}

/// Like `pwrite`, but not a cancellation point.
///
/// # Safety
/// `from` has `length` bytes.
pub(crate) unsafe fn pwrite(fd: c_int, from: *const c_void, length: usize, offset: i64) -> isize {
    // SAFETY: the caller guarantees the bytes.
    unsafe { syscall(number::PWRITE, fd, from, length, offset) as isize }
}

/// The kernel's id of the calling thread. (C libraries have a function for it only since glibc
/// 2.30.)
pub(crate) fn thread_id() -> u32 {
    #[cfg(target_arch = "x86_64")]
    const GETTID: c_long = 186;
    #[cfg(not(target_arch = "x86_64"))]
    const GETTID: c_long = 178;
    // SAFETY: the call has no arguments and can't fail.
    unsafe { syscall(GETTID) as u32 }
}

/// The CPU time of a thread of this process, in nanoseconds; `None` if the thread has ended.
pub(crate) fn thread_cpu_ns(tid: u32) -> Option<u64> {
    // The kernel's number for the CPU clock of a thread: its id inverted, then 4 (of a thread) and
    // 2 (as scheduled).
    let clock = (!tid << 3 | 6) as c_int;
    let mut t = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `t` is a timespec to write to.
    let failed = unsafe { clock_gettime(clock, &mut t) } != 0;
    (!failed).then(|| t.seconds as u64 * 1_000_000_000 + t.nanoseconds as u64)
}

/// The CPU time that all threads of this process have used, in nanoseconds, with a resolution of a
/// microsecond. `clock_gettime` is not used, because for other clocks it is not a system call and
/// is therefore missing from the lists of some sandboxes.
pub(crate) fn process_cpu_ns() -> u64 {
    const SELF: c_int = 0;
    let mut usage = ResourceUsage {
        times: [0; 4],
        rest: [0; 14],
    };
    // SAFETY: `usage` has the layout of the C library's structure, to which the call writes.
    if unsafe { getrusage(SELF, &mut usage) } != 0 {
        return 0;
    }
    let [user_s, user_us, system_s, system_us] = usage.times;
    let us = (user_s + system_s) * 1_000_000 + user_us + system_us;
    u64::try_from(us).unwrap_or(0) * 1000
}

/// Reads the beginning of a file with one call. Returns the number of bytes.
pub(crate) fn read_file(path: &core::ffi::CStr, to: &mut [u8]) -> Option<usize> {
    // SAFETY: `path` is a C string; the descriptor is used only here and closed; `to` may be
    // written to its end.
    let length = unsafe {
        let fd = open(path.as_ptr(), O_RDONLY | O_CLOEXEC, 0);
        if fd < 0 {
            return None;
        }
        let length = read(fd, to.as_mut_ptr().cast::<c_void>(), to.len());
        close(fd);
        length
    };
    usize::try_from(length).ok()
}

/// Calls `fstat`, which older C libraries do not have as a function.
///
/// # Safety
/// `to` has room for a struct stat.
pub(crate) unsafe fn fstat(fd: c_int, to: *mut c_void) -> c_long {
    #[cfg(target_arch = "x86_64")]
    const NUMBER: c_long = 5;
    #[cfg(not(target_arch = "x86_64"))]
    const NUMBER: c_long = 80;
    // SAFETY: the caller guarantees room for a struct stat.
    unsafe { syscall(NUMBER, fd, to) }
}

type ClockGettime = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;

/// The C library's own `clock_gettime`, which usually needs no system call; null if there is none
/// that returns the kernel's time.
static OWN_CLOCK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks up the C library's clock, bypassing any replacement. Called at the start.
pub(crate) fn find_clock() {
    const RTLD_LAZY: c_int = 1;
    const RTLD_NOLOAD: c_int = 4;
    // SAFETY: both names are C strings; the library is loaded already, and none of its code runs.
    let found = unsafe {
        let library = dlopen(c"libc.so.6".as_ptr(), RTLD_LAZY | RTLD_NOLOAD);
        if library.is_null() {
            return;
        }
        dlsym(library, c"clock_gettime".as_ptr())
    };
    if found.is_null() {
        return;
    }
    let before = kernel_clock_ns(CLOCK_MONOTONIC_RAW);
    // SAFETY: the C library's function has this type.
    let own = clock_ns(unsafe { core::mem::transmute::<*mut c_void, ClockGettime>(found) });
    if (before..=kernel_clock_ns(CLOCK_MONOTONIC_RAW)).contains(&own) {
        OWN_CLOCK.store(found, Ordering::Relaxed);
    }
}

/// `CLOCK_MONOTONIC_RAW` as read by this function, in nanoseconds.
fn clock_ns(function: ClockGettime) -> u64 {
    let mut t = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `t` is a timespec to write to.
    unsafe { function(CLOCK_MONOTONIC_RAW, &mut t) };
    (t.seconds as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(t.nanoseconds as u64)
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds, unaffected by a library that fakes the program's clocks.
pub(crate) fn monotonic_raw_ns() -> u64 {
    let own = OWN_CLOCK.load(Ordering::Relaxed);
    if own.is_null() {
        return kernel_clock_ns(CLOCK_MONOTONIC_RAW);
    }
    // SAFETY: `find_clock` stores the C library's function, which has this type.
    clock_ns(unsafe { core::mem::transmute::<*mut c_void, ClockGettime>(own) })
}

/// A kernel clock in nanoseconds, read by a system call.
pub(crate) fn kernel_clock_ns(clock: c_int) -> u64 {
    #[cfg(target_arch = "x86_64")]
    const NUMBER: c_long = 228;
    #[cfg(not(target_arch = "x86_64"))]
    const NUMBER: c_long = 113;
    let mut t = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `t` is a timespec to write to.
    unsafe { syscall(NUMBER, clock, &raw mut t) };
    (t.seconds as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(t.nanoseconds as u64)
}

/// Opens a performance event: attributes, process, CPU, group leader, flags.
///
/// # Safety
/// `attributes` is a `perf_event_attr` of the size it states.
pub(crate) unsafe fn perf_event_open(
    attributes: *const c_void,
    process: c_int,
    cpu: c_int,
    leader: c_int,
    flags: u64,
) -> c_long {
    #[cfg(target_arch = "x86_64")]
    const NUMBER: c_long = 298;
    #[cfg(not(target_arch = "x86_64"))]
    const NUMBER: c_long = 241;
    // SAFETY: the caller guarantees the attributes.
    unsafe { syscall(NUMBER, attributes, process, cpu, leader, flags) }
}

/// Reads words from a descriptor. Returns their number.
pub(crate) fn read_words(fd: c_int, to: &mut [u64]) -> usize {
    // SAFETY: `to` may be written to its end.
    let bytes = unsafe { read(fd, to.as_mut_ptr().cast::<c_void>(), size_of_val(to)) };
    usize::try_from(bytes).unwrap_or(0) / size_of::<u64>()
}

/// The thread's errno.
pub(crate) fn errno() -> c_int {
    // SAFETY: the location is the calling thread's own.
    unsafe { *__errno_location() }
}

/// Restores errno when dropped: the program must not notice what the recorder does.
#[derive(Debug)]
pub struct KeepErrno(c_int);

impl KeepErrno {
    /// Saves errno.
    #[allow(
        clippy::new_without_default,
        reason = "it is what errno is now, not a default"
    )]
    pub fn new() -> Self {
        KeepErrno(errno())
    }
}

impl Drop for KeepErrno {
    fn drop(&mut self) {
        // SAFETY: the location is the calling thread's own.
        unsafe { *__errno_location() = self.0 }
    }
}
