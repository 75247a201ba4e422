//! The wrapper under cargo: profiles, checks, locked and offline builds, freshness, and a
//! wrapper of the user's own.

use crate::project::{Project, succeeded};
use std::process::Command;
use workspan_rayon::{environment, notes};

#[test]
fn every_profile_builds_locked_and_offline_and_once() {
    let project = Project::new();
    let lock = std::fs::read(project.place.join("Cargo.lock")).unwrap();
    // Fetches missing packages; from here on nothing needs the network.
    project.ok(&["fetch", "--locked"]);
    project.ok(&["check", "--offline", "--locked"]);
    assert!(project.has_artifact("debug", "librayon_core_real-", ".rmeta"));
    assert!(!project.has_artifact("debug", "librayon_core_real-", ".rlib"));
    for profile in ["release", "lto", "thin", "dev"] {
        let said = project.ok(&["run", "--frozen", "--profile", profile]);
        assert!(
            said.contains("Compiling rayon-core v1.13.0") && said.ends_with("(1, 2)\n"),
            "{said}"
        );
        let again = project.ok(&["run", "--frozen", "--profile", profile]);
        assert!(!again.contains("Compiling"), "{profile}: {again}");
    }
    assert!(project.has_artifact("release", "librayon_core_real-", ".rlib"));
    assert_eq!(
        std::fs::read(project.place.join("Cargo.lock")).unwrap(),
        lock
    );
    let recorded = (notes::RECORDED.to_owned(), "1.13.0".to_owned());
    assert_eq!(project.notes(), vec![recorded; 5]);
    // Panics and debuggers name the user's source instead of the copy with hooks, which has been
    // removed.
    let program = std::fs::read(project.place.join("target/debug/small")).unwrap();
    let names = |text: &str| {
        let mut windows = program.windows(text.len());
        windows.any(|bytes| bytes == text.as_bytes())
    };
    assert!(names("workspan_hooks") && names("/rayon-core-1.13.0/src/registry.rs"));
    assert!(!names(".source/"), "the copy's path shows");
    assert!(!project.has_artifact("debug", "rayon_core_real", ".source"));
}

#[test]
fn line_tables_are_there_unless_the_profile_is_kept() {
    let has_lines = |project: &Project| {
        let program = std::fs::read(project.place.join("target/lto/small")).unwrap();
        program.windows(12).any(|bytes| bytes == b".debug_line\0")
    };
    let project = Project::new();
    project.ok(&["build", "--locked", "--profile", "lto"]);
    assert!(has_lines(&project));
    let project = Project::new();
    let kept = project
        .cargo(&["build", "--locked", "--profile", "lto"])
        .env(environment::KEEP_PROFILE, "1")
        .output()
        .unwrap();
    succeeded(kept);
    assert!(!has_lines(&project));
}

#[test]
fn the_users_own_wrapper_and_errors_come_through() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let wrapper = project.place.join("own wrapper");
    std::fs::write(
        &wrapper,
        // cargo compiles a registry's crate in that crate's own folder.
        "#!/bin/sh\necho \"$@\" >> \"${0%/*}/calls\"\nexec \"$@\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut build = project.cargo(&["build", "--release", "--locked"]);
    succeeded(
        build
            .env(environment::USER_WRAPPER, &wrapper)
            .output()
            .unwrap(),
    );
    let calls = std::fs::read_to_string(project.place.join("calls")).unwrap();
    assert!(calls.contains("--crate-name small"), "{calls}");
    assert!(calls.contains("--crate-name rayon_core_real"), "{calls}");

    std::fs::write(
        project.place.join("src/main.rs"),
        "fn main() { nothing_of_that_name() }\n",
    )
    .unwrap();
    let output = project
        .cargo(&["build", "--release", "--locked"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("nothing_of_that_name"),
        "{said}"
    );
}

#[test]
fn without_a_compiler_it_says_what_it_is_for() {
    let output = Command::new(env!("CARGO_BIN_EXE_workspan-rustc"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("RUSTC_WRAPPER"));
    let output = Command::new(env!("CARGO_BIN_EXE_workspan-rustc"))
        .arg("/no/such/rustc")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/rustc"));
}
