//! The files that are loaded into this process: the file that contains an address, the dependencies
//! of each file, and the address of a symbol in it.
//!
//! All of it is read from the files' own tables, under the lock of `dl_iterate_phdr`. A thread
//! holds that lock only while it changes the list of files. `dlsym`, `dladdr` and `dlopen` take
//! another lock, which a thread holds while it runs a library's constructors. Such a thread may
//! wait there for the calling one.

mod object;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub(crate) use object::Object;
use object::{ProgramHeader, holds, segments};

/// `struct dl_phdr_info`.
#[repr(C)]
struct Info {
    bias: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    header_count: u16,
    /// The number of files loaded, and unloaded, since the process began.
    loads: u64,
    unloads: u64,
}

type Visitor = unsafe extern "C" fn(*mut Info, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dl_iterate_phdr(visit: Visitor, data: *mut c_void) -> c_int;
}

/// The number of changes of the list of loaded files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Changes {
    pub(crate) loads: u64,
    pub(crate) unloads: u64,
}

/// Calls `visit` for each loaded file, in the order of loading, until it breaks.
fn each(mut visit: impl FnMut(&Info) -> ControlFlow<()>) {
    unsafe extern "C" fn one<F: FnMut(&Info) -> ControlFlow<()>>(
        info: *mut Info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's description is valid during the call; `data` is the closure passed
        // below.
        unsafe { c_int::from((*data.cast::<F>())(&*info).is_break()) }
    }
    fn visitor<F: FnMut(&Info) -> ControlFlow<()>>(_: &F) -> Visitor {
        one::<F>
    }
    let with = visitor(&visit);
    // SAFETY: the visitor gets the closure that it expects, which outlives the call.
    unsafe { dl_iterate_phdr(with, (&raw mut visit).cast()) };
}

/// The number of changes of the list so far. Costs no more than the lock.
pub(crate) fn changes() -> Changes {
    let mut found = Changes::default();
    each(|info| {
        found = Changes {
            loads: info.loads,
            unloads: info.unloads,
        };
        ControlFlow::Break(())
    });
    found
}

/// A different number after each detected unload; 0 before the first.
static ERA: AtomicU64 = AtomicU64::new(0);

/// Files were unloaded, so data cached by address may belong to a file that is gone.
pub(crate) fn notice_unloads(unloads: u64) {
    ERA.store(
        unloads.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        Ordering::Relaxed,
    );
}

/// The era, which must be part of the key of everything that is cached by a code address.
#[inline]
pub(crate) fn era() -> u64 {
    ERA.load(Ordering::Relaxed)
}

/// The number of files loaded at the program's start. They are first in the list and first in the
/// global scope.
static AT_START: AtomicUsize = AtomicUsize::new(0);

/// The addresses of this library.
static OURS: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// Whether the address is in this library.
#[inline]
pub(crate) fn is_ours(address: usize) -> bool {
    (OURS.0.load(Ordering::Relaxed)..OURS.1.load(Ordering::Relaxed)).contains(&address)
}

/// Called at the start of the program.
pub(crate) fn note_start() {
    let mut count = 0;
    each(|info| {
        count += 1;
        // SAFETY: the loader's description of a loaded file.
        let object = unsafe { Object::new(info) };
        if object.holds(note_start as *const () as usize) {
            OURS.0.store(object.start, Ordering::Relaxed);
            OURS.1.store(object.end, Ordering::Relaxed);
        }
        notice_unloads(info.unloads);
        ControlFlow::Continue(())
    });
    AT_START.store(count, Ordering::Relaxed);
}

/// The load address of the file that contains an address; `None` if no file does.
pub(crate) fn base_of(address: usize) -> Option<usize> {
    file_of(address, |info| info.bias)
}

/// Passes `look` the path of the file that contains an address: the path by which it was loaded,
/// empty for the program itself. `None` if no file contains it.
pub(crate) fn with_path_of<T>(address: usize, mut look: impl FnMut(&[u8]) -> T) -> Option<T> {
    file_of(address, |info| {
        if info.name.is_null() {
            return look(&[]);
        }
        // SAFETY: the loader's name of a loaded file is a C string.
        look(unsafe { CStr::from_ptr(info.name) }.to_bytes())
    })
}

