//! Builds the programs with the compilers of this machine. A program is a file; its folder and its
//! extension determine how it is built.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use anyhow::{Context, Result, bail};
use workspan_toolchains::{libomp, named};

/// What a program is checked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The program states its truth, and the report must agree.
    Truth,
    /// The program's output and exit code must be the same bare and recorded.
    Same,
}

/// A program that has been built.
#[derive(Clone)]
pub struct Program {
    /// `rayon/par_iter`, `gcc/task_tree`.
    pub name: String,
    pub kind: Kind,
    pub source: PathBuf,
    /// The program's file, or for [`Kind::Same`] a shell command line.
    pub start: String,
    /// Whether tasks that the runtime creates for itself are among those of its sites.
    pub own_tasks: bool,
}

/// All programs that were built, and those that could not be built.
#[derive(Default)]
pub struct CompiledPrograms {
    pub programs: Vec<Program>,
    pub skipped: Vec<String>,
}

/// A language, its runtime and how to compile for it.
struct Set {
    name: &'static str,
    /// The prefix and the suffix of the file names.
    begins: &'static str,
    ends: &'static str,
    /// The compiler's name without its version.
    compiler: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    own_tasks: bool,
}

const C: &[&str] = &[
    "-g",
    "-O1",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fopenmp",
];

const SETS: [Set; 4] = [
    Set {
        name: "gcc",
        begins: "",
        ends: ".c",
        compiler: "gcc",
        before: C,
        after: &["-lpthread"],
        own_tasks: true,
    },
    Set {
        name: "clang",
        begins: "",
        ends: ".c",
        compiler: "clang",
        before: C,
        after: &["-lpthread"],
        own_tasks: true,
    },
    Set {
        name: "onetbb",
        begins: "tbb_",
        ends: ".cpp",
        compiler: "g++",
        before: &["-g", "-O1", "-Wall", "-Wextra", "-Werror"],
        after: &["-ltbb"],
        own_tasks: false,
    },
    Set {
        name: "fortran",
        begins: "f_",
        ends: ".f90",
        compiler: "gfortran",
        before: &["-g", "-O1", "-Wall", "-fopenmp"],
        after: &["truth.o", "truth_fortran.o"],
        own_tasks: true,
    },
];

/// The folder of the sources.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Builds those programs whose names are `is_chosen`.
///
/// # Errors
/// A program does not compile although its compiler is available.
pub fn all(
    tool: &Path,
    folder: &Path,
    is_chosen: &(dyn Fn(&str) -> bool + Sync),
) -> Result<CompiledPrograms> {
    // In each set compilers run one after the other; the sets run in parallel.
    let parts = thread::scope(|scope| {
        let mut builders = vec![scope.spawn(|| rust(tool, folder, is_chosen))];
        for set in &SETS {
            builders.push(scope.spawn(move || native(set, folder, is_chosen)));
        }
        builders.push(scope.spawn(|| same(folder, is_chosen)));
        let ends = builders.into_iter().map(|builder| {
            builder
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic))
        });
        ends.collect::<Result<Vec<CompiledPrograms>>>()
    })?;
    let mut built = CompiledPrograms::default();
    for part in parts {
        built.programs.extend(part.programs);
        built.skipped.extend(part.skipped);
    }
    Ok(built)
}

