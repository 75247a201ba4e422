//! Programs in C, C++ and Fortran, compiled in all the ways that debug information comes in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_symbols::{Mapping, Position, Resolution, Site, Workspace, resolve};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixture/native")
        .join(name)
}

/// Whether a tool exists. Otherwise prints which test is skipped, around the test harness, which
/// captures the output of passing tests.
fn there(test: &str, tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        workspan_toolchains::skipped(test, &format!("no {tool}"));
    }
    found
}

/// The machine's Clang.
fn clang(plus_plus: &str) -> Option<String> {
    let found = workspan_toolchains::named(&format!("clang{plus_plus}"))?;
    Some(found.command.clone())
}

fn done(command: &mut Command) -> bool {
    let output = command.output().unwrap();
    if !output.status.success() {
        eprintln!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// Compiles a fixture with what says where it was called from, in `folder`, by the source's
/// absolute path.
fn build(folder: &Path, compiler: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let capture = folder.join("capture.o");
    assert!(done(
        Command::new("gcc")
            .args(["-O1", "-c"])
            .arg(fixture("capture.c"))
            .arg("-o")
            .arg(&capture)
    ));
    let program = folder.join("program");
    done(
        Command::new(compiler)
            .current_dir(folder)
            .arg("-I")
            .arg(fixture("include"))
            .args(["-O2", "-fopenmp"])
            .args(flags)
            .arg(fixture(source))
            .arg(&capture)
            .arg("-o")
            .arg(&program),
    )
    .then_some(program)
}

/// The mappings that a program printed.
fn mappings_in(text: &str) -> Vec<Mapping> {
    let hex = |s: &str| u64::from_str_radix(s, 16).unwrap();
    text.lines()
        .filter_map(|l| l.strip_prefix("map "))
        .map(|l| {
            let fields: Vec<&str> = l.splitn(6, ' ').collect();
            let (start, end) = fields[0].split_once('-').unwrap();
            Mapping {
                start: hex(start),
                end: hex(end),
                offset: hex(fields[2]),
                path: l.find('/').map_or_else(PathBuf::new, |at| l[at..].into()),
                build_id: Vec::new(),
            }
        })
        .collect()
}

fn fixture_workspace() -> Workspace {
    Workspace {
        root: Some(fixture("")),
        members: Vec::new(),
    }
}

/// Runs the program and resolves the places that `capture` was called from.
fn resolved(program: &Path) -> Resolution {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mappings = mappings_in(&text);
    let sites: Vec<Site> = text
        .lines()
        .filter_map(|l| match l.split_once(' ')? {
            ("pc", address) => Some((address, true)),
            ("function", address) => Some((address, false)),
            _ => None,
        })
        .map(|(address, returns)| Site::Address {
            address: address.parse().unwrap(),
            returns,
        })
        .collect();
    resolve(&sites, &mappings, &fixture_workspace())
}

/// `file:line` of the line that ends in this comment.
fn marked(source: &str, mark: &str) -> String {
    let text = fs::read_to_string(fixture(source)).unwrap();
    let at = text.lines().position(|l| l.contains(mark)).unwrap();
    format!("{source}:{}", at + 1)
}

fn lines_and_functions(positions: &[Position]) -> Vec<(String, Option<String>)> {
    positions
        .iter()
        .map(|p| (p.label.clone(), p.function.clone()))
        .collect()
}

fn expected(source: &str, marks: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    marks
        .iter()
        .map(|(mark, function)| (marked(source, mark), Some((*function).to_owned())))
        .collect()
}

const C: [(&str, &str); 3] = [
    ("/* inlined */", "inlined"),
    ("/* region */", "main"),
    ("/* task */", "main"),
];

/// What one way of compiling shows of the C program; all of it is the same.
fn check_c(folder: &Path, compiler: &str, flags: &[&str]) {
    let program = build(folder, compiler, "calls.c", flags).unwrap();
    let resolution = resolved(&program);
    assert_eq!(
        lines_and_functions(&resolution.positions),
        expected("calls.c", &C),
        "{compiler} {flags:?}"
    );
    assert!(resolution.warnings.is_empty(), "{:?}", resolution.warnings);
    let first = &resolution.positions[0];
    assert_eq!(first.source.as_deref(), Some("capture(); /* inlined */"));
}

#[test]
fn lines_through_inlining_in_programs_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let mut compilers = vec![];
    if there("lines_through_inlining_in_programs_of_every_kind", "gcc") {
        compilers.push("gcc".to_owned());
    }
    match clang("") {
        Some(clang) => compilers.push(clang),
        None => assert!(!there(
            "lines_through_inlining_in_programs_of_every_kind (clang)",
            "clang"
        )),
    }
    for compiler in compilers {
        for flags in [
            &["-g", "-fPIE", "-pie"][..],
            &["-g", "-fno-pie", "-no-pie"],
            &["-g", "-gdwarf-4"],
            &["-g", "-gz=zlib"],
            &["-g", "-gsplit-dwarf"],
            &["-g", "-gsplit-dwarf", "-gdwarf-4"],
        ] {
            check_c(folder.path(), &compiler, flags);
        }
    }
}

#[test]
fn a_package_of_split_debug_information() {
    let test = "a_package_of_split_debug_information";
    let folder = tempfile::tempdir().unwrap();
    let tools = ["dwp", "llvm-dwp", "llvm-dwp-19"];
    let Some(tool) = tools
        .into_iter()
        .find(|tool| Command::new(tool).arg("--version").output().is_ok())
    else {
        assert!(!there(test, "dwp"));
        return;
    };
    if !there(test, "gcc") {
        return;
    }
    let flags = ["-g", "-gsplit-dwarf", "-gdwarf-4"];
    let program = build(folder.path(), "gcc", "calls.c", &flags).unwrap();
    let package = folder.path().join("program.dwp");
    let packed = done(
        Command::new(tool)
            .current_dir(folder.path())
            .arg("-e")
            .arg(&program)
            .arg("-o")
            .arg(&package),
    );
    assert!(packed);
    let parts: Vec<PathBuf> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dwo"))
        .collect();
    assert!(!parts.is_empty());
    for part in &parts {
        fs::remove_file(part).unwrap();
    }
    let whole = resolved(&program);
    assert_eq!(
        lines_and_functions(&whole.positions),
        expected("calls.c", &C)
    );
    assert!(whole.warnings.is_empty(), "{:?}", whole.warnings);

    // Without the package, the lines are still known, with the functions around them; and a warning
    // names the missing file.
    fs::remove_file(package).unwrap();
    let without = resolved(&program);
    assert!(
        without
            .warnings
            .iter()
            .any(|w| w.contains(".dwo") && w.contains("can't be found")),
        "{:?}",
        without.warnings
    );
    assert_eq!(
        without.positions[1].label,
        marked("calls.c", "/* region */")
    );
}

#[test]
fn separate_debug_files() {
    let test = "separate_debug_files";
    if !there(test, "gcc") || !there(test, "objcopy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    // Without a build id the name and checksum must do, with one the id.
    for (id, places) in [
        (
            "-Wl,--build-id=none",
            &["program.debug", ".debug/program.debug"][..],
        ),
        (
            "-Wl,--build-id=0xabcdef0123",
            &[
                "program.debug",
                ".debug/program.debug",
                ".build-id/ab/cdef0123.debug",
            ],
        ),
    ] {
        let program = build(folder.path(), "gcc", "calls.c", &["-g", id]).unwrap();
        let debug = here("program.debug");
        let only = Command::new("objcopy")
            .arg("--only-keep-debug")
            .args([&program, &debug])
            .status();
        assert!(only.unwrap().success());
        let link = format!("--add-gnu-debuglink={}", debug.display());
        let stripped = done(
            Command::new("objcopy")
                .args(["--strip-all", &link])
                .arg(&program),
        );
        assert!(stripped);
        let away = here("away");
        fs::rename(&debug, &away).unwrap();
        let without = resolved(&program);
        assert!(without.positions[0].label.starts_with("program+0x"));
        assert!(
            without.warnings[0].contains("has no line tables"),
            "{:?}",
            without.warnings
        );
        for place in places {
            let place = here(place);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(&away, &place).unwrap();
            let with = resolved(&program);
            assert_eq!(
                lines_and_functions(&with.positions),
                expected("calls.c", &C),
                "{id} {}",
                place.display()
            );
            assert!(with.warnings.is_empty(), "{:?}", with.warnings);
            fs::remove_file(&place).unwrap();
        }
        // A debug file of another build is not used.
        let mut other = fs::read(&away).unwrap();
        match id {
            "-Wl,--build-id=none" => other.push(0),
            _ => {
                let at = other
                    .windows(5)
                    .position(|w| w == [0xab, 0xcd, 0xef, 1, 0x23]);
                other[at.unwrap()] ^= 1;
            }
        }
        fs::write(&debug, other).unwrap();
        let wrong = resolved(&program);
        assert!(wrong.positions[0].label.starts_with("program+0x"));
        fs::remove_file(debug).unwrap();
    }
}

#[test]
fn without_debug_information_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let test = "without_debug_information_symbols";
    let labels = |compiler: &str, source: &str| -> Vec<String> {
        let program = build(folder.path(), compiler, source, &["-g0", "-fno-inline"]).unwrap();
        let positions = resolved(&program).positions;
        positions.into_iter().map(|p| p.label).collect()
    };
    if there(test, "gcc") {
        assert_eq!(labels("gcc", "calls.c"), ["plain", "main", "main"]);
    }
    if there(test, "g++") {
        assert_eq!(labels("g++", "calls.cpp"), ["app::Tree::walk", "go"]);
    }
    if there(test, "gfortran") {
        assert_eq!(
            labels("gfortran", "calls.f90"),
            ["tree::walk", "outside", "main program"]
        );
    }
}

#[test]
fn a_runtimes_headers_are_walked_outwards() {
    let test = "a_runtimes_headers_are_walked_outwards";
    let folder = tempfile::tempdir().unwrap();
    let mut compilers = vec![];
    if there(test, "g++") {
        compilers.push("g++".to_owned());
    }
    compilers.extend(clang("++"));
    for compiler in compilers {
        for flags in [&["-g"][..], &["-g1"]] {
            let program = build(folder.path(), &compiler, "calls.cpp", flags).unwrap();
            assert_eq!(
                lines_and_functions(&resolved(&program).positions),
                expected(
                    "calls.cpp",
                    &[("// header", "Tree::walk"), ("// lambda", "go")]
                ),
                "{compiler} {flags:?}"
            );
        }
    }
}

#[test]
fn a_block_is_shown_at_its_pragma() {
    if !there("a_block_is_shown_at_its_pragma", "gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // With a section a function the code of another one ends where the block's begins.
    let sections = [
        "-g",
        "-ffunction-sections",
        "-falign-functions=1",
        "-fno-toplevel-reorder",
        "-Wl,--sort-section=name",
    ];
    for flags in [&["-g"][..], &["-g1"], &["-g", "-O0"], &sections] {
        let program = build(folder.path(), "gcc", "block.c", flags).unwrap();
        assert_eq!(
            lines_and_functions(&resolved(&program).positions),
            expected("block.c", &[("/* pragma */", "main")]),
            "{flags:?}"
        );
    }
}

#[test]
fn a_block_behind_another_one_is_shown_at_its_own_pragma() {
    if !there(
        "a_block_behind_another_one_is_shown_at_its_own_pragma",
        "gcc",
    ) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Each block ends in a jump, behind which its table has one more row, where the next block
    // begins.
    for flags in [
        &["-g", "-fno-inline", "-falign-functions=1"][..],
        &["-g", "-fno-inline", "-falign-functions=1", "-gdwarf-4"],
        &["-g", "-fno-inline"],
    ] {
        let program = build(folder.path(), "gcc", "neighbours.c", flags).unwrap();
        let marks = [("/* first */", "tree"), ("/* second */", "tree")];
        assert_eq!(
            lines_and_functions(&resolved(&program).positions),
            expected("neighbours.c", &marks),
            "{flags:?}"
        );
    }
}

#[test]
fn fortran() {
    if !there("fortran", "gfortran") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = build(folder.path(), "gfortran", "calls.f90", &["-g"]).unwrap();
    let marks = [
        ("! procedure", "walk"),
        ("! region", "outside"),
        ("! program", "calls"),
    ];
    assert_eq!(
        lines_and_functions(&resolved(&program).positions),
        expected("calls.f90", &marks)
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn functions_that_end_in_jumps_are_found() {
    let test = "functions_that_end_in_jumps_are_found";
    let folder = tempfile::tempdir().unwrap();
    let mut compilers = vec![];
    if there(test, "gcc") {
        compilers.push("gcc".to_owned());
    }
    compilers.extend(clang(""));
    for compiler in compilers {
        for flags in [&["-g"][..], &["-g1"], &["-g", "-fno-pie", "-no-pie"]] {
            let program = build(folder.path(), &compiler, "tail.c", flags).unwrap();
            let output = Command::new(&program).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let addresses: Vec<u64> = text
                .lines()
                .filter_map(|l| l.strip_prefix("stack ")?.parse().ok())
                .collect();
            let calls = Site::Calls {
                addresses,
                name: String::new(),
            };
            let resolution = resolve(&[calls], &mappings_in(&text), &fixture_workspace());
            assert_eq!(
                lines_and_functions(&resolution.positions),
                expected("tail.c", &[("/* jump */", "last")]),
                "{compiler} {flags:?}"
            );
        }
    }
}
