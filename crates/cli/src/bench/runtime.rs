//! The task runtimes, and how a program is compiled for each on this machine.

use std::path::Path;
use std::process::{Command, Stdio};

use workspan_runtimes::{Build, Id};

/// The runtime that runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runtime {
    /// No runtime: the serial elision of the C++ source. When recorded, it reports its tasks
    /// through workspan.h.
    Serial,
    /// Rayon.
    Rayon,
    /// LLVM's OpenMP runtime.
    Libomp,
    /// GNU's OpenMP runtime.
    Libgomp,
    /// oneTBB.
    OneTbb,
}

/// All runtimes, in the order in which they are shown and run.
pub const RUNTIMES: [Runtime; 5] = [
    Runtime::Serial,
    Runtime::Rayon,
    Runtime::Libomp,
    Runtime::Libgomp,
    Runtime::OneTbb,
];

impl Runtime {
    /// The name in flags and CSV files, which never changes.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Serial => "serial",
            Runtime::Rayon => "rayon",
            Runtime::Libomp => "libomp",
            Runtime::Libgomp => "libgomp",
            Runtime::OneTbb => "onetbb",
        }
    }

    /// The table row of the runtime; `None` for the serial elision.
    fn row(self) -> Option<&'static workspan_runtimes::Runtime> {
        let id = match self {
            Runtime::Serial => return None,
            Runtime::Rayon => Id::Rayon,
            Runtime::Libomp => Id::Libomp,
            Runtime::Libgomp => Id::Libgomp,
            Runtime::OneTbb => Id::OneTbb,
        };
        Some(id.runtime())
    }

    /// The name in tables and sentences.
    pub fn title(self) -> &'static str {
        self.row().map_or("serial elision", |row| row.name)
    }

    /// How C++ programs are built for it. Rayon's are Rust, which cargo builds.
    pub fn build(self) -> &'static Build {
        static SERIAL: Build = Build {
            compilers: &["g++", "clang++", "c++"],
            flags: &["-DTP_SERIAL"],
            header: "limits",
            remedy: "install g++",
        };
        static RUST: Build = Build {
            compilers: &[],
            flags: &[],
            header: "limits",
            remedy: "install Rust",
        };
        let Some(row) = self.row() else {
            return &SERIAL;
        };
        row.build.as_ref().unwrap_or(&RUST)
    }

    /// The flags for the recorded program, if they differ.
    pub fn recorded_flags(self) -> Option<&'static [&'static str]> {
        (self == Runtime::Serial).then_some(&["-DTP_WORKSPAN"])
    }
}

/// A compiler that was found for a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Its command.
    pub compiler: String,
    /// The first line of its version output.
    pub version: String,
}

/// The compiler for a C++ runtime, which is tested in `folder`.
///
/// # Errors
/// There is none; the message has the reason and the remedy, as part of a sentence.
pub fn toolchain(runtime: Runtime, folder: &Path) -> Result<Toolchain, String> {
    let build = runtime.build();
    let found = build.compilers.iter().find_map(|&compiler| {
        let version = version(compiler)?;
        Some(Toolchain {
            compiler: compiler.to_string(),
            version,
        })
    });
    let remedy = build.remedy;
    let toolchain = found.ok_or_else(|| {
        let tried = build.compilers.join(", ");
        format!("no compiler ({tried}); {remedy}")
    })?;
    match probe(runtime, &toolchain.compiler, &folder.join("probe")) {
        Ok(()) => Ok(toolchain),
        Err(why) => Err(format!(
            "{} builds no program for it ({why}); {remedy}",
            toolchain.compiler
        )),
    }
}

/// The first line of a command's version output; `None` if it can't be run.
pub fn version(command: &str) -> Option<String> {
    let output = Command::new(command)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default().trim().to_string();
    output.status.success().then_some(first)
}

/// Checks that header and library exist. Leaves a program at `output`.
fn probe(runtime: Runtime, compiler: &str, output: &Path) -> Result<(), String> {
    let program = format!(
        "#include <{}>\nint main() {{ return 0; }}\n",
        runtime.build().header
    );
    let mut compile = Command::new(compiler);
    compile
        .args(["-std=c++11", "-x", "c++", "-", "-x", "none", "-o"])
        .arg(output)
        .args(runtime.build().flags);
    compile
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = compile.spawn().map_err(|e| e.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        use std::io::Write;
        // A compiler that does not read its input prints the reason itself.
        let _ = input.write_all(program.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .find(|l| l.contains("error") || l.contains("cannot find"));
    Err(line
        .or(said.lines().next())
        .unwrap_or("it says nothing")
        .trim()
        .to_string())
}
