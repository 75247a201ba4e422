//! Runs programs one after the other; Ctrl-C ends the current one.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::cpus::keep_on;
use crate::stretch::worker_variables;

/// The process that runs now.
type Running = Arc<Mutex<Option<Pid>>>;

/// Starts programs, and passes the signals that end us on to them. After a signal no further
/// program is started; a second signal ends us at once.
pub struct Runner {
    stop: Arc<AtomicBool>,
    running: Running,
    /// The program's stderr, for the case that it fails.
    said: std::path::PathBuf,
}

impl Runner {
    /// Catches the signals; the programs' stderr is kept in `folder`.
    ///
    /// # Errors
    /// The signals can't be caught.
    pub fn new(folder: &Path) -> anyhow::Result<Runner> {
        let stop = Arc::new(AtomicBool::new(false));
        let caught = [SIGINT, SIGTERM, SIGHUP];
        for signal in caught {
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        let mut signals = signal_hook::iterator::Signals::new(caught)?;
        let running = Running::default();
        let child = Arc::clone(&running);
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let running = child.lock().unwrap_or_else(PoisonError::into_inner);
                if let (Some(pid), Some(signal)) = (*running, Signal::from_named_raw(signal)) {
                    // From a terminal it has received the signal already, and may be gone.
                    let _ = kill_process(pid, signal);
                }
            }
        });
        Ok(Runner {
            stop,
            running,
            said: folder.join("stderr"),
        })
    }

    /// Whether a signal has arrived.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Runs the program with `workers` in every variable that sets the number of workers,
    /// restricted to `cpus` if there are any. Returns the time from before its start until it has
    /// ended. It has no input, and its output is discarded.
    ///
    /// # Errors
    /// The program can't be started, or fails.
    pub fn run(
        &self,
        mut command: Command,
        workers: u32,
        cpus: Option<&[usize]>,
    ) -> anyhow::Result<Duration> {
        for variable in worker_variables() {
            command.env(variable, workers.to_string());
        }
        let said = File::create(&self.said).with_context(|| self.said.display().to_string())?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said);
        let took = std::thread::scope(|scope| {
            // A process inherits the CPUs of the thread that starts it.
            let thread = scope.spawn(|| self.wait(&mut command, cpus));
            match thread.join() {
                Ok(took) => took,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        took.with_context(|| {
            let program = Path::new(command.get_program());
            workspan_record::outcome::shown(program)
        })
    }

    fn wait(&self, command: &mut Command, cpus: Option<&[usize]>) -> anyhow::Result<Duration> {
        if let Some(cpus) = cpus {
            keep_on(cpus)?;
        }
        let begin = Instant::now();
        let mut child = command.spawn().context("it can't be started")?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let now = |pid| *self.running.lock().unwrap_or_else(PoisonError::into_inner) = pid;
        now(pid);
        if let Some(pid) = pid {
            if self.stopped() {
                // The signal arrived before the process id was known.
                let _ = kill_process(pid, Signal::TERM);
            }
            // The process is not reaped until no signal can be sent to its id any more.
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
        }
        let took = begin.elapsed();
        now(None);
        let status = child.wait()?;
        if !status.success() {
            let said = std::fs::read(&self.said).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            bail!(
                "it ended with {status}: {}",
                last.unwrap_or("it says nothing")
            );
        }
        Ok(took)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn a_signal_before_the_process_is_known_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let runner = Runner::new(folder.path()).unwrap();
        runner.stop.store(true, Ordering::SeqCst);
        let mut command = Command::new("sleep");
        command.arg("600");
        let ended = runner.run(command, 1, None).unwrap_err();
        assert!(format!("{ended:#}").contains("signal"), "{ended:#}");
    }
}
