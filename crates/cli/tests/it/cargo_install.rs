//! `cargo install --path crates/cli` and `--git` give the whole tool, or stop and say what is
//! missing. Those that build the tool are slow, so `cargo xtask test --long` runs them, but not a
//! plain `cargo test`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::native::skipped;
use crate::project::{CARGO_WORKSPAN, Project, bare, printed, read, said, sites, trace_of};

/// A clone of the repository as it was committed last: without a built page.
fn clone(folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let clone = folder.join("clone");
    let mut git = bare("git");
    git.args(["clone", "--quiet", "--no-hardlinks"]).arg(root);
    let cloned = git.arg(&clone).output();
    cloned
        .is_ok_and(|output| output.status.success())
        .then_some(clone)
}

/// A path on which `node` and `npm` fail, as if they were not installed.
fn path_without_node(folder: &Path) -> std::ffi::OsString {
    let bin = folder.join("no node");
    fs::create_dir_all(&bin).unwrap();
    for name in ["node", "npm"] {
        let file = bin.join(name);
        fs::write(&file, "#!/bin/sh\nexit 127\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut path = vec![bin];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    std::env::join_paths(path).unwrap()
}

/// The folder in which cargo builds what it installs: crates of registries once for all these
/// tests. Builds of a clone have a path of their own.
fn builds() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("installations")
}

#[test]
fn an_installation_without_node_stops_at_once_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clone) = clone(folder.path()) else {
        return skipped("an installation without Node", "no git, or not a clone");
    };
    let mut install = bare("cargo");
    install
        .args(["install", "--locked", "--path", "crates/cli", "--root"])
        .arg(folder.path().join("root"))
        .current_dir(&clone)
        .env("PATH", path_without_node(folder.path()))
        .env("CARGO_TARGET_DIR", folder.path().join("empty target"));
    let output = install.output().unwrap();
    assert!(!output.status.success());
    let text = said(&output);
    assert!(text.contains("Compiling workspan-page"), "{text}");
    // What takes long to compile waits for the crate that stops: the tool's own crates, for one.
    for waiting in ["workspan-trace", "workspan-dag", "workspan-view"] {
        let line = format!("Compiling {waiting} ");
        assert!(
            !text.contains(&line),
            "{waiting} was compiled first:\n{text}"
        );
    }
    assert!(
        text.contains("install Node 20.19 or later with npm (Debian 13: apt-get install npm;")
            && text.contains("and repeat this command"),
        "{text}"
    );
    assert!(!folder.path().join("root/bin/workspan").exists());
}

#[test]
fn programs_that_depend_on_other_crates_build_without_node() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for package in ["workspan-recorder", "workspan-reader"] {
        let output = bare("cargo")
            .args(["tree", "--offline", "--locked", "--prefix=none"])
            .args(["--edges=normal,build", "--package", package])
            .current_dir(&workspace)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let tree = printed(&output);
        assert!(tree.contains("workspan-trace v"), "{tree}");
        assert!(!tree.contains("workspan-page v"), "{tree}");
    }
    // Workspaces of their own, which depend on crates of the tool.
    for lock in ["lake/Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = fs::read_to_string(workspace.join(lock)).unwrap();
        assert!(lock.contains("\"workspan-trace\""));
        assert!(!lock.contains("\"workspan-page\""));
    }
}

#[test]
#[ignore = "builds the tool once more, optimised"]
fn an_installation_from_git_is_the_whole_tool() {
    if bare("npm").arg("--version").output().is_err() {
        return skipped("an installation from git", "no npm");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(clone) = clone(folder.path()) else {
        return skipped("an installation from git", "no git, or not a clone");
    };
    let root = folder.path().join("root");
    let mut install = bare("cargo");
    install
        .args(["install", "--locked", "--no-track", "--git"])
        .arg(format!("file://{}", clone.display()))
        .arg("--root")
        .arg(&root)
        .arg("workspan")
        .env("CARGO_TARGET_DIR", builds());
    let output = install.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    // The page is inside: a report of any trace is a page.
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/statistics/two_steals.jsonl");
    let page = folder.path().join("page.html");
    let output = bare(root.join("bin/workspan"))
        .arg("html")
        .arg(trace)
        .arg("-o")
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(fs::metadata(&page).unwrap().len() > 100_000);
}

#[test]
#[ignore = "builds the tool once more"]
fn two_files_installed_into_an_empty_root_are_the_whole_tool() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("empty root");
    // What the tests were built with serves again.
    let target = Path::new(CARGO_WORKSPAN)
        .parent()
        .and_then(Path::parent)
        .unwrap();
    let mut install = bare("cargo");
    install.args([
        "install",
        "--locked",
        "--debug",
        "--no-track",
        "--path",
        env!("CARGO_MANIFEST_DIR"),
        "--root",
    ]);
    let output = install
        .arg(&root)
        .arg("--target-dir")
        .arg(target)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let bin = root.join("bin");
    let mut names: Vec<_> = fs::read_dir(&bin)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["cargo-workspan", "workspan"]);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);

    // As a new user: found by cargo on the path, an empty cache.
    let project = Project::named("sorter", "sorter, installed");
    let mut path = vec![bin.clone()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut command = project.command("cargo");
    command
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("XDG_CACHE_HOME", folder.path().join("new cache"));
    let output = command
        .args(["workspan", "run", "--", "exit", "6"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    assert_eq!(sites(&read(&trace)), ["src/lib.rs:5"]);

    let output = bare(bin.join("workspan"))
        .arg("report")
        .arg(&trace)
        .output()
        .unwrap();
    assert!(
        output.status.success() && printed(&output).contains("src/lib.rs:5"),
        "{}",
        said(&output)
    );
}
