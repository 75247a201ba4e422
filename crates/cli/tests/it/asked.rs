//! Commands about one trace that is written down in the test, and their answers.

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

/// What was printed where all went well.
pub fn said(output: &Output) -> String {
    assert!(
        output.stderr.is_empty() && output.status.success(),
        "{output:?}"
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The message where nothing was printed but that.
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
