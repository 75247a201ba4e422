//! The recorder's table of functions, if there is a recorder in this process.

/// The front of the recorder's table (workspan-recorder, `abi::Table`), with the functions of its
/// general path. Functions are only ever appended there, so this layout stays right.
#[repr(C)]
pub(crate) struct Table {
    version: u32,
    size: u32,
    _thread_refill_now: [usize; 3],
    pub(crate) site_location: extern "C" fn(*const u8, usize, u32, u32, u8) -> u32,
    _site_stack: usize,
    pub(crate) label: extern "C" fn(*const u8, usize) -> u32,
    _note_pool_site_address_site_label_record_root: [usize; 6],
    pub(crate) task_create: extern "C" fn(u32, u32, u64) -> u64,
    pub(crate) task_begin: extern "C" fn(u64),
    pub(crate) task_end: extern "C" fn(),
    pub(crate) scope_open: extern "C" fn(u32) -> u64,
    pub(crate) wait_children: extern "C" fn(u32),
    pub(crate) wait_scope: extern "C" fn(u32, u64),
    pub(crate) wait_tasks: unsafe extern "C" fn(u32, *const u64, usize),
    pub(crate) wait_signals: unsafe extern "C" fn(u32, *const u64, usize),
    pub(crate) resume: extern "C" fn(),
    pub(crate) yield_task: extern "C" fn(u32) -> u64,
    pub(crate) leave_task: extern "C" fn(u32) -> u64,
    pub(crate) resume_yielded: extern "C" fn(u64),
    pub(crate) depend: extern "C" fn(u64, u64),
    pub(crate) signal_new: extern "C" fn() -> u64,
    pub(crate) signal_set: extern "C" fn(u32, u64),
    pub(crate) region_begin: extern "C" fn(u32, u32),
    pub(crate) region_end: extern "C" fn(u32),
    pub(crate) part_begin: extern "C" fn(u32),
    pub(crate) part_end: extern "C" fn(u32),
    pub(crate) counter: extern "C" fn(u32, u64),
    pub(crate) steal: extern "C" fn(u32, u32, u64),
    pub(crate) steal_failed: extern "C" fn(u32),
    pub(crate) sleep: extern "C" fn(),
    pub(crate) wake: extern "C" fn(),
    pub(crate) thread_number: extern "C" fn() -> u32,
    pub(crate) pool_begin: extern "C" fn(u32) -> u32,
    pub(crate) pool_end: extern "C" fn(u32),
    pub(crate) worker_begin: extern "C" fn(u32, u32),
    pub(crate) worker_end: extern "C" fn(),
    // Functions of later recorders.
    _budget_long_strand_starts_workers: [usize; 3],
    keep: extern "C" fn(),
}

impl Table {
    /// Keeps the last seconds of the run as a trace, if the recorder supports it.
    #[inline]
    pub(crate) fn keep(&self) {
        if self.size as usize >= size_of::<Table>() {
            (self.keep)();
        }
    }
}

/// A number that the recorder assigned; 0 if there is none. Takes no memory with the feature `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg(not(feature = "off"))]
pub(crate) struct Number(u64);

#[cfg(not(feature = "off"))]
impl Number {
    #[inline]
    pub(crate) fn new(number: u64) -> Number {
        Number(number)
    }
    #[inline]
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// A number that the recorder would assign: with the feature `off` there is no recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg(feature = "off")]
pub(crate) struct Number(());

#[cfg(feature = "off")]
impl Number {
    #[inline(always)]
    pub(crate) fn new(_: u64) -> Number {
        Number(())
    }
    #[inline(always)]
    pub(crate) fn get(self) -> u64 {
        0
    }
}

/// Whether this process is recorded.
///
/// ```
/// if workspan_api::is_recorded() {
///     println!("recording");
/// }
/// ```
#[inline]
pub fn is_recorded() -> bool {
    table().is_some()
}

/// The recorder's table.
#[cfg(feature = "off")]
#[inline(always)]
pub(crate) fn table() -> Option<&'static Table> {
    None
}

#[cfg(not(feature = "off"))]
pub(crate) use self::found::table;

#[cfg(not(feature = "off"))]
mod found {
    use super::Table;
    use core::ffi::{CStr, c_char, c_void};
    use core::mem::MaybeUninit;
    use core::ptr;
    use core::sync::atomic::{AtomicPtr, Ordering};

    const SYMBOL: &CStr = c"workspan_table_v1";

    /// A marker whose address means that the recorder has not been looked up yet.
    static NOT_ASKED: MaybeUninit<Table> = MaybeUninit::uninit();
    /// The table; null if the process is not recorded.
    static TABLE: AtomicPtr<Table> =
        AtomicPtr::new((&raw const NOT_ASKED).cast::<Table>().cast_mut());

    #[cfg(unix)]
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// The recorder's table.
    #[inline]
    pub(crate) fn table() -> Option<&'static Table> {
        let table = TABLE.load(Ordering::Acquire);
        if table.is_null() {
            None
        } else {
            table_of(table)
        }
    }

    #[cold]
    #[inline(never)]
    fn table_of(table: *mut Table) -> Option<&'static Table> {
        let table = if ptr::eq(table, (&raw const NOT_ASKED).cast()) {
            ask()
        } else {
            table
        };
        // SAFETY: null, or the recorder's table, which is never unloaded.
        unsafe { table.as_ref() }
    }

    /// The size of a table without the functions of later recorders.
    #[cfg(unix)]
    const FIRST_SIZE: usize = core::mem::offset_of!(Table, _budget_long_strand_starts_workers);

    #[cfg(unix)]
    fn ask() -> *mut Table {
        // SAFETY: a null handle is the global scope; the name is a C string.
        let symbol = unsafe { dlsym(ptr::null_mut(), SYMBOL.as_ptr()) };
        let mut table = ptr::null_mut::<Table>();
        if !symbol.is_null() {
            // SAFETY: the recorder exports a function of this type under this name.
            let export: extern "C" fn() -> *mut Table = unsafe { core::mem::transmute(symbol) };
            table = export();
            // SAFETY: null or a table that begins with version and size.
            let fits = unsafe { table.as_ref() }
                .is_some_and(|t| t.version == 1 && t.size as usize >= FIRST_SIZE);
            if !fits {
                table = ptr::null_mut();
            }
        }
        TABLE.store(table, Ordering::Release);
        table
    }

    #[cfg(not(unix))]
    fn ask() -> *mut Table {
        TABLE.store(ptr::null_mut(), Ordering::Release);
        ptr::null_mut()
    }
}

#[cfg(all(test, not(feature = "off")))]
mod tests {
    use super::Table;
    use core::mem::offset_of;
    use workspan_recorder::abi;

    #[test]
    fn has_the_layout_of_the_recorders_table() {
        macro_rules! same {
            ($($field:ident),*) => {
                $(assert_eq!(offset_of!(Table, $field), offset_of!(abi::Table, $field), stringify!($field));)*
            };
        }
        same!(
            version,
            size,
            site_location,
            label,
            task_create,
            task_begin,
            task_end,
            scope_open,
            wait_children
        );
        same!(
            wait_scope,
            wait_tasks,
            wait_signals,
            resume,
            yield_task,
            leave_task,
            resume_yielded,
            depend,
            signal_new
        );
        same!(
            signal_set,
            region_begin,
            region_end,
            part_begin,
            part_end,
            counter,
            steal,
            steal_failed,
            sleep,
            wake
        );
        same!(
            thread_number,
            pool_begin,
            pool_end,
            worker_begin,
            worker_end,
            keep
        );
        assert!(size_of::<Table>() <= size_of::<abi::Table>());
    }
}
