//! Looks up all sites of a process in the modules that contain them, each module once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Site;
use crate::mapping::{self, Mapping};
use crate::module::{self, Frame, Jump, ModuleFrames, SourcePosition};
use crate::workspace;

/// The address of the call itself, not of the instruction after it.
pub(super) fn call(address: u64, returns: bool) -> u64 {
    if returns {
        address.saturating_sub(1)
    } else {
        address
    }
}

/// The results from all modules for all sites.
pub(super) struct Modules {
    pub(super) frames: BTreeMap<PathBuf, ModuleFrames>,
    /// For each location site, the frame there.
    pub(super) located: BTreeMap<usize, Frame>,
    /// Folders in which compilers ran, according to other files.
    folders: BTreeSet<PathBuf>,
    pub(super) warnings: Vec<String>,
}

impl Modules {
    pub(super) fn ask(sites: &[Site], mappings: &[Mapping]) -> Self {
        let mut offsets: BTreeMap<&Path, BTreeSet<u64>> = BTreeMap::new();
        let mut jumps: BTreeMap<&Path, BTreeSet<Jump>> = BTreeMap::new();
        let mut positions_of_sites: Vec<(usize, SourcePosition)> = Vec::new();
        let mut add = |address: u64| {
            if let Some((index, offset)) = mapping::find(mappings, address) {
                offsets
                    .entry(&mappings[index].path)
                    .or_default()
                    .insert(offset);
            }
        };
        for (index, site) in sites.iter().enumerate() {
            match site {
                Site::Location { file, line } => {
                    positions_of_sites.push((
                        index,
                        SourcePosition {
                            file: file.clone(),
                            line: *line,
                        },
                    ));
                }
                Site::Stack { addresses, .. } | Site::Calls { addresses, .. } => {
                    addresses.iter().for_each(|&a| add(call(a, true)));
                    for pair in addresses.windows(2) {
                        if let Some((index, jump)) = jump(mappings, pair[0], pair[1]) {
                            let of_module = jumps.entry(&mappings[index].path);
                            of_module.or_default().insert(jump);
                        }
                    }
                }
                Site::Address { address, returns } => add(call(*address, *returns)),
                Site::Label(_) => {}
            }
        }
        let mut modules = Self {
            frames: BTreeMap::new(),
            located: BTreeMap::new(),
            folders: BTreeSet::new(),
            warnings: Vec::new(),
        };
        let mut seen = BTreeSet::new();
        for mapping in mappings {
            if !mapping.path.is_absolute() || !seen.insert(&mapping.path) {
                continue;
            }
            let offsets: Vec<u64> = offsets
                .get(mapping.path.as_path())
                .map_or_else(Vec::new, |set| set.iter().copied().collect());
            positions_of_sites.retain(|(index, _)| !modules.located.contains_key(index));
            if offsets.is_empty() && positions_of_sites.is_empty() {
                continue;
            }
            let positions: Vec<SourcePosition> =
                positions_of_sites.iter().map(|(_, w)| w.clone()).collect();
            let jumps: Vec<Jump> = jumps
                .get(mapping.path.as_path())
                .map_or_else(Vec::new, |set| set.iter().copied().collect());
            match module::ask(
                &mapping.path,
                &mapping.build_id,
                &offsets,
                &jumps,
                &positions,
            ) {
                Ok(frames) => {
                    for ((index, _), frame) in positions_of_sites.iter().zip(&frames.positions) {
                        if let Some(frame) = frame {
                            let folder = match &sites[*index] {
                                Site::Location { file, .. } => {
                                    frame.file.as_deref().and_then(|f| f.strip_suffix(&**file))
                                }
                                _ => None,
                            };
                            modules.folders.extend(folder.map(PathBuf::from));
                            modules.located.insert(*index, frame.clone());
                        }
                    }
                    modules.warnings.extend(frames.warning.clone());
                    // The first module is the program itself; a library only counts if sites lie in
                    // it.
                    if !frames.lines
                        && !offsets.is_empty()
                        && (seen.len() == 1
                            || !workspace::is_system_library(&mapping.path)
                                && !workspace::is_runtime_library(&mapping.path))
                    {
                        modules.warnings.push(format!(
                            "{}: has no line tables (stripped, or built without debug information), so what it calls is \
                             shown by function or address, not by line; compile it with -g (cargo: debug = \
                             \"line-tables-only\", strip = \"none\"), or put its debug file beside it.",
                            mapping.path.display()
                        ));
                    }
                    modules.frames.insert(mapping.path.clone(), frames);
                }
                Err(warning) => modules.warnings.push(warning),
            }
        }
        modules
    }
}

/// The lookup in a module for two return addresses, a frame's and its caller's, if both lie in one
/// module.
pub(super) fn jump(mappings: &[Mapping], inner: u64, outer: u64) -> Option<(usize, Jump)> {
    let (index, inside) = mapping::find(mappings, call(inner, true))?;
    let (other, before) = mapping::find(mappings, call(outer, true))?;
    (mappings[index].path == mappings[other].path).then_some((index, (before + 1, inside)))
}

impl Modules {
    /// The absolute path of a file that the compiler was given by a relative path: in the folder of
    /// another such file.
    pub(super) fn absolute(&self, file: &str) -> Option<String> {
        if file.starts_with('/') {
            return Some(file.to_owned());
        }
        self.folders
            .iter()
            .map(|folder| folder.join(file))
            .find(|path| path.is_file())
            .map(|path| path.to_string_lossy().into_owned())
    }
}
