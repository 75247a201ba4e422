//! Checks whether a program can be recorded, before it is started.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that `name` starts: the path itself if it has a slash, otherwise a file from `PATH`.
///
/// # Errors
/// A sentence that says what was looked for and where.
pub fn find(name: &OsStr) -> Result<PathBuf, String> {
    let path = Path::new(name);
    if name.as_encoded_bytes().contains(&b'/') {
        return match std::fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err(format!(
                "{}: is a directory; give a program",
                path.display()
            )),
            Ok(_) => Ok(path.to_owned()),
            Err(error) => Err(format!(
                "{}: {error}; give a program that is there",
                path.display()
            )),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|file| runs(file))
        .ok_or_else(|| {
            let here = if runs(path) {
                format!(" (there is one here: ./{})", path.display())
            } else {
                String::new()
            };
            format!(
                "{}: no such program in PATH{here}; give its path",
                path.display()
            )
        })
}

fn runs(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Why the program cannot be recorded and what to do; `None` if it can. With `follow`, a script is
/// accepted, because the programs that it starts are to be recorded.
pub fn refusal(path: &Path, follow: bool) -> Option<String> {
    let shown = path.display();
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) => return Some(format!("{shown}: {error}")),
    };
    if !facts.is_file() {
        return Some(format!("{shown}: is not a regular file; give a program"));
    }
    if facts.permissions().mode() & 0o111 == 0 {
        return Some(format!(
            "{shown}: is not executable; give a program, or make it one with chmod +x"
        ));
    }
    if let Some(how) = privileged(path, &facts) {
        return Some(format!(
            "{shown}: is {how}, and the system preloads nothing into such a program; record a copy of it (cp drops that), as \
            a user with the rights that it needs"
        ));
    }
    let mut file = match File::open(path) {
        Ok(file) => file,
        // Executable but not readable: nothing is known, and it may well work.
        Err(_) => return None,
    };
    let mut head = [0u8; 64];
    let read = file.read(&mut head).unwrap_or(0);
    if head.starts_with(b"#!") {
        if follow {
            return None;
        }
        let line = String::from_utf8_lossy(&head[2..read]);
        let interpreter = line.lines().next().unwrap_or_default().trim().to_owned();
        return Some(format!(
            "{shown}: is a script (for {interpreter}), and `workspan record` records a single program; record every program \
            that the script starts with --follow, or put `workspan record --` before the program of interest inside the \
            script"
        ));
    }
    if !head.starts_with(b"\x7fELF") {
        return Some(format!(
            "{shown}: is not a program of this system (not an ELF file); give one that is"
        ));
    }
    let own = own_machine();
    if own.is_some() && own != machine(&head) {
        return Some(if head[4] == 1 {
            format!(
                "{shown}: is a 32-bit program, and workspan records 64-bit ones; build it with -m64"
            )
        } else {
            format!(
                "{shown}: is built for another kind of machine, where this workspan's recorder does not run; build it for \
                 this one ({})",
                std::env::consts::ARCH
            )
        });
    }
    if workspan_symbols::has_interpreter(path) == Some(false) {
        return Some(format!(
            "{shown}: is linked statically, so nothing can be preloaded into it and it can't be recorded; link it dynamically \
             (C, C++, Fortran: no -static; Rust: a gnu target instead of musl, no `-C target-feature=+crt-static`)"
        ));
    }
    None
}

/// The reason why the system starts the program with more rights than its caller has, and therefore
/// without preloading (`AT_SECURE`, ld.so(8)); `None` if it does not.
fn privileged(path: &Path, facts: &std::fs::Metadata) -> Option<&'static str> {
    let mode = facts.mode();
    let other_user = mode & 0o4000 != 0 && facts.uid() != rustix::process::getuid().as_raw();
    let other_group = mode & 0o2010 == 0o2010 && facts.gid() != rustix::process::getgid().as_raw();
    // Root already has all rights that a file can give.
    let capable = !rustix::process::getuid().is_root() && has_capabilities(path);
    let how = match (other_user, other_group, capable) {
        (true, ..) => "set-user-id",
        (_, true, _) => "set-group-id",
        (.., true) => "given capabilities by its file",
        _ => return None,
    };
    // These rights are ignored with no_new_privs, as in containers, or on a mount with nosuid.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let fixed = status.lines().any(|line| {
        line.strip_prefix("NoNewPrivs:")
            .is_some_and(|v| v.trim() == "1")
    });
    let ignored = rustix::fs::statvfs(path)
        .is_ok_and(|mount| mount.f_flag.contains(rustix::fs::StatVfsMountFlags::NOSUID));
    (!fixed && !ignored).then_some(how)
}

fn has_capabilities(path: &Path) -> bool {
    let mut value = [0u8; 64];
    rustix::fs::getxattr(path, c"security.capability", &mut value[..])
        .is_ok_and(|length| length > 0)
}

/// Class, byte order and machine of an ELF header.
fn machine(head: &[u8; 64]) -> Option<[u8; 4]> {
    Some([head[4], head[5], head[18], head[19]])
}

fn own_machine() -> Option<[u8; 4]> {
    let mut head = [0u8; 64];
    File::open("/proc/self/exe")
        .ok()?
        .read_exact(&mut head)
        .ok()?;
    machine(&head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_recorded_is_said_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8], mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            refusal(&path, false).unwrap_or_default()
        };
        assert!(
            file("script", b"#!/bin/sh\nexit 0\n", 0o755).contains("is a script (for /bin/sh)")
        );
        assert!(file("data", b"hello", 0o755).contains("not an ELF file"));
        assert!(file("plain", b"\x7fELF", 0o644).contains("chmod +x"));
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(file("own", &own, 0o755), "");
        // Without its PT_INTERP.
        let mut fixed = own.clone();
        let table = u64::from_le_bytes(own[32..40].try_into().unwrap()) as usize;
        for at in (table..).step_by(56).take(usize::from(own[56])) {
            if fixed[at..at + 4] == [3, 0, 0, 0] {
                fixed[at] = 0;
            }
        }
        assert!(file("static", &fixed, 0o755).contains("linked statically"));
        let mut other = own;
        other[18] ^= 0xff;
        assert!(file("other", &other, 0o755).contains("another kind of machine"));
        other[4] = 1;
        assert!(file("small", &other, 0o755).contains("is a 32-bit program"));
        assert_eq!(refusal(&folder.path().join("script"), true), None);
        assert!(
            refusal(&folder.path().join("none"), false)
                .unwrap_or_default()
                .contains("No such file")
        );
        assert!(
            find(OsStr::new("no-such-program-anywhere"))
                .unwrap_err()
                .contains("in PATH")
        );
    }
}
