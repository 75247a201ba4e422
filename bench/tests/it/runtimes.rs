//! The kernels in tp.h C++, on every runtime this machine can compile for: they print what the
//! Rayon ones print.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel, its arguments, and the Rayon program of the same name.
const KERNELS: [(&str, &[&str], &str); 15] = [
    ("fib", &["18", "5"], env!("CARGO_BIN_EXE_fib")),
    ("nqueens", &["8", "3"], env!("CARGO_BIN_EXE_nqueens")),
    ("msort", &["50001", "1000"], env!("CARGO_BIN_EXE_msort")),
    (
        "msort",
        &["50001", "1000", "--merge", "parallel"],
        env!("CARGO_BIN_EXE_msort"),
    ),
    ("matmul", &["65", "16"], env!("CARGO_BIN_EXE_matmul")),
    ("sparselu", &["6", "8"], env!("CARGO_BIN_EXE_sparselu")),
    ("treesum", &["10", "3"], env!("CARGO_BIN_EXE_treesum")),
    ("align", &["20", "2", "50"], env!("CARGO_BIN_EXE_align")),
    ("fft", &["10", "64"], env!("CARGO_BIN_EXE_fft")),
    ("holder", &["1000", "20"], env!("CARGO_BIN_EXE_holder")),
    ("queue", &["1000", "20", "100"], env!("CARGO_BIN_EXE_queue")),
    ("deep", &["4", "20", "100"], env!("CARGO_BIN_EXE_deep")),
    ("late", &["10", "200"], env!("CARGO_BIN_EXE_late")),
    (
        "records",
        &["5001", "100", "3"],
        env!("CARGO_BIN_EXE_records"),
    ),
    (
        "records",
        &["5001", "100", "3", "--read", "parallel"],
        env!("CARGO_BIN_EXE_records"),
    ),
];

/// Numbers of workers for the programs of each runtime, as schedules differ.
pub const WORKERS: [&str; 3] = ["1", "2", "4"];

pub fn skipped(what: &str, why: &str) {
    workspan_toolchains::skipped(&format!("kernels on {what}"), why);
}

/// The first of these compilers that there is.
pub fn compiler(names: &[&'static str]) -> Option<&'static str> {
    let found = names
        .iter()
        .find_map(|name| workspan_toolchains::named(name));
    found.map(|compiler| compiler.command.as_str())
}

pub fn build(
    compiler: &str,
    flags: &[&str],
    kernel: &str,
    folder: &Path,
) -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(kernel.rsplit('/').next().unwrap());
    let output = Command::new(compiler)
        .args(["-std=c++11", "-O1", "-Wall", "-Wextra", "-pedantic", "-I"])
        .arg(here.join("../include"))
        .arg(here.join(format!("tp/{kernel}.cpp")))
        .args(flags)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(said);
    }
    assert_eq!(said, "", "{compiler} warns of {kernel}");
    Ok(program)
}

pub fn printed(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{program:?} {arguments:?}: {}: {said}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

fn same_output(runtime: &str, compilers: &[&'static str], flags: &[&str], header: Option<&str>) {
    let Some(compiler) = compiler(compilers) else {
        return skipped(
            runtime,
            &format!("none of {} is there", compilers.join(", ")),
        );
    };
    let folder = tempfile::tempdir().unwrap();
    if let Some(header) = header {
        let probe = folder.path().join("probe.cpp");
        std::fs::write(&probe, format!("#include <{header}>\nint main() {{}}\n")).unwrap();
        let mut compile = Command::new(compiler);
        compile
            .args(["-std=c++11", "-o"])
            .arg(folder.path().join("probe"));
        let output = compile.arg(&probe).args(flags).output().unwrap();
        if !output.status.success() {
            return skipped(
                runtime,
                &format!("{compiler} finds no <{header}> with {flags:?}"),
            );
        }
    }
    let mut last = "";
    for (kernel, arguments, rayon) in KERNELS {
        if kernel != last {
            build(compiler, flags, kernel, folder.path())
                .unwrap_or_else(|why| panic!("{compiler} {flags:?} on {kernel}: {why}"));
            last = kernel;
        }
        let expected = printed(Path::new(rayon), arguments);
        for workers in WORKERS {
            let mut words = arguments.to_vec();
            words.extend(["--workers", workers]);
            let found = printed(&folder.path().join(kernel), &words);
            assert_eq!(found, expected, "{runtime}: {kernel} {words:?}");
        }
    }
}

#[test]
fn the_serial_elision() {
    same_output(
        "the serial elision",
        &["g++", "clang++"],
        &["-DTP_SERIAL"],
        None,
    );
}

#[test]
fn the_serial_elision_told_by_the_api() {
    let flags = ["-DTP_WORKSPAN"];
    same_output(
        "the serial elision told by the API",
        &["g++", "clang++"],
        &flags,
        None,
    );
}

#[test]
fn gnu_openmp() {
    same_output(
        "GNU OpenMP",
        &["g++"],
        &["-DTP_OPENMP", "-fopenmp"],
        Some("omp.h"),
    );
}

#[test]
fn llvm_openmp() {
    same_output(
        "LLVM OpenMP",
        &["clang++"],
        &["-DTP_OPENMP", "-fopenmp"],
        Some("omp.h"),
    );
}

#[test]
fn one_tbb() {
    let header = Some("oneapi/tbb/task_group.h");
    same_output("oneTBB", &["g++"], &["-DTP_TBB", "-ltbb"], header);
}
