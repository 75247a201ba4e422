//! A root folder with a given Debian release, made by debootstrap: releases are built in an old one
//! and tried in fresh ones.
//!
//! Commands run in it by `chroot` in a mount namespace of their own, so that their mounts vanish
//! with them. This needs root.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::packages::is_root;
use crate::workspace::{root, succeed, target};

/// A complete root.
pub struct DebianRoot {
    folder: PathBuf,
}

impl DebianRoot {
    /// The root of this release with these packages in `target/roots`; made if it does not exist.
    ///
    /// # Errors
    /// We are not root, debootstrap is missing, or the release can't be downloaded.
    pub fn prepare(release: &str, packages: &[&str]) -> Result<DebianRoot> {
        if !is_root() {
            bail!("a root of Debian {release} is made by root alone");
        }
        let name = [&[release], packages].concat().join("+");
        let folder = target().join("roots").join(name);
        let made = DebianRoot {
            folder: folder.clone(),
        };
        let complete = folder.join("complete");
        if complete.is_file() {
            return Ok(made);
        }
        println!("== a root of Debian {release} in {}", folder.display());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let include = [&["ca-certificates"], packages].concat().join(",");
        let mut debootstrap = Command::new("debootstrap");
        debootstrap
            .arg("--variant=minbase")
            .arg(format!("--include={include}"))
            .arg(release)
            .arg(&folder)
            .stdout(Stdio::null());
        succeed(&mut debootstrap).context("apt-get install debootstrap")?;
        fs::write(complete, "")?;
        Ok(made)
    }

    /// A shell line inside the root, without our environment; `shared` folders are available under
    /// their own paths.
    pub fn shell(&self, line: &str, shared: &[&Path]) -> Command {
        let mut outer = String::from("set -e\nmount -t proc proc \"$0/proc\"\n");
        outer.push_str("mount --rbind /dev \"$0/dev\"\n");
        for path in shared {
            let path = quoted(&path.display().to_string());
            outer.push_str(&format!(
                "mkdir -p \"$0\"{path}\nmount --rbind {path} \"$0\"{path}\n"
            ));
        }
        outer.push_str("exec chroot \"$0\" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb ");
        outer.push_str("PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin /bin/sh -c \"$1\"\n");
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-c"])
            .arg(outer)
            .arg(&self.folder)
            .arg(line)
            .current_dir("/");
        command
    }

    /// [`DebianRoot::shell`] with this workspace, its target folder and the machine's Rust.
    pub fn shell_with_rust(&self, line: &str, variables: &[(&str, &str)]) -> Result<Command> {
        let home = env::var_os("HOME").context("HOME is not set")?;
        let home = PathBuf::from(home);
        let folder = |name: &str, default: &str| {
            env::var_os(name).map_or_else(|| home.join(default), PathBuf::from)
        };
        let (cargo, rustup) = (
            folder("CARGO_HOME", ".cargo"),
            folder("RUSTUP_HOME", ".rustup"),
        );
        let (workspace, target) = (root(), target());
        let mut words = format!(
            "cd {} && export CARGO_HOME={} RUSTUP_HOME={} PATH={}/bin:\"$PATH\"",
            quoted(&workspace.display().to_string()),
            quoted(&cargo.display().to_string()),
            quoted(&rustup.display().to_string()),
            quoted(&cargo.display().to_string()),
        );
        for (name, value) in variables {
            words.push_str(&format!(" {name}={}", quoted(value)));
        }
        let line = format!("{words} && {line}");
        Ok(self.shell(&line, &[&workspace, &target, &cargo, &rustup]))
    }
}

/// A word, quoted for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_shell_stay_whole() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