fn file_of<T>(address: usize, mut look: impl FnMut(&Info) -> T) -> Option<T> {
    let mut found = None;
    each(|info| {
        // SAFETY: the loader's description of a loaded file.
        let holds = unsafe { segments(info) }
            .iter()
            .any(|header| holds(info.bias, header, address));
        if holds {
            found = Some(look(info));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found
}

/// All loaded files in the order of loading, while the list cannot change.
pub(crate) struct Objects {
    pub(crate) list: Vec<Object>,
    pub(crate) changes: Changes,
    /// Memory for a search: allocation is not allowed under the loader's lock.
    queue: Vec<usize>,
}

/// Passes all loaded files to `look`, which must not allocate or take a lock.
pub(crate) fn with<T>(mut look: impl FnMut(&mut Objects) -> T) -> T {
    loop {
        let mut count = 0;
        each(|_| {
            count += 1;
            ControlFlow::Continue(())
        });
        let room = count + 16;
        let mut objects = Objects {
            list: Vec::with_capacity(room),
            changes: Changes::default(),
            queue: Vec::with_capacity(room),
        };
        let mut result = None;
        // This visit holds the lock, and the inner one takes it once more.
        each(|first| {
            objects.changes = Changes {
                loads: first.loads,
                unloads: first.unloads,
            };
            let mut fits = true;
            each(|info| {
                fits = objects.list.len() < room;
                if !fits {
                    return ControlFlow::Break(());
                }
                // SAFETY: the loader's description of a loaded file.
                objects.list.push(unsafe { Object::new(info) });
                ControlFlow::Continue(())
            });
            if fits {
                result = Some(look(&mut objects));
            }
            ControlFlow::Break(())
        });
        if let Some(result) = result {
            return result;
        }
    }
}

impl Objects {
    /// The index of the file that contains the address.
    pub(crate) fn at(&self, address: usize) -> Option<usize> {
        self.list.iter().position(|object| object.holds(address))
    }

    /// The index of this library.
    pub(crate) fn ours(&self) -> Option<usize> {
        self.at(note_start as *const () as usize)
    }

    /// The files behind this library that were loaded at the start, which every lookup tries first.
    pub(crate) fn at_start(&self) -> core::ops::Range<usize> {
        let ours = self.ours().unwrap_or(0);
        ours + 1
            ..AT_START
                .load(Ordering::Relaxed)
                .clamp(ours + 1, self.list.len().max(ours + 1))
    }

    /// The first file that `is` accepts, breadth first: the root, its dependencies, their
    /// dependencies, and so on.
    pub(crate) fn in_tree(&mut self, root: usize, is: impl Fn(&Object) -> bool) -> Option<usize> {
        let Objects { list, queue, .. } = self;
        queue.clear();
        queue.push(root);
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            if is(&list[at]) {
                return Some(at);
            }
            for name in list[at].needs() {
                let found = list
                    .iter()
                    .position(|object| object.is_called(name))
                    .or_else(|| {
                        let mut list = list.iter();
                        list.position(|object| object.is_called_nearly(name))
                    });
                if let Some(found) = found
                    && !queue.contains(&found)
                {
                    queue.push(found);
                }
            }
        }
        None
    }

    /// Whether the first file depends on the second, directly or indirectly.
    pub(crate) fn depends(&mut self, root: usize, on: usize) -> bool {
        let bias = self.list[on].bias;
        self.in_tree(root, |object| object.bias == bias).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_where_the_loader_finds_it() {
        unsafe extern "C" {
            fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
        }
        for name in [c"pthread_create", c"malloc", c"qsort", c"dl_iterate_phdr"] {
            // SAFETY: a C string, looked up in the program's scope.
            let expected = unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) } as usize;
            let (found, holds) = with(|objects| {
                let found = objects.list.iter().find_map(|o| o.function(name));
                (found, found.and_then(|at| objects.at(at)))
            });
            assert_eq!(found, Some(expected), "{name:?}");
            assert!(holds.is_some());
        }
        assert_eq!(
            with(|o| o.list.iter().find_map(|o| o.function(c"no_such_function"))),
            None
        );
    }

    #[test]
    fn the_program_depends_on_the_c_library() {
        let local = 0;
        with(|objects| {
            let libc = objects
                .list
                .iter()
                .position(|o| o.is_called(b"libc.so.6"))
                .expect("a C library");
            assert!(objects.depends(0, libc));
            assert!(!objects.depends(libc, 0));
            assert_eq!(objects.at(&raw const local as usize), None);
            assert_eq!(
                objects.at(the_program_depends_on_the_c_library as *const () as usize),
                Some(0)
            );
        });
    }
}
