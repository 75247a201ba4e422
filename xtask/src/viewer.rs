//! `cargo xtask bench viewer`: measures the memory of `workspan view` for large runs on every
//! runtime (docs/viewer.md), in bytes and as a multiple of the trace: after everything is read,
//! after requests for tiles of the whole run, and the peak. Then size and time of the single-file
//! reports of small runs, and, in a browser, how long it takes until the first picture of the
//! largest runs is there, frames while they are moved and zoomed, and tiles (`ui/e2e/bench.mjs`).
//! Times are those of the machine: nothing else should run on it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::folding::executable;
use crate::native_bench::{RUNTIMES, build};
use crate::ui;
use crate::workspace::{build_release, cargo_workspan, output, root, succeed, target, workspan};

/// Argument of fib by joins without a cutoff: 11.4 million tasks.
const JOINS: &str = "33";
/// Arguments of fib with the tasks of the C and C++ runtimes: half a million and 3.5 million tasks.
const NATIVE: [&str; 2] = ["28", "32"];
/// The runtime of these whose largest trace is opened in a browser too.
const LARGEST: &str = "libgomp";
/// Argument of fib for a small run: some thousand tasks.
const SMALL: &str = "16";
/// Number of tiles requested.
const TILES: u64 = 1500;
/// Time after which the server has given back the memory that it frees once everything is read.
const SETTLED: Duration = Duration::from_secs(2);

/// Prints the table.
pub fn run() -> Result<()> {
    build_release(true)?;
    let folder = target().join("workspan/bench");
    fs::create_dir_all(&folder)?;
    let trace = folder.join("viewer.wspan");
    println!("memory of the viewer's server, MB and multiples of the trace; two threads");
    println!(
        "{:<10}{:>8}{:>12}{:>10}{:>15}{:>15}{:>15}",
        "runtime", "fib of", "tasks", "trace", "all is read", "after tiles", "at most"
    );
    let mut traces = Vec::new();
    let mut keep = |name: &str| -> Result<()> {
        let to = folder.join(format!("viewer-{name}.wspan"));
        fs::rename(&trace, &to)?;
        traces.push(to);
        Ok(())
    };
    let rayon = executable(&mut cargo_workspan("release")?, "fib")?;
    row(&rayon, &trace, ("Rayon", JOINS))?;
    keep("Rayon")?;
    let mut reports = vec![report_file(&rayon, &trace, "Rayon")?];
    for runtime in &RUNTIMES {
        match build(runtime, &folder) {
            Ok(program) => {
                for n in NATIVE {
                    row(&program, &trace, (runtime.name, n))?;
                }
                if runtime.name == LARGEST {
                    keep(runtime.name)?;
                    reports.push(report_file(&program, &trace, runtime.name)?);
                }
            }
            Err(why) => println!("not measured: {}: {why:#}", runtime.name),
        }
    }
    println!();
    for line in reports {
        println!("{line}");
    }
    let result = in_browser(&traces);
    for file in traces.iter().chain([&trace]) {
        let _ = fs::remove_file(file);
    }
    result
}

/// Times in a browser, of the traces that were kept.
fn in_browser(traces: &[PathBuf]) -> Result<()> {
    println!(
        "\nin a browser, from the start of `workspan view`; frames and tiles: median / 95th percentile"
    );
    let Some(browser) = ui::headless().or_else(ui::browser) else {
        println!("not measured: there is no Chromium (apt-get install chromium)");
        return Ok(());
    };
    let mut node = Command::new("node");
    node.arg(root().join("ui/e2e/bench.mjs"))
        .args(traces)
        .current_dir(root().join("ui"))
        .env("WORKSPAN", target().join("release/workspan"))
        .env("CHROMIUM", browser);
    succeed(&mut node)
}

/// Records a run of fib(`n`) in full, on two threads.
fn record(program: &Path, trace: &Path, n: &str) -> Result<()> {
    let _ = fs::remove_file(trace);
    let mut record = workspan("release");
    let full = ["--no-report", "--max-overhead", "off", "--sample", "off"];
    record
        .arg("record")
        .args(full)
        .arg("-o")
        .arg(trace)
        .arg("--");
    record
        .arg(program)
        .arg(n)
        .env("RAYON_NUM_THREADS", "2")
        .env("OMP_NUM_THREADS", "2");
    output(&mut record)?;
    Ok(())
}

