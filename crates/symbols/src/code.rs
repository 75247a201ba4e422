//! Turns sampled call chains into frames: functions with file and line, with inlined functions as
//! frames of their own, and the runtime's marked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use workspan_trace::entry::RECORDING;
use workspan_trace::function_name::short;

use crate::function;
use crate::mapping::{self, Mapping};
use crate::module::{self, Frame};
use crate::source::Sources;
use crate::workspace::{self, Workspace};

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct CodeFrame {
    /// Readable name; module and offset if there are no symbols.
    pub function: String,
    /// Source file, relative to the workspace if it lies inside.
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
    /// It belongs to the task-parallel runtime or to code that starts threads, or it is glue
    /// through which the runtime called the program. Functions of the standard library that the
    /// program itself calls count as the program's.
    pub runtime: bool,
}

/// Turns call chains into frames. A chain is an instruction pointer followed by return addresses,
/// innermost first. The frames come out innermost first, up to and including the first one of the
/// runtime: the strand's own frames, and the frame that called it. Time is linear in the distinct
/// addresses and in the debug information of their modules.
pub fn stacks(
    chains: &[Vec<u64>],
    mappings: &[Mapping],
    workspace: &Workspace,
) -> Vec<Vec<CodeFrame>> {
    let mut offsets_by_path: BTreeMap<&Path, BTreeSet<u64>> = BTreeMap::new();
    let mut places: BTreeSet<(usize, u64)> = BTreeSet::new();
    for chain in chains {
        places.extend(located(chain, mappings));
    }
    for &(mapping, offset) in &places {
        let path = &mappings[mapping].path;
        offsets_by_path.entry(path).or_default().insert(offset);
    }
    let mut known: BTreeMap<&Path, BTreeMap<u64, Vec<Frame>>> = BTreeMap::new();
    for (path, offsets) in &offsets_by_path {
        if !path.is_absolute() {
            continue;
        }
        let Some(mapping) = mappings.iter().find(|m| m.path == **path) else {
            continue;
        };
        let offsets: Vec<u64> = offsets.iter().copied().collect();
        // A module that can't be read is reported with the sites; its frames are module and offset.
        if let Ok(module) = module::ask(path, &mapping.build_id, &offsets, &[], &[]) {
            known.insert(path, module.frames);
        }
    }
    let root = workspace.root.as_deref();
    let mut sources = Sources::default();
    // Each place is looked up once: chains of a recursive program are long and similar.
    let named: BTreeMap<(usize, u64), Vec<CodeFrame>> = places
        .into_iter()
        .map(|(index, offset)| {
            let mapping = &mappings[index];
            if is_recorder(&mapping.path) {
                return ((index, offset), vec![recording()]);
            }
            let of_runtime = workspan_runtimes::is_module(&mapping.path);
            let found = known.get(&*mapping.path).and_then(|m| m.get(&offset));
            let frames = match found.filter(|frames| !frames.is_empty()) {
                Some(found) => found
                    .iter()
                    .map(|frame| named(frame, of_runtime, (mapping, offset), root, &mut sources))
                    .collect(),
                None => vec![unnamed(of_runtime, mapping, offset)],
            };
            ((index, offset), frames)
        })
        .collect();
    chains
        .iter()
        .map(|chain| own(located(chain, mappings).filter_map(|place| named.get(&place))))
        .collect()
}

/// The frames of a whole chain up to and including the first one of the runtime.
fn own<'a>(places: impl Iterator<Item = &'a Vec<CodeFrame>>) -> Vec<CodeFrame> {
    let frames: Vec<&CodeFrame> = places.flatten().collect();
    let (mut called_by_runtime, mut first) = (false, None);
    for (depth, frame) in frames.iter().enumerate().rev() {
        called_by_runtime = frame.runtime || called_by_runtime && is_glue(&frame.function);
        if called_by_runtime {
            first = Some(depth);
        }
    }
    // Frames beyond it belong to the caller of another task, or to the runtime.
    let count = first.map_or(frames.len(), |runtime| runtime + 1);
    let mut own_frames: Vec<CodeFrame> = frames[..count].iter().copied().cloned().collect();
    if let Some(frame) = first.and_then(|runtime| own_frames.get_mut(runtime)) {
        // The position inside the runtime is of no interest.
        (frame.runtime, frame.file, frame.line) = (true, None, None);
    }
    own_frames
}

/// The modules that contain the chain's addresses, with the offset of the call in each.
fn located<'a>(chain: &'a [u64], mappings: &'a [Mapping]) -> impl Iterator<Item = (usize, u64)> {
    chain.iter().enumerate().filter_map(|(depth, &address)| {
        // All addresses but the first are return addresses.
        let code = if depth == 0 {
            address
        } else {
            address.checked_sub(1)?
        };
        mapping::find(mappings, code)
    })
}

