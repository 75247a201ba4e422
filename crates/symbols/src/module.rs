//! One object file: maps its addresses to functions, files and lines.

use std::collections::BTreeMap;
use std::path::Path;

use addr2line::Context;
use object::{Object as _, ObjectSegment};

use crate::debug_file;
use crate::enclosing::EnclosingFunctions;
use crate::entry_line::EntryLines;
use crate::function::{self, Language};
use crate::object_file::{Object, Slice, Store, build_id as build_id_of, has_lines};
use crate::split::Split;
use crate::symbol_table::Symbols;
use crate::tail_call::Code;
use crate::workspace;

/// A function at an address: the one that contains it, or one inlined there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    /// Readable name.
    pub function: Option<String>,
    /// Absolute path, if the debug information has one.
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
    /// Whether the compiler was given the unit's file by a path relative to its working directory,
    /// and this file lies in that directory.
    pub relative: bool,
}

/// A position in the source whose function is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    /// The path as the compiler was given it: relative to the working directory, or absolute.
    pub file: String,
    /// 1-based.
    pub line: u32,
}

/// The results from a module.
#[derive(Debug, Default)]
pub(crate) struct ModuleFrames {
    /// Whether it has line tables.
    pub lines: bool,
    /// Frames by file offset, innermost first.
    pub frames: BTreeMap<u64, Vec<Frame>>,
    /// Frames of functions that ended in a jump, innermost first, by request.
    pub jumped: BTreeMap<Jump, Vec<Frame>>,
    /// For each requested position, the frame there, if the module has code of that line.
    pub positions: Vec<Option<Frame>>,
    /// What is needed for better results; a full sentence.
    pub warning: Option<String>,
}

/// Two frames of a stack between which others may be missing: the offset after a call, and an
/// offset in the next running function.
pub(crate) type Jump = (u64, u64);

/// Maximum depth of inlining that is followed.
const MAX_INLINE_DEPTH: usize = 256;

/// Opens the module and looks up these file offsets and positions. Reads only the sections it
/// needs.
///
/// # Errors
/// A sentence that says what is wrong with the file. Results from other modules are not affected,
/// as modules are processed one by one.
pub(crate) fn ask(
    path: &Path,
    build_id: &[u8],
    offsets: &[u64],
    jumps: &[Jump],
    positions: &[SourcePosition],
) -> Result<ModuleFrames, String> {
    // The parsers are foreign libraries, and a damaged file can make them panic where arithmetic is
    // checked.
    std::panic::catch_unwind(|| read(path, build_id, offsets, jumps, positions)).unwrap_or_else(
        |_| {
            Err(format!(
                "{}: its debug information is damaged",
                path.display()
            ))
        },
    )
}

fn read(
    path: &Path,
    build_id: &[u8],
    offsets: &[u64],
    jumps: &[Jump],
    positions: &[SourcePosition],
) -> Result<ModuleFrames, String> {
    let store = Store::default();
    let object = store.open(path)?;
    if !build_id.is_empty() && build_id_of(&object).is_some_and(|now| now != build_id) {
        return Err(format!(
            "{}: was built anew since the run, so its lines are not known; record again",
            path.display()
        ));
    }
    let separate = if has_lines(&object) || workspace::is_runtime_library(path) {
        None
    } else {
        debug_file::find(&store, &object, path)
    };
    let (debug, debug_path) = match &separate {
        Some((path, debug)) => (debug, path.as_path()),
        None => (&object, path),
    };
    let module = Module {
        users: !workspace::is_system_library(path),
        lines: lines(&store, debug, debug_path)?,
        symbols: Symbols::from_objects(&match &separate {
            Some((_, debug)) => vec![&object, debug],
            None => vec![&object],
        }),
        split: Split::new(&store, path, debug_path),
        enclosing: EnclosingFunctions::default(),
        entry_lines: EntryLines::new(
            offsets
                .iter()
                .filter_map(|&offset| virtual_address(&object, offset))
                .collect(),
        ),
    };
    let mut module_frames = ModuleFrames {
        lines: has_lines(debug),
        ..ModuleFrames::default()
    };
    for &offset in offsets {
        let frames = match virtual_address(&object, offset) {
            Some(address) => module.frames(address),
            None => Vec::new(),
        };
        module_frames.frames.insert(offset, frames);
    }
    let code = Code::from_object(&object);
    for &(returns, inside) in jumps {
        let both = virtual_address(&object, returns).zip(virtual_address(&object, inside));
        if let Some((call, next)) = both {
            let found = code.jumps(&module.symbols, call, next).into_iter();
            let frames: Vec<Frame> = found.flat_map(|at| module.frames(at)).collect();
            if !frames.is_empty() {
                module_frames.jumped.insert((returns, inside), frames);
            }
        }
    }
    module_frames.positions = module.positions(positions);
    module_frames.warning = missing(path, &module.split);
    Ok(module_frames)
}

