//! A runtime's library, loaded into this process to be measured.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *mut c_char;
    fn dladdr(address: *const c_void, found: *mut DlInfo) -> c_int;
}

/// The C library's `Dl_info`.
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    name: *const c_char,
    address: *mut c_void,
}

/// A library that stays loaded, because its threads live on.
pub(crate) struct Library(*mut c_void);

impl Library {
    /// Loads a file. The loader searches for a bare name.
    ///
    /// # Errors
    /// The loader's message.
    pub(crate) fn open(path: &Path) -> Result<Library, String> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| format!("{}: a path with a zero byte", path.display()))?;
        // SAFETY: the name is a C string; the library's constructors are those that a program would
        // run.
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if library.is_null() {
            // SAFETY: the text is the loader's, for this thread, until its next call.
            let why = unsafe { dlerror().cast_const().as_ref() }.map_or_else(
                || "it could not be loaded".into(),
                |text| {
                    // SAFETY: as above; it ends with a zero.
                    unsafe { CStr::from_ptr(text) }
                        .to_string_lossy()
                        .into_owned()
                },
            );
            return Err(why);
        }
        Ok(Library(library))
    }

    /// The file that contains the function at this address.
    pub(crate) fn file_of(function: *const c_void) -> Option<PathBuf> {
        let mut found = DlInfo {
            file: ptr::null(),
            base: ptr::null_mut(),
            name: ptr::null(),
            address: ptr::null_mut(),
        };
        // SAFETY: the loader fills the struct, or returns 0; its texts last as long as the file is
        // loaded.
        unsafe {
            if dladdr(function, &mut found) == 0 || found.file.is_null() {
                return None;
            }
            let bytes = CStr::from_ptr(found.file).to_bytes();
            Some(PathBuf::from(OsStr::from_bytes(bytes)))
        }
    }

    /// The address of a function.
    pub(crate) fn has(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the library stays loaded; the name is a C string.
        let found = unsafe { dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    /// The address of a function that every version has.
    ///
    /// # Errors
    /// The library lacks the function.
    pub(crate) fn function(&self, name: &CStr) -> Result<*mut c_void, String> {
        self.has(name)
            .ok_or_else(|| format!("it has no {}", name.to_string_lossy()))
    }
}
