//! Classes of tasks. A class has a copy of its virtual table, in which `execute` and `cancel` are
//! ours, and the information in the class's name about its algorithm.

use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use workspan_recorder::wire::primitive;

use super::task::{self, Task};
use crate::loaded_files::era;

/// Words before the address of a virtual table: our pointer to the class, the offset to top, and
/// the type information.
const WORDS_BEFORE: usize = 3;
/// Words that are copied from that address on: two destructors, `execute`, `cancel`, and functions
/// of derived classes that may be called before the task runs.
const WORDS_AFTER: usize = 12;
pub(super) const EXECUTE: usize = 2;
pub(super) const CANCEL: usize = 3;
const PAGE: usize = 4096;

/// A class of tasks.
pub(super) struct TaskClass {
    /// Its own virtual table.
    pub(super) original: *const usize,
    /// The trace's code of its algorithm.
    pub(super) primitive: u8,
    /// Whether each of its tasks is spawned by a line of the user's. If not, tasks spawned inside
    /// the algorithm get the site of the algorithm's call.
    pub(super) users: bool,
    /// Whether a part of an algorithm spawns it, but only the whole waits for it. That is the case
    /// for items that are fed to a `parallel_for_each`.
    pub(super) outlives: bool,
    /// Whether an algorithm that it runs in its own context is a part of its own algorithm.
    pub(super) inside: bool,
    /// Whether a task has done all its work when it ends, and passes none on.
    pub(super) whole: bool,
    /// The era in which the virtual table was last read. After an unload, another class's table may
    /// be there.
    era: AtomicU64,
    /// Mangled symbol of its type's name; empty without run-time type information.
    pub(super) name: String,
    table: [usize; WORDS_BEFORE + WORDS_AFTER],
}

/// The largest number of classes, which exceeds that of a large program. Tasks of further classes
/// are not recorded.
const SLOTS: usize = 1 << 14;

static KEYS: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
static CLASSES: [AtomicPtr<TaskClass>; SLOTS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];
static ADDING: Mutex<usize> = Mutex::new(0);

impl TaskClass {
    /// The task's class. `None` if the task has a copied table, so was recorded before, or if there
    /// is no room for its class.
    ///
    /// # Safety
    /// `task` is a live task.
    #[inline]
    pub(super) unsafe fn from_task(task: *mut Task) -> Option<&'static TaskClass> {
        // SAFETY: a live task's virtual table has at least four entries.
        unsafe {
            let table = (*task).table;
            if *table.add(EXECUTE) == task::execute as *const () as usize {
                return None;
            }
            let key = table as usize;
            let mut at = hash(key);
            loop {
                match KEYS[at].load(Ordering::Acquire) {
                    known if known == key => {
                        let class = CLASSES[at].load(Ordering::Acquire).as_ref()?;
                        if class.era.load(Ordering::Relaxed) != era() {
                            return add(table);
                        }
                        return Some(class);
                    }
                    0 => return add(table),
                    _ => at = (at + 1) % SLOTS,
                }
            }
        }
    }

    /// The class of a task with a copied table.
    ///
    /// # Safety
    /// `table` is a result of [`TaskClass::table`].
    #[inline]
    pub(super) unsafe fn behind(table: *const usize) -> &'static TaskClass {
        // SAFETY: the first word of a copied table is its class, which is never freed.
        unsafe { &*(*table.sub(WORDS_BEFORE) as *const TaskClass) }
    }

    /// The copied virtual table.
    #[inline]
    pub(super) fn table(&self) -> *const usize {
        // In bounds: both are constants.
        self.table[WORDS_BEFORE..].as_ptr()
    }
}

fn hash(key: usize) -> usize {
    (key >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.trailing_zeros())
}

/// Adds the class of a virtual table.
///
/// # Safety
/// `table` is the virtual table of a class of tasks.
#[cold]
unsafe fn add(table: *const usize) -> Option<&'static TaskClass> {
    super::pool();
    let mut count = ADDING.lock().ok()?;
    let key = table as usize;
    let mut at = hash(key);
    loop {
        match KEYS[at].load(Ordering::Acquire) {
            // Another thread added it first, or files were unloaded since.
            known if known == key => {
                // SAFETY: the slot has a class, and classes are never freed.
                unsafe { renew(at, table) };
                break;
            }
            0 if *count < SLOTS / 2 => {
                *count += 1;
                // SAFETY: the table is that of a class of tasks.
                let class = Box::into_raw(Box::new(unsafe { read(table) }));
                // SAFETY: the box is leaked, and no other thread has it yet.
                unsafe { (*class).table[0] = class as usize };
                CLASSES[at].store(class, Ordering::Release);
                KEYS[at].store(key, Ordering::Release);
                break;
            }
            0 => return None,
            _ => at = (at + 1) % SLOTS,
        }
    }
    // SAFETY: null or a class, and classes are never freed.
    unsafe { CLASSES[at].load(Ordering::Acquire).as_ref() }
}

/// Reads the virtual table again, at an address where there was one before. The class stays unless
/// the table or the name differs.
///
/// # Safety
/// As for [`add`]; the slot has a class.
unsafe fn renew(at: usize, table: *const usize) {
    // SAFETY: the slot has a class, classes are never freed, and the table is that of a class of
    // tasks.
    unsafe {
        let known = &*CLASSES[at].load(Ordering::Acquire);
        let fresh = read(table);
        let is_same = fresh.name == known.name && fresh.table[1..] == known.table[1..];
        if is_same {
            known.era.store(era(), Ordering::Relaxed);
        } else {
            let fresh = Box::into_raw(Box::new(fresh));
            (*fresh).table[0] = fresh as usize;
            CLASSES[at].store(fresh, Ordering::Release);
        }
    }
}