fn named(
    frame: &Frame,
    of_runtime: bool,
    (mapping, offset): (&Mapping, u64),
    root: Option<&Path>,
    sources: &mut Sources,
) -> CodeFrame {
    let Some(function) = frame.function.as_ref().filter(|name| !name.is_empty()) else {
        return CodeFrame {
            file: frame.file.as_deref().map(|f| workspace::shown(f, root)),
            line: frame.line,
            ..unnamed(of_runtime, mapping, offset)
        };
    };
    let runtime = of_runtime
        || function::is_task_runtime(function)
        || frame
            .file
            .as_deref()
            .is_some_and(workspan_runtimes::is_source);
    // Line tables give an inlined closure a generic name; the function around it is more useful.
    let around = match (&frame.file, frame.line) {
        (Some(file), Some(line)) if function.starts_with('{') => {
            sources.function(Path::new(file), line)
        }
        _ => None,
    };
    let function = match (around, &frame.file) {
        (Some(around), _) => around,
        (None, Some(_)) if !runtime => short(function).to_owned(),
        (None, _) => function.clone(),
    };
    CodeFrame {
        runtime,
        function,
        file: frame.file.as_deref().map(|f| workspace::shown(f, root)),
        line: frame.line,
    }
}

fn unnamed(runtime: bool, mapping: &Mapping, offset: u64) -> CodeFrame {
    let module = mapping.path.file_name().unwrap_or_default();
    let module = module.to_string_lossy();
    // Without symbols every address would be a function of its own. A page is precise enough; for a
    // runtime, the module is.
    let page = offset & !0xfff;
    CodeFrame {
        function: if runtime {
            module.into_owned()
        } else {
            format!("{module}+{page:#x}")
        },
        runtime,
        ..CodeFrame::default()
    }
}

/// The frame for all functions of the recorder, which are not of interest.
fn recording() -> CodeFrame {
    CodeFrame {
        function: RECORDING.to_owned(),
        runtime: true,
        ..CodeFrame::default()
    }
}

/// The preloaded library, also as a copy or link that has a number before its name.
pub(crate) fn is_recorder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains("libworkspan_preload")
}

/// Whether runtimes call the program's code through this function.
fn is_glue(function: &str) -> bool {
    const GLUE: [&str; 6] = [
        "core::ops::function",
        "core::panic",
        "std::panic",
        "std::panicking",
        "alloc::boxed",
        "std::sys::backtrace",
    ];
    // Short names, because line tables lack the path.
    const SHORT: [&str; 7] = [
        "call_once",
        "call_mut",
        "call",
        "do_call",
        "try",
        "catch_unwind",
        "__rust_begin_short_backtrace",
    ];
    GLUE.iter().any(|glue| {
        function
            .strip_prefix(glue)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }) || SHORT.contains(&function.rsplit("::").next().unwrap_or(function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_recorder_and_glue_are_known_by_name() {
        assert!(is_recorder(Path::new("/cache/libworkspan_preload.so")));
        assert!(is_recorder(Path::new(
            "/home/user/my cache/948c87cbd8149c2b-libworkspan_preload.so"
        )));
        assert!(!is_recorder(Path::new("/libworkspan_preload.so/msort")));
        assert!(is_glue("core::ops::function::FnOnce::call_once"));
        assert!(!is_glue("core::slice::sort"));
    }

    fn mapping(start: u64, path: &str) -> Mapping {
        Mapping {
            start,
            end: start + 0x1000,
            offset: 0,
            path: PathBuf::from(path),
            build_id: Vec::new(),
        }
    }

    #[test]
    fn all_of_the_recorder_is_one() {
        let mappings = [mapping(0x1000, "/x/libworkspan_preload.so")];
        let chains = [vec![0x1004], vec![0x1f00]];
        let stacks = stacks(&chains, &mappings, &Workspace::default());
        let expected = vec![recording()];
        assert_eq!(stacks, [expected.clone(), expected]);
    }

    #[test]
    fn a_runtime_without_symbols_is_one() {
        let mappings = [mapping(0x1000, "libtbb.so.12"), mapping(0x5000, "libz.so")];
        let chains = [vec![0x1004], vec![0x1f00], vec![0x5004]];
        let stacks = stacks(&chains, &mappings, &Workspace::default());
        let names: Vec<&str> = stacks.iter().map(|s| &*s[0].function).collect();
        assert_eq!(names, ["libtbb.so.12", "libtbb.so.12", "libz.so+0x0"]);
    }

    #[test]
    fn addresses_outside_of_all_modules_are_left_out() {
        let stacks = stacks(
            &[vec![0x10, 0x1804, u64::MAX], vec![]],
            &[mapping(0x1000, "not/absolute.so")],
            &Workspace::default(),
        );
        assert_eq!(stacks[0].len(), 1);
        assert_eq!(stacks[0][0].function, "absolute.so+0x0");
        assert!(stacks[1].is_empty());
    }
}
