//! Turns raw sites into positions.

mod modules;

use std::path::Path;

use workspan_trace::function_name::short;

use crate::class_name;
use crate::function;
use crate::mapping::{self, Mapping};
use crate::module::Frame;
use crate::source::Sources;
use crate::workspace::{self, Ownership, Workspace};
use modules::{Modules, call, jump};

/// A site as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// A position that the compiler put into the program (`#[track_caller]`).
    Location {
        /// The path as the compiler was given it: relative to its working directory (for cargo the
        /// workspace root), or absolute.
        file: String,
        /// 1-based.
        line: u32,
    },
    /// A call stack inside a library, whose caller is the site.
    Stack {
        /// Return addresses, innermost first.
        addresses: Vec<u64>,
        /// Index of the site of the task that made the call; it is used if no frame is the user's.
        inherited: Option<usize>,
        /// The library's own position, if nothing else is known.
        library: Option<(String, u32)>,
    },
    /// A code address.
    Address {
        /// The address in the process.
        address: u64,
        /// Whether it is a return address: the call is before it.
        returns: bool,
    },
    /// A text given by the program.
    Label(String),
    /// A call with its callers.
    Calls {
        /// Return addresses, innermost first; there may be none.
        addresses: Vec<u64>,
        /// A mangled C++ symbol, or a text, that is used if no line is known for any of them; may
        /// be empty.
        name: String,
    },
}

/// The readable form of a site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// The program's text, else `file:line`, else the function, else `module+0xoffset`, else `?`.
    /// For a chain of method calls over several lines `file:first-line`.
    pub label: String,
    /// Relative to the workspace if it lies inside.
    pub file: Option<String>,
    /// 1-based line of the call itself, which is the last one of a chain.
    pub line: Option<u32>,
    /// Demangled, without path and generic arguments; a closure has the name of the function that
    /// contains it.
    pub function: Option<String>,
    /// The line's text, trimmed; for a chain, that of its first and last lines.
    pub source: Option<String>,
}

/// The result of [`resolve`].
#[derive(Debug, Clone, Default)]
pub struct Resolution {
    /// One position for each site.
    pub positions: Vec<Position>,
    /// Modules that could not be read, as full sentences.
    pub warnings: Vec<String>,
}

/// Resolves sites of one recorded process. Time is linear in the addresses and in the size of the
/// debug information of the modules that contain them.
pub fn resolve(sites: &[Site], mappings: &[Mapping], workspace: &Workspace) -> Resolution {
    let modules = Modules::ask(sites, mappings);
    let mut resolver = Resolver {
        modules: &modules,
        mappings,
        root: workspace.root.as_deref(),
        ownership: Ownership::new(workspace),
        sources: Sources::default(),
    };
    let own: Vec<(Position, Option<usize>)> = sites
        .iter()
        .enumerate()
        .map(|(index, site)| resolver.position(index, site))
        .collect();
    let positions = (0..own.len())
        .map(|index| followed(&own, index).clone())
        .collect();
    Resolution {
        positions,
        warnings: modules.warnings.clone(),
    }
}

/// Maximum length of a chain of tasks created by stolen tasks; beyond it the site's own position is
/// used.
const MAX_INHERITED_SITES: usize = 1000;

/// The position of a site, or of the site that it inherits from.
fn followed(own: &[(Position, Option<usize>)], index: usize) -> &Position {
    let mut at = index;
    for _ in 0..MAX_INHERITED_SITES {
        match own.get(at) {
            Some((position, None)) => return position,
            Some((_, Some(next))) => at = *next,
            None => break,
        }
    }
    &own[index].0
}

fn is_runtime(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(workspace::is_runtime)
        || frame.function.as_deref().is_some_and(function::is_runtime)
}

struct Resolver<'a> {
    modules: &'a Modules,
    mappings: &'a [Mapping],
    root: Option<&'a Path>,
    ownership: Ownership<'a>,
    sources: Sources,
}

