//! The headers for Lace, Wool and Parlay and the tool for OpenCilk, each compiled with a
//! stand-in of the runtime's interface: the trace has every spawn and every join, with its line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_toolchains::{Family, Language, openmp, skipped};

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles sources of the fixtures; `None` if there is no compiler, which is printed.
fn built(language: Language, flags: &[&str], sources: &[&str], folder: &Path) -> Option<PathBuf> {
    let compiler = match openmp(Family::Gnu, language) {
        Ok(compiler) => &compiler.command,
        Err(why) => {
            skipped("headers for runtimes of the seeds", &why);
            return None;
        }
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/native");
    let program = folder.join("program");
    let output = Command::new(compiler)
        .args(["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(fixtures.join("stand_in"))
        .arg("-I")
        .arg(root().join("include"))
        .args(flags)
        .args(sources.iter().map(|source| fixtures.join(source)))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sources:?} {flags:?}: {said}");
    Some(program)
}

fn sql(trace: &Path, query: &str) -> Vec<Vec<String>> {
    let output = Command::new(WORKSPAN)
        .arg("sql")
        .arg(trace)
        .args([query, "--format", "csv"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let cells = |row: &str| row.split(',').map(str::to_owned).collect();
    rows.lines().skip(1).map(cells).collect()
}

/// Tasks by spawn site (the root's left out), and the number of joins.
fn recorded(program: &Path) -> (BTreeMap<String, u64>, u64) {
    // It works in the same way without a recorder.
    assert!(Command::new(program).status().unwrap().success());
    let trace = program.with_extension("wspan");
    let output = Command::new(WORKSPAN)
        .args(["record", "--no-report", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(program)
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let rows = sql(
        &trace,
        "select s.label, count(*) from tasks t join sites s on t.site = s.site
         where t.parent is not null group by s.label",
    );
    let number = |cell: &str| cell.parse::<u64>().unwrap();
    let sites = rows
        .into_iter()
        .map(|row| (row[0].clone(), number(&row[1])));
    let sites = sites.collect();
    let syncs = number(&sql(&trace, "select syncs from runs")[0][0]);
    let broken = sql(
        &trace,
        "select count(*) from strands where \"end\" < start or time < 0",
    );
    assert_eq!(broken[0][0], "0");
    std::fs::remove_file(trace).unwrap();
    (sites, syncs)
}

/// `fib` makes as many tasks as it is called with 2 or more: 54 of 9, 33 of 8.
const FIB_9: u64 = 54;
const FIB_8: u64 = 33;

#[test]
fn lace_and_wool_by_their_own_macros() {
    for (library, runs) in [("-DLACE", 1), ("-DWOOL", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let source = ["spawn_sync_fib.c"];
        let Some(program) = built(Language::C, &[library], &source, folder.path()) else {
            return;
        };
        let (sites, syncs) = recorded(&program);
        let text = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/native/spawn_sync_fib.c"),
        );
        let text = text.unwrap();
        let line = |text_part: &str| {
            let at = text
                .lines()
                .position(|line| line.contains(text_part))
                .unwrap();
            let count = sites.iter().find(|(site, _)| {
                site.split('`')
                    .next()
                    .unwrap()
                    .trim()
                    .ends_with(&format!("spawn_sync_fib.c:{}", at + 1))
            });
            count.map_or(0, |(_, count)| *count)
        };
        assert_eq!(
            line("SPAWN(fib, n - 1)"),
            FIB_9 + FIB_8,
            "{library}: {sites:?}"
        );
        assert_eq!(line("SPAWN(touch, n)"), 1, "{library}: {sites:?}");
        assert_eq!(line("SPAWN(fib, n);"), 1, "{library}: {sites:?}");
        assert_eq!(line("RUN(both"), runs, "{library}: {sites:?}");
        assert_eq!(syncs, FIB_9 + FIB_8 + 2 + runs, "{library}");
    }
}

#[test]
fn parlay_by_its_own_functions() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-std=c++17"];
    let Some(program) = built(Language::Cxx, &flags, &["parlay_fib.cpp"], folder.path()) else {
        return;
    };
    let (sites, syncs) = recorded(&program);
    let of = |name: &str| {
        let of_name = sites.iter().filter(|(site, _)| site.starts_with(name));
        of_name.map(|(_, count)| count).sum::<u64>()
    };
    // [0, 10) in halves down to 3: three forks.
    assert_eq!((of("par_do"), of("parallel_for")), (FIB_9, 3), "{sites:?}");
    assert_eq!(syncs, FIB_9 + 3);
}

#[test]
fn opencilk_by_the_hooks_of_its_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let tool = root().join("include/workspan/cilk_tool.c");
    let flags = ["-std=gnu99", tool.to_str().unwrap()];
    let Some(program) = built(Language::C, &flags, &["cilk_hooks.c"], folder.path()) else {
        return;
    };
    let (sites, syncs) = recorded(&program);
    let of = |line: &str| {
        sites
            .iter()
            .find(|(site, _)| site.starts_with(line))
            .map(|s| *s.1)
    };
    // A sync joins all children of its function at once.
    assert_eq!(of("fib.c:3"), Some(FIB_9), "{sites:?}");
    assert_eq!(of("fib.c:4"), Some(3), "{sites:?}");
    assert_eq!(syncs, FIB_9 + 1);
}