/// The debug information in an object file.
fn lines<'a>(
    store: &'a Store,
    object: &Object<'a>,
    path: &Path,
) -> Result<Context<Slice<'a>>, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let mut dwarf =
        gimli::Dwarf::load(|id| store.section(object, Some(id.name()))).map_err(|e| wrong(&e))?;
    if let Some(shared) = debug_file::supplementary(store, object, path) {
        dwarf
            .load_sup(|id| store.section(&shared, Some(id.name())))
            .map_err(|e| wrong(&e))?;
    }
    Context::from_dwarf(dwarf).map_err(|e| wrong(&format_args!("debug information: {e}")))
}

fn missing(module: &Path, split: &Split<'_>) -> Option<String> {
    let files = split.missing();
    let first = files.first()?;
    let others = match files.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Some(format!(
        "{}: part of its debug information is in {}{others}, which can't be found, so functions inlined there have no names; \
         keep the .dwo files where they were built, or pack them into {}.dwp.",
        module.display(),
        first.display(),
        module.file_name().unwrap_or_default().to_string_lossy()
    ))
}

/// Converts an offset in the file to an address as linked.
fn virtual_address(object: &Object<'_>, offset: u64) -> Option<u64> {
    object.segments().find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = offset.checked_sub(start)?;
        (inside < size).then(|| segment.address().wrapping_add(inside))
    })
}

/// The lookup tables of a module.
struct Module<'a> {
    /// Whether it may be built from the user's sources.
    users: bool,
    lines: Context<Slice<'a>>,
    symbols: Symbols<'a>,
    split: Split<'a>,
    enclosing: EnclosingFunctions,
    entry_lines: EntryLines,
}

impl Module<'_> {
    /// The frames at an address as linked, innermost first.
    fn frames(&self, address: u64) -> Vec<Frame> {
        let unit = self.split.complete(self.lines.find_dwarf_and_unit(address));
        let directory = unit.as_ref().and_then(|unit| {
            let name = unit.name?.to_string_lossy();
            let directory = unit.comp_dir?.to_string_lossy();
            (!name.starts_with('/') && !directory.is_empty()).then(|| directory.into_owned())
        });
        let mut frames: Vec<Frame> = Vec::new();
        let mut anonymous = self
            .symbols
            .name(address)
            .is_some_and(function::is_anonymous);
        if let Ok(mut found) = self.split.complete(self.lines.find_frames(address)) {
            while let Ok(Some(frame)) = found.next() {
                let file = frame
                    .location
                    .as_ref()
                    .and_then(|l| l.file)
                    .map(str::to_owned);
                let name = frame.function.as_ref().and_then(|f| {
                    let raw = f.raw_name().ok()?;
                    anonymous |= function::is_anonymous(&raw);
                    let name = function::readable(&raw, f.language.map(Language::from_dwarf));
                    (!name.is_empty()).then_some(name)
                });
                frames.push(Frame {
                    function: name,
                    relative: self.users && relative(file.as_deref(), directory.as_deref()),
                    line: frame
                        .location
                        .as_ref()
                        .and_then(|l| l.line)
                        .filter(|&line| line > 0),
                    file,
                });
                if frames.len() >= MAX_INLINE_DEPTH {
                    break;
                }
            }
        }
        // If nothing is inlined into a function, line tables alone do not name it; its symbol does.
        let symbol = self.symbols.readable(address);
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
        // The site is the pragma, not a function that may be inlined at the first instruction.
        if let Some(unit) = unit.filter(|_| self.symbols.begins_outlined(address))
            && let Some(line) = self.entry_lines.line(unit, address)
            && let Some(mut outlined) = frames.pop()
        {
            outlined.line = Some(line);
            frames = vec![outlined];
        }
        if let (true, Some(unit)) = (anonymous, unit) {
            for frame in frames.iter_mut().filter(|f| f.function.is_none()) {
                if let (Some(file), Some(line)) = (&frame.file, frame.line) {
                    frame.function = self.enclosing.function(unit, file, line);
                }
            }
        }
        frames
    }

    /// One pass over the line tables for all requested positions.
    fn positions(&self, positions: &[SourcePosition]) -> Vec<Option<Frame>> {
        let mut found: Vec<Option<Frame>> = vec![None; positions.len()];
        let mut by_line: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, position) in positions.iter().enumerate() {
            by_line.entry(position.line).or_default().push(index);
        }
        let Ok(ranges) = self.lines.find_location_range(0, u64::MAX) else {
            return found;
        };
        if positions.is_empty() {
            return found;
        }
        for (address, _, location) in ranges {
            let (Some(file), Some(line)) = (location.file, location.line) else {
                continue;
            };
            for &index in by_line.get(&line).map_or(&[][..], |v| v) {
                // The first code of a line may be an unnamed copy inlined elsewhere, so the search
                // goes on until there is a name.
                if found[index].as_ref().is_some_and(|f| f.function.is_some())
                    || !same_file(file, &positions[index].file)
                {
                    continue;
                }
                let here = self
                    .frames(address)
                    .into_iter()
                    .find(|f| f.line == Some(line) && f.file.as_deref() == Some(file));
                if here.is_some() {
                    found[index] = here;
                }
            }
        }
        found
    }
}

fn relative(file: Option<&str>, directory: Option<&str>) -> bool {
    match (file, directory) {
        (Some(file), Some(directory)) => Path::new(file).starts_with(directory),
        _ => false,
    }
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
