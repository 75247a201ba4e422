//! Runs oxipng and tokei, programs that people use, bare and recorded: nothing but the time may
//! differ.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::picture::png;
use crate::workspace::{build_release, cargo, cargo_workspan, output, succeed, target, workspan};

/// Number of runs of a program in each way; the ways alternate.
const ROUNDS: usize = 5;

/// The outcome of one program.
pub enum Outcome {
    /// Outputs and exit code are equal, and there are sites in the program's own source.
    Same,
    /// Something differed.
    Differs(String),
    /// It was not run, for this reason.
    Skipped(String),
}

struct Program {
    name: &'static str,
    version: &'static str,
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "oxipng",
        version: "10.2.1",
    },
    Program {
        name: "tokei",
        version: "15.0.0",
    },
];

/// Builds, runs and compares every program. Returns one named outcome each.
pub fn run() -> Result<Vec<(&'static str, Outcome)>> {
    build_release(true)?;
    let folder = target().join("workspan/real-programs");
    fs::create_dir_all(folder.join("src"))?;
    let packages = match packages(&folder)? {
        Ok(packages) => packages,
        Err(why) => {
            let skipped = |p: &Program| (p.name, Outcome::Skipped(why.clone()));
            return Ok(PROGRAMS.iter().map(skipped).collect());
        }
    };
    let mut outcomes = Vec::new();
    for (program, package) in PROGRAMS.iter().zip(&packages) {
        let outcome = compare(program, package, &folder)
            .unwrap_or_else(|error| Outcome::Differs(format!("{error:#}")));
        outcomes.push((program.name, outcome));
    }
    Ok(outcomes)
}

/// The folders of the programs' sources as cargo unpacked them, or the reason why it could not.
fn packages(folder: &Path) -> Result<Result<Vec<PathBuf>, String>> {
    let mut manifest = String::from(
        "[package]\nname = \"real-programs\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n",
    );
    for Program { name, version } in &PROGRAMS {
        manifest += &format!("{name} = \"={version}\"\n");
    }
    manifest += "\n[workspace]\nexclude = [\"oxipng\", \"tokei\"]\n";
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let metadata = cargo()
        .args(["metadata", "--format-version=1"])
        .current_dir(folder)
        .output()?;
    if !metadata.status.success() {
        let said = String::from_utf8_lossy(&metadata.stderr);
        let last = said.lines().last().unwrap_or_default();
        return Ok(Err(format!("cargo could not fetch its sources: {last}")));
    }
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let all = metadata["packages"].as_array().into_iter().flatten();
    let all: Vec<&Value> = all.collect();
    let mut found = Vec::new();
    for Program { name, .. } in &PROGRAMS {
        let of_name = all.iter().find(|p| p["name"] == *name);
        let source = of_name
            .and_then(|p| Path::new(p["manifest_path"].as_str()?).parent())
            .with_context(|| format!("cargo metadata names no package {name}"))?;
        let copy = folder.join(name);
        let _ = fs::remove_dir_all(&copy);
        succeed(Command::new("cp").arg("-Rp").arg(source).arg(&copy))?;
        found.push(copy);
    }
    Ok(Ok(found))
}

fn compare(program: &Program, package: &Path, folder: &Path) -> Result<Outcome> {
    let name = program.name;
    let bare = executable(&mut cargo(), package, folder)?;
    let recordable = executable(&mut cargo_workspan("release")?, package, folder)?;
    let trace = folder.join(format!("{name}.wspan"));
    let mut times = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let expected = start(Command::new(&bare), name, folder, &mut times[0])?;
        let _ = fs::remove_file(&trace);
        let mut record = workspan("release");
        record.args(["record", "--no-report", "-o"]);
        record.arg(&trace).arg("--").arg(&recordable);
        let found = start(record, name, folder, &mut times[1])?;
        if let Some(difference) = difference(&expected, &found) {
            return Ok(Outcome::Differs(difference));
        }
    }
    let text = output(workspan("release").args(["report", "--json"]).arg(&trace))?;
    let report: Value = serde_json::from_str(&text)?;
    let sites = own_sites(&report, package);
    println!(
        "{name} {}: bare {:.0} ms, recorded {:.0} ms (with the trace finished), ratio {:.2}; minima of {ROUNDS}; {} sites \
         in its own source: {}",
        program.version,
        times[0].as_secs_f64() * 1e3,
        times[1].as_secs_f64() * 1e3,
        times[1].as_secs_f64() / times[0].as_secs_f64(),
        sites.len(),
        sites.join(", ")
    );
    if sites.is_empty() {
        return Ok(Outcome::Differs("no site in its own source".into()));
    }
    Ok(Outcome::Same)
}

