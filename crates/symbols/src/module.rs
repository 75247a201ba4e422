//! One object file: its addresses to functions, files and lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use addr2line::Context;
use gimli::{EndianSlice, RunTimeEndian};
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};

use crate::function;

/// A function that covers an address: the one whose code it is, or one inlined there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    /// Readable name.
    pub function: Option<String>,
    /// Absolute path where the debug information gives one.
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
    /// The compiler was given the unit's file by a path relative to its working directory, and this file lies there.
    pub relative: bool,
}

/// A position in the source of which the function is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// As the compiler was given it: relative to the working directory, or absolute.
    pub file: String,
    /// 1-based.
    pub line: u32,
}

/// What a module told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// It has line tables.
    pub lines: bool,
    /// Frames by file offset, innermost first.
    pub frames: BTreeMap<u64, Vec<Frame>>,
    /// For each wanted position the frame there, where the module has code of that line.
    pub positions: Vec<Option<Frame>>,
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Sections above this are refused: no program has debug information of that size, but a broken header may say so.
const LARGEST_SECTION: u64 = 4 << 30;
/// Inlining deeper than this is not followed.
const DEEPEST_INLINING: usize = 256;

/// Opens the module and asks it for these file offsets and positions. Reads only the sections it needs.
///
/// # Errors
/// A sentence that says what is wrong with the file; what could be answered without it is not lost, as modules are
/// asked one by one.
pub(crate) fn ask(
    path: &Path,
    build_id: &[u8],
    offsets: &[u64],
    wanted: &[Wanted],
) -> Result<Told, String> {
    // The parsers are not ours, and a damaged file can take them where their arithmetic is checked.
    std::panic::catch_unwind(|| read(path, build_id, offsets, wanted)).unwrap_or_else(|_| {
        Err(format!(
            "{}: its debug information is damaged",
            path.display()
        ))
    })
}

fn read(path: &Path, build_id: &[u8], offsets: &[u64], wanted: &[Wanted]) -> Result<Told, String> {
    let file = File::open(path)
        .map_err(|e| format!("{}: can't be opened any more: {e}", path.display()))?;
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return Err(format!("{}: is no file any more", path.display()));
    }
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).map_err(|e| {
        format!(
            "{}: is no object file that can be read ({e})",
            path.display()
        )
    })?;
    if !build_id.is_empty()
        && object
            .build_id()
            .ok()
            .flatten()
            .is_some_and(|now| now != build_id)
    {
        return Err(format!(
            "{}: was built anew since the run, so its lines are not known; record again",
            path.display()
        ));
    }
    let mut store = Vec::new();
    for name in SECTIONS {
        store.push(section(&object, name)?);
    }
    let endian = if object.is_little_endian() {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    };
    let slice = |id: gimli::SectionId| {
        let at = SECTIONS.iter().position(|name| *name == id.name());
        EndianSlice::new(
            at.and_then(|at| store.get(at)).map_or(&[][..], |data| data),
            endian,
        )
    };
    let dwarf = gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(slice(id)))
        .map_err(|e| format!("{}: debug information: {e}", path.display()))?;
    let context = Context::from_dwarf(dwarf)
        .map_err(|e| format!("{}: debug information: {e}", path.display()))?;
    let symbols = Symbols::of(&object);
    let lines = SECTIONS
        .iter()
        .zip(&store)
        .any(|(name, data)| *name == ".debug_line" && !data.is_empty());
    let mut told = Told {
        lines,
        ..Told::default()
    };
    for &offset in offsets {
        let frames = match virtual_address(&object, offset) {
            Some(address) => frames(&context, &symbols, address),
            None => Vec::new(),
        };
        told.frames.insert(offset, frames);
    }
    told.positions = positions(&context, &symbols, wanted);
    Ok(told)
}

const SECTIONS: [&str; 13] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_types",
    ".debug_loc",
    ".debug_loclists",
];

fn section<'a>(
    object: &object::File<'a, &'a ReadCache<File>>,
    name: &str,
) -> Result<Cow<'a, [u8]>, String> {
    let Some(section) = object.section_by_name(name) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let data = section
        .compressed_data()
        .map_err(|e| format!("section {name}: {e}"))?;
    // A compressed section states its size: believed as far as the best compression goes.
    let packed = data.data.len() as u64;
    if data.uncompressed_size > LARGEST_SECTION
        || data.uncompressed_size > packed.saturating_mul(1100).max(1 << 16)
    {
        return Err(format!(
            "section {name}: states {} bytes, out of {packed} in the file",
            data.uncompressed_size
        ));
    }
    data.decompress()
        .map_err(|e| format!("section {name}: {e}"))
}

