//! Processes that ask to be watched.
//!
//! The events of the watched process are inherited by what it starts. Some launchers start nothing
//! themselves: `srun` asks a daemon, whose processes inherit nothing. Such a process writes its id
//! into a named pipe before it goes on. The watcher opens events for it, whose records go to the
//! rings that exist already, and answers with a file beside the pipe: `PID.watched`, or
//! `PID.unwatched` with the reason.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use perf_event_open_sys::ioctls;

use crate::event::{WatchRefusal, Watched, open_stops, open_switches};
use crate::ring::Ring;

/// The extension of the answer to a process that is watched.
pub const WATCHED: &str = "watched";
/// The extension of the answer to a process that is not watched. The file has the reason.
pub const UNWATCHED: &str = "unwatched";

/// The pipe, and the events that were opened for processes that asked.
pub(crate) struct WatchRequests {
    pipe: File,
    folder: PathBuf,
    events: Vec<OwnedFd>,
}

impl WatchRequests {
    /// Makes the pipe at `path` (0600), unless another watcher of the run has made it.
    ///
    /// # Errors
    /// Those of the system calls.
    pub(crate) fn open(path: &Path) -> io::Result<WatchRequests> {
        let folder = path.parent().unwrap_or(Path::new(".")).canonicalize()?;
        let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a path that ends with a zero byte.
        if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } != 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
        }
        // With a writer of our own, the pipe is never at its end.
        let pipe = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)?;
        Ok(WatchRequests {
            pipe,
            folder,
            events: Vec::new(),
        })
    }

    pub(crate) fn raw_fd(&self) -> i32 {
        self.pipe.as_raw_fd()
    }

    /// The processes that have asked since the last call.
    pub(crate) fn take(&mut self) -> Vec<u32> {
        let mut bytes = [0; 4096];
        let length = self.pipe.read(&mut bytes).unwrap_or(0);
        let (ids, _) = bytes[..length].as_chunks::<4>();
        ids.iter().copied().map(u32::from_ne_bytes).collect()
    }

    /// Watches `pid` from now on, into the rings of the CPUs; `hertz` as in [`open_switches`].
    ///
    /// # Errors
    /// The kernel refuses; then nothing is opened.
    pub(crate) fn watch(
        &mut self,
        pid: u32,
        (rings, stops): (&[Ring], &[Ring]),
        hertz: Option<u32>,
    ) -> Result<(), WatchRefusal> {
        let opened = self.events.len();
        let added = self.add(pid, (rings, stops), hertz);
        added.map_err(|error| {
            self.events.truncate(opened);
            WatchRefusal::new(
                "a process that another program started can't be watched",
                &error,
            )
        })
    }

    fn add(
        &mut self,
        pid: u32,
        (rings, stops): (&[Ring], &[Ring]),
        hertz: Option<u32>,
    ) -> io::Result<()> {
        let pid = i32::try_from(pid).map_err(io::Error::other)?;
        let watched = Watched::Process(pid);
        for ring in rings {
            match open_switches(watched, ring.cpu, hertz) {
                Ok(event) => self.fill(event, ring)?,
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(error),
            }
        }
        for ring in stops {
            // Blocked time then has no place.
            if let Ok(event) = open_stops(watched, ring.cpu) {
                self.fill(event, ring)?;
            }
        }
        Ok(())
    }

    /// Lets the records of `event` go to `ring`, and enables it. It stays open until the watcher
    /// ends, because the process's children inherit it.
    fn fill(&mut self, event: OwnedFd, ring: &Ring) -> io::Result<()> {
        let fd = event.as_raw_fd();
        // SAFETY: two events that are open; neither call reads or writes memory of ours.
        let done =
            unsafe { ioctls::SET_OUTPUT(fd, ring.raw_fd()) == 0 && ioctls::ENABLE(fd, 0) == 0 };
        if !done {
            return Err(io::Error::last_os_error());
        }
        self.events.push(event);
        Ok(())
    }

    /// Lets `pid` go on. Without the answer it goes on a little later, so errors are ignored.
    pub(crate) fn answer(&self, pid: u32, watched: Result<(), WatchRefusal>) {
        let file = |extension: &str| self.folder.join(format!("{pid}.{extension}"));
        let _ = match watched {
            Ok(()) => std::fs::write(file(WATCHED), ""),
            Err(refused) => std::fs::write(file(UNWATCHED), refused.to_string()),
        };
    }
}

/// Raises the limit of open files of this process as far as it may: each process that asks takes an
/// event or two for each CPU.
pub(crate) fn raise_file_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a structure of the calls' type, which the first one fills.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
