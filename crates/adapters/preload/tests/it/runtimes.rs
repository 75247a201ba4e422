//! Several copies of a runtime in one process, each with its users: all calls go to the same copy
//! as without us.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::native::{compiler, run, skipped};
use workspan_dag::{Dag, TaskKind};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtimes")
}

fn built(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// A file in one of the system's library folders.
fn system_library(name: &str) -> Option<PathBuf> {
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
}

/// A copy of a library under another name of the same length, which libraries linked with it
/// require.
fn renamed(library: &Path, to: &Path) {
    let mut bytes = std::fs::read(library).unwrap();
    let between = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        [b"\0", name.as_bytes(), b"\0"].concat()
    };
    let (old, new) = (between(library), between(to));
    assert_eq!(old.len(), new.len());
    let mut count = 0;
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(&old) {
            bytes[at..at + new.len()].copy_from_slice(&new);
            count += 1;
        }
    }
    assert!(count > 0, "{} has a name", library.display());
    std::fs::write(to, bytes).unwrap();
}

/// Libraries by letter, and a program that loads them.
struct Libraries {
    folder: tempfile::TempDir,
}

impl Libraries {
    fn new() -> Option<Libraries> {
        let folder = tempfile::tempdir().unwrap();
        let gcc = compiler("gcc")?;
        built(
            Command::new(gcc)
                .args(["-O2", "-g", "-o"])
                .arg(folder.path().join("host"))
                .arg(sources().join("host.c"))
                .arg("-ldl"),
        );
        Some(Libraries { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `lib<letter>.so` of a source file, linked with that library alone.
    fn add(&self, letter: &str, compiler: &str, flags: &[&str], source: &str, runtime: &Path) {
        let object = self.path(&format!("{letter}.o"));
        built(
            Command::new(compiler)
                .args(["-O2", "-g", "-c", "-fPIC"])
                .args(flags)
                .arg(sources().join(source))
                .arg("-o")
                .arg(&object),
        );
        let folder = runtime.parent().unwrap().display();
        built(
            Command::new(compiler)
                .arg("-shared")
                .arg(&object)
                .arg("-o")
                .arg(self.path(&format!("lib{letter}.so")))
                .arg(runtime)
                .arg(format!("-Wl,-rpath,{folder}")),
        );
    }

    /// Loads them in this order, with and without recording, with the same output.
    fn run(&self, order: &str) -> Dag {
        let words: Vec<String> = order
            .split_whitespace()
            .map(|word| match word {
                how @ ("local" | "global" | "unload" | "fork") => how.to_owned(),
                letter => self.path(&format!("lib{letter}.so")).display().to_string(),
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = run(&self.path("host"), &words, &[]);
        run.assert_same(order);
        run.dag
    }
}

/// libgomp (a), a copy of it (b), and libomp with code compiled by gcc (c) and by clang (d), as far
/// as they are installed.
fn openmp() -> Option<(Libraries, String)> {
    let libraries = Libraries::new()?;
    let gcc = compiler("gcc")?;
    let libgomp = system_library("libgomp.so.1")?;
    let copy = libraries.path("libgomp-2.so");
    renamed(&libgomp, &copy);
    let mut letters = "abe".to_owned();
    libraries.add("a", &gcc, &["-fopenmp"], "sum.c", &libgomp);
    libraries.add("b", &gcc, &["-fopenmp"], "sum.c", &copy);
    libraries.add("e", &gcc, &["-fopenmp"], "sum.c", &libgomp);
    if let Some(libomp) = workspan_toolchains::libomp() {
        libraries.add("c", &gcc, &["-fopenmp"], "sum.c", &libomp);
        letters.push('c');
        if let Some(clang) = compiler("clang") {
            libraries.add("d", &clang, &["-fopenmp"], "sum.c", &libomp);
            letters.push('d');
        }
    }
    Some((libraries, letters))
}

/// The number of recorded explicit tasks.
fn tasks(dag: &Dag) -> usize {
    let kinds = dag.tasks.kind.iter();
    kinds.filter(|&&kind| kind == TaskKind::Deferred).count()
}

#[test]
fn calls_go_to_the_openmp_runtime_of_the_callers_library() {
    let Some((libraries, letters)) = openmp() else {
        return skipped("several OpenMP runtimes", "no gcc or libgomp");
    };
    let orders = [
        "local a",
        "local b",
        "local c",
        "local a local b",
        "local b local a",
        "local a local c",
        "local c local a",
        "local c local b local a",
        "local d local a local b",
        "local a local d local c local b",
        "global a local b",
        "local b global a",
        "global c local a local b",
        "fork a fork b",
        "local a unload e local b unload e",
    ];
    for order in orders {
        if order
            .split(' ')
            .any(|word| word.len() == 1 && !letters.contains(word))
        {
            continue;
        }
        let dag = libraries.run(order);
        // In each library, `work` has two turns with 50 tasks.
        let of_gnu = order
            .split(' ')
            .filter(|&w| ["a", "b", "e"].contains(&w))
            .count();
        assert!(
            tasks(&dag) >= of_gnu * 100,
            "{order}: {} tasks",
            tasks(&dag)
        );
        let warnings = &dag.meta.warnings;
        assert!(
            !warnings.iter().any(|w| w.contains("several copies")),
            "{order}: {warnings:?}"
        );
    }
}

#[test]
fn calls_go_to_the_onetbb_of_the_callers_library() {
    let (Some(libraries), Some(cxx), Some(libtbb)) = (
        Libraries::new(),
        compiler("g++"),
        system_library("libtbb.so.12"),
    ) else {
        return skipped("several copies of oneTBB", "no g++ or libtbb");
    };
    let copy = libraries.path("libtbb-22.so");
    renamed(&libtbb, &copy);
    libraries.add("a", &cxx, &[], "loops.cpp", &libtbb);
    libraries.add("b", &cxx, &[], "loops.cpp", &copy);
    libraries.add("e", &cxx, &[], "loops.cpp", &libtbb);
    for order in [
        "local a",
        "local a local b",
        "local b local a",
        "local a unload e local b unload e",
    ] {
        let dag = libraries.run(order);
        assert!(tasks(&dag) >= 2 * 50 * 2, "{order}: {} tasks", tasks(&dag));
    }
}

/// A library that is loaded in the place of another one has its own places.
#[test]
fn a_library_in_anothers_place_has_places_of_its_own() {
    let (Some(libraries), Some(gcc), Some(libgomp)) = (
        Libraries::new(),
        compiler("gcc"),
        system_library("libgomp.so.1"),
    ) else {
        return skipped("libraries in one place", "no gcc or libgomp");
    };
    for letter in ["e", "f"] {
        std::fs::copy(
            sources().join("sum.c"),
            libraries.path(&format!("sum_{letter}.c")),
        )
        .unwrap();
        let source = libraries.path(&format!("sum_{letter}.c"));
        libraries.add(
            letter,
            &gcc,
            &["-fopenmp"],
            source.to_str().unwrap(),
            &libgomp,
        );
    }
    // The runtime stays loaded, because it cannot be unloaded while its threads exist.
    libraries.add("a", &gcc, &["-fopenmp"], "sum.c", &libgomp);
    let dag = libraries.run("local a unload e unload f unload e unload f");
    let mut by_site = BTreeMap::new();
    for task in (0..dag.tasks.len()).filter(|&task| dag.tasks.kind[task] == TaskKind::Deferred) {
        *by_site.entry(dag.tasks.site[task]).or_insert(0) += 1;
    }
    // The tasks of `work`: 50 in each of two turns, each time one of the libraries is loaded, and
    // the tasks of `around`.
    let counts: Vec<i32> = by_site
        .values()
        .copied()
        .filter(|&count| count >= 200)
        .collect();
    assert_eq!(counts.len(), 2, "{by_site:?}");
    assert_eq!(counts[0], counts[1], "{by_site:?}");
}
