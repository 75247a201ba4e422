//! The RPM.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::workspace::succeed;

use super::{DESCRIPTION, Release, SUMMARY, works};

/// Makes an `.rpm`, if rpmbuild is installed.
pub fn package(release: &Release) -> Result<Option<PathBuf>> {
    if !works("rpmbuild") {
        println!("   no .rpm: rpmbuild is missing (apt-get install rpm)");
        return Ok(None);
    }
    let top = release.dist.join("rpm");
    fs::create_dir_all(&top)?;
    let spec = top.join("workspan.spec");
    let text = format!(
        "Name: workspan\nVersion: {}\nRelease: 1\nSummary: {SUMMARY}\nLicense: MIT OR Apache-2.0\n\
         %define debug_package %{{nil}}\n%define __strip /bin/true\n%define _build_id_links none\n%define __os_install_post %{{nil}}\n\
         %description\n{DESCRIPTION}\n\
         %install\nmkdir -p %{{buildroot}}/usr\ncp -a {}/. %{{buildroot}}/usr/\n\
         %files\n/usr/bin/*\n/usr/include/*\n/usr/share/*/*\n",
        release.version,
        release.tree.display()
    );
    fs::write(&spec, text)?;
    let mut build = Command::new("rpmbuild");
    build
        .args(["-bb", "--quiet", "--define"])
        .arg(format!("_topdir {}", top.display()));
    succeed(build.arg(&spec))?;
    let architecture = std::env::consts::ARCH;
    let name = format!("workspan-{}-1.{architecture}.rpm", release.version);
    let file = release.dist.join(&name);
    fs::copy(top.join("RPMS").join(architecture).join(&name), &file)?;
    Ok(Some(file))
}
