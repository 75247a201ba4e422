//! `record`: runs and records a program, if the user allowed it.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use workspan_record::trace_file::run_folder::time_name;

use super::findings::findings;
use super::present;
use crate::Shared;
use crate::tools::RecordArgs;

/// Default time limit of a program, in seconds.
const TIMEOUT_SECONDS: u64 = 300;
const MAX_TIMEOUT_SECONDS: u64 = 3600;
/// Time for the recorder to write the trace of a program that was ended.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum number of bytes of the program's output in an answer: the last ones.
const MAX_OUTPUT_BYTES: usize = 2_000;
/// Time for which its pipes may stay open after it has ended.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// Pause between two checks of a process or a pipe.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) fn answer(shared: &Shared, args: &RecordArgs) -> anyhow::Result<String> {
    let Some(recorder) = &shared.recorder else {
        bail!(
            "this server runs no programs; the user allows it with `workspan mcp --allow-record`"
        );
    };
    if args.command.is_empty() {
        bail!("`command` names no program");
    }
    let folder = match &args.folder {
        Some(folder) => shared.folders.folder(folder)?,
        None => shared.folders.first().to_owned(),
    };
    let output = output(shared, args.output.as_deref())?;
    let seconds = args.timeout_seconds.unwrap_or(TIMEOUT_SECONDS);
    let time = Duration::from_secs(seconds.clamp(1, MAX_TIMEOUT_SECONDS));
    let ran = run(recorder, &args.command, &folder, &output, time)?;
    // A program of several processes leaves several traces; the first one has the name.
    let found = shared
        .runs
        .get(&output)
        .map(|run| findings(shared, &output, &run));
    let answer = json!({
        "exit_code": ran.status.code(),
        "ended_after_seconds": ran.timed_out.then_some(time.as_secs()),
        "stdout": some(&ran.stdout),
        "stderr": some(&ran.stderr),
        "recorded": found.as_ref().ok(),
        "not_recorded": found.as_ref().err().map(|why| format!("{why:#}")),
    });
    Ok(present(answer).to_string())
}

/// The trace to write.
fn output(shared: &Shared, name: Option<&str>) -> anyhow::Result<PathBuf> {
    if let Some(name) = name {
        return shared.folders.new_file(name);
    }
    let time = time_name(SystemTime::now());
    for number in 1..1000 {
        let name = format!("run-{time}-{number}.wspan");
        if let Ok(new) = shared.folders.new_file(&name) {
            return Ok(new);
        }
    }
    bail!("no name for the trace is free; give one with `output`")
}

struct RecordingResult {
    status: ExitStatus,
    timed_out: bool,
    stdout: String,
    stderr: String,
}

fn run(
    recorder: &Path,
    command: &[String],
    folder: &Path,
    output: &Path,
    time: Duration,
) -> anyhow::Result<RecordingResult> {
    let mut child = Command::new(recorder)
        .args(["record", "--no-report", "-o"])
        .arg(output)
        .arg("--")
        .args(command)
        .current_dir(folder)
        // Standard input and output belong to the client.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| recorder.display().to_string())?;
    let stdout = child.stdout.take().map(PipeTail::read);
    let stderr = child.stderr.take().map(PipeTail::read);
    let deadline = Instant::now() + time;
    let mut timed_out = false;
    let status = match wait(&mut child, deadline)? {
        Some(status) => status,
        None => {
            timed_out = true;
            end(&mut child)?
        }
    };
    let read = |tail: Option<PipeTail>| tail.map(PipeTail::text).unwrap_or_default();
    Ok(RecordingResult {
        status,
        timed_out,
        stdout: read(stdout),
        stderr: read(stderr),
    })
}

/// Its exit status; `None` if it is still running at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Ends the program in a way that its trace is written; after a while, kills all of it.
fn end(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let group = Pid::from_child(child);
    // It may have ended meanwhile.
    let _ = kill_process_group(group, Signal::TERM);
    if let Some(status) = wait(child, Instant::now() + GRACE)? {
        return Ok(status);
    }
    let _ = kill_process_group(group, Signal::KILL);
    Ok(child.wait()?)
}

/// The end of the data written into a pipe, read by a thread.
struct PipeTail {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl PipeTail {
    fn read(mut pipe: impl Read + Send + 'static) -> PipeTail {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared_output = bytes.clone();
        let thread = std::thread::spawn(move || {
            let mut piece = [0u8; 4096];
            while let Ok(count) = pipe.read(&mut piece)
                && count > 0
            {
                let mut output = shared_output.lock().unwrap_or_else(PoisonError::into_inner);
                output.extend_from_slice(&piece[..count]);
                let over = output.len().saturating_sub(MAX_OUTPUT_BYTES);
                output.drain(..over);
            }
        });
        PipeTail { bytes, thread }
    }

    /// The text read up to now; a process that the program left behind may keep the pipe open
    /// forever.
    fn text(self) -> String {
        let deadline = Instant::now() + PIPE_GRACE;
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}
