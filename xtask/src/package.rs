//! `cargo xtask package`: makes the crates in the form in which the registry would get them.
//! Nothing is uploaded.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::ui;
use crate::workspace::{cargo, output, root, succeed, target};

/// Members of the workspace that are not published.
pub const UNPUBLISHED: [&str; 8] = [
    "workspan-test-kit",
    "xtask",
    "workspan-bench",
    "workspan-predictions",
    "workspan-agents",
    "workspan-truth",
    "workspan-toolchains",
    "workspan-api-off-test",
];

/// Files from outside a crate's folder that its package must contain, by package.
const CARRIED: [(&str, &[&str]); 4] = [
    (
        "workspan-calibrate",
        &["src/skipped_join/passthrough_join.rs"],
    ),
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
            "kernels/api/lib.rs",
        ],
    ),
];

/// Packages every published crate, with the built page inside. With `verify`, each is compiled from
/// its package alone, like `cargo publish --dry-run` does, without Node, which takes minutes. Then
/// the resulting tool must make a report with the page.
pub fn run(verify: bool) -> Result<()> {
    let metadata = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    acceptable(&serde_json::from_str(&metadata)?)?;
    ui::build()?;
    let page = root().join("crates/view/page");
    fs::create_dir_all(&page)?;
    fs::copy(root().join("ui/dist/index.html"), page.join("index.html"))?;
    // Every package is compiled in the same folder; otherwise cargo would build their dependencies
    // for each one.
    let folder = match verify {
        true => target().join("verify"),
        false => target(),
    };
    let mut package = cargo();
    package.args(["package", "--workspace", "--allow-dirty", "--target-dir"]);
    package.arg(&folder);
    for name in UNPUBLISHED {
        package.args(["--exclude", name]);
    }
    if verify {
        println!("== every package is compiled alone, without Node: some minutes");
        package.env("PATH", path_without_node()?);
        // The result is used only once.
        package.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        package.env("CARGO_PROFILE_DEV_DEBUG", "0");
    } else {
        package.args(["--quiet", "--no-verify"]);
    }
    let packaged = succeed(&mut package);
    // Only packages contain it: builds in a checkout use ui/dist.
    fs::remove_dir_all(&page)?;
    packaged?;
    for (name, files) in CARRIED {
        carries(&folder, name, files)?;
    }
    if verify {
        makes_pages(&folder)?;
    }
    println!("== {}", folder.join("package").display());
    Ok(())
}

/// Fails unless registries accept every package: cargo only warns about what they refuse.
fn acceptable(metadata: &Value) -> Result<()> {
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let is_unpublished = package["publish"].as_array().is_some_and(Vec::is_empty);
        if is_unpublished != UNPUBLISHED.contains(&name) {
            bail!("{name}: `publish` in its manifest, or UNPUBLISHED in xtask, is wrong");
        }
        let lacks = |field: &str| package[field].as_str().is_none_or(str::is_empty);
        if let Some(field) = ["description", "license", "repository"]
            .into_iter()
            .find(|field| lacks(field))
            && !is_unpublished
        {
            bail!("{name}: has no `{field}` in its manifest; a registry would refuse it");
        }
    }
    Ok(())
}

/// `PATH` with a failing `node` and `npm` in front, as if they were not installed.
fn path_without_node() -> Result<OsString> {
    let folder = target().join("without-node");
    fs::create_dir_all(&folder)?;
    for name in ["node", "npm"] {
        let file = folder.join(name);
        fs::write(&file, "#!/bin/sh\nexit 127\n")?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    let mut path = folder.into_os_string();
    if let Some(rest) = env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    Ok(path)
}

/// Fails unless the tool compiled from the packages makes a single-file report.
fn makes_pages(folder: &Path) -> Result<()> {
    let tool = folder.join("debug/workspan");
    let page = folder.join("report.html");
    let _ = fs::remove_file(&page);
    let trace = root().join("crates/analysis/tests/statistics/two_steals.jsonl");
    let mut html = Command::new(&tool);
    output(html.arg("html").arg(trace).arg("-o").arg(&page))?;
    let text = fs::read_to_string(&page)?;
    if !text.to_lowercase().starts_with("<!doctype html>") {
        bail!("{}: is no page", page.display());
    }
    println!("   {} makes reports with the page", tool.display());
    Ok(())
}

/// Fails unless the package of `name` has all these files.
fn carries(folder: &Path, name: &str, files: &[&str]) -> Result<()> {
    let crate_file = package_file(folder, name)?;
    let listed = output(Command::new("tar").arg("-tzf").arg(&crate_file))?;
    for file in files {
        let there = |line: &str| line.split_once('/').is_some_and(|(_, path)| path == *file);
        if !listed.lines().any(there) {
            bail!("{}: has no {file}", crate_file.display());
        }
    }
    Ok(())
}

/// The package with this name and the workspace's version.
fn package_file(folder: &Path, name: &str) -> Result<PathBuf> {
    let version = crate::dist::version()?;
    let file = folder.join(format!("package/{name}-{version}.crate"));
    if !file.is_file() {
        bail!("{}: cargo package did not make it", file.display());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_package_that_a_registry_would_refuse_is_named() {
        let package = |name: &str, description: Value, publish: Value| {
            let license = "MIT OR Apache-2.0";
            let repository = "https://example.org";
            json!({"packages": [{
                "name": name, "description": description, "publish": publish,
                "license": license, "repository": repository,
            }]})
        };
        let refused = |metadata: Value| acceptable(&metadata).unwrap_err().to_string();
        let fine = package("workspan-dag", json!("columns"), Value::Null);
        assert!(acceptable(&fine).is_ok());
        assert!(acceptable(&package("xtask", Value::Null, json!([]))).is_ok());
        let bare = refused(package("workspan-dag", Value::Null, Value::Null));
        assert!(
            bare.contains("workspan-dag: has no `description`"),
            "{bare}"
        );
        let public = refused(package("xtask", json!("checks"), Value::Null));
        assert!(public.starts_with("xtask: `publish`"), "{public}");
    }
}
