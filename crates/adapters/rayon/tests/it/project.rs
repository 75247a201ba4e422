//! The small fixture under cargo and the wrapper.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use workspan_rayon::{environment, notes, sources};

/// A copy of the small fixture in a folder with a space in its name.
pub struct Project {
    _folder: tempfile::TempDir,
    pub place: PathBuf,
}

impl Project {
    pub fn new() -> Self {
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

    pub fn cargo(&self, arguments: &[&str]) -> Command {
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

    pub fn ok(&self, arguments: &[&str]) -> String {
        succeeded(self.cargo(arguments).output().unwrap())
    }

    /// Takes all sources from a folder of the project from now on.
    pub fn vendor(&self) {
        let config = self.ok(&["vendor", "--locked"]);
        assert!(config.contains("[source.crates-io]"), "{config}");
        std::fs::create_dir_all(self.place.join(".cargo")).unwrap();
        let source =
            "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n";
        std::fs::write(self.place.join(".cargo/config.toml"), source).unwrap();
    }

    pub fn notes(&self) -> Vec<(String, String)> {
        let notes = notes::read(&self.place.join("notes"));
        notes.into_iter().map(|n| (n.key, n.text)).collect()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.place.join(path).exists()
    }

    /// Whether a file in a profile's `deps` begins with `start` and ends with `end`.
    pub fn has_artifact(&self, profile: &str, start: &str, end: &str) -> bool {
        let files =
            std::fs::read_dir(self.place.join("target").join(profile).join("deps")).unwrap();
        files
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .any(|name| name.starts_with(start) && name.ends_with(end))
    }
}

pub fn succeeded(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    said + &String::from_utf8_lossy(&output.stdout)
}
