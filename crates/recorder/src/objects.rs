//! The files loaded into this process, with what is needed to find names for their addresses after the run.

use core::ffi::{CStr, c_int, c_void};

use crate::system::{self, LoadedObject, PF_X, PT_LOAD, PT_NOTE, ProgramHeader};
use workspan_trace::entry::Mapping;

/// Every executable segment of every loaded file.
pub(crate) fn executable_mappings() -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = Vec::new();
    // SAFETY: the visitor gets the vector it expects, and is called before this returns.
    unsafe { system::dl_iterate_phdr(visit, (&raw mut mappings).cast()) };
    mappings
}

/// How many files were unloaded since the process began.
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
    // SAFETY: the loader's object is valid during the call; `data` is the vector given to it.
    unsafe {
        let mappings = &mut *data.cast::<Vec<Mapping>>();
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
            if !mappings.is_empty() {
                return 0;
            }
            // The program itself has no name here.
            std::fs::read_link("/proc/self/exe")
                .map(|p| p.to_string_lossy().into_owned())
                .unwrap_or_default()
        } else if name.starts_with(b"/") {
            String::from_utf8_lossy(name).into_owned()
        } else {
            // Loaded by a path relative to where the process was then; the kernel knows the whole one.
            let code = headers.iter().find(|h| h.kind == PT_LOAD);
            code.and_then(|h| file_at((object.bias as u64).wrapping_add(h.address)))
                .unwrap_or_else(|| String::from_utf8_lossy(name).into_owned())
        };
        let build_id = headers
            .iter()
            .filter(|h| h.kind == PT_NOTE)
            .find_map(|h| build_id(object.bias, h));
        for header in headers
            .iter()
            .filter(|h| h.kind == PT_LOAD && h.flags & PF_X != 0)
        {
            let start = (object.bias as u64).wrapping_add(header.address);
            mappings.push(Mapping {
                start,
                end: start.wrapping_add(header.memory_size),
                bias: object.bias as u64,
                file_offset: header.offset,
                path: path.clone(),
                build_id: build_id.clone().unwrap_or_default(),
            });
        }
    }
    0
}

/// The path of the file that is mapped at an address, as the kernel has it.
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
