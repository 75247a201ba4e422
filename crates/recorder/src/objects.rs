//! The files loaded into this process, with what is needed to find names for their addresses after
//! the run.

use core::ffi::{CStr, c_int, c_void};

use crate::system::{self, LoadedObject, PF_X, PT_LOAD, PT_NOTE, ProgramHeader};
use workspan_trace::entry::Mapping;

/// Every executable segment of every loaded file.
pub(crate) fn executable_mappings() -> Vec<Mapping> {
    let mut visited = MappingList {
        mappings: Vec::new(),
        any: false,
    };
    // SAFETY: the visitor gets the data it expects, and is called before this returns.
    unsafe { system::dl_iterate_phdr(visit, (&raw mut visited).cast()) };
    visited.mappings
}

struct MappingList {
    mappings: Vec<Mapping>,
    /// Whether an object was visited. The first one is the program.
    any: bool,
}

/// The address range of an executable segment.
fn code(bias: usize, header: &ProgramHeader) -> Option<(u64, u64)> {
    let start = (bias as u64).wrapping_add(header.address);
    (header.kind == PT_LOAD && header.flags & PF_X != 0)
        .then(|| (start, start.wrapping_add(header.memory_size)))
}

/// The number of files unloaded since the process began.
pub(crate) fn unloads() -> u64 {
    unsafe extern "C" fn first(
        object: *mut LoadedObject,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's object is valid during the call; `data` is the number below.
        unsafe { *data.cast::<u64>() = (*object).unloads };
        1
    }
    let mut unloads = 0u64;
    // SAFETY: the visitor gets the number it expects, and is called before this returns.
    unsafe { system::dl_iterate_phdr(first, (&raw mut unloads).cast()) };
    unloads
}

unsafe extern "C" fn visit(object: *mut LoadedObject, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's object is valid during the call; `data` is the caller's.
    unsafe {
        let visited = &mut *data.cast::<MappingList>();
        let first = !core::mem::replace(&mut visited.any, true);
        let object = &*object;
        if object.headers.is_null() {
            return 0;
        }
        let headers = core::slice::from_raw_parts(object.headers, usize::from(object.header_count));
        let name = if object.name.is_null() {
            &[]
        } else {
            CStr::from_ptr(object.name).to_bytes()
        };
        let path = if name.is_empty() {
            if !first {
                return 0;
            }
            // The loader has no name for the program itself.
            std::fs::read_link("/proc/self/exe")
                .map(|p| p.to_string_lossy().into_owned())
                .unwrap_or_default()
        } else if name.starts_with(b"/") {
            String::from_utf8_lossy(name).into_owned()
        } else {
            // The path may be relative to the working directory at the time of loading; the kernel
            // knows the absolute path.
            let code = headers.iter().find(|h| h.kind == PT_LOAD);
            code.and_then(|h| file_at((object.bias as u64).wrapping_add(h.address)))
                .unwrap_or_else(|| String::from_utf8_lossy(name).into_owned())
        };
        let build_id = headers
            .iter()
            .filter(|h| h.kind == PT_NOTE)
            .find_map(|h| build_id(object.bias, h));
        for header in headers {
            let Some((start, end)) = code(object.bias, header) else {
                continue;
            };
            visited.mappings.push(Mapping {
                start,
                end,
                bias: object.bias as u64,
                file_offset: header.offset,
                path: path.clone(),
                build_id: build_id.clone().unwrap_or_default(),
            });
        }
    }
    0
}

/// Whether `know` is true for all executable segments of all files. Reads nothing else of the
/// files, and makes no system call.
pub(crate) fn all_code(know: &mut dyn FnMut((u64, u64)) -> bool) -> bool {
    unsafe extern "C" fn each(object: *mut LoadedObject, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader's object and its headers are valid during the call; `data` is the
        // caller's.
        unsafe {
            let (object, know) = (
                &*object,
                &mut *data.cast::<&mut dyn FnMut((u64, u64)) -> bool>(),
            );
            if object.headers.is_null() {
                return 0;
            }
            let count = usize::from(object.header_count);
            let headers = core::slice::from_raw_parts(object.headers, count);
            let mut segments = headers.iter().filter_map(|h| code(object.bias, h));
            c_int::from(!segments.all(know))
        }
    }
    let mut know = know;
    // SAFETY: the visitor gets the data it expects, and is called before this returns.
    unsafe { system::dl_iterate_phdr(each, (&raw mut know).cast()) == 0 }
}

/// The executable segment that contains an address. Reads nothing else of the files, and makes no
/// system call.
pub(crate) fn code_around(address: u64) -> Option<(u64, u64)> {
    let mut around = CodeLookup {
        address,
        code: None,
    };
    // SAFETY: the visitor gets the data it expects, and is called before this returns.
    unsafe { system::dl_iterate_phdr(look_around, (&raw mut around).cast()) };
    around.code
}

struct CodeLookup {
    address: u64,
    code: Option<(u64, u64)>,
}

unsafe extern "C" fn look_around(
    object: *mut LoadedObject,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader's object and its headers are valid during the call; `data` is the
    // caller's.
    unsafe {
        let (object, around) = (&*object, &mut *data.cast::<CodeLookup>());
        if object.headers.is_null() {
            return 0;
        }
        let headers = core::slice::from_raw_parts(object.headers, usize::from(object.header_count));
        around.code = headers
            .iter()
            .filter_map(|header| code(object.bias, header))
            .find(|&(start, end)| (start..end).contains(&around.address));
        c_int::from(around.code.is_some())
    }
}

/// The path of the file that is mapped at an address, according to the kernel.
fn file_at(address: u64) -> Option<String> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let maps = String::from_utf8_lossy(&maps);
    maps.lines().find_map(|line| {
        let (start, rest) = line.split_once('-')?;
        let (end, rest) = rest.split_once(' ')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let inside = (number(start)?..number(end)?).contains(&address);
        inside.then(|| rest.find('/').map(|at| rest[at..].to_owned()))?
    })
}

/// The build id in a note segment.
///
/// # Safety
/// The segment is one of a loaded object.
unsafe fn build_id(bias: usize, header: &ProgramHeader) -> Option<Vec<u8>> {
    const BUILD_ID: u32 = 3;
    let align = if header.align == 8 { 8 } else { 4 };
    let at = (bias as u64).wrapping_add(header.address) as usize;
    // SAFETY: the loader mapped the segment with at least this size.
    let mut rest =
        unsafe { core::slice::from_raw_parts(at as *const u8, header.memory_size as usize) };
    loop {
        let (head, body) = rest.split_first_chunk::<12>()?;
        let word = |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let (name_size, value_size, kind) = (word(0) as usize, word(4) as usize, word(8));
        let value_at = (12 + name_size).next_multiple_of(align) - 12;
        let value = body.get(value_at..value_at.checked_add(value_size)?)?;
        if kind == BUILD_ID && body.get(..name_size)?.starts_with(b"GNU") {
            return Some(value.to_vec());
        }
        rest = body.get((12 + value_at + value_size).next_multiple_of(align) - 12..)?;
    }
}
