//! The start of the tool: the runtime asks for it once, and gets the callbacks.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use workspan_recorder::TABLE;

use super::ffi::{self, Data, Lookup, SetCallback, StartToolResult, event};
use super::{dependences, group_waits, locks, region, sync, tasks, thread_state, worksharing};

/// The structure that the runtime gets. The runtime writes `tool_data` itself.
struct Result(UnsafeCell<StartToolResult>);

// SAFETY: after the start only the runtime accesses it.
unsafe impl Sync for Result {}

static RESULT: Result = Result(UnsafeCell::new(StartToolResult {
    initialize,
    finalize,
    tool_data: 0,
}));

/// Called by the runtime at its start (OpenMP 5.2, 19.2.1). Null: there is no tool.
#[unsafe(no_mangle)]
extern "C" fn ompt_start_tool(
    _omp_version: c_uint,
    runtime_version: *const c_char,
) -> *mut StartToolResult {
    if !workspan_recorder::is_on() {
        return ptr::null_mut();
    }
    if let Some(why) = another_tool() {
        note(
            "warning",
            &format!(
                "What LLVM OpenMP does was not recorded: {why}, and a process has room for one OMPT tool"
            ),
        );
        return ptr::null_mut();
    }
    let version = if runtime_version.is_null() {
        "unknown".into()
    } else {
        // SAFETY: the runtime passes its version as a C string.
        unsafe { CStr::from_ptr(runtime_version) }.to_string_lossy()
    };
    let vendor = if version.starts_with("Intel") {
        "Intel"
    } else {
        "LLVM"
    };
    // Example: `LLVM OMP version: 5.0.20140926`
    let number = version.rsplit(": ").next().unwrap_or(&version);
    note(
        "runtime",
        &format!("{vendor} OpenMP (OMPT), version {number}"),
    );
    note("steals", "child");
    RESULT.0.get()
}

/// Another tool that the program would have without recording. Recording must not take its place.
fn another_tool() -> Option<&'static str> {
    if std::env::var_os("OMP_TOOL_LIBRARIES").is_some_and(|list| !list.is_empty()) {
        return Some("OMP_TOOL_LIBRARIES names another tool (unset it to record)");
    }
    // SAFETY: the name is a C string.
    let sanitized = unsafe { !ffi::dlsym(ffi::RTLD_DEFAULT, c"__tsan_init".as_ptr()).is_null() };
    sanitized
        .then_some("the program is built with ThreadSanitizer, which needs the runtime's archer")
}

/// The code segments of up to four runtimes: first address, and one past the last.
static CODE: [(AtomicUsize, AtomicUsize); 4] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 4];

/// Whether the address is in the code of a runtime that has started.
#[inline]
pub(super) fn is_runtime(address: usize) -> bool {
    CODE.iter().any(|(start, end)| {
        (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&address)
    })
}

/// Remembers the code segment around this address.
fn note_code(address: usize) {
    let found = workspan_recorder::adapter::code_around(address);
    let free = CODE
        .iter()
        .find(|(start, _)| start.load(Ordering::Relaxed) == 0);
    if let (Some(code), Some((start, end))) = (found, free) {
        end.store(code.end, Ordering::Relaxed);
        start.store(code.start, Ordering::Relaxed);
    }
}

pub(super) fn note(key: &str, value: &str) {
    (TABLE.note)(key.as_ptr(), key.len(), value.as_ptr(), value.len());
}

/// Sets the callbacks. Returns 1 to keep the tool.
extern "C" fn initialize(lookup: Lookup, _device: c_int, _tool: *mut Data) -> c_int {
    note_code(lookup as usize);
    // SAFETY: the runtime's own function, called with a C string; the result has the type that
    // belongs to the name.
    let set = unsafe {
        let found = lookup(c"ompt_set_callback".as_ptr());
        if found.is_null() {
            note(
                "warning",
                "What LLVM OpenMP does was not recorded: it takes no callbacks",
            );
            return 0;
        }
        core::mem::transmute::<*mut c_void, SetCallback>(found)
    };
    // Each function has the signature of its event.
    let callbacks: [(c_int, *const c_void); 13] = [
        (event::THREAD_END, thread_state::thread_end as *const c_void),
        (
            event::PARALLEL_BEGIN,
            region::parallel_begin as *const c_void,
        ),
        (event::PARALLEL_END, region::parallel_end as *const c_void),
        (event::IMPLICIT_TASK, region::implicit_task as *const c_void),
        (event::TASK_CREATE, tasks::task_create as *const c_void),
        (event::TASK_SCHEDULE, tasks::task_schedule as *const c_void),
        (
            event::DEPENDENCES,
            dependences::dependences as *const c_void,
        ),
        (event::SYNC_REGION, sync::sync_region as *const c_void),
        (event::WORK, worksharing::work as *const c_void),
        (event::DISPATCH, worksharing::dispatched as *const c_void),
        (event::MUTEX_ACQUIRE, locks::acquire as *const c_void),
        (event::MUTEX_ACQUIRED, locks::acquired as *const c_void),
        (event::MUTEX_RELEASED, locks::released as *const c_void),
    ];
    let mut never = Vec::new();
    for (number, callback) in callbacks {
        // SAFETY: the runtime's function; the callback is of this event's type.
        let result = unsafe { set(number, callback) };
        if result != ffi::SET_ALWAYS {
            never.push(number);
        }
    }
    if never.contains(&event::DISPATCH) {
        worksharing::REPORTS_CHUNKS.store(false, Ordering::Relaxed);
    }
    // Without release events the holder of a lock is not known, but nothing else is missing.
    never.retain(|&number| !matches!(number, event::DISPATCH | event::MUTEX_RELEASED));
    group_waits::tell(set);
    if !never.is_empty() {
        note(
            "warning",
            &format!("This version of LLVM OpenMP does not report all events (missing: {never:?})"),
        );
    }
    1
}

/// Does nothing. It is not called if the program ends inside a parallel region, so no code may
/// depend on it.
extern "C" fn finalize(_tool: *mut Data) {}
