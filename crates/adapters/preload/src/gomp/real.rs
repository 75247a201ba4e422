//! The real functions behind our entry points.
//!
//! Found when first called: the next of that name after this library, or, for a libgomp that was loaded by `dlopen`
//! without `RTLD_GLOBAL` (whose caller found our function all the same, as it is in the global scope), in whatever loaded
//! file has "libgomp" in its name.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;
/// `RTLD_NEXT`.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// `Dl_info`.
#[repr(C)]
pub(super) struct Symbol {
    file: *const c_char,
    /// Where the file is loaded.
    pub(super) base: *mut c_void,
    name: *const c_char,
    address: *mut c_void,
}

/// The front of `struct dl_phdr_info`.
#[repr(C)]
struct LoadedObject {
    bias: usize,
    name: *const c_char,
}

unsafe extern "C" {
    fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dladdr(address: *const c_void, found: *mut Symbol) -> c_int;
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
        // SAFETY: the location is the calling thread's own; the program must not see what the loader does to it.
        let errno = unsafe { *__errno_location() };
        // SAFETY: the name is a C string.
        let mut found = unsafe { dlsym(NEXT, self.name.as_ptr()) };
        if found.is_null() {
            found = self.in_a_loaded_libgomp();
        }
        if found.is_null() {
            // Without this library the program's loader would have found nothing either.
            eprintln!(
                "workspan: the program called {:?}, which no OpenMP runtime in it has",
                self.name
            );
            std::process::abort();
        }
        self.real.store(found as usize, Ordering::Release);
        let foreign = is_of_libomp(found);
        let route = if foreign { found as usize } else { OURS };
        self.route.store(route, Ordering::Release);
        // SAFETY: as above.
        unsafe { *__errno_location() = errno };
        found as usize
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

/// The file that holds this address; `None` when it is in none.
pub(super) fn file_of(address: usize) -> Option<Symbol> {
    let mut symbol = Symbol {
        file: ptr::null(),
        base: ptr::null_mut(),
        name: ptr::null(),
        address: ptr::null_mut(),
    };
    // SAFETY: dladdr takes any address, and `symbol` is one to write to.
    let found = unsafe { dladdr(address as *const c_void, &mut symbol) } != 0;
    found.then_some(symbol)
}

/// True for a function of libomp (or libiomp5, under whatever name): its file has LLVM's own entry points too.
fn is_of_libomp(function: *mut c_void) -> bool {
    let Some(symbol) = file_of(function as usize) else {
        return false;
    };
    if symbol.file.is_null() {
        return false;
    }
    // SAFETY: the file's name is a C string of the loader's, and it is loaded already.
    let own = unsafe {
        let library = dlopen(symbol.file, RTLD_LAZY | RTLD_NOLOAD);
        if library.is_null() {
            return false;
        }
        dlsym(library, c"__kmpc_fork_call".as_ptr())
    };
    // What the library depends on is searched too.
    !own.is_null() && file_of(own as usize).is_some_and(|s| s.base == symbol.base)
}
