//! Regions, parts and counters: names for pieces of the program.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::table::{Number, Table, table};

/// A name that is looked up once. A plain `&str` is looked up at each use.
///
/// ```
/// static SOLVE: workspan_api::Label = workspan_api::Label::new("solve");
///
/// let _solving = workspan_api::region(&SOLVE);
/// ```
#[derive(Debug)]
pub struct Label {
    text: &'static str,
    /// The recorder's number + 1; 0 before the first use.
    number: AtomicU32,
}

impl Label {
    /// The label of this text. Labels of the same text are the same.
    ///
    /// ```
    /// static LOAD: workspan_api::Label = workspan_api::Label::new("load");
    /// ```
    pub const fn new(text: &'static str) -> Label {
        Label {
            text,
            number: AtomicU32::new(0),
        }
    }
}

/// The name of a region, a part or a counter: a `&str` or a `&Label`.
///
/// ```
/// static NAME: workspan_api::Label = workspan_api::Label::new("a label");
///
/// drop(workspan_api::region("a text"));
/// drop(workspan_api::region(&NAME));
/// ```
pub trait Text: sealed::Sealed {}

impl Text for &str {}
impl Text for &Label {}

mod sealed {
    use super::{Label, Ordering, Table};

    pub trait Sealed {
        #[doc(hidden)]
        fn number(self, table: Numbers<'_>) -> u32;
    }

    /// The table that gives numbers to names.
    #[allow(missing_debug_implementations, reason = "sealed")]
    pub struct Numbers<'a>(pub(super) &'a Table);

    impl Sealed for &str {
        fn number(self, table: Numbers<'_>) -> u32 {
            (table.0.label)(self.as_ptr(), self.len())
        }
    }

    impl Sealed for &Label {
        fn number(self, table: Numbers<'_>) -> u32 {
            match self.number.load(Ordering::Relaxed) {
                0 => {
                    let number = self.text.number(table);
                    self.number.store(number + 1, Ordering::Relaxed);
                    number
                }
                known => known - 1,
            }
        }
    }
}

/// Keeps the last seconds of the run as a trace, if it is recorded by `workspan record --ring 5s
/// --on-call`. Otherwise does nothing.
///
/// ```
/// let request_took = std::time::Duration::from_millis(3);
/// if request_took.as_millis() > 500 {
///     workspan_api::keep();
/// }
/// ```
#[inline]
pub fn keep() {
    if let Some(table) = table() {
        table.keep();
    }
}

/// An open region. Dropping it closes the region, which must happen in the task that opened it.
///
/// ```
/// let open: workspan_api::Region = workspan_api::region("parse");
/// drop(open);
/// ```
#[derive(Debug)]
#[must_use = "the region is closed when this is dropped"]
pub struct Region {
    label: Number,
    _of_this_thread: PhantomData<*const ()>,
}

/// A part that has started. Dropping it ends the part.
///
/// ```
/// let running: workspan_api::Part = workspan_api::part("warm-up");
/// drop(running);
/// ```
#[derive(Debug)]
#[must_use = "the part is stopped when this is dropped"]
pub struct Part {
    label: Number,
    _of_this_thread: PhantomData<*const ()>,
}

/// Calls `begin` with a label's number, and returns that number + 1 for the guard; 0 if the process
/// is not recorded.
#[inline]
fn number(label: impl Text, begin: impl FnOnce(&'static Table, u32)) -> Number {
    match table() {
        None => Number::default(),
        Some(table) => {
            let label = label.number(sealed::Numbers(table));
            begin(table, label);
            Number::new(u64::from(label) + 1)
        }
    }
}

#[inline]
fn close(label: Number, end: impl FnOnce(&'static Table, u32)) {
    if let (Some(table), Some(label)) = (table(), label.get().checked_sub(1)) {
        end(table, label as u32);
    }
}

/// Opens a region: the current task's own time until the guard is dropped (MODEL.md §4).
///
/// ```
/// let sum: u64 = {
///     let _summing = workspan_api::region("sum");
///     (1..=100).sum()
/// };
/// assert_eq!(sum, 5050);
/// ```
#[inline]
pub fn region(label: impl Text) -> Region {
    let label = number(label, |table, label| (table.region_begin)(label, 0));
    Region {
        label,
        _of_this_thread: PhantomData,
    }
}

/// Opens a region that also covers the tasks created while it is open.
///
/// ```
/// let _sorting = workspan_api::tree_region("sort");
/// // Tasks that are created here belong to the region.
/// ```
#[inline]
pub fn tree_region(label: impl Text) -> Region {
    let label = number(label, |table, label| (table.region_begin)(label, 1));
    Region {
        label,
        _of_this_thread: PhantomData,
    }
}

/// Starts a part: the current task's strands until the guard is dropped, with everything created
/// inside.
///
/// ```
/// {
///     let _first = workspan_api::part("read");
/// }
/// let _second = workspan_api::part("compute");
/// ```
#[inline]
pub fn part(label: impl Text) -> Part {
    let label = number(label, |table, label| (table.part_begin)(label));
    Part {
        label,
        _of_this_thread: PhantomData,
    }
}

impl Drop for Region {
    #[inline]
    fn drop(&mut self) {
        close(self.label, |table, label| (table.region_end)(label));
    }
}

impl Drop for Part {
    #[inline]
    fn drop(&mut self) {
        close(self.label, |table, label| (table.part_end)(label));
    }
}

/// Tells the size of the current task: the number of elements it works on. Views show it beside the
/// name of the task and of its strands (MODEL.md §1). It is the counter `size`, so a task that
/// tells several sizes has their sum.
///
/// ```
/// fn sort(values: &mut [u64]) {
///     workspan_api::size(values.len() as u64);
///     values.sort_unstable();
/// }
/// sort(&mut [3, 1, 2]);
/// ```
#[inline]
pub fn size(elements: u64) {
    static SIZE: Label = Label::new("size");
    counter(&SIZE, elements);
}

/// Adds to a counter in the current strand. That strand began at the last call of this library, or
/// of the runtime, on this thread.
///
/// ```
/// workspan_api::counter("bytes", 4096);
/// ```
#[inline]
pub fn counter(label: impl Text, increase: u64) {
    let _ = number(label, |table, label| (table.counter)(label, increase));
}
