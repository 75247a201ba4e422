//! A loaded file as its own tables describe it: dependencies, and functions by name (ELF, System V
//! ABI).

use core::ffi::{CStr, c_char};

use super::Info;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;

/// `Elf64_Phdr`.
#[repr(C)]
pub(super) struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: usize,
    physical: u64,
    file_size: u64,
    memory_size: usize,
    align: u64,
}

/// # Safety
/// `info` is the loader's description of a loaded file.
pub(super) unsafe fn segments(info: &Info) -> &[ProgramHeader] {
    if info.headers.is_null() {
        return &[];
    }
    // SAFETY: the loader's array has that many headers.
    unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.header_count)) }
}

pub(super) fn holds(bias: usize, header: &ProgramHeader, address: usize) -> bool {
    let start = bias.wrapping_add(header.address);
    header.kind == PT_LOAD && address.wrapping_sub(start) < header.memory_size
}

/// `Elf64_Dyn`.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: usize,
}

mod tag {
    pub(super) const NEEDED: u64 = 1;
    pub(super) const HASH: u64 = 4;
    pub(super) const STRINGS: u64 = 5;
    pub(super) const SYMBOLS: u64 = 6;
    pub(super) const SONAME: u64 = 14;
    pub(super) const GNU_HASH: u64 = 0x6fff_fef5;
    pub(super) const VERSIONS: u64 = 0x6fff_fff0;
}

/// `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// A loaded file. Addresses are those in memory; 0 means none.
pub(crate) struct Object {
    pub(crate) bias: usize,
    /// The range that the loader reserved for it.
    pub(crate) start: usize,
    pub(crate) end: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    strings: usize,
    symbols: usize,
    gnu_hash: usize,
    hash: usize,
    versions: usize,
    /// Offset among the strings; 0 means none.
    soname: usize,
}

impl Object {
    /// # Safety
    /// `info` is the loader's description of a loaded file.
    pub(super) unsafe fn new(info: &Info) -> Object {
        let bias = info.bias;
        let mut object = Object {
            bias,
            start: usize::MAX,
            end: 0,
            name: info.name,
            dynamic: core::ptr::null(),
            strings: 0,
            symbols: 0,
            gnu_hash: 0,
            hash: 0,
            versions: 0,
            soname: 0,
        };
        // SAFETY: the file is loaded, and its dynamic section ends with a tag of 0.
        unsafe {
            for header in segments(info) {
                let start = bias.wrapping_add(header.address);
                match header.kind {
                    PT_LOAD => {
                        object.start = object.start.min(start);
                        object.end = object.end.max(start.wrapping_add(header.memory_size));
                    }
                    PT_DYNAMIC => object.dynamic = start as *const Dynamic,
                    _ => {}
                }
            }
            // The loader has replaced offsets by addresses, except in the kernel's own file.
            let place = |value: usize| {
                if value < bias {
                    bias.wrapping_add(value)
                } else {
                    value
                }
            };
            for entry in object.entries() {
                match entry.tag {
                    tag::STRINGS => object.strings = place(entry.value),
                    tag::SYMBOLS => object.symbols = place(entry.value),
                    tag::GNU_HASH => object.gnu_hash = place(entry.value),
                    tag::HASH => object.hash = place(entry.value),
                    tag::VERSIONS => object.versions = place(entry.value),
                    tag::SONAME => object.soname = entry.value,
                    _ => {}
                }
            }
        }
        object
    }

