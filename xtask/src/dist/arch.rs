//! Arch Linux: a `PKGBUILD` that wraps the archive, and the package that `makepkg` makes of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::is_root;
use crate::workspace::{output, succeed};

use super::{SUMMARY, archive_name, works};

/// The account for making packages if we are root, because makepkg refuses to run as root.
const NOBODY: &str = "65534";

/// Writes the `PKGBUILD`, and makes the package if makepkg is installed. Returns the files to
/// release.
///
/// # Errors
/// makepkg refuses the `PKGBUILD`.
pub fn package(dist: &Path, version: &str, glibc: (u32, u32)) -> Result<Vec<PathBuf>> {
    let archive = format!("{}.tar.gz", archive_name(version));
    let sum = output(Command::new("sha256sum").arg(dist.join(&archive)))?;
    let sum = sum.split_whitespace().next().unwrap_or_default();
    let folder = dist.join("arch");
    fs::create_dir_all(&folder)?;
    let build = dist.join("PKGBUILD");
    fs::write(&build, pkgbuild(version, glibc, sum))?;
    if !works("makepkg") {
        println!(
            "   no package for Arch: makepkg is missing (apt-get install makepkg pacman-package-manager libarchive-tools)"
        );
        return Ok(vec![build]);
    }
    for file in [&build, &dist.join(&archive)] {
        fs::copy(file, folder.join(file.file_name().unwrap_or_default()))?;
    }
    let mut make = match is_root() {
        true => {
            succeed(Command::new("chown").arg("-R").arg(NOBODY).arg(&folder))?;
            let mut as_nobody = Command::new("setpriv");
            as_nobody.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
            as_nobody.arg("makepkg");
            as_nobody
        }
        false => Command::new("makepkg"),
    };
    // Debian's libraries are not Arch packages.
    make.args(["--nodeps", "--force", "--nocolor"])
        .current_dir(&folder)
        .env("PKGEXT", ".pkg.tar.zst");
    let made = make.output().context("makepkg")?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        anyhow::bail!("makepkg: {}: {said}", made.status);
    }
    let file = dist.join(package_name(version));
    fs::copy(folder.join(package_name(version)), &file)?;
    Ok(vec![build, file])
}

/// The file that makepkg makes.
pub fn package_name(version: &str) -> String {
    format!(
        "workspan-bin-{version}-1-{}.pkg.tar.zst",
        std::env::consts::ARCH
    )
}

fn pkgbuild(version: &str, (major, minor): (u32, u32), sum: &str) -> String {
    let architecture = std::env::consts::ARCH;
    let name = archive_name(version);
    format!(
        "pkgname=workspan-bin\n\
         pkgver={version}\n\
         pkgrel=1\n\
         pkgdesc='{SUMMARY}'\n\
         arch=('{architecture}')\n\
         license=('MIT' 'Apache')\n\
         depends=('glibc>={major}.{minor}' 'gcc-libs')\n\
         provides=(\"workspan=$pkgver\")\n\
         conflicts=('workspan')\n\
         options=('!strip')\n\
         source=('{name}.tar.gz')\n\
         sha256sums=('{sum}')\n\
         \n\
         package() {{\n\
         \x20   install -d \"$pkgdir/usr\"\n\
         \x20   cp -a '{name}/.' \"$pkgdir/usr/\"\n\
         \x20   # The folder in which Arch's zsh looks.\n\
         \x20   mv \"$pkgdir/usr/share/zsh/vendor-completions\" \"$pkgdir/usr/share/zsh/site-functions\"\n\
         }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_the_pkgbuild() {
        let text = pkgbuild("1.2.3", (2, 31), "00ff");
        let line =
            format!("{text}\nprintf '%s\\n' \"$pkgver\" \"${{depends[0]}}\" \"${{source[0]}}\"");
        let said = output(Command::new("bash").args(["-eu", "-c", &line])).unwrap();
        let archive = format!("{}.tar.gz", archive_name("1.2.3"));
        assert_eq!(said, format!("1.2.3\nglibc>=2.31\n{archive}\n"));
    }
}
