//! The files that are loaded into this process: which one holds an address, what each depends on,
//! and where it has a symbol.
//!
//! All of it is read from the files' own tables, under the lock of `dl_iterate_phdr`. A thread
//! holds that lock only while it changes the list of files. `dlsym`, `dladdr` and `dlopen` take
//! another lock, which a thread holds while it runs a library's constructors. Such a thread may
//! wait there for the calling one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;

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

/// `struct dl_phdr_info`.
#[repr(C)]
struct Info {
    bias: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    header_count: u16,
    /// How many files were loaded, and unloaded, since the process began.
    loads: u64,
    unloads: u64,
}

type Visitor = unsafe extern "C" fn(*mut Info, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dl_iterate_phdr(visit: Visitor, data: *mut c_void) -> c_int;
}

/// How often the list of loaded files has changed.
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

/// How often the list has changed so far. Costs no more than the lock.
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

/// A different number after each unload that was noticed; 0 before the first.
static ERA: AtomicU64 = AtomicU64::new(0);

/// Files were unloaded. What is cached by address may belong to a file that is gone.
pub(crate) fn notice_unloads(unloads: u64) {
    ERA.store(
        unloads.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        Ordering::Relaxed,
    );
}

/// Must be part of the key of everything that is cached by a code address.
#[inline]
pub(crate) fn era() -> u64 {
    ERA.load(Ordering::Relaxed)
}

/// How many files were loaded at the program's start. They are first in the list and first in the
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

/// The load address of the file that holds an address; `None` if no file does.
pub(crate) fn base_of(address: usize) -> Option<usize> {
    file_of(address, |info| info.bias)
}

/// Passes `look` the path of the file that holds an address: the path by which it was loaded, empty
/// for the program itself. `None` if no file holds it.
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

/// # Safety
/// `info` is the loader's description of a loaded file.
unsafe fn segments(info: &Info) -> &[ProgramHeader] {
    if info.headers.is_null() {
        return &[];
    }
    // SAFETY: the loader's array has that many headers.
    unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.header_count)) }
}

fn holds(bias: usize, header: &ProgramHeader, address: usize) -> bool {
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

/// A loaded file. Its addresses are those in memory; 0 stands for none.
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
    /// Offset among the strings; 0 for none.
    soname: usize,
}

impl Object {
    /// # Safety
    /// `info` is the loader's description of a loaded file.
    unsafe fn new(info: &Info) -> Object {
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
    fn needs(&self) -> impl Iterator<Item = &[u8]> {
        self.entries()
            .filter(|entry| entry.tag == tag::NEEDED)
            .map(|entry| self.text(entry.value))
    }

    /// Whether a file that depends on `name` gets this one.
    fn is_called(&self, name: &[u8]) -> bool {
        if self.soname != 0 && self.text(self.soname) == name {
            return true;
        }
        let path = self.path();
        path == name || !name.contains(&b'/') && path.rsplit(|&b| b == b'/').next() == Some(name)
    }

    /// Whether the name is this one's up to the last parts of the version. The loader knows a file
    /// by every name that was asked for (`libgomp.so.1.0.0` for the file loaded as `libgomp.so.1`),
    /// but does not tell those names.
    fn is_called_nearly(&self, name: &[u8]) -> bool {
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

    /// The address of its function of that name, in its default version.
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

/// All loaded files in the order of loading, while the list cannot change.
pub(crate) struct Objects {
    pub(crate) list: Vec<Object>,
    pub(crate) changes: Changes,
    /// Memory for a search: nothing may be allocated under the loader's lock.
    queue: Vec<usize>,
}

/// Passes all loaded files to `look`. It must not allocate, nor call what may take a lock.
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
    /// The index of the file that holds the address.
    pub(crate) fn at(&self, address: usize) -> Option<usize> {
        self.list.iter().position(|object| object.holds(address))
    }

    /// The index of this library.
    pub(crate) fn ours(&self) -> Option<usize> {
        self.at(note_start as *const () as usize)
    }

    /// The files behind this library that were loaded at the start: every lookup tries them first.
    pub(crate) fn at_start(&self) -> core::ops::Range<usize> {
        let ours = self.ours().unwrap_or(0);
        ours + 1
            ..AT_START
                .load(Ordering::Relaxed)
                .clamp(ours + 1, self.list.len().max(ours + 1))
    }

    /// The first file that `is` accepts, breadth first: the root, its dependencies, theirs, and so
    /// on.
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

    /// Whether the first file depends on the second, directly or not.
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
