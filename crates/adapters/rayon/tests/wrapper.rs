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
    let config = project.ok(&["vendor", "--locked"]);
    assert!(config.contains("[source.crates-io]"), "{config}");
    std::fs::create_dir_all(project.place.join(".cargo")).unwrap();
    let source =
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n";
    std::fs::write(project.place.join(".cargo/config.toml"), source).unwrap();
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
    std::fs::write(&wrapper, "#!/bin/sh\necho \"$@\" >> calls\nexec \"$@\"\n").unwrap();
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
