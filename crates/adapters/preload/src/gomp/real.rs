//! The real functions behind our entry points.
//!
//! All are found when the first region begins, by the master: the loader's look-ups take a lock, and a worker that waits for it
//! while the master holds it, running a library's constructors, would wait for ever. Others are when first called. The
//! function is the next of that name after this library, or, for a libgomp that was loaded by `dlopen`
//! without `RTLD_GLOBAL` (whose caller found our function all the same, as it is in the global scope), in whatever loaded
//! file has "libgomp" in its name.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{barrier, chunk, detach, lock, region, task, taskgroup, taskloop, taskwait, teams};

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;
/// `RTLD_NEXT`.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

const PT_LOAD: u32 = 1;

/// `Elf64_Phdr`.
#[repr(C)]
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: usize,
    physical: u64,
    file_size: u64,
    memory_size: usize,
    align: u64,
}

/// The front of `struct dl_phdr_info`.
#[repr(C)]
struct LoadedObject {
    bias: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    header_count: u16,
}

unsafe extern "C" {
    fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut LoadedObject, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn __errno_location() -> *mut c_int;
}

/// An entry point of ours and the function it stands in front of.
#[repr(C)]
pub(super) struct Entry {
    /// Where an entry point goes, read by its first instructions ([`super::shim`]): [`NOT_LOOKED_FOR`], [`OURS`], or to the real
    /// function, which is not libgomp's.
    route: AtomicUsize,
    /// 0 until it was looked for.
    real: AtomicUsize,
    name: &'static CStr,
    /// What tells apart the entries that one function of ours serves; that function says what it means.
    pub(super) form: u8,
}

/// [`Entry::route`]: the real function was not looked for yet.
pub(super) const NOT_LOOKED_FOR: usize = 0;
/// It is libgomp's: our function serves the entry.
pub(super) const OURS: usize = 1;

impl Entry {
    pub(super) const fn new(name: &'static CStr, form: u8) -> Self {
        Entry {
            route: AtomicUsize::new(NOT_LOOKED_FOR),
            real: AtomicUsize::new(0),
            name,
            form,
        }
    }

    /// The same of a name that ends with a 0.
    pub(super) const fn named(name: &'static str, form: u8) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Entry::new(name, form),
            Err(_) => panic!("a name with a 0 at its end"),
        }
    }

    /// The real function's address.
    #[inline]
    pub(super) fn real(&self) -> usize {
        match self.real.load(Ordering::Acquire) {
            0 => self.find(),
            found => found,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        if !self.look() {
            // Without this library the program's loader would have found nothing either.
            eprintln!(
                "workspan: the program called {:?}, which no OpenMP runtime in it has",
                self.name
            );
            std::process::abort();
        }
        self.real.load(Ordering::Acquire)
    }

    /// Looks for the real function; false when there is none.
    pub(super) fn look(&self) -> bool {
        // SAFETY: the location is the calling thread's own; the program must not see what the loader does to it.
        let errno = unsafe { *__errno_location() };
        // SAFETY: the name is a C string.
        let mut found = unsafe { dlsym(NEXT, self.name.as_ptr()) };
        if found.is_null() {
            found = self.in_a_loaded_libgomp();
        }
        if !found.is_null() {
            self.real.store(found as usize, Ordering::Release);
            let foreign = is_of_libomp(found);
            let route = if foreign { found as usize } else { OURS };
            self.route.store(route, Ordering::Release);
        }
        // SAFETY: as above.
        unsafe { *__errno_location() = errno };
        !found.is_null()
    }

    fn in_a_loaded_libgomp(&self) -> *mut c_void {
        let mut search = Search {
            name: self.name,
            found: ptr::null_mut(),
        };
        // SAFETY: the visitor gets the search it expects, and is called before this returns.
        unsafe { dl_iterate_phdr(visit, (&raw mut search).cast()) };
        search.found
    }
}

