//! Finds who called the code of a system library that a sample interrupted.
//!
//! Call chains follow frame pointers, which the C library does not keep: a sample in `malloc` or in
//! the kernel's clock functions has no callers, or the wrong ones. A sample has the top of the
//! stack too. From there this follows the call frame information of the libraries (`.eh_frame`), up
//! to the first code that is not the system's.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr,
    Register, RegisterRule, UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection, ObjectSegment, ReadRef};

use crate::mapping::{self, Mapping};
use crate::object_file::Store;
use crate::workspace;

/// The kernel's code in every process.
const VDSO: &str = "linux-vdso.so.1";
/// Maximum number of calls within the system's libraries.
const MAX_DEPTH: usize = 24;
/// The size of an address in bytes.
const WORD: u64 = 8;

/// The numbers of registers in the call frame information of x86-64.
const BP: Register = Register(6);
const SP: Register = Register(7);
const RETURN_ADDRESS: Register = Register(16);

/// A thread's registers and the top of its stack when it was interrupted.
#[derive(Debug, Clone, Copy)]
pub struct Interrupted<'a> {
    /// The instruction pointer.
    pub ip: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer.
    pub bp: u64,
    /// The stack's words from `sp` on.
    pub stack: &'a [u64],
}

impl Interrupted<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let at = address.checked_sub(self.sp)?;
        let at = usize::try_from(at / WORD).ok().filter(|_| at % WORD == 0)?;
        self.stack.get(at).copied()
    }
}

/// Finds callers in one process. Each library is read once.
pub struct Unwinder<'a> {
    mappings: &'a [Mapping],
    /// By path; `None` if a file is of no use.
    tables: BTreeMap<&'a Path, Option<Tables>>,
}

impl<'a> Unwinder<'a> {
    /// For a process with these mappings.
    pub fn new(mappings: &'a [Mapping]) -> Unwinder<'a> {
        Unwinder {
            mappings,
            tables: BTreeMap::new(),
        }
    }

    /// The return addresses from the interrupted code outwards, up to and including the first one
    /// outside of system libraries. Empty if the interrupted code is in none, and if there is no
    /// such address within the known part of the stack.
    pub fn callers(&mut self, at: Interrupted<'_>) -> Vec<u64> {
        self.try_callers(at).unwrap_or_default()
    }

    fn try_callers(&mut self, at: Interrupted<'_>) -> Option<Vec<u64>> {
        let mut registers = (at.ip, at.sp, at.bp);
        let mut callers = Vec::new();
        for _ in 0..MAX_DEPTH {
            let (ip, ..) = registers;
            // A return address may be that of the next function, if the call is the last
            // instruction.
            let code = ip.checked_sub(u64::from(!callers.is_empty()))?;
            let (index, offset) = mapping::find(self.mappings, code)?;
            let path: &'a Path = &self.mappings[index].path;
            if !is_unwound(path) {
                return (!callers.is_empty()).then_some(callers);
            }
            let build_id = &self.mappings[index].build_id;
            let tables = self.tables.entry(path);
            let tables = tables.or_insert_with(|| Tables::read(path, build_id));
            registers = tables.as_ref()?.caller(offset, registers, at)?;
            callers.push(registers.0);
        }
        None
    }
}

/// Whether the callers of a module's code are looked up. A runtime's callers are of no interest.
fn is_unwound(path: &Path) -> bool {
    path == Path::new(VDSO)
        || workspace::is_system_library(path) && !workspan_runtimes::is_module(path)
}

/// The call frame information of a module.
struct Tables {
    /// The first file offset of each segment, its size and its address.
    segments: Vec<(u64, u64, u64)>,
    bases: BaseAddresses,
    frames: Vec<u8>,
    index: Vec<u8>,
}

type Registers = (u64, u64, u64);

impl Tables {
    fn read(path: &Path, build_id: &[u8]) -> Option<Tables> {
        // The parser is a foreign library, and a damaged file can make it panic.
        let read = || {
            if path == Path::new(VDSO) {
                let image = vdso()?;
                return Tables::from_object(&object::File::parse(&*image).ok()?);
            }
            let store = Store::default();
            let object = store.open(path).ok()?;
            let is_other = |now: &[u8]| !build_id.is_empty() && now != build_id;
            match crate::object_file::build_id(&object).is_some_and(is_other) {
                true => None,
                false => Tables::from_object(&object),
            }
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok()?
    }

    fn from_object<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Option<Tables> {
        if object.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let section = |name: &str| object.section_by_name(name);
        let (frames, index) = (section(".eh_frame")?, section(".eh_frame_hdr")?);
        let address = |name: &str| section(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(frames.address())
            .set_eh_frame_hdr(index.address())
            .set_text(address(".text"))
            .set_got(address(".got"));
        let segments = object.segments().map(|segment| {
            let (start, size) = segment.file_range();
            (start, size, segment.address())
        });
        Some(Tables {
            segments: segments.collect(),
            bases,
            frames: frames.data().ok()?.to_vec(),
            index: index.data().ok()?.to_vec(),
        })
    }

    /// The registers after the function at a file offset has returned.
    fn caller(&self, offset: u64, registers: Registers, at: Interrupted<'_>) -> Option<Registers> {
        let step = || self.try_caller(offset, registers, at);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)).ok()?
    }