impl Resolver<'_> {
    /// The site's own position, and the site to use instead if there is one.
    fn position(&mut self, index: usize, site: &Site) -> (Position, Option<usize>) {
        let position = match site {
            Site::Location { file, line } => {
                let frame = self.modules.located.get(&index);
                let function = frame.and_then(|f| f.function.clone());
                let path = match (frame.and_then(|f| f.file.clone()), self.root) {
                    (Some(path), _) => path,
                    (None, _) => self.modules.absolute(file).unwrap_or_else(|| {
                        let root = self.root.unwrap_or(Path::new(""));
                        root.join(file).to_string_lossy().into_owned()
                    }),
                };
                // The form of the debug information's frames: one name per file, wherever the
                // compiler ran.
                let shown = if path.starts_with('/') {
                    workspace::shown(&path, self.root)
                } else {
                    file.clone()
                };
                self.at(&path, shown, *line, function)
            }
            Site::Stack {
                addresses,
                inherited,
                library,
            } => {
                let (position, enough) = self.stack(addresses, library.as_ref());
                return (position, inherited.filter(|_| !enough));
            }
            Site::Address { address, returns } => {
                let frames = self.frames(call(*address, *returns));
                let at = self.callers(&frames);
                self.frame(at.map(|at| &frames[at]), *address)
            }
            Site::Label(label) => Position {
                label: label.clone(),
                ..Position::default()
            },
            Site::Calls { addresses, name } => self.calls(addresses, name),
        };
        (position, None)
    }

    /// The innermost line that people wrote; else the name; else the innermost function outside of
    /// the runtime, or the innermost address outside of its libraries.
    fn calls(&mut self, addresses: &[u64], name: &str) -> Position {
        let frames: Vec<Frame> = (0..addresses.len())
            .flat_map(|depth| self.frames_at(addresses, depth))
            .collect();
        let at = self.callers(&frames).map(|at| &frames[at]);
        // The outermost frame is the C library's start of the thread, not a place in the program.
        let at = at.filter(|frame| !is_runtime(frame));
        let mut outside = addresses.iter().filter(|&&a| !self.is_in_runtime(a));
        let innermost = outside.next().or(addresses.first());
        let innermost = innermost.copied().unwrap_or(0);
        if at.is_some_and(|f| f.line.is_some()) {
            return self.frame(at, innermost);
        }
        match class_name::from_symbol(name) {
            Some(name) => Position {
                label: name.short,
                function: name.whole,
                ..Position::default()
            },
            None if addresses.is_empty() => Position {
                label: "?".to_owned(),
                ..Position::default()
            },
            None => self.frame(at, innermost),
        }
    }

    /// Whether an address lies in a runtime's or a language's library.
    fn is_in_runtime(&self, address: u64) -> bool {
        let mapping = mapping::find(self.mappings, address);
        mapping.is_some_and(|(index, _)| workspace::is_runtime_library(&self.mappings[index].path))
    }

    /// Frames at an address of a stack, innermost first, after frames of callees that ended in
    /// jumps.
    fn frames_at(&self, addresses: &[u64], depth: usize) -> Vec<Frame> {
        let address = addresses[depth];
        let inner = depth.checked_sub(1).map(|inner| addresses[inner]);
        let jumped = inner.and_then(|inner| {
            let (index, jump) = jump(self.mappings, inner, address)?;
            let frames = self.modules.frames.get(&self.mappings[index].path)?;
            frames.jumped.get(&jump)
        });
        let mut frames = jumped.cloned().unwrap_or_default();
        frames.extend(self.frames(call(address, true)));
        frames
    }

    /// Frames at an address, innermost first.
    fn frames(&self, address: u64) -> Vec<Frame> {
        mapping::find(self.mappings, address)
            .and_then(|(index, offset)| {
                self.modules
                    .frames
                    .get(&self.mappings[index].path)?
                    .frames
                    .get(&offset)
            })
            .cloned()
            .unwrap_or_default()
    }

    /// Whether the frame is in the user's own code.
    fn is_users(&mut self, frame: &Frame) -> bool {
        let function = frame.function.as_deref();
        frame.line.is_some()
            && !function.is_some_and(function::is_runtime_beside_users)
            && frame.file.as_deref().is_some_and(|file| {
                !workspace::is_runtime(file) && self.ownership.owns(file, frame.relative)
            })
    }

    /// The frame that people wrote among those at one address, innermost first. Headers of the
    /// runtime and of the standard library are skipped outwards, as they are inlined into their
    /// callers.
    fn callers(&mut self, frames: &[Frame]) -> Option<usize> {
        let is_users = frames.iter().position(|f| self.is_users(f));
        let has_line = |f: &Frame| f.file.is_some() && f.line.is_some();
        let installed = |f: &Frame| f.file.as_deref().is_some_and(workspace::is_foreign);
        let first = |good: &dyn Fn(&Frame) -> bool| frames.iter().position(good);
        is_users
            .or_else(|| first(&|f| has_line(f) && !is_runtime(f) && !installed(f)))
            .or_else(|| first(&|f| has_line(f) && !is_runtime(f)))
            .or_else(|| first(&|f| f.function.is_some() && !is_runtime(f)))
            .or_else(|| frames.len().checked_sub(1))
    }

    /// The innermost frame in the user's workspace and `true`. Otherwise the innermost frame
    /// outside of the runtime, or the library's own call, and whether that is good enough not to
    /// use the calling task's site.
    fn stack(&mut self, addresses: &[u64], library: Option<&(String, u32)>) -> (Position, bool) {
        let mut other = None;
        for (depth, &address) in addresses.iter().enumerate() {
            for frame in self.frames_at(addresses, depth) {
                if self.is_users(&frame) {
                    return (self.frame(Some(&frame), address), true);
                }
                if other.is_none()
                    && !is_runtime(&frame)
                    && (frame.line.is_some() || frame.function.is_some())
                {
                    other = Some((frame, address));
                }
            }
        }
        match (other, library) {
            // Without line tables the owner of a function is not known, so it may be the user's.
            (Some((frame, address)), _) => {
                (self.frame(Some(&frame), address), frame.line.is_none())
            }
            (None, Some((file, line))) => (
                self.at(file, workspace::shown(file, self.root), *line, None),
                false,
            ),
            (None, None) => (
                self.frame(None, addresses.first().copied().unwrap_or(0)),
                false,
            ),
        }
    }

    fn frame(&mut self, frame: Option<&Frame>, address: u64) -> Position {
        match frame {
            Some(Frame {
                file: Some(file),
                line: Some(line),
                function,
                ..
            }) => {
                let shown = workspace::shown(file, self.root);
                self.at(file, shown, *line, function.clone())
            }
            Some(Frame {
                function: Some(function),
                ..
            }) => Position {
                label: function.clone(),
                function: Some(function.clone()),
                ..Position::default()
            },
            _ => {
                let label = match mapping::find(self.mappings, address) {
                    Some((index, offset)) => {
                        let name = self.mappings[index].path.file_name().unwrap_or_default();
                        format!("{}+{offset:#x}", name.to_string_lossy())
                    }
                    None => format!("{address:#x}"),
                };
                Position {
                    label,
                    ..Position::default()
                }
            }
        }
    }

    fn at(&mut self, path: &str, shown: String, line: u32, function: Option<String>) -> Position {
        let path = Path::new(path);
        let text = self.sources.line(path, line);
        // The compiler's position of a chain is its last call; people look for its beginning.
        let first = self.sources.chain(path, line);
        let (lines, source) = match first {
            Some(first) => {
                let begin = self.sources.line(path, first).unwrap_or_default();
                let between = if first + 1 == line { " " } else { " … " };
                let source = begin + between + &text.unwrap_or_default();
                (format!("{first}-{line}"), Some(source))
            }
            None => (line.to_string(), text),
        };
        Position {
            label: format!("{shown}:{lines}"),
            line: Some(line),
            source,
            file: Some(shown),
            function: function
                .filter(|name| !name.is_empty() && !name.starts_with('{'))
                .map(|name| short(&name).to_owned())
                .or_else(|| self.sources.function(path, line)),
        }
    }
}