/// Looks for the functions of all entry points, once.
pub(super) fn look_for_all() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let tables: [&[Entry]; 13] = [
        &barrier::barriers::TABLE,
        &barrier::single_copies::TABLE,
        &chunk::starts::TABLE,
        &chunk::nexts::TABLE,
        &chunk::ends::TABLE,
        &detach::events::TABLE,
        &lock::locks::TABLE,
        &region::regions::TABLE,
        &region::starts::TABLE,
        &region::ends::TABLE,
        &taskgroup::starts::TABLE,
        &taskgroup::ends::TABLE,
        &teams::leagues::TABLE,
    ];
    let alone = [
        &region::THREAD_NUMBER,
        &region::THREADS,
        &task::TASK,
        &taskloop::TASKLOOP,
        &taskloop::TASKLOOP_ULL,
        &taskwait::TASKWAIT,
        &taskwait::TASKWAIT_DEPEND,
    ];
    // An older libgomp has not all of them; nobody calls those.
    for entry in tables.into_iter().flatten().chain(alone) {
        entry.look();
    }
}

/// What an entry point calls while nothing is known of its function.
pub(super) extern "C" fn look_for(entry: &Entry) {
    entry.find();
}

struct Search {
    name: &'static CStr,
    found: *mut c_void,
}

unsafe extern "C" fn visit(object: *mut LoadedObject, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's object is valid during the call; `data` is the search; a file that is loaded is not loaded anew.
    unsafe {
        let search = &mut *data.cast::<Search>();
        if (*object).name.is_null() {
            return 0;
        }
        let path = CStr::from_ptr((*object).name).to_bytes();
        let file = path.rsplit(|&b| b == b'/').next().unwrap_or(path);
        if !file.starts_with(b"libgomp") {
            return 0;
        }
        let library = dlopen((*object).name, RTLD_LAZY | RTLD_NOLOAD);
        if !library.is_null() {
            search.found = dlsym(library, search.name.as_ptr());
        }
        c_int::from(!search.found.is_null())
    }
}

/// A loaded file.
pub(super) struct File {
    path: *const c_char,
    /// Where it is loaded.
    pub(super) base: usize,
}

struct Lookup {
    address: usize,
    found: Option<File>,
}

/// The file that holds this address; `None` when it is in none. Unlike `dladdr` this takes no lock that a thread holds which
/// runs a library's constructors, and may wait there for the calling thread.
pub(super) fn file_of(address: usize) -> Option<File> {
    let mut lookup = Lookup {
        address,
        found: None,
    };
    // SAFETY: the visitor gets the look-up it expects, and is called before this returns.
    unsafe { dl_iterate_phdr(holds, (&raw mut lookup).cast()) };
    lookup.found
}

unsafe extern "C" fn holds(object: *mut LoadedObject, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's object and its headers are valid during the call; `data` is the look-up.
    unsafe {
        let lookup = &mut *data.cast::<Lookup>();
        let object = &*object;
        if object.headers.is_null() {
            return 0;
        }
        let count = usize::from(object.header_count);
        let headers = core::slice::from_raw_parts(object.headers, count);
        let holds = headers.iter().any(|header| {
            let start = object.bias.wrapping_add(header.address);
            header.kind == PT_LOAD && lookup.address.wrapping_sub(start) < header.memory_size
        });
        if holds {
            lookup.found = Some(File {
                path: object.name,
                base: object.bias,
            });
        }
        c_int::from(holds)
    }
}

/// True for a function of libomp (or libiomp5, under whatever name): its file has LLVM's own entry points too.
fn is_of_libomp(function: *mut c_void) -> bool {
    let Some(file) = file_of(function as usize) else {
        return false;
    };
    if file.path.is_null() {
        return false;
    }
    // SAFETY: the file's name is a C string of the loader's, and it is loaded already.
    let own = unsafe {
        let library = dlopen(file.path, RTLD_LAZY | RTLD_NOLOAD);
        if library.is_null() {
            return false;
        }
        dlsym(library, c"__kmpc_fork_call".as_ptr())
    };
    // What the library depends on is searched too.
    !own.is_null() && file_of(own as usize).is_some_and(|f| f.base == file.base)
}
