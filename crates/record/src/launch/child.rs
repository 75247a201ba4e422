//! Runs the command and outlives it, so that its recording is finalised however the command ends.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, waitid,
};

use crate::flight_recorder::{FlightRecorder, PartWriter};
use crate::launch::signals::{Signals, WritePhase};
use crate::launch::stall::StallWatch;
use crate::options::keep_windows::Windows;
use crate::say;

/// Runs `command` on our own standard streams. Returns how it ended, and the handling of signals
/// from then on ([`crate::launch::signals`]). Its recordings come into `spool`. A program that
/// stands still for as long as `stall` is ended. `parts` writes the parts that are kept while it
/// runs.
///
/// # Errors
/// The command cannot be started.
pub fn run(
    command: &mut Command,
    windows: &Arc<Windows>,
    spool: &Path,
    stall: Option<Duration>,
    parts: Option<PartWriter>,
) -> io::Result<(ExitStatus, WritePhase)> {
    let signals = Signals::take(windows)?;
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        signals.forward_to(pid);
        let watch = stall.map(|patience| StallWatch::new(pid, patience, spool));
        let watch = watch.and_then(|watch| match watch {
            Ok(watch) => Some(watch),
            // The program already runs, and is recorded anyway.
            Err(error) => {
                say!("workspan: --stall is without effect: {error}");
                None
            }
        });
        let recorder = parts.map(|writer| FlightRecorder::new(pid, windows, writer));
        let recorder = recorder.and_then(|recorder| match recorder {
            Ok(recorder) => Some(recorder),
            Err(error) => {
                say!("workspan: no parts are kept while the program runs: {error}");
                None
            }
        });
        // The process id stays reserved until it is waited for below, so no signal can reach
        // another process.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let interrupted = |waited| matches!(waited, Err(rustix::io::Errno::INTR));
        while interrupted(waitid(WaitId::Pid(pid), ended).map(drop)) {}
        drop(watch);
        drop(recorder);
    }
    let writing = signals.program_ended(spool)?;
    Ok((child.wait()?, writing))
}

/// Ends this process as the command ended: with its exit code, or by its signal.
pub fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // The command's core dump is the interesting one, not ours.
        let _ = setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum: Some(0),
            },
        );
        let named = Signal::from_named_raw(signal);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        // Rust's own handler of SIGSEGV and SIGBUS ignores the first signal and then uninstalls
        // itself.
        for _ in 0..2 {
            if let Some(named) = named {
                let _ = kill_process(rustix::process::getpid(), named);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(
        status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
    )
}