/// Offset in the file → address as linked.
fn virtual_address<'a>(object: &object::File<'a, &'a ReadCache<File>>, offset: u64) -> Option<u64> {
    object.segments().find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = offset.checked_sub(start)?;
        (inside < size).then(|| segment.address().wrapping_add(inside))
    })
}

/// Function symbols by address.
struct Symbols<'a> {
    sorted: Vec<(u64, u64, &'a str)>,
}

impl<'a> Symbols<'a> {
    fn of(object: &object::File<'a, &'a ReadCache<File>>) -> Self {
        let mut sorted: Vec<_> = object
            .symbols()
            .chain(object.dynamic_symbols())
            .filter(|s| s.kind() == object::SymbolKind::Text && s.is_definition())
            .filter_map(|s| Some((s.address(), s.size(), s.name().ok()?)))
            .collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    fn name(&self, address: u64) -> Option<&'a str> {
        let after = self.sorted.partition_point(|&(start, ..)| start <= address);
        let &(start, size, name) = self.sorted.get(after.checked_sub(1)?)?;
        (size == 0 || address - start < size).then_some(name)
    }
}

fn frames(context: &Context<Slice<'_>>, symbols: &Symbols<'_>, address: u64) -> Vec<Frame> {
    let unit = context.find_dwarf_and_unit(address).skip_all_loads();
    let directory = unit.as_ref().and_then(|unit| {
        let name = unit.name?.to_string_lossy();
        let directory = unit.comp_dir?.to_string_lossy();
        (!name.starts_with('/') && !directory.is_empty()).then(|| directory.into_owned())
    });
    let mut frames = Vec::new();
    if let Ok(mut found) = context.find_frames(address).skip_all_loads() {
        while let Ok(Some(frame)) = found.next() {
            let file = frame
                .location
                .as_ref()
                .and_then(|l| l.file)
                .map(str::to_owned);
            frames.push(Frame {
                function: frame
                    .function
                    .as_ref()
                    .and_then(|f| f.raw_name().ok())
                    .map(|n| function::readable(&n)),
                relative: relative(file.as_deref(), directory.as_deref()),
                line: frame
                    .location
                    .as_ref()
                    .and_then(|l| l.line)
                    .filter(|&line| line > 0),
                file,
            });
            if frames.len() >= DEEPEST_INLINING {
                break;
            }
        }
    }
    // Line tables alone name no function that nothing is inlined into; its symbol does.
    let symbol = symbols.name(address).map(function::readable);
    match frames.last_mut() {
        Some(outermost) => {
            if let Some(symbol) =
                symbol.filter(|s| outermost.function.is_none() || s.contains("::"))
            {
                outermost.function = Some(symbol);
            }
        }
        None => frames.extend(symbol.map(|symbol| Frame {
            function: Some(symbol),
            ..Frame::default()
        })),
    }
    frames
}

fn relative(file: Option<&str>, directory: Option<&str>) -> bool {
    match (file, directory) {
        (Some(file), Some(directory)) => Path::new(file).starts_with(directory),
        _ => false,
    }
}

/// One pass over the module's line tables for all wanted positions.
fn positions(
    context: &Context<Slice<'_>>,
    symbols: &Symbols<'_>,
    wanted: &[Wanted],
) -> Vec<Option<Frame>> {
    let mut found: Vec<Option<Frame>> = vec![None; wanted.len()];
    let mut by_line: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, position) in wanted.iter().enumerate() {
        by_line.entry(position.line).or_default().push(index);
    }
    let Ok(ranges) = context.find_location_range(0, u64::MAX) else {
        return found;
    };
    if wanted.is_empty() {
        return found;
    }
    for (address, _, location) in ranges {
        let (Some(file), Some(line)) = (location.file, location.line) else {
            continue;
        };
        for &index in by_line.get(&line).map_or(&[][..], |v| v) {
            // The first code of a line may be a copy inlined elsewhere with no name; look on until there is one.
            if found[index].as_ref().is_some_and(|f| f.function.is_some())
                || !same_file(file, &wanted[index].file)
            {
                continue;
            }
            let here = frames(context, symbols, address)
                .into_iter()
                .find(|f| f.line == Some(line) && f.file.as_deref() == Some(file));
            if here.is_some() {
                found[index] = here;
            }
        }
    }
    found
}

/// Whether the absolute `file` of the debug information is the one the compiler called `given`.
fn same_file(file: &str, given: &str) -> bool {
    let given = given.strip_prefix("./").unwrap_or(given);
    file == given
        || (!given.starts_with('/')
            && file
                .strip_suffix(given)
                .is_some_and(|rest| rest.ends_with('/')))
}