/// # Safety
/// As for [`add`].
unsafe fn read(table: *const usize) -> TaskClass {
    let mut copy = [0usize; WORDS_BEFORE + WORDS_AFTER];
    // The memory behind the table may contain anything, and may be unmapped from the next page on.
    let to_page = (PAGE - (table as usize) % PAGE) / size_of::<usize>();
    // SAFETY: every task's table has two words before its address and four after it. Words up to
    // the end of the page are readable.
    unsafe {
        copy[1] = *table.sub(2);
        copy[2] = *table.sub(1);
        for n in 0..WORDS_AFTER {
            if n <= CANCEL || n < to_page {
                copy[WORDS_BEFORE + n] = *table.add(n);
            }
        }
    }
    copy[WORDS_BEFORE + EXECUTE] = task::execute as *const () as usize;
    copy[WORDS_BEFORE + CANCEL] = task::cancel as *const () as usize;
    let name = if copy[2] == 0 {
        String::new()
    } else {
        // SAFETY: the word before the address is null, or points to a `std::type_info`: a table
        // pointer and a name.
        unsafe { CStr::from_ptr(*((copy[2] + 8) as *const *const c_char)) }
            .to_string_lossy()
            .trim_start_matches('*')
            .to_owned()
    };
    let (primitive, users) = algorithm_of(&name);
    let whole = users || name.contains("16function_invoker");
    let name = if name.is_empty() {
        name
    } else {
        format!("_ZTS{name}")
    };
    TaskClass {
        original: table,
        primitive,
        users,
        inside: [
            "for_each_root_task",
            "block_handling_task",
            "quick_sort_range",
        ]
        .iter()
        .any(|class| name.contains(class)),
        whole,
        era: AtomicU64::new(era()),
        outlives: name.contains("16feeder_item_task"),
        name,
        table: copy,
    }
}

/// The algorithm that a class of oneTBB's headers belongs to, by its mangled name, and whether the
/// user's lines spawn its tasks.
fn algorithm_of(name: &str) -> (u8, bool) {
    let Some(class) = name.strip_prefix("N3tbb6detail").and_then(|rest| {
        // The inner namespace (d1, d2, r1), then the class; each has its length in front.
        let rest = rest.strip_prefix('2')?.get(2..)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        rest.get(digits..digits + length)
    }) else {
        return (primitive::TASK, true);
    };
    match class {
        "start_for" | "start_reduce" if name.contains("quick_sort") => {
            (primitive::PARALLEL_SORT, false)
        }
        "start_for" => (primitive::PARALLEL_FOR, false),
        "start_reduce" | "start_deterministic_reduce" => (primitive::PARALLEL_REDUCE, false),
        "start_scan" | "finish_scan" | "final_sum" | "sum_node" => {
            (primitive::PARALLEL_SCAN, false)
        }
        "function_invoker" | "invoke_subroot_task" => (primitive::PARALLEL_INVOKE, false),
        "input_block_handling_task" | "forward_block_handling_task" | "feeder_item_task" => {
            (primitive::PARALLEL_FOR_EACH, false)
        }
        "stage_task" => (primitive::PARALLEL_PIPELINE, false),
        "enqueue_task" => (primitive::ENQUEUE, true),
        "priority_task_selector" => (primitive::FLOW_GRAPH, false),
        _ if class.starts_with("for_each") => (primitive::PARALLEL_FOR_EACH, false),
        _ if class.contains("_task_bypass") || class == "graph_task" => {
            (primitive::FLOW_GRAPH, false)
        }
        _ => (primitive::TASK, true),
    }
}

#[cfg(test)]
mod tests {
    use super::{algorithm_of, primitive};

    #[test]
    fn classes_of_the_headers_tell_their_algorithm() {
        let algorithm = |name: &str| algorithm_of(name);
        assert_eq!(
            algorithm("N3tbb6detail2d113function_taskIZ3fibiEUlvE_EE"),
            (primitive::TASK, true)
        );
        assert_eq!(
            algorithm(
                "N3tbb6detail2d19start_forINS1_13blocked_rangeIlEEZ4mainEUlRKT_E_KNS1_18simple_partitionerEEE"
            ),
            (primitive::PARALLEL_FOR, false)
        );
        assert_eq!(
            algorithm("N3tbb6detail2d19start_forINS1_16quick_sort_rangeIPiSt4lessIiEEE"),
            (primitive::PARALLEL_SORT, false)
        );
        assert_eq!(
            algorithm("N3tbb6detail2d222apply_body_task_bypassINS1_14function_inputEE"),
            (primitive::FLOW_GRAPH, false)
        );
        assert_eq!(
            algorithm("N3tbb6detail2r110stage_taskE"),
            (primitive::PARALLEL_PIPELINE, false)
        );
        assert_eq!(algorithm("6MyTask"), (primitive::TASK, true));
        // A wrong length must not fail.
        assert_eq!(algorithm("N3tbb6detail2d1999x"), (primitive::TASK, true));
        assert_eq!(algorithm("N3tbb6detail2d1"), (primitive::TASK, true));
        assert_eq!(algorithm("N3tbb6detail2é"), (primitive::TASK, true));
        assert_eq!(algorithm(""), (primitive::TASK, true));
    }
}
