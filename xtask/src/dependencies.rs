//! Checks the project's dependencies by `deny.toml`: licences, origin of the code, and the Rust
//! version that it needs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{cargo, output, root, target};

/// The outcome of one part.
pub enum Outcome {
    Fine,
    Wrong(String),
    Skipped(String),
}

/// Checks the workspace, and the fuzzers and the lake, which are workspaces of their own.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let allowed = allowed(&text)?;
    let mut wrong = Vec::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml", "lake/Cargo.toml"] {
        let metadata = output(cargo().args([
            "metadata",
            "--format-version",
            "1",
            "--manifest-path",
            manifest,
        ]))?;
        let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
        wrong.extend(faults(&metadata, &allowed));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        bail!("{}", wrong.join("\n"))
    }
}

/// The licences allowed, from the text of `deny.toml`.
fn allowed(text: &str) -> Result<BTreeSet<String>> {
    let deny: toml::Table = text.parse().context("deny.toml")?;
    let list = deny
        .get("licenses")
        .and_then(|licenses| licenses.get("allow"))
        .and_then(toml::Value::as_array)
        .context("deny.toml names no licences")?;
    Ok(list
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect())
}

/// Problems of packages other than ours.
fn faults(metadata: &Value, allowed: &BTreeSet<String>) -> Vec<String> {
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let ours = |package: &&Value| package["source"].is_null();
    let newest = packages.iter().filter(ours).filter_map(rust_version).max();
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| !ours(package)) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        if !is_allowed(text("license"), allowed) {
            faults.push(format!(
                "{name}: its licence is `{}`, which deny.toml does not allow",
                text("license")
            ));
        }
        if !text("source").starts_with("registry+") {
            faults.push(format!(
                "{name}: comes from {}, no registry",
                text("source")
            ));
        }
        if let (Some(needs), Some(newest)) = (rust_version(package), newest)
            && needs > newest
        {
            faults.push(format!(
                "{name}: needs Rust {}.{}, and the workspace says it does with {}.{}",
                needs.0, needs.1, newest.0, newest.1
            ));
        }
    }
    faults
}

/// Major and minor version.
fn rust_version(package: &Value) -> Option<(u32, u32)> {
    let mut parts = package["rust_version"].as_str()?.split('.');
    Some((
        parts.next()?.parse().ok()?,
        parts.next().unwrap_or("0").parse().ok()?,
    ))
}

/// Whether an SPDX expression can be satisfied with these licences. A slash is the old form of
/// `OR`; an exception only allows more.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = either(&words, &mut at, allowed);
    met && at == words.len()
}

fn either(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= both(words, at, allowed);
    }
    met
}

fn both(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(&word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if word == "(" {
        let met = either(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += usize::from(closed);
        return met && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.contains(word)
}

/// Runs cargo-deny on both workspaces, if it is installed or may be: once offline, and once with
/// the list of known vulnerabilities.
pub fn deny(may_install: bool) -> Vec<(&'static str, Outcome)> {
    let tools = target().join("tools");
    let path = crate::fuzz::with_tools(&tools);
    let deny = || {
        let mut command = Command::new("cargo-deny");
        command.current_dir(root()).env("PATH", &path);
        command
    };
    let there = || {
        let version = deny().arg("--version").output();
        version.is_ok_and(|out| out.status.success())
    };
    let usable = there() || may_install && install("cargo-deny", &tools) && there();
    if !usable {
        let how = "not installed: cargo install cargo-deny";
        return vec![("cargo-deny", Outcome::Skipped(how.into()))];
    }
    let check = |what: &[&str]| {
        for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
            let mut command = deny();
            command.args(["--manifest-path", manifest, "check"]);
            let out = match command.args(what).output() {
                Ok(out) if out.status.success() => continue,
                Ok(out) => out,
                Err(error) => return Outcome::Wrong(error.to_string()),
            };
            let said = String::from_utf8_lossy(&out.stderr);
            if said.contains("failed to fetch") {
                return Outcome::Skipped("the list of vulnerabilities can't be had".into());
            }
            return Outcome::Wrong(format!("{manifest}: {}\n{said}", out.status));
        }
        Outcome::Fine
    };
    vec![
        ("cargo-deny", check(&["licenses", "bans", "sources"])),
        ("cargo-deny, vulnerabilities", check(&["advisories"])),
    ]
}

/// Installs a cargo tool into a folder of ours.
pub fn install(tool: &str, root: &Path) -> bool {
    println!("== cargo install {tool}");
    let mut command = cargo();
    command.args(["install", "--quiet", "--locked", tool, "--root"]);
    command.arg(root).status().is_ok_and(|s| s.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_are_met_by_what_is_allowed() {
        let allowed: BTreeSet<String> = ["MIT", "Zlib"].map(str::to_owned).into();
        for met in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 OR MIT",
            "(GPL-3.0 OR MIT) AND Zlib",
            "MIT WITH LLVM-exception",
        ] {
            assert!(is_allowed(met, &allowed), "{met}");
        }
        for unmet in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT MIT"] {
            assert!(!is_allowed(unmet, &allowed), "{unmet}");
        }
    }

    #[test]
    fn each_fault_is_told_with_the_package() {
        let allowed: BTreeSet<String> = ["MIT"].map(str::to_owned).into();
        let package = |license: &str, source: &str, rust: &str| json!({"name": "p", "version": "1.0.0", "license": license, "source": source, "rust_version": rust});
        let metadata = json!({"packages": [
            {"name": "ours", "source": null, "rust_version": "1.88"},
            package("MIT", "registry+x", "1.60"),
            package("GPL-3.0", "registry+x", "1.60"),
            package("MIT", "git+x", "1.60"),
            package("MIT", "registry+x", "1.100"),
        ]});
        let faults = faults(&metadata, &allowed);
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("GPL-3.0") && faults[1].contains("git+x"));
        assert!(faults[2].contains("1.100"));
    }
}
