//! The different kinds of rayon-core in a build: released, vendored, patched, changed, two at once,
//! with features.

use crate::project::{Project, succeeded};
use std::process::Command;
use workspan_rayon::notes;

#[test]
fn vendored_sources_are_recorded_and_patched_ones_said_not_to_be() {
    let project = Project::new();
    project.vendor();
    project.ok(&["build", "--release", "--frozen"]);
    assert_eq!(
        project.notes(),
        [(notes::RECORDED.to_owned(), "1.13.0".to_owned())]
    );
    assert!(project.exists("vendor/rayon-core/.cargo-checksum.json"));

    let checkout = project.place.join("checkout");
    std::fs::rename(project.place.join("vendor/rayon-core"), &checkout).unwrap();
    std::fs::remove_file(checkout.join(".cargo-checksum.json")).unwrap();
    std::fs::remove_file(project.place.join("notes")).unwrap();
    let manifest = std::fs::read_to_string(project.place.join("Cargo.toml")).unwrap();
    let patched = manifest + "\n[patch.crates-io]\nrayon-core = { path = \"checkout\" }\n";
    std::fs::write(project.place.join("Cargo.toml"), patched).unwrap();
    project
        .cargo(&["build", "--release", "--offline"])
        .output()
        .unwrap();
    let notes = project.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].0, notes::UNRECORDED);
    assert!(
        notes[0].1.contains("rayon-core 1.13.0 at") && notes[0].1.contains("[patch]"),
        "{notes:?}"
    );
}

#[test]
fn a_source_without_the_places_for_hooks_is_recorded_without_and_says_so() {
    let project = Project::new();
    project.vendor();
    let folder = project.place.join("vendor/rayon-core");
    let path = folder.join("src/sleep/mod.rs");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("*is_blocked = true;", "*is_blocked = !false;");
    assert_ne!(text, changed);
    std::fs::write(&path, changed).unwrap();
    // Lists no checksums of files, so that cargo accepts the change.
    let sums = std::fs::read_to_string(folder.join(".cargo-checksum.json")).unwrap();
    let package = sums.find("\"package\"").unwrap();
    let sums = format!("{{\"files\":{{}},{}", &sums[package..]);
    std::fs::write(folder.join(".cargo-checksum.json"), sums).unwrap();
    project.ok(&["build", "--release", "--frozen"]);
    let notes = project.notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(notes[0].0, notes::UNHOOKED);
    assert!(
        notes[0].1.contains("rayon-core 1.13.0 differs")
            && notes[0]
                .1
                .contains("src/sleep/mod.rs has `*is_blocked = true;` 0 times"),
        "{notes:?}"
    );
    assert_eq!(notes[1].0, notes::RECORDED);

    // The trace has it too.
    let executable = std::env::current_exe().unwrap();
    let spool = project.place.join("spool");
    std::fs::create_dir(&spool).unwrap();
    let output = Command::new(project.place.join("target/release/small"))
        .env("WORKSPAN_SPOOL_DIR", &spool)
        .env(
            "LD_PRELOAD",
            executable.with_file_name("libworkspan_preload.so"),
        )
        .output()
        .unwrap();
    assert_eq!(succeeded(output), "(1, 2)\n");
    let trace = std::fs::read_dir(&spool).unwrap().next().unwrap().unwrap();
    let trace = std::fs::read(trace.path()).unwrap();
    let said = String::from_utf8_lossy(&trace);
    assert!(said.contains(
        "Steals by victim, failed attempts and sleep are not recorded: rayon-core 1.13.0"
    ));
}

/// cargo itself allows only one rayon-core in a program, because all of them claim to link the same
/// library; a fork may not.
#[test]
fn of_two_rayon_cores_each_is_replaced_or_named() {
    let project = Project::new();
    project.vendor();
    let fork = project.place.join("fork");
    succeeded(
        Command::new("cp")
            .arg("-r")
            .arg(project.place.join("vendor/rayon-core"))
            .arg(&fork)
            .output()
            .unwrap(),
    );
    std::fs::remove_file(fork.join(".cargo-checksum.json")).unwrap();
    let manifest = "[package]\nname = \"rayon-core\"\nversion = \"1.12.9\"\nedition = \"2021\"\nlinks = \"rayon-core\"\n\
                    [dependencies]\ncrossbeam-deque = \"0.8\"\ncrossbeam-utils = \"0.8\"\n";
    std::fs::write(fork.join("Cargo.toml"), manifest).unwrap();
    let own = std::fs::read_to_string(project.place.join("Cargo.toml")).unwrap();
    let own = own.replace(
        "[dependencies]",
        "[dependencies]\nfork = { package = \"rayon-core\", path = \"fork\" }",
    );
    std::fs::write(project.place.join("Cargo.toml"), own).unwrap();
    let main = "fn main() {\n    println!(\"{:?}\", rayon_core::join(|| 1, || fork::join(|| 2, || 3)));\n}\n";
    std::fs::write(project.place.join("src/main.rs"), main).unwrap();
    let build = ["run", "--release", "--offline"];
    let output = project.cargo(&build).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("native library `rayon-core`"),
        "{said}"
    );
    assert_eq!(project.notes(), []);

    std::fs::write(
        fork.join("Cargo.toml"),
        manifest.replace("links = \"rayon-core\"\n", ""),
    )
    .unwrap();
    let output = project.cargo(&build).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "(1, (2, 3))\n");
    let mut notes = project.notes();
    notes.sort();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(notes[0], (notes::RECORDED.to_owned(), "1.13.0".to_owned()));
    assert!(
        notes[1].0 == notes::UNRECORDED && notes[1].1.contains("rayon-core 1.12.9 at"),
        "{notes:?}"
    );
}

/// The feature is for browsers; elsewhere it changes the implementation of locks.
#[test]
fn web_spin_lock_is_recorded_with_hooks() {
    let project = Project::new();
    let own = std::fs::read_to_string(project.place.join("Cargo.toml")).unwrap();
    let own = own.replace(
        "rayon-core = \"1.12\"",
        "rayon-core = { version = \"1.12\", features = [\"web_spin_lock\"] }",
    );
    std::fs::write(project.place.join("Cargo.toml"), own).unwrap();
    if !project.cargo(&["fetch"]).output().unwrap().status.success() {
        println!(
            "skipped: web_spin_lock: cargo could not fetch wasm_sync, which that feature needs"
        );
        return;
    }
    assert!(project.ok(&["run", "--release"]).ends_with("(1, 2)\n"));
    assert_eq!(
        project.notes(),
        [(notes::RECORDED.to_owned(), "1.13.0".to_owned())]
    );
}