/// Builds the program's release without link-time optimisation and with unwinding, in the same way
/// bare and recorded. Returns its executable.
fn executable(cargo: &mut Command, package: &Path, folder: &Path) -> Result<PathBuf> {
    cargo
        .args(["build", "--release", "--locked", "--bins", "--quiet"])
        .args(["--message-format", "json"])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        // Two whole-program optimisations would take longer than all the other checks.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_PANIC", "unwind")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    let messages = output(cargo)?;
    let mut found = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|m| m["executable"].as_str().map(PathBuf::from));
    found
        .next_back()
        .with_context(|| format!("{cargo:?} named no executable"))
}

/// The results of a run: exit code, output, and the files that it wrote.
struct RunResult {
    code: Option<i32>,
    printed: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

/// Runs the program on its input. `least` becomes the minimum time up to now.
fn start(
    mut command: Command,
    name: &str,
    folder: &Path,
    least: &mut Duration,
) -> Result<RunResult> {
    let written = folder.join(format!("{name}-output"));
    let _ = fs::remove_dir_all(&written);
    fs::create_dir_all(&written)?;
    match name {
        "oxipng" => {
            command.args(["--opt", "2", "--dir"]).arg(&written);
            for seed in [1, 2, 3] {
                let picture = folder.join(format!("picture-{seed}.png"));
                fs::write(&picture, png(400, seed))?;
                command.arg(picture);
            }
        }
        // Folders with enough source, the same on every machine.
        "tokei" => {
            command.args(["--sort", "code"]);
            command.args([folder.join("oxipng"), folder.join("tokei")]);
        }
        other => bail!("no input for {other}"),
    }
    let started = Instant::now();
    let Output { status, stdout, .. } = command.output().with_context(|| format!("{command:?}"))?;
    *least = started.elapsed().min(*least);
    let mut files = Vec::new();
    for entry in fs::read_dir(&written)? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        files.push((file.into_owned(), fs::read(&path)?));
    }
    files.sort();
    if name == "oxipng" && files.len() != 3 {
        bail!("{command:?}: {status}, {} pictures written", files.len());
    }
    Ok(RunResult {
        code: status.code(),
        printed: stdout,
        files,
    })
}

fn difference(bare: &RunResult, recorded: &RunResult) -> Option<String> {
    if bare.code != recorded.code {
        return Some(format!(
            "exit code {:?}, recorded {:?}",
            bare.code, recorded.code
        ));
    }
    if bare.printed != recorded.printed {
        return Some("its output differs recorded".into());
    }
    let differs = bare.files.iter().zip(&recorded.files).find(|(a, b)| a != b);
    differs.map(|((file, _), _)| format!("{file} differs recorded"))
}

/// `file:line` of the report's sites in the program's own folder, in order, each once.
fn own_sites(report: &Value, package: &Path) -> Vec<String> {
    let mut found = Vec::new();
    gather(report, package, &mut found);
    found.sort();
    found.dedup();
    found
}

fn gather(value: &Value, package: &Path, found: &mut Vec<String>) {
    if let (Some(file), Some(line)) = (value["file"].as_str(), value["line"].as_u64()) {
        let file = Path::new(file);
        let own = file.strip_prefix(package).ok();
        let own = own.or_else(|| file.starts_with("src").then_some(file));
        if let Some(own) = own.filter(|f| package.join(f).exists()) {
            found.push(format!("{}:{line}", own.display()));
        }
    }
    match value {
        Value::Object(map) => map.values().for_each(|v| gather(v, package, found)),
        Value::Array(list) => list.iter().for_each(|v| gather(v, package, found)),
        _ => {}
    }
}
