//! The Debian package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::workspace::{output, succeed};

use super::{DESCRIPTION, Release, SUMMARY, works};

/// Makes a `.deb`, if dpkg is installed.
pub fn package(release: &Release) -> Result<Option<PathBuf>> {
    if !works("dpkg-deb") {
        println!("   no .deb: dpkg-deb is missing");
        return Ok(None);
    }
    let package = release.dist.join("deb");
    copy_tree(&release.tree, &package.join("usr"))?;
    let control = package.join("DEBIAN");
    fs::create_dir_all(&control)?;
    let text = format!(
        "Package: workspan\nVersion: {}\nArchitecture: {}\nMaintainer: The workspan developers <maintainers@workspan.invalid>\n\
         Section: devel\nPriority: optional\nDepends: libc6 (>= {}.{})\nDescription: {SUMMARY}\n {DESCRIPTION}\n",
        release.version,
        debian_architecture(),
        release.glibc.0,
        release.glibc.1
    );
    fs::write(control.join("control"), text)?;
    let file = release.dist.join(format!(
        "workspan_{}_{}.deb",
        release.version,
        debian_architecture()
    ));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "--build"]);
    output(build.arg(&package).arg(&file))?;
    Ok(Some(file))
}

/// Debian's name for this architecture.
pub fn debian_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    succeed(
        Command::new("cp")
            .arg("-a")
            .arg(from.join("."))
            .arg(to.join(".")),
    )
}