/// The single-file report of a small run: the smallest of three times, and its size.
fn report_file(program: &Path, trace: &Path, runtime: &str) -> Result<String> {
    record(program, trace, SMALL)?;
    let page = trace.with_extension("html");
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        output(
            workspan("release")
                .args(["html", "-o"])
                .arg(&page)
                .arg(trace),
        )?;
        least = least.min(began.elapsed());
    }
    let kb = |path: &Path| -> Result<f64> { Ok(fs::metadata(path)?.len() as f64 / 1e3) };
    let line = format!(
        "html of a small run, {runtime}, fib of {SMALL}: trace {:.0} KB, report {:.0} KB in {:.2} s",
        kb(trace)?,
        kb(&page)?,
        least.as_secs_f64(),
    );
    fs::remove_file(&page)?;
    Ok(line)
}

/// A run of fib(`n`), recorded in full, and its viewer.
fn row(program: &Path, trace: &Path, (runtime, n): (&str, &str)) -> Result<()> {
    record(program, trace, n)?;
    let size = fs::metadata(trace)?.len() as f64;
    let mut viewer = Viewer::start(workspan("release").args(VIEW).arg(trace))?;
    let run = viewer.loaded()?;
    let read = viewer.memory("VmRSS")?;
    viewer.ask_for_tiles(&run)?;
    let tiles = viewer.memory("VmRSS")?;
    let most = viewer.memory("VmHWM")?;
    let both = |bytes: f64| format!("{:.0} ({:.1} x)", bytes / 1e6, bytes / size);
    println!(
        "{runtime:<10}{n:>8}{:>12}{:>10.1}{:>15}{:>15}{:>15}",
        run["tasks"].as_u64().unwrap_or(0),
        size / 1e6,
        both(read),
        both(tiles),
        both(most),
    );
    Ok(())
}

/// Arguments that make the trace be read each time.
const VIEW: [&str; 6] = [
    "view",
    "--no-open",
    "--no-index",
    "--new-key",
    "--port",
    "0",
];

/// A running server, which is ended when this is dropped.
struct Viewer {
    child: Child,
    /// Kept open, as the server may print more.
    _said: BufReader<ChildStdout>,
    /// Host and port.
    host: String,
    /// The start of every path, which contains the key.
    base: String,
}

impl Viewer {
    /// Starts the server; returns once it answers.
    fn start(command: &mut Command) -> Result<Viewer> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        let mut said = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let address = line.split("http://").nth(1);
        let address = address.context("no address was said")?.trim();
        let (host, key) = address.split_once('/').context("no key was said")?;
        Ok(Viewer {
            child,
            _said: said,
            host: host.to_owned(),
            base: format!("/{}/api/v1/", key.trim_end_matches('/')),
        })
    }

    /// Returns the answer's status and body.
    fn ask(&self, what: &str) -> Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(&self.host)?;
        let (base, host) = (&self.base, &self.host);
        // In this version of the protocol a body ends with its connection.
        write!(stream, "GET {base}{what} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let head = head.context("an answer without a head")?;
        let said = str::from_utf8(&answer[..head])?;
        let state = said.split(' ').nth(1).and_then(|state| state.parse().ok());
        let state = state.with_context(|| format!("no state in: {said}"))?;
        Ok((state, answer.split_off(head + 4)))
    }

    /// Waits until everything is read. Returns the description of the run.
    fn loaded(&mut self) -> Result<Value> {
        while self.ask("report?run=a")?.0 != 200 {
            if let Some(status) = self.child.try_wait()? {
                bail!("the viewer has ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::sleep(SETTLED);
        let (_, meta) = self.ask("meta")?;
        let meta: Value = serde_json::from_slice(&meta)?;
        Ok(meta["runs"][0].clone())
    }

    /// Requests tiles of all resolutions, from one end of the run to the other.
    fn ask_for_tiles(&self, run: &Value) -> Result<()> {
        let number = |name: &str| run[name].as_u64().with_context(|| format!("no {name}"));
        let (levels, elapsed) = (number("top_level")? + 1, number("elapsed")?);
        for i in 0..TILES {
            let level = i % levels;
            let at = (elapsed >> 10 >> level) * i / TILES;
            let (state, _) = self.ask(&format!("rows?run=a&level={level}&index={at}"))?;
            if state != 200 {
                bail!("no tile {at} of level {level}: {state}");
            }
        }
        Ok(())
    }

    /// Bytes that the kernel reports under this name.
    fn memory(&self, name: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().ok());
        let kib: f64 = kib.with_context(|| format!("no {name}"))?;
        Ok(kib * 1024.0)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