    fn entries<'a>(&self) -> impl Iterator<Item = &'a Dynamic> + use<'a> {
        let mut at = self.dynamic;
        core::iter::from_fn(move || {
            // SAFETY: null, or an entry of a dynamic section, which ends with a tag of 0.
            unsafe {
                let entry = at.as_ref().filter(|entry| entry.tag != 0)?;
                at = at.add(1);
                Some(entry)
            }
        })
    }

    pub(crate) fn holds(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// The path by which it was loaded; empty for the program itself.
    pub(crate) fn path(&self) -> &[u8] {
        if self.name.is_null() {
            return &[];
        }
        // SAFETY: the loader's name of a loaded file is a C string.
        unsafe { CStr::from_ptr(self.name) }.to_bytes()
    }

    fn text(&self, offset: usize) -> &[u8] {
        if self.strings == 0 {
            return &[];
        }
        // SAFETY: the file's own offset into its strings.
        unsafe { CStr::from_ptr((self.strings + offset) as *const c_char) }.to_bytes()
    }

    /// The names of the files it depends on.
    pub(super) fn needs(&self) -> impl Iterator<Item = &[u8]> {
        self.entries()
            .filter(|entry| entry.tag == tag::NEEDED)
            .map(|entry| self.text(entry.value))
    }

    /// Whether a file that depends on `name` gets this one.
    pub(super) fn is_called(&self, name: &[u8]) -> bool {
        if self.soname != 0 && self.text(self.soname) == name {
            return true;
        }
        let path = self.path();
        path == name || !name.contains(&b'/') && path.rsplit(|&b| b == b'/').next() == Some(name)
    }

    /// Whether the name equals this file's name up to the last parts of the version. The loader
    /// accepts a file by every name under which it was requested (`libgomp.so.1.0.0` for the file
    /// loaded as `libgomp.so.1`), but does not provide those names.
    pub(super) fn is_called_nearly(&self, name: &[u8]) -> bool {
        let longer = |long: &[u8], short: &[u8]| {
            !short.is_empty()
                && long
                    .strip_prefix(short)
                    .is_some_and(|rest| rest.first() == Some(&b'.'))
        };
        let nearly = |own: &[u8]| longer(own, name) || longer(name, own);
        let path = self.path();
        self.soname != 0 && nearly(self.text(self.soname))
            || nearly(path.rsplit(|&b| b == b'/').next().unwrap_or(path))
    }

    /// The address of its function with this name, in the default version.
    pub(crate) fn function(&self, name: &CStr) -> Option<usize> {
        if self.strings == 0 || self.symbols == 0 {
            return None;
        }
        // SAFETY: tables of a loaded file, in the format of their tags.
        unsafe {
            match (self.gnu_hash, self.hash) {
                (0, 0) => None,
                (0, table) => self.in_hash(table as *const u32, name),
                (table, _) => self.in_gnu_hash(table as *const u32, name),
            }
        }
    }

    unsafe fn in_gnu_hash(&self, table: *const u32, name: &CStr) -> Option<usize> {
        let hash = name.to_bytes().iter().fold(5381u32, |hash, &byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(byte))
        });
        // SAFETY: the table has four words, the filter's words, the buckets, and a chain entry for
        // each symbol from the first on.
        unsafe {
            let (buckets, first) = (*table, *table.add(1));
            let (words, shift) = (*table.add(2), *table.add(3));
            if buckets == 0 || words == 0 {
                return None;
            }
            let filter = table.add(4).cast::<u64>();
            let word = filter.add((hash / 64 % words) as usize).read_unaligned();
            if word >> (hash % 64) & word >> ((hash >> (shift % 32)) % 64) & 1 == 0 {
                return None;
            }
            let heads = table.add(4 + 2 * words as usize);
            let chains = heads.add(buckets as usize);
            let mut at = *heads.add((hash % buckets) as usize);
            while at >= first {
                let chain = *chains.add((at - first) as usize);
                if (chain ^ hash) >> 1 == 0
                    && let Some(found) = self.function_at(at as usize, name)
                {
                    return Some(found);
                }
                if chain & 1 != 0 {
                    break;
                }
                at += 1;
            }
            None
        }
    }

    unsafe fn in_hash(&self, table: *const u32, name: &CStr) -> Option<usize> {
        let hash = name.to_bytes().iter().fold(0u32, |hash, &byte| {
            let hash = (hash << 4).wrapping_add(u32::from(byte));
            let high = hash & 0xf000_0000;
            (hash ^ high >> 24) & !high
        });
        // SAFETY: the table has the numbers of buckets and chain entries, then both.
        unsafe {
            let (buckets, count) = (*table, *table.add(1));
            if buckets == 0 {
                return None;
            }
            let mut at = *table.add(2 + (hash % buckets) as usize);
            while at != 0 && at < count {
                if let Some(found) = self.function_at(at as usize, name) {
                    return Some(found);
                }
                at = *table.add(2 + (buckets + at) as usize);
            }
            None
        }
    }

    unsafe fn function_at(&self, index: usize, name: &CStr) -> Option<usize> {
        const FUNCTION: u8 = 2;
        const HIDDEN: u16 = 0x8000;
        // SAFETY: the index comes from a hash table of the file, so the symbol exists.
        unsafe {
            let symbol = &*(self.symbols as *const Symbol).add(index);
            let here = symbol.section != 0
                && symbol.value != 0
                && symbol.info & 15 == FUNCTION
                && self.text(symbol.name as usize) == name.to_bytes();
            let old = self.versions != 0 && *(self.versions as *const u16).add(index) & HIDDEN != 0;
            (here && !old).then(|| self.bias.wrapping_add(symbol.value))
        }
    }
}
