//! What is given to others: links that survive a restart, redacted runs, samples for other
//! profilers, small reports.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::project::{Project, WORKSPAN, bare, printed, said, trace_of};

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/golden");
    path.join(name).to_str().unwrap().to_owned()
}

/// A running `workspan view`, and the address that it printed.
struct Viewer {
    server: Child,
    url: String,
}

impl Viewer {
    fn start(key: &Path, port: &[&str]) -> Viewer {
        Viewer::run(bare(WORKSPAN).args(["view", "--key"]).arg(key).args(port))
    }

    /// One that keeps its key in the folder `state`.
    fn keeping(state: &Path, flags: &[&str]) -> Viewer {
        let mut command = bare(WORKSPAN);
        Viewer::run(command.env("XDG_STATE_HOME", state).arg("view").args(flags))
    }

    fn run(command: &mut Command) -> Viewer {
        let mut server = command
            .arg("--no-open")
            .arg(golden("serial_merge.jsonl"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(server.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let url = line
            .trim()
            .strip_prefix("The run is at ")
            .unwrap()
            .to_owned();
        Viewer { server, url }
    }

    /// The arguments of the server and of all that it started, as every user of the machine can
    /// read them.
    fn arguments(&self) -> String {
        let id = self.server.id();
        let of = |id: u32| fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let children = children.split_whitespace().filter_map(|c| c.parse().ok());
        let all: Vec<u8> = std::iter::once(id).chain(children).flat_map(of).collect();
        String::from_utf8_lossy(&all).into_owned()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The status line of an answer.
fn status(url: &str) -> String {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_link_survives_a_restart_and_its_key_is_in_no_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let first = Viewer::start(&key, &["--port", "0"]);
    let url = first.url.clone();
    assert!(status(&url).contains("200"), "{}", status(&url));
    let secret = url.rsplit('/').nth(1).unwrap().to_owned();
    assert_eq!(secret.len(), 32);
    assert!(!first.arguments().contains(&secret));
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(first);
    // The same address, including the port.
    let second = Viewer::start(&key, &[]);
    assert_eq!(second.url, url);
    assert!(status(&url).contains("200"));
    drop(second);
    // Another file, another key; the old link is of no use there.
    let other = Viewer::start(&folder.path().join("other"), &["--port", "0"]);
    assert!(!other.url.contains(&secret));
    let port = other.url.split('/').nth(2).unwrap();
    assert!(!status(&format!("http://{port}/{secret}/")).contains("200"));
}

#[test]
fn a_link_survives_a_restart_with_the_same_traces() {
    let folder = tempfile::tempdir().unwrap();
    let start = |flags: &[&str]| Viewer::keeping(folder.path(), flags);
    let secret = |viewer: &Viewer| viewer.url.rsplit('/').nth(1).unwrap().to_owned();
    let first = start(&["--port", "0"]);
    let url = first.url.clone();
    assert!(!first.arguments().contains(&secret(&first)));
    // Another server of the same traces has another port, and does not change the kept one.
    let second = start(&[]);
    assert_ne!(second.url, url);
    assert_eq!(secret(&second), secret(&first));
    drop((first, second));
    let again = start(&[]);
    assert_eq!(again.url, url);
    assert!(status(&url).contains("200"));
    drop(again);
    let for_now = start(&["--new-key", "--port", "0"]);
    assert_ne!(secret(&for_now), url.rsplit('/').nth(1).unwrap());
    drop(for_now);
    assert_eq!(start(&[]).url, url);
}

#[test]
fn a_real_run_is_exported_with_the_reports_samples_and_redacted_without_its_names() {
    let project = Project::new("faults");
    let mut command = project.cargo_workspan(&["--no-report", "run", "--release", "--", "pools"]);
    let output = command.env("RAYON_NUM_THREADS", "2").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    let out = |words: &[&str]| {
        let mut command = project.command(WORKSPAN);
        let output = command.args(words).arg(&trace).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        output.stdout
    };
    let report: Value = serde_json::from_slice(&out(&["report", "--json", "--full"])).unwrap();
    let mut formats = vec!["text", "chrome", "dot", "perfetto"];
    match report.get("samples") {
        Some(samples) => {
            let all = samples["inside"].as_u64().unwrap() + samples["outside"].as_u64().unwrap();
            let exported = out(&["export", "--format", "speedscope"]);
            let exported: Value = serde_json::from_slice(&exported).unwrap();
            let of_all = exported["profiles"][0]["samples"].as_array().unwrap().len();
            assert_eq!(of_all as u64, all);
            let exported = out(&["export", "--format", "firefox"]);
            let exported: Value = serde_json::from_slice(&exported).unwrap();
            let threads = exported["threads"].as_array().unwrap().iter();
            let count = threads.map(|t| t["samples"]["length"].as_u64().unwrap());
            assert_eq!(count.sum::<u64>(), all);
            formats.extend(["speedscope", "firefox"]);
        }
        None => {
            let line = "skipped: exported samples: the kernel takes no samples here\n";
            std::io::stdout().write_all(line.as_bytes()).unwrap();
        }
    }
    // Everything of the machine, the user and the program.
    let info = String::from_utf8(out(&["info"])).unwrap();
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let root = project.root.display().to_string();
    let mut names = vec![root, host, "src/main.rs".into(), "ThreadPoolBuilder".into()];
    names.extend(["burn", "small_pool", "faults"].map(str::to_owned));
    names.retain(|name| name.len() >= 4);
    let plain = String::from_utf8_lossy(&out(&["export", "--format", "text"])).into_owned();
    assert!(
        names
            .iter()
            .filter(|name| plain.contains(name.as_str()))
            .count()
            >= 4,
        "{info}"
    );
    for format in formats {
        let shared = out(&["export", "--redact", "--format", format]);
        let shared = String::from_utf8_lossy(&shared).into_owned();
        for name in &names {
            assert!(!shared.contains(name.as_str()), "{format}: {name}");
        }
    }
    let database = project.root.join("shared.db");
    let _ = fs::remove_file(&database);
    out(&[
        "export",
        "--redact",
        "--format",
        "sqlite",
        "-o",
        database.to_str().unwrap(),
    ]);
    let bytes = fs::read(&database).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for name in &names {
        assert!(!text.contains(name.as_str()), "sqlite: {name}");
    }
    // What is shared has the same report, under other names.
    let shared = project.root.join("shared.jsonl");
    fs::write(&shared, out(&["export", "--redact", "--format", "text"])).unwrap();
    let again = project
        .command(WORKSPAN)
        .args(["report", "--json"])
        .arg(&shared)
        .output()
        .unwrap();
    let again: Value = serde_json::from_str(&printed(&again)).unwrap();
    for key in [
        "work",
        "span",
        "tasks",
        "elapsed",
        "workers",
        "breakdown",
        "causes",
    ] {
        assert_eq!(again[key], report[key], "{key}");
    }
}

#[test]
fn a_report_of_a_small_run_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("run.html");
    let output = Command::new(WORKSPAN)
        .arg("html")
        .arg(golden("balanced.jsonl"))
        .arg("-o")
        .arg(&html)
        .output()
        .unwrap();
    if said(&output).contains("has no viewer page") {
        std::io::stdout()
            .write_all(b"skipped: a small report: no viewer page in this build\n")
            .unwrap();
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    let bytes = fs::metadata(&html).unwrap().len();
    assert!(bytes <= 500_000, "{bytes}");
    let mut text = String::new();
    fs::File::open(&html)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("id=\"workspan-page\"") && text.contains("DecompressionStream"));
}
