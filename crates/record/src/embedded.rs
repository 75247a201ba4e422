//! The files embedded in the tool: the preloaded library and the stand-in's sources, unpacked once
//! into the user's cache, and the two links through which cargo calls this program in another role.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::Context;
use workspan_trace::fnv::fnv1a;

/// The preloaded library.
static LIBRARY: &[u8] = include_bytes!(env!("WORKSPAN_PRELOAD_LIBRARY"));
const LIBRARY_NAME: &str = "libworkspan_preload.so";

/// Name under which this program is the rustc wrapper.
pub const RUSTC_ROLE: &str = "workspan-rustc";
/// Name under which this program is cargo's target runner.
pub const RUNNER_ROLE: &str = "workspan-runner";

/// The unpacked files.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The folder of the unpacked files.
    pub folder: PathBuf,
    /// The preloaded library; its path has no characters that separate entries of `LD_PRELOAD`.
    pub library: PathBuf,
    /// The stand-in's `lib.rs`.
    pub stand_in: PathBuf,
    /// This program as [`RUSTC_ROLE`].
    pub rustc: PathBuf,
    /// This program as [`RUNNER_ROLE`].
    pub runner: PathBuf,
}

/// A number that changes with everything that affects a recorded build: library, stand-in, wrapper,
/// version.
pub fn fingerprint() -> String {
    format!(
        "{}{:016x}",
        env!("WORKSPAN_EMBEDDED_HASH"),
        workspan_rayon::sources::fingerprint()
    )
}

/// Unpacks into `$XDG_CACHE_HOME` or `~/.cache`. If that cannot be written, unpacks into
/// `fallback`, then into the temporary directory.
///
/// # Errors
/// No folder could be written; the message names the last one.
pub fn unpack(fallback: Option<&Path>) -> anyhow::Result<Tools> {
    let home = std::env::var_os("HOME")
        .filter(|h| !h.is_empty())
        .map(|h| Path::new(&h).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|c| c.is_absolute())
        .or(home);
    let places = cache
        .into_iter()
        .map(|c| c.join("workspan"))
        .chain(fallback.map(Path::to_owned));
    for place in places {
        if let Ok(tools) = unpack_into(&place) {
            return Ok(tools);
        }
    }
    let temporary = private_temporary()?;
    unpack_into(&temporary).with_context(|| {
        format!("{}: workspan could not unpack its library there; set XDG_CACHE_HOME to a folder that can be written", temporary.display())
    })
}

fn unpack_into(place: &Path) -> anyhow::Result<Tools> {
    let folder = place.join(fingerprint());
    make_private(&folder)?;
    let library = folder.join(LIBRARY_NAME);
    // The whole file is compared, so that a file truncated by a full disk is replaced.
    if !std::fs::read(&library).is_ok_and(|there| there == LIBRARY) {
        replace(&library, |half| std::fs::write(half, LIBRARY))?;
    }
    let stand_in = workspan_rayon::sources::unpack(&folder.join("stand-in"))?;
    let program = std::env::current_exe()?;
    // Several installations may share the cache, so each gets links of its own.
    let links = folder.join(format!("{:016x}", hash(program.as_os_str())));
    make_private(&links)?;
    let role = |name: &str| -> anyhow::Result<PathBuf> {
        let link = links.join(name);
        if std::fs::read_link(&link).ok().as_deref() != Some(program.as_path()) {
            replace(&link, |half| symlink(&program, half))?;
        }
        Ok(link)
    };
    Ok(Tools {
        rustc: role(RUSTC_ROLE)?,
        runner: role(RUNNER_ROLE)?,
        library: library_in(&folder)?,
        stand_in,
        folder,
    })
}

/// The preloaded library that was unpacked into this folder, by a path that `LD_PRELOAD` accepts.
///
/// # Errors
/// The same as for [`undivided`].
pub fn library_in(folder: &Path) -> anyhow::Result<PathBuf> {
    undivided(&folder.join(LIBRARY_NAME))
}

/// A path to the same file without spaces and colons, at which `LD_PRELOAD` and a runner given as
/// one string would be split: the path itself, or a link in the temporary directory.
///
/// # Errors
/// The link could not be made.
pub fn undivided(path: &Path) -> anyhow::Result<PathBuf> {
    let divides = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    if !path.as_os_str().as_bytes().iter().any(divides) {
        return Ok(path.to_owned());
    }
    let folder = private_temporary()?;
    if folder.as_os_str().as_bytes().iter().any(divides) {
        anyhow::bail!(
            "{} and {} both have a space or colon in their paths, which the dynamic loader can't be given; set TMPDIR or \
             XDG_CACHE_HOME to a path without",
            path.display(),
            folder.display()
        );
    }
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .replace([' ', ':'], "_");
    let link = folder.join(format!("{:016x}-{name}", hash(path.as_os_str())));
    if std::fs::read_link(&link).ok().as_deref() != Some(path) {
        replace(&link, |half| symlink(path, half))?;
    }
    Ok(link)
}

/// This user's own folder in the temporary directory. A folder that another user created first is
/// not used.
fn private_temporary() -> anyhow::Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    for attempt in 0..16 {
        let more = if attempt == 0 {
            String::new()
        } else {
            format!("-{attempt}")
        };
        let folder = std::env::temp_dir().join(format!("workspan-{user}{more}"));
        make_private(&folder).with_context(|| {
            format!(
                "{}: could not be made to unpack workspan's library; set XDG_CACHE_HOME or TMPDIR to a folder that can be written",
                folder.display()
            )
        })?;
        let facts = std::fs::symlink_metadata(&folder)?;
        if facts.is_dir() && facts.uid() == user && facts.mode() & 0o022 == 0 {
            return Ok(folder);
        }
    }
    anyhow::bail!(
        "{}: every name for a private folder is taken; set TMPDIR to a folder of your own",
        std::env::temp_dir().display()
    )
}

fn make_private(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
    {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Creates a file or link beside its destination and renames it, so that no reader ever sees half
/// of it.
fn replace(path: &Path, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let half = path.with_file_name(format!(".{name}.{}", std::process::id()));
    match std::fs::remove_file(&half) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    make(&half)?;
    std::fs::rename(&half, path)
}

/// FNV-1a, 64 bits: for names, not for security.
pub fn hash(text: &OsStr) -> u64 {
    fnv1a(text.as_bytes().iter().copied())
}
