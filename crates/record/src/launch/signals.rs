//! The handling of signals to `workspan record`.
//!
//! | while | from a terminal | to this process alone |
//! |---|---|---|
//! | the program runs | it gets them too: nothing to do | handed on to the program |
//! | its trace is written | the first one waits until that is done, the second one ends this process | the same |
//! | the report is made | ends this process, after the trace's place was said | the same |
//!
//! SIGUSR2 starts and stops parts of the run ([`Windows`]). A signal that was ignored when this
//! process started (nohup, `trap ''`) stays ignored, so the program inherits that.
//!
//! Handlers only set a flag and wake a thread. The flag, not the thread's timing, tells when a
//! signal came: a Ctrl-C that ended the program must not count as another one that came after it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals as Incoming;

use crate::launch::process_stat::fields;
use crate::options::keep_windows::Windows;
use crate::say;

/// Signals whose sender wants the program to end.
const ENDING: [i32; 4] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];
/// Signals that would end a process that does not handle them; a program may handle them.
const FORWARDED: [i32; 9] = [
    SIGABRT, SIGUSR1, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU, SIGPWR, SIGSTKFLT,
];
/// Missing in `signal_hook`; this is its number on every supported Linux (x86-64, AArch64).
const SIGPWR: i32 = 30;
const SIGSTKFLT: i32 = 16;
/// Real-time signals; the first two belong to the C library.
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;

/// The signals of this process, before the program's start and while it runs.
pub struct Signals {
    shared: Arc<Shared>,
}

/// The phase after the program's end, in which its trace is written.
pub struct WritePhase {
    shared: Arc<Shared>,
}

struct Shared {
    phase: Mutex<Phase>,
    /// Whether one of [`ENDING`] came in this phase; set by the handler itself.
    asked: Arc<AtomicBool>,
}

enum Phase {
    /// The program is about to start; these signals for it have come already.
    Starting(Vec<i32>),
    /// The program runs.
    Running(Pid),
    /// The program has ended; its recording is in this folder.
    Writing(PathBuf),
    /// The traces have their names; the message about them, unless it was printed.
    Written(Option<String>),
}

impl Shared {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signals {
    /// Handles all signals that would end this process before the program.
    ///
    /// # Errors
    /// The system refuses a handler or the thread.
    pub fn take(windows: &Arc<Windows>) -> io::Result<Signals> {
        let shared = Arc::new(Shared {
            phase: Mutex::new(Phase::Starting(Vec::new())),
            asked: Arc::default(),
        });
        let ignored = ignored();
        let taken: Vec<i32> = ENDING
            .into_iter()
            .chain(FORWARDED)
            .chain([SIGUSR2])
            .chain(REAL_TIME)
            .filter(|signal| ignored & 1 << (signal - 1) == 0)
            .collect();
        // This must happen before the thread is woken.
        for &signal in taken.iter().filter(|signal| ENDING.contains(signal)) {
            signal_hook::flag::register(signal, Arc::clone(&shared.asked))?;
        }
        let mut incoming = Incoming::new(&taken)?;
        let (shared_state, windows) = (Arc::clone(&shared), Arc::clone(windows));
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let mut asked_while_writing = 0;
                for signal in incoming.forever() {
                    shared_state.received(signal, &windows, &mut asked_while_writing);
                }
            })?;
        Ok(Signals { shared })
    }

    /// Forwards signals to this process to that one from now on.
    pub fn forward_to(&self, program: Pid) {
        let mut phase = self.shared.phase();
        if let Phase::Starting(early) = &*phase {
            for &signal in early {
                forward(signal, program);
            }
        }
        *phase = Phase::Running(program);
    }

    /// The program has ended; its recording is in `spool`.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn program_ended(self, spool: &Path) -> io::Result<WritePhase> {
        // Signals that came until now were for the program.
        self.shared.asked.store(false, Ordering::SeqCst);
        *self.shared.phase() = Phase::Writing(spool.to_owned());
        // If files may not grow any further, writing the trace should fail instead of ending this
        // process.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        Ok(WritePhase {
            shared: self.shared,
        })
    }
}

impl Shared {
    /// Handles a signal on the thread of signals.
    fn received(&self, signal: i32, windows: &Windows, asked_while_writing: &mut u32) {
        let mut phase = self.phase();
        match &mut *phase {
            Phase::Starting(_) | Phase::Running(_) if signal == SIGUSR2 => windows.signal(),
            Phase::Starting(early) => early.push(signal),
            Phase::Running(program) => forward(signal, *program),
            // The signal was for the program, which has ended.
            _ if !ENDING.contains(&signal) || !self.asked.load(Ordering::SeqCst) => {}
            Phase::Writing(_) if *asked_while_writing == 0 => {
                *asked_while_writing = 1;
                say!(
                    "workspan: the program has ended and its trace is being written; one more signal ends workspan at once"
                );
            }
            Phase::Writing(spool) => {
                say!(
                    "workspan: ended before the trace was written; what was recorded is in {}, and `workspan report` reads each \
                     .spool file there",
                    spool.display()
                );
                end_by(signal);
            }
            Phase::Written(message) => {
                if let Some(message) = message.take() {
                    say!("{message}");
                }
                end_by(signal);
            }
        }
    }
}

impl WritePhase {
    /// Whether a signal has come since the program's end. The user who sent it does not wait for a
    /// report.
    pub fn is_ending(&self) -> bool {
        self.shared.asked.load(Ordering::SeqCst)
    }

    /// The traces have their names: from now on a signal ends this process, after it has printed
    /// `message`.
    pub fn written(&self, message: Option<String>) {
        *self.shared.phase() = Phase::Written(message);
    }
}

/// Ends this process as the signal would have done.
fn end_by(signal: i32) {
    // If that fails, the next signal tries again.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Forwards a signal, unless the program already got it from the terminal.
fn forward(signal: i32, program: Pid) {
    if matches!(signal, SIGINT | SIGQUIT) && on_terminal() {
        return;
    }
    let signal = Signal::from_named_raw(signal).or_else(|| {
        let real_time = REAL_TIME.contains(&signal);
        // SAFETY: a real-time signal that the C library does not reserve.
        real_time.then(|| unsafe { Signal::from_raw_unchecked(signal) })
    });
    if let Some(signal) = signal {
        // The program may have ended meanwhile.
        let _ = kill_process(program, signal);
    }
}

/// The signals that this process ignores, as bits; 0 if not known.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Whether this process is in the foreground of a terminal, so that the program gets a Ctrl-C as
/// well.
fn on_terminal() -> bool {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = fields(&stat);
    fields.get(2).is_some() && fields.get(2) == fields.get(5)
}
