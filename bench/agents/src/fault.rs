//! The list of faults, `bench/agents/faults.toml`.

use std::path::PathBuf;

use serde::Deserialize;

/// A program with a fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The name of the program, and of its source file without the ending.
    pub name: String,
    /// Its language.
    #[serde(default)]
    pub language: Language,
    /// Identifiers of causes that the report may give (docs/causes.md).
    pub causes: Vec<String>,
    /// Functions that count as the position instead of the lines.
    pub functions: Vec<String>,
    /// First and last line of the code at fault.
    pub lines: [u32; 2],
    /// Words for the cause; an answer must have one of them.
    pub words: Vec<String>,
    /// The measure by which a changed program is judged.
    #[serde(default)]
    pub by: JudgedMeasure,
}

/// The language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust with Rayon.
    #[default]
    Rust,
    /// C++ with OpenMP.
    Cpp,
}

/// The measure by which a changed program is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedMeasure {
    /// Its time on 8 workers, computed from its work and span.
    #[default]
    Span,
    /// Its elapsed time without the time lost to other programs, because work and span don't show
    /// the fault.
    Elapsed,
}

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

/// The folder `bench/agents`.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Fault {
    /// All faults.
    ///
    /// # Errors
    /// The list can't be read.
    pub fn all() -> Result<Vec<Fault>, String> {
        let file = folder().join("faults.toml");
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|e| format!("{}: {e}", file.display()))?;
        let faults: Faults =
            toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(faults.fault)
    }

    /// The fault with that name.
    ///
    /// # Errors
    /// There is no such fault.
    pub fn named(name: &str) -> Result<Fault, String> {
        let all = Fault::all()?;
        let found = all.into_iter().find(|fault| fault.name == name);
        found.ok_or_else(|| format!("there is no fault `{name}`; `agents list` lists them"))
    }

    /// The program's source file.
    pub fn source(&self) -> PathBuf {
        match self.language {
            Language::Rust => folder().join(format!("rust/src/bin/{}.rs", self.name)),
            Language::Cpp => folder().join(format!("cpp/{}.cpp", self.name)),
        }
    }

    /// The path of our own fix.
    pub fn fix(&self) -> PathBuf {
        folder().join("fixes").join(self.file())
    }

    /// The name of the source file.
    pub fn file(&self) -> String {
        match self.language {
            Language::Rust => format!("{}.rs", self.name),
            Language::Cpp => format!("{}.cpp", self.name),
        }
    }

    /// Whether a line is one of those at fault.
    pub fn has_line(&self, line: u64) -> bool {
        let [first, last] = self.lines.map(u64::from);
        (first..=last).contains(&line)
    }
}
