//! The file that the user names for a trace, checked before the program runs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_reader::packed;

/// The number of bytes, packed or not, that show whether a file is a trace.
const BYTES_TO_IDENTIFY: u64 = 4096;

/// Refuses an output that cannot be written, or that would overwrite something else, before the
/// program runs.
///
/// # Errors
/// What is in the way, and what to do.
pub fn check_output(output: &Path) -> anyhow::Result<()> {
    let parent = output
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if !parent.is_dir() {
        anyhow::bail!(
            "{}: there is no directory {}; make it first",
            output.display(),
            parent.display()
        );
    }
    if let Some(link) = systems_link(output) {
        anyhow::bail!(
            "{}: {} is a name of an open file, which the trace would replace; name another file",
            output.display(),
            link.display()
        );
    }
    let there = match std::fs::metadata(output) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there.with_context(|| output.display().to_string())?,
    };
    if there.is_dir() {
        anyhow::bail!("{}: is a directory; name a file", output.display());
    }
    // The trace gets its name by a rename, which would replace a device, and opening a pipe would
    // block.
    if !there.is_file() {
        anyhow::bail!(
            "{}: is a device, a pipe or a socket, which a trace would replace; name a file",
            output.display()
        );
    }
    if there.len() > 0 && !begins_as_a_trace(output)? {
        anyhow::bail!(
            "{}: exists and is not a trace; name another file, or remove it",
            output.display()
        );
    }
    Ok(())
}

/// The link in `/dev` or `/proc` that `output` is or leads to, such as `/dev/stdout` and
/// `/dev/fd/1`. The trace gets its name by a rename, which would replace the link.
fn systems_link(output: &Path) -> Option<PathBuf> {
    let mut at = output.to_owned();
    // As many links as the kernel follows.
    for _ in 0..40 {
        let target = std::fs::read_link(&at).ok()?;
        let parent = at.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        if parent == Path::new("/dev") || parent.starts_with("/proc") {
            return Some(at);
        }
        at = parent.join(target);
    }
    None
}

/// Whether the file is a recorded trace, of one process or of several. Reads only its beginning.
fn begins_as_a_trace(file: &Path) -> anyhow::Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(BYTES_TO_IDENTIFY).read_to_end(&mut start))
        .with_context(|| {
            format!(
                "{}: exists and can't be read; name another file, or remove it",
                file.display()
            )
        })?;
    Ok(packed::is_run(&start))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn the_systems_links_are_refused_and_the_users_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("empty"), "").unwrap();
        let opened = std::fs::File::open(file("empty")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&opened);
        std::os::unix::fs::symlink(file("empty"), file("own")).unwrap();
        check_output(&file("own")).unwrap();
        let of_process = format!("/proc/self/fd/{number}");
        std::os::unix::fs::symlink(&of_process, file("leads there")).unwrap();
        for refused in [PathBuf::from(&of_process), file("leads there")] {
            let why = check_output(&refused).unwrap_err().to_string();
            assert!(why.contains("a name of an open file"), "{why}");
        }
    }

    #[test]
    fn what_a_trace_would_replace_is_refused_unless_it_is_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        // A socket is created without rights, and is not a regular file either.
        let _socket = std::os::unix::net::UnixListener::bind(file("socket")).unwrap();
        std::os::unix::fs::symlink(file("socket"), file("link")).unwrap();
        for refused in [file("socket"), file("link"), "/dev/null".into()] {
            let why = check_output(&refused).unwrap_err().to_string();
            assert!(why.contains("is a device, a pipe or a socket"), "{why}");
        }
        // No process writes to it, so opening it would block.
        let pipe = std::process::Command::new("mkfifo")
            .arg(file("pipe"))
            .status();
        if pipe.is_ok_and(|made| made.success()) {
            assert!(check_output(&file("pipe")).is_err());
        }
        std::fs::write(file("text"), "text").unwrap();
        assert!(check_output(&file("text")).is_err());
        std::fs::write(file("empty"), "").unwrap();
        std::fs::write(
            file("trace"),
            [workspan_trace::header::MAGIC.as_slice(), &[0; 9]].concat(),
        )
        .unwrap();
        std::fs::write(file("of ranks"), workspan_trace::bundle::head(&[8, 8]).0).unwrap();
        for free in ["empty", "trace", "of ranks", "new"] {
            check_output(&file(free)).unwrap();
        }
    }
}
