//! The wrapper under cargo: profiles, checks, locked and offline builds, freshness, vendored and patched sources, and a
//! wrapper of the user's own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use workspan_rayon::{environment, notes, sources};

/// A copy of the small fixture in a folder with a space in its name.
struct Project {
    _folder: tempfile::TempDir,
    place: PathBuf,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = folder.path().join("with space");
        std::fs::create_dir_all(place.join("src")).unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/small");
        for file in ["Cargo.toml", "Cargo.lock", "build.rs", "src/main.rs"] {
            std::fs::copy(fixture.join(file), place.join(file)).unwrap();
        }
        Project {
            _folder: folder,
            place,
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().into_owned();
            if text.starts_with("CARGO_") && text != "CARGO_HOME"
                || text.starts_with("RUST") && text != "RUSTUP_HOME"
            {
                command.env_remove(name);
            }
        }
        let stand_in = sources::unpack(&self.place.join("stand in")).unwrap();
        command
            .current_dir(&self.place)
            .args(arguments)
            .env("RUSTC_WRAPPER", env!("CARGO_BIN_EXE_workspan-rustc"))
            .env(environment::STAND_IN, stand_in)
            .env(environment::NOTES, self.place.join("notes"));
        command
    }

    fn ok(&self, arguments: &[&str]) -> String {
        succeeded(self.cargo(arguments).output().unwrap())
    }

    /// Takes all sources from a folder of the project from now on.
    fn vendor(&self) {
        let config = self.ok(&["vendor", "--locked"]);
        assert!(config.contains("[source.crates-io]"), "{config}");
        std::fs::create_dir_all(self.place.join(".cargo")).unwrap();
        let source =
            "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n";
        std::fs::write(self.place.join(".cargo/config.toml"), source).unwrap();
    }

    fn notes(&self) -> Vec<(String, String)> {
        notes::read(&self.place.join("notes"))
    }

    fn exists(&self, path: &str) -> bool {
        self.place.join(path).exists()
    }

    /// Whether some file in a profile's `deps` begins and ends so.
    fn has_artifact(&self, profile: &str, start: &str, end: &str) -> bool {
        let files =
            std::fs::read_dir(self.place.join("target").join(profile).join("deps")).unwrap();
        files
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .any(|name| name.starts_with(start) && name.ends_with(end))
    }
}

fn succeeded(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    said + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn every_profile_builds_locked_and_offline_and_once() {
    let project = Project::new();
    let lock = std::fs::read(project.place.join("Cargo.lock")).unwrap();
    // Fetches what is not there; from here on nothing needs the network.
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
    // Panics and debuggers name the user's source, not the copy with hooks that was compiled, and that is gone.
    let program = std::fs::read(project.place.join("target/debug/small")).unwrap();
    let names = |text: &str| {
        let mut windows = program.windows(text.len());
        windows.any(|bytes| bytes == text.as_bytes())
    };
    assert!(names("workspan_hooks") && names("/rayon-core-1.13.0/src/registry.rs"));
    assert!(
        !names("rayon_core_real-") || !names(".source/"),
        "the copy's path shows"
    );
    assert!(!project.has_artifact("debug", "rayon_core_real", ".source"));
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
    // Says of no file what is in it, so that cargo takes the change.
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

    // The trace says it too.
    let beside = std::env::current_exe().unwrap();
    let spool = project.place.join("spool");
    std::fs::create_dir(&spool).unwrap();
    let output = Command::new(project.place.join("target/release/small"))
        .env("WORKSPAN_SPOOL_DIR", &spool)
        .env(
            "LD_PRELOAD",
            beside.with_file_name("libworkspan_preload.so"),
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

/// cargo itself allows one rayon-core in a program, as all of them claim to link the same library; a fork may not.
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

/// The feature is for browsers; elsewhere it changes what locks are made of.
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
