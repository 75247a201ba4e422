//! Commands on a trace that is part of the test, and their answers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A trace in a folder of its own.
pub struct Trace {
    pub folder: tempfile::TempDir,
    pub file: PathBuf,
}

/// Writes a text trace.
pub fn trace(text: &str) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, text).unwrap();
    Trace { folder, file }
}

/// `workspan COMMAND FILE …`.
pub fn ask(command: &str, file: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_workspan"))
        .arg(command)
        .arg(file)
        .args(more)
        .output()
        .unwrap()
}

/// The output of a successful command.
pub fn said(output: &Output) -> String {
    assert!(
        output.stderr.is_empty() && output.status.success(),
        "{output:?}"
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The message of a command that printed nothing else.
pub fn refused(output: &Output) -> String {
    assert!(
        output.stdout.is_empty() && !output.status.success(),
        "{output:?}"
    );
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What was printed, as JSON.
pub fn json(output: &Output) -> Value {
    serde_json::from_str(&said(output)).unwrap()
}
