//! What the checks need of the machine: cargo's own parts, and the compilers and runtimes of the
//! programs that tests build.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use workspan_toolchains::{self as toolchains, builds};

/// Of Clang and its OpenMP runtime, the versions that may be installed; one of them will do.
const LLVM: [u32; 6] = [19, 18, 17, 16, 15, 14];

/// Debian's package of the Chromium without windows, and its program.
const HEADLESS: &str = "chromium-headless-shell";

/// Installs what this machine lacks where that may be done (as root, or in CI), and says what to do
/// elsewhere. Without a C compiler or a part of cargo nothing goes; what else is missing makes
/// tests skip, by name.
pub fn prepare() -> Result<()> {
    let may = may_install();
    for (program, part) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if works(program, &["--version"]) {
            continue;
        }
        let how = format!("rustup component add {part}");
        if !may || !run("rustup", &["component", "add", part]) {
            bail!("`{program}` is missing: {how}");
        }
    }
    let missing = missing();
    if !missing.is_empty() {
        install(&missing, may);
    }
    // Alone, so that the compilers do not depend on it. Where a whole browser is, the tests take
    // that if the smaller one can't be had.
    let smaller = crate::ui::headless().is_none() && known(HEADLESS);
    if smaller && (may || crate::ui::browser().is_none()) {
        install(&[HEADLESS.to_owned()], may);
    }
    if crate::ui::headless().or_else(crate::ui::browser).is_none() {
        install(&["chromium".to_owned()], may);
    }
    python(may);
    if !works("cc", &["--version"]) {
        bail!("a C compiler is missing: apt-get install gcc libc6-dev");
    }
    Ok(())
}

/// Whether this machine is one to install things on.
pub fn may_install() -> bool {
    std::env::var_os("CI").is_some() || is_root()
}

/// A Python of our own, in the target folder, with the schema that traces for Perfetto are read
/// back by.
fn python(may: bool) {
    let import = "import perfetto.protos.perfetto.trace.perfetto_trace_pb2";
    let folder = target().join("python");
    let own = folder.join("bin/python3");
    let own = own.to_string_lossy();
    if works("python3", &["-c", import]) || works(&own, &["-c", import]) {
        return;
    }
    let venv = folder.to_string_lossy();
    let made = may
        && run("python3", &["-m", "venv", &venv])
        && run(
            &own,
            &["-m", "pip", "install", "-q", "perfetto", "protobuf"],
        );
    if !made {
        println!(
            "== no Python with the package `perfetto`: what is written for Perfetto is not read back"
        );
    }
}

/// Where cargo puts what it builds.
fn target() -> std::path::PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty());
    named.map_or_else(|| "target".into(), Into::into)
}

/// Debian packages of what is not there.
fn missing() -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for (program, package) in [("cc", "gcc"), ("g++", "g++"), ("gfortran", "gfortran")] {
        if !works(program, &["--version"]) {
            packages.push(package.into());
        }
    }
    if packages.iter().any(|package| package == "gcc") {
        packages.push("libc6-dev".into());
    }
    if !works("dot", &["-V"]) {
        packages.push("graphviz".into());
    }
    packages.extend(clang());
    // Debian's Python makes no environments without it.
    if !works("python3", &["-c", "import ensurepip"]) {
        packages.push("python3-venv".into());
    }
    let program = "#include <tbb/task_group.h>\nint main() {}\n";
    if !builds("g++", "c++", program, &["-ltbb"]) {
        packages.push("libtbb-dev".into());
    }
    for (compiler, of_library) in [
        ("mpicc.openmpi", ["openmpi-bin", "libopenmpi-dev"]),
        ("mpicc.mpich", ["mpich", "libmpich-dev"]),
    ] {
        if !works(compiler, &["--version"]) {
            packages.extend(of_library.map(str::to_owned));
        }
    }
    packages
}

/// Clang with an OpenMP runtime and sanitizers of its own version. Runtimes of two versions can't
/// be installed side by side, so one that is there decides.
fn clang() -> Vec<String> {
    // Not the one that is chosen once for all: another may be installed now.
    let here = toolchains::choose(toolchains::Family::Llvm, toolchains::Language::C);
    if let Some(clang) = here.filter(|clang| clang.openmp) {
        return sanitizers(&clang).into_iter().collect();
    }
    let installed = |package: &str| works("dpkg", &["-s", package]);
    let runtime = LLVM
        .into_iter()
        .find(|v| installed(&format!("libomp5-{v}")));
    let newest = || LLVM.into_iter().find(|v| known(&format!("libomp-{v}-dev")));
    match runtime.or_else(newest) {
        Some(version) => {
            let mut packages = vec![format!("clang-{version}"), format!("libomp-{version}-dev")];
            packages.extend(sanitizers_of(version));
            packages
        }
        None => vec!["clang".into(), "libomp-dev".into()],
    }
}

/// The sanitizers of a compiler that is there without them.
fn sanitizers(clang: &toolchains::Compiler) -> Option<String> {
    let program = "int main(void) { return 0; }\n";
    if builds(&clang.command, "c", program, &["-fsanitize=address"]) {
        return None;
    }
    sanitizers_of(clang.major())
}

fn sanitizers_of(version: u32) -> Option<String> {
    Some(format!("libclang-rt-{version}-dev")).filter(|package| known(package))
}

/// Whether there is such a package to install.
fn known(package: &str) -> bool {
    let output = Command::new("apt-cache").args(["policy", package]).output();
    let said = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let candidate =
        |said: String| said.contains("Candidate: ") && !said.contains("Candidate: (none)");
    said.is_ok_and(candidate)
}

fn install(packages: &[String], may: bool) {
    let line = format!(
        "apt-get install --no-install-recommends {}",
        packages.join(" ")
    );
    let here = may && works("apt-get", &["--version"]);
    if here {
        println!("== {line}");
        // Nothing that somebody else installed is taken away for it.
        let mut words = vec![
            "install",
            "-y",
            "-qq",
            "--no-remove",
            "--no-install-recommends",
        ];
        words.extend(packages.iter().map(String::as_str));
        // The lists may be missing, or too old.
        if apt_get(&words) || (apt_get(&["update", "-qq"]) && apt_get(&words)) {
            return;
        }
    }
    println!(
        "== tests are skipped for want of packages{}; on Debian or Ubuntu: {line}",
        if here {
            ", which could not be installed"
        } else {
            ""
        }
    );
}

fn apt_get(words: &[&str]) -> bool {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "apt-get"]);
        sudo
    };
    let status = command
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    status.is_ok_and(|s| s.success())
}

fn run(program: &str, words: &[&str]) -> bool {
    println!("== {program} {}", words.join(" "));
    Command::new(program)
        .args(words)
        .status()
        .is_ok_and(|s| s.success())
}

/// Whether the program is there and does this without complaint.
fn works(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// Whether we may do anything here.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
