//! Runs the command and outlives it, so that what it recorded is finalised whatever ended it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::windows::Windows;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR2, SIGXFSZ};

/// Runs `command` on our own standard streams and returns how it ended.
///
/// From the terminal, Ctrl-C and its kin go to the command as well: here they only must not end us before it. What was
/// sent to us alone (SIGTERM, SIGHUP) is handed on; SIGUSR2 is for `windows`. After the command's end they end us as ever.
///
/// # Errors
/// It can't be started.
pub fn run(command: &mut Command, windows: &Arc<Windows>) -> io::Result<ExitStatus> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&ended))?;
    }
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGUSR2])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = pid_of(&child);
    let windows = Arc::clone(windows);
    let forwarding = std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGUSR2 {
                windows.signal();
                continue;
            }
            if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
                // It may have ended meanwhile.
                let _ = kill_process(pid, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    // The thread only ends early by a panic, which there is nothing to do about.
    let _ = forwarding.join();
    ended.store(true, Ordering::SeqCst);
    // Where files may not grow any further, writing the trace is to fail, not to end us.
    signal_hook::flag::register(SIGXFSZ, ended)?;
    status
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Ends this process as the command ended: with its exit code, or by its signal.
pub fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // Its core dump is the one of interest, not ours.
        let _ = setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum: Some(0),
            },
        );
        let named = Signal::from_named_raw(signal);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        // Rust's own handler of SIGSEGV and SIGBUS lets the first one pass and then steps back.
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
