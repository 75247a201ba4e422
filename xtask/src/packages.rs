//! The components of the machine that the checks need: cargo's own parts, and the compilers and
//! runtimes of the programs that tests build.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use workspan_toolchains::{self as toolchains, builds};

/// Versions of Clang and its OpenMP runtime that may be installed; one of them is enough.
const LLVM: [u32; 6] = [19, 18, 17, 16, 15, 14];

/// Debian's package of headless Chromium, and its program.
const HEADLESS: &str = "chromium-headless-shell";

/// Installs the missing components if that is allowed (as root, or in CI), and otherwise says what
/// to do. A C compiler and the parts of cargo are required; without other components, tests are
/// skipped by name.
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
    // Installed separately, so that the compilers do not depend on it. If a full browser exists,
    // the tests use that if the smaller one is not available.
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

/// Whether components may be installed on this machine.
pub fn may_install() -> bool {
    std::env::var_os("CI").is_some() || is_root()
}

/// Makes a Python environment in the target folder, with the schema for reading traces of Perfetto
/// back.
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

/// The folder of cargo's builds.
fn target() -> std::path::PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty());
    named.map_or_else(|| "target".into(), Into::into)
}

/// Debian packages of the missing components.
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
    // Debian's Python can't make environments without it.
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

/// Packages of Clang with an OpenMP runtime and sanitizers of the same version. Runtimes of two
/// versions can't be installed side by side, so an installed one decides.
fn clang() -> Vec<String> {
    // Not the choice that is made once for all, because another one may be installed now.
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

/// The package of the sanitizers for an installed compiler that lacks them.
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

/// Whether such a package can be installed.
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
        // Never removes a package that another user installed.
        let mut words = vec![
            "install",
            "-y",
            "-qq",
            "--no-remove",
            "--no-install-recommends",
        ];
        words.extend(packages.iter().map(String::as_str));
        // The package lists may be missing, or too old.
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

/// Whether the program exists and succeeds with these arguments.
fn works(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// Whether we are root.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
