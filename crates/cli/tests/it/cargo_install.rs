//! `cargo install --path crates/cli` gives the whole tool. Slow, so `cargo xtask test` runs it, a plain `cargo test` not.

use std::fs;
use std::path::Path;

use crate::project::{CARGO_WORKSPAN, Project, bare, printed, read, said, sites, trace_of};

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
