//! `cargo xtask package`: the crates as the registry would get them. Nothing is uploaded.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};

use crate::ui;
use crate::workspace::{cargo, output, root, succeed, target};

/// Members of the workspace that are not published.
const UNPUBLISHED: [&str; 4] = [
    "xtask",
    "workspan-bench",
    "workspan-truth",
    "workspan-api-off-test",
];

/// Files from outside a crate's folder that its package has to carry, by package.
const CARRIED: [(&str, &[&str]); 3] = [
    ("workspan-view", &["page/index.html"]),
    (
        "workspan-rayon",
        &[
            "shared/wire.rs",
            "shared/budget/class.rs",
            "stand-in/lib.rs",
        ],
    ),
    (
        "workspan",
        &[
            "kernels/tp/fib.cpp",
            "kernels/src/bin/fib.rs",
            "kernels/include/workspan/tp.h",
        ],
    ),
];

/// Packages every published crate, with the built page inside. With `verify` each is compiled from
/// its package alone, as `cargo publish --dry-run` does, which takes minutes.
pub fn run(verify: bool) -> Result<()> {
    ui::build()?;
    let page = root().join("crates/view/page");
    fs::create_dir_all(&page)?;
    fs::copy(root().join("ui/dist/index.html"), page.join("index.html"))?;
    let mut package = cargo();
    package.args(["package", "--workspace", "--allow-dirty", "--quiet"]);
    for name in UNPUBLISHED {
        package.args(["--exclude", name]);
    }
    if !verify {
        package.arg("--no-verify");
    }
    let packaged = succeed(&mut package);
    // A page that stays behind would be embedded by builds of later pages.
    fs::remove_dir_all(&page)?;
    packaged?;
    for (name, files) in CARRIED {
        carries(name, files)?;
    }
    println!("== {}", target().join("package").display());
    Ok(())
}

/// Fails unless the package of `name` has all these files.
fn carries(name: &str, files: &[&str]) -> Result<()> {
    let crate_file = package_file(name)?;
    let listed = output(Command::new("tar").arg("-tzf").arg(&crate_file))?;
    for file in files {
        let there = |line: &str| line.split_once('/').is_some_and(|(_, path)| path == *file);
        if !listed.lines().any(there) {
            bail!("{}: has no {file}", crate_file.display());
        }
    }
    Ok(())
}

/// The package of this name and of the workspace's version.
fn package_file(name: &str) -> Result<std::path::PathBuf> {
    let version = crate::dist::version()?;
    let file = target().join(format!("package/{name}-{version}.crate"));
    if !file.is_file() {
        bail!("{}: cargo package did not make it", file.display());
    }
    Ok(file)
}