    fn try_caller(
        &self,
        offset: u64,
        (_, sp, bp): Registers,
        at: Interrupted<'_>,
    ) -> Option<Registers> {
        let address = self.segments.iter().find_map(|&(start, size, address)| {
            let inside = offset.checked_sub(start).filter(|&inside| inside < size)?;
            Some(address.wrapping_add(inside))
        })?;
        let frames = EhFrame::new(&self.frames, LittleEndian);
        let index: ParsedEhFrameHdr<EndianSlice<'_, LittleEndian>> =
            EhFrameHdr::new(&self.index, LittleEndian)
                .parse(&self.bases, WORD as u8)
                .ok()?;
        let mut context = UnwindContext::new();
        let row = index.table()?.unwind_info_for_address(
            &frames,
            &self.bases,
            &mut context,
            address,
            EhFrame::cie_from_offset,
        );
        let row = row.ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else {
            return None;
        };
        let base = match register {
            SP => sp,
            BP => bp,
            _ => return None,
        };
        let frame = base.wrapping_add_signed(offset);
        let saved = |rule: RegisterRule<usize>| match rule {
            RegisterRule::Offset(offset) => at.word(frame.wrapping_add_signed(offset)),
            _ => None,
        };
        let returns = saved(row.register(RETURN_ADDRESS)?)?;
        let bp = match row.register(BP) {
            None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => bp,
            Some(rule) => saved(rule)?,
        };
        // The caller's frame is further out.
        (frame > sp).then_some((returns, frame, bp))
    }
}

/// The image of the kernel's code in this process, which is the same in all processes.
fn vdso() -> Option<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let size = u64::from_str_radix(end, 16).ok()?.checked_sub(start)?;
    let mut image = vec![0; usize::try_from(size).ok()?];
    let mut memory = File::open("/proc/self/mem").ok()?;
    memory.seek(SeekFrom::Start(start)).ok()?;
    memory.read_exact(&mut image).ok()?;
    Some(image)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const LIBC: [&str; 2] = [
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
    ];

    /// The mapping of a whole file from this address on.
    fn mapping(path: &str, start: u64, size: u64) -> Mapping {
        Mapping {
            start,
            end: start + size,
            offset: 0,
            path: path.into(),
            build_id: Vec::new(),
        }
    }

    /// The file offset of a function that begins like any other: its caller's address is on top of
    /// the stack.
    fn function_in(path: &str) -> Option<u64> {
        let store = Store::default();
        let object = store.open(Path::new(path)).ok()?;
        let symbol = |symbol: &object::Symbol<'_, '_, _>| {
            use object::ObjectSymbol;
            symbol.name() == Ok("fscanf") && symbol.address() != 0
        };
        let address = object.dynamic_symbols().find(symbol)?;
        let address = object::ObjectSymbol::address(&address);
        object.segments().find_map(|segment| {
            let inside = address.checked_sub(segment.address())?;
            (inside < segment.size()).then(|| segment.file_range().0 + inside)
        })
    }

    #[test]
    fn the_caller_of_a_library_function_is_on_the_stack() {
        let found = LIBC
            .iter()
            .find_map(|path| Some((path, function_in(path)?)));
        let Some((libc, offset)) = found else {
            println!("skipped: the_caller_of_a_library_function: no C library here");
            return;
        };
        let mappings = [
            mapping(libc, 0x10_0000_0000, 1 << 30),
            mapping("/home/user/program", 0x1000, 0x1000),
        ];
        let mut unwinder = Unwinder::new(&mappings);
        let at = |ip, stack| Interrupted {
            ip,
            sp: 0x7000_0000,
            bp: 3,
            stack,
        };
        let ip = mappings[0].start + offset;
        assert_eq!(unwinder.callers(at(ip, &[0x1800, 9, 9])), [0x1800]);
        // The stack is not known so far, or leads nowhere.
        assert!(unwinder.callers(at(ip, &[])).is_empty());
        assert!(unwinder.callers(at(ip, &[0x40])).is_empty());
        // Code of the program has its frame pointers, or no callers.
        assert!(unwinder.callers(at(0x1800, &[0x1800])).is_empty());
    }

    #[test]
    fn the_clock_of_the_kernel_is_known() {
        let image = vdso().expect("x86-64 has it");
        assert!(image.starts_with(b"\x7fELF"));
        assert!(Tables::read(Path::new(VDSO), &[]).is_some());
    }

    #[test]
    fn a_file_that_is_no_library_has_no_callers() {
        let mappings = [mapping("/usr/lib/os-release", 0x1000, 0x1000)];
        let mut unwinder = Unwinder::new(&mappings);
        let callers = unwinder.callers(Interrupted {
            ip: 0x1004,
            sp: 0,
            bp: 0,
            stack: &[1, 2, 3],
        });
        assert!(callers.is_empty());
    }
}
