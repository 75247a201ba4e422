//! Runs the tutorial's commands in their order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::project::{CARGO_WORKSPAN, WORKSPAN, bare, said};

/// The tutorial's lines of code that call the tool.
fn commands() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tutorial = std::fs::read_to_string(root.join("docs/tutorial.md")).unwrap();
    let lines = tutorial
        .lines()
        .filter_map(|line| line.strip_prefix("    "));
    let calls = |line: &&str| line.starts_with("workspan ") || line.starts_with("cargo workspan ");
    lines.filter(calls).map(str::to_owned).collect()
}

/// The line with traces in `folder`, from the repository's root.
fn command(line: &str, folder: &Path) -> Command {
    let mut words = line.split_whitespace();
    let mut command = match words.next() {
        Some("cargo") => bare(CARGO_WORKSPAN),
        _ => bare(WORKSPAN),
    };
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for word in words {
        if word.ends_with(".wspan") {
            command.arg(folder.join(word));
        } else {
            command.arg(word);
        }
    }
    command
}

/// Starts the viewer, asks for its page, and ends it.
fn view(line: &str, folder: &Path) {
    let mut viewer = command(line, folder)
        .args(["--no-open", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(viewer.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_whitespace()
            .find_map(|word| word.strip_prefix("http://").map(str::to_owned))
    });
    let address = address.expect("the viewer says its address");
    let (host, path) = address.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    viewer.kill().unwrap();
    viewer.wait().unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{line}");
}

#[test]
#[ignore = "builds a kernel in release and sorts ten million numbers twice"]
fn the_tutorials_commands_do_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands();
    let calls = |of: &str| commands.iter().any(|line| line.contains(of));
    for step in ["-o before.wspan", "view", "whatif", "compare", "check"] {
        assert!(
            calls(step),
            "the tutorial has no step `{step}`: {commands:?}"
        );
    }
    for line in &commands {
        if line.starts_with("workspan view ") {
            view(line, folder.path());
            continue;
        }
        let output = command(line, folder.path()).output().unwrap();
        let text = said(&output) + &String::from_utf8_lossy(&output.stdout);
        // On a machine that others use, the limit may be missed: that is exit code 3.
        let ended = match output.status.code() {
            Some(3) => line.contains("workspan check "),
            code => code == Some(0),
        };
        assert!(ended, "{line}: {}\n{text}", output.status);
        if line.contains("-o before.wspan") {
            assert!(text.contains("bench/src/bin/msort.rs"), "{line}: {text}");
        }
    }
}