/// The sources in a folder, sorted.
fn sources(folder: &Path, begins: &str, ends: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with(begins) && name.ends_with(ends) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The name of a program: its file name without the extension.
fn stem(source: &Path) -> String {
    source
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Builds the Rust programs, which are a separate package, with `cargo workspan build`.
fn rust(tool: &Path, folder: &Path, is_chosen: &dyn Fn(&str) -> bool) -> Result<CompiledPrograms> {
    let mut built = CompiledPrograms::default();
    let package = here().join("rust");
    let mut programs = Vec::new();
    for source in sources(&package.join("src/bin"), "", ".rs")? {
        let name = format!("rayon/{}", stem(&source));
        if is_chosen(&name) {
            programs.push((name, source));
        }
    }
    if programs.is_empty() {
        return Ok(built);
    }
    let target = folder.join("rust");
    let mut cargo = Command::new(tool.with_file_name("cargo-workspan"));
    for (name, _) in std::env::vars_os() {
        // Variables that cargo set for this process must not reach the cargo that builds the
        // programs.
        let text = name.to_string_lossy();
        if (text.starts_with("CARGO") && text != "CARGO_HOME")
            || text.starts_with("RUSTC")
            || text == "RUSTFLAGS"
        {
            cargo.env_remove(&name);
        }
    }
    cargo
        .args(["workspan", "build", "--locked"])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(&package);
    let output = cargo.output().with_context(|| format!("{cargo:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("{cargo:?}: {}\n{said}", output.status);
    }
    // The folder's name is a hash of the recorder that is compiled in.
    let place = said
        .lines()
        .find_map(|line| line.split_once("workspan record -- "))
        .map(|(_, path)| path);
    let place =
        place.with_context(|| format!("{cargo:?} does not say where it built to:\n{said}"))?;
    let place = package.join(place.trim_matches('\'').trim_end_matches("PROGRAM"));
    for (name, source) in programs {
        let start = place.join(stem(&source)).display().to_string();
        built.programs.push(Program {
            name,
            kind: Kind::Truth,
            source,
            start,
            own_tasks: false,
        });
    }
    Ok(built)
}

/// The command of the machine's compiler with this name.
fn compiler(name: &str) -> Option<&'static str> {
    named(name).map(|found| found.command.as_str())
}

/// Builds the programs of one language and runtime.
fn native(set: &Set, folder: &Path, is_chosen: &dyn Fn(&str) -> bool) -> Result<CompiledPrograms> {
    let mut built = CompiledPrograms::default();
    let sources = sources(&here().join("native"), set.begins, set.ends)?;
    let name = |source: &Path| {
        format!(
            "{}/{}",
            set.name,
            stem(source).trim_start_matches(set.begins)
        )
    };
    let is_program =
        |source: &&PathBuf| stem(source) != "truth_fortran" && is_chosen(&name(source));
    let sources: Vec<&PathBuf> = sources.iter().filter(is_program).collect();
    if sources.is_empty() {
        return Ok(built);
    }
    let place = folder.join(set.name);
    fs::create_dir_all(&place)?;
    let Some(compiler) = compiler(set.compiler).filter(|compiler| links(compiler, set, &place))
    else {
        built
            .skipped
            .push(format!("{}: no compiler that can build for it", set.name));
        return Ok(built);
    };
    let native = here().join("native");
    if set.name == "fortran" {
        succeed(
            Command::new("gcc")
                .args(["-c", "-g", "-O1", "-D_GNU_SOURCE"])
                .arg(native.join("truth_fortran.c"))
                .current_dir(&place),
        )?;
        succeed(
            Command::new(compiler)
                .args(["-c", "-g", "-O1"])
                .arg(native.join("truth.f90"))
                .current_dir(&place),
        )?;
    }
    for source in sources {
        let program = place.join(stem(source));
        let mut command = Command::new(compiler);
        command
            .args(set.before)
            .arg(source)
            .args(set.after)
            .arg("-o")
            .arg(&program)
            .current_dir(&place);
        succeed(&mut command)?;
        built.programs.push(Program {
            name: name(source),
            kind: Kind::Truth,
            source: source.clone(),
            start: program.display().to_string(),
            own_tasks: set.own_tasks,
        });
    }
    Ok(built)
}

/// Whether an empty program can be built with everything that the set needs.
fn links(compiler: &str, set: &Set, place: &Path) -> bool {
    let empty = place.join(format!("empty{}", set.ends));
    let text = match set.ends {
        ".f90" => "program empty\nend program\n",
        ".cpp" => "#include <oneapi/tbb.h>\nint main() {}\n",
        _ => "#include <omp.h>\nint main(void) { return 0; }\n",
    };
    let libraries = set.after.iter().filter(|word| word.starts_with('-'));
    let mut command = Command::new(compiler);
    command
        .args(set.before)
        .arg(&empty)
        .args(libraries)
        .arg("-o")
        .arg(place.join("empty"));
    fs::write(&empty, text).is_ok() && command.output().is_ok_and(|output| output.status.success())
}

/// The programs that must only do the same bare and recorded. Their first lines say how they are
/// built and run.
fn same(folder: &Path, is_chosen: &dyn Fn(&str) -> bool) -> Result<CompiledPrograms> {
    let mut built = CompiledPrograms::default();
    let place = folder.join("same");
    fs::create_dir_all(&place)?;
    for source in sources(&here().join("same"), "", "")? {
        let name = format!("same/{}", stem(&source));
        let text = fs::read_to_string(&source)?;
        let lines = |what: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once(what));
            lines.map(|(_, rest)| rest.trim().to_string()).collect()
        };
        let runs = lines("run: ");
        if runs.is_empty() || !is_chosen(&name) {
            continue;
        }
        let program = place.join(stem(&source));
        let words = format!(
            "SOURCE='{}' PROGRAM='{}' CLANG='{}' LIBOMP='{}'; cd '{}'",
            source.display(),
            program.display(),
            compiler("clang").unwrap_or("clang"),
            libomp().unwrap_or_else(|| "libomp.so".into()).display(),
            place.display()
        );
        if let Some(missing) = lines("needs: ")
            .into_iter()
            .find(|needs| !shell(&format!("{words}; {needs}")).is_ok_and(|o| o.status.success()))
        {
            built.skipped.push(format!("{name}: `{missing}` fails"));
            continue;
        }
        for build in lines("build: ") {
            let output = shell(&format!("{words}; {build}"))?;
            if !output.status.success() {
                bail!(
                    "{}: `{build}`: {}",
                    source.display(),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
        for (number, run) in runs.iter().enumerate() {
            let name = if runs.len() == 1 {
                name.clone()
            } else {
                format!("{name}.{}", number + 1)
            };
            built.programs.push(Program {
                name,
                kind: Kind::Same,
                source: source.clone(),
                start: format!("{words}; {run}"),
                own_tasks: true,
            });
        }
    }
    Ok(built)
}

/// Runs a shell command line.
fn shell(line: &str) -> Result<Output> {
    Command::new("bash")
        .arg("-c")
        .arg(line)
        .output()
        .context("bash")
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
