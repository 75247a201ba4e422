//! Positions in the program, and who reported what happens there.

/// A position in the program: a spawn site, or where a strand starts or ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The text shown to people: the text given, else `file:line` (for a chain of method calls over
    /// several lines `file:first-line`), else a symbol, else `?`.
    pub label: String,
    /// Source file, relative to the workspace if it lies inside.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Function that contains the position, demangled.
    pub function: Option<String>,
    /// The primitive called there, for instance `join` or `scope`, if known.
    pub primitive: Option<String>,
    /// The text of the source line, trimmed, as it was when the run was recorded.
    pub source: Option<String>,
    /// Who reported what happens here, where known.
    pub reporter: Option<Reporter>,
}

/// Who reported a task or a wait to the recorder (MODEL.md §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reporter {
    /// The program (*application*): by calls of `workspan.h`, of a header over it, or of the Rust
    /// API.
    Program,
    /// Hooks in a runtime or a library (*library*): Rayon, OpenMP, oneTBB, threads.
    Runtime,
}

impl Reporter {
    /// All values, the program first.
    pub const ALL: [Reporter; 2] = [Reporter::Program, Reporter::Runtime];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Reporter::Program => "program",
            Reporter::Runtime => "runtime",
        }
    }
}

/// [`Place::primitive`] of a place where the program starts a thread of its own.
pub const THREAD_PRIMITIVE: &str = "thread";

impl Place {
    /// Whether the tasks created here are threads (MODEL.md §1).
    pub fn is_thread(&self) -> bool {
        self.primitive.as_deref() == Some(THREAD_PRIMITIVE)
    }

    /// The lines as shown to people: `12`, or `10-12` for a chain that begins at line 10.
    pub fn lines(&self) -> Option<&str> {
        let file = self.file.as_deref()?;
        let lines = self.label.strip_prefix(file)?.strip_prefix(':')?;
        let last = lines.rsplit_once('-').map_or(lines, |(_, last)| last);
        (last.parse() == Ok(self.line?)).then_some(lines)
    }

    /// The first line of the chain of calls whose last call is this place.
    pub fn first_line(&self) -> Option<u32> {
        self.lines()?.split_once('-')?.0.parse().ok()
    }
}
