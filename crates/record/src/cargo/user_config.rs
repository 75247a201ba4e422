//! The user's own cargo configuration, as far as recording replaces it: the target runner, the
//! rustc wrapper, and the target. It is read in cargo's order: `--config`, the environment, the
//! config files from the working directory up, and the one in cargo's home.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_platform::{Cfg, Platform};
use toml::{Table, Value};

use crate::cargo::command_line::CargoLine;

/// The user's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserConfig {
    /// The target triple.
    pub target: String,
    /// The runner of that target with its arguments; empty if there is none.
    pub runner: Vec<OsString>,
    /// Whether a runner is set under the triple itself as one string: cargo refuses an array in
    /// addition to it.
    pub runner_is_string: bool,
    /// The rustc wrapper.
    pub wrapper: Option<OsString>,
    /// Whether intermediate files have a folder of their own (`build.build-dir`).
    pub has_build_dir: bool,
}

/// A source of configuration, with the directory that relative paths of programs refer to.
struct Source {
    table: Table,
    base: PathBuf,
}

impl UserConfig {
    /// Reads the configuration for this command line.
    ///
    /// # Errors
    /// rustc cannot be asked for its target. Unreadable config files are not reported here, because
    /// cargo reports them.
    pub fn read(line: &CargoLine) -> anyhow::Result<Self> {
        let mut directory = std::env::current_dir()?;
        if let Some(other) = line.values("-C").pop() {
            directory.push(other);
        }
        let (given, files) = (given(line, &directory), files(&directory));
        let env = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());

        let host = Compiler::from_line(line).host()?;
        let target = line
            .values("--target")
            .pop()
            .map(|t| t.to_string_lossy().into_owned())
            .or_else(|| find(&given, &["build", "target"]).and_then(|(v, _)| first(v)))
            .or_else(|| env("CARGO_BUILD_TARGET").map(|t| t.to_string_lossy().into_owned()))
            .or_else(|| find(&files, &["build", "target"]).and_then(|(v, _)| first(v)))
            .filter(|t| t != "host-tuple")
            .unwrap_or(host);
        // A custom target is named after its specification file.
        let target = match Path::new(&target).file_stem() {
            Some(stem) if target.ends_with(".json") => stem.to_string_lossy().into_owned(),
            _ => target,
        };

        let key = ["target", &target, "runner"];
        let variable = format!(
            "CARGO_TARGET_{}_RUNNER",
            target.to_uppercase().replace(['-', '.'], "_")
        );
        let runner = find(&given, &key)
            .map(|(value, base)| words(value, base))
            .or_else(|| env(&variable).map(|text| split(&text.to_string_lossy(), &directory)))
            .or_else(|| find(&files, &key).map(|(value, base)| words(value, base)))
            .or_else(|| conditional(&[&given, &files], &target, line))
            .unwrap_or_default();
        let runner_is_string = given
            .iter()
            .chain(&files)
            .any(|source| get(&source.table, &key).is_some_and(Value::is_str));

        let key = ["build", "rustc-wrapper"];
        let from = |sources: &[Source]| {
            find(sources, &key).and_then(|(v, base)| Some(program(v.as_str()?, base)))
        };
        let wrapper = match std::env::var_os("RUSTC_WRAPPER") {
            // An empty value turns a configured wrapper off.
            Some(value) => Some(value),
            None => from(&given)
                .or_else(|| env("CARGO_BUILD_RUSTC_WRAPPER"))
                .or_else(|| from(&files)),
        };
        let key = ["build", "build-dir"];
        let has_build_dir = env("CARGO_BUILD_BUILD_DIR").is_some()
            || find(&given, &key).or_else(|| find(&files, &key)).is_some();
        let wrapper = wrapper.filter(|w| !w.is_empty());
        Ok(Self {
            target,
            runner,
            runner_is_string,
            wrapper,
            has_build_dir,
        })
    }
}

/// The rustc that this command line uses.
struct Compiler {
    toolchain: Option<String>,
}

impl Compiler {
    fn from_line(line: &CargoLine) -> Self {
        let toolchain = line
            .toolchain
            .as_ref()
            .and_then(|t| Some(t.to_str()?.strip_prefix('+')?.to_owned()));
        Self { toolchain }
    }

    fn ask(&self, args: &[&str]) -> anyhow::Result<String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(&rustc);
        command.args(args);
        if let Some(toolchain) = &self.toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        let output = command.output().map_err(|e| {
            anyhow::anyhow!(
                "{}: {e}; is Rust installed and in PATH?",
                rustc.to_string_lossy()
            )
        })?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn host(&self) -> anyhow::Result<String> {
        let said = self.ask(&["-vV"])?;
        let host = said.lines().find_map(|l| l.strip_prefix("host: "));
        host.map(str::to_owned)
            .ok_or_else(|| anyhow::anyhow!("rustc -vV names no host; is the toolchain complete?"))
    }
}

/// The runner of a `cfg(…)` that matches the target.
fn conditional(sources: &[&Vec<Source>], target: &str, line: &CargoLine) -> Option<Vec<OsString>> {
    let mut facts: Option<Vec<Cfg>> = None;
    for source in sources.iter().copied().flatten() {
        let Some(Value::Table(targets)) = source.table.get("target") else {
            continue;
        };
        for (condition, settings) in targets {
            let (Some(runner), true) = (settings.get("runner"), condition.starts_with("cfg("))
            else {
                continue;
            };
            let Ok(platform) = condition.parse::<Platform>() else {
                continue;
            };
            let facts = facts.get_or_insert_with(|| {
                let said = Compiler::from_line(line)
                    .ask(&["--print", "cfg", "--target", target])
                    .unwrap_or_default();
                said.lines().filter_map(|l| l.parse().ok()).collect()
            });
            if platform.matches(target, facts) {
                return Some(words(runner, &source.base));
            }
        }
    }
    None
}

/// The values of `--config`, the last one first, because it takes precedence.
fn given(line: &CargoLine, directory: &Path) -> Vec<Source> {
    let values = line.values("--config").into_iter().rev();
    values
        .filter_map(|value| {
            let path = directory.join(&value);
            if path.is_file() {
                return file(&path);
            }
            Some(Source {
                table: value.to_str()?.parse().ok()?,
                base: directory.to_owned(),
            })
        })
        .collect()
}

/// The config files, the nearest first.
fn files(directory: &Path) -> Vec<Source> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folders = directory.ancestors().map(|d| d.join(".cargo")).chain(home);
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        // If both exist, the old name takes precedence.
        let path = ["config", "config.toml"]
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| path.is_file());
        paths.extend(path.filter(|path| !paths.contains(path)));
    }
    paths.iter().filter_map(|path| file(path)).collect()
}

fn file(path: &Path) -> Option<Source> {
    let table = std::fs::read_to_string(path).ok()?.parse().ok()?;
    Some(Source {
        table,
        base: path.parent()?.parent()?.to_owned(),
    })
}

fn get<'a>(table: &'a Table, key: &[&str]) -> Option<&'a Value> {
    let (last, path) = key.split_last()?;
    path.iter()
        .try_fold(table, |table, part| table.get(*part)?.as_table())?
        .get(*last)
}

fn find<'a>(sources: &'a [Source], key: &[&str]) -> Option<(&'a Value, &'a Path)> {
    sources
        .iter()
        .find_map(|source| Some((get(&source.table, key)?, source.base.as_path())))
}

/// A string, or the first element of an array of strings.
fn first(value: &Value) -> Option<String> {
    let value = value
        .as_array()
        .map_or(Some(value), |array| array.first())?;
    value.as_str().map(str::to_owned)
}

/// A program with arguments: a string split at spaces, or an array.
fn words(value: &Value, base: &Path) -> Vec<OsString> {
    match value {
        Value::String(text) => split(text, base),
        Value::Array(parts) => {
            let mut parts = parts.iter().filter_map(Value::as_str);
            let first = parts.next().map(|p| program(p, base));
            first.into_iter().chain(parts.map(OsString::from)).collect()
        }
        _ => Vec::new(),
    }
}

fn split(text: &str, base: &Path) -> Vec<OsString> {
    let mut parts = text.split_whitespace();
    let first = parts.next().map(|p| program(p, base));
    first.into_iter().chain(parts.map(OsString::from)).collect()
}

/// A program's name. Without a slash it is looked up in `PATH`; a path is relative to the directory
/// of the setting.
fn program(name: &str, base: &Path) -> OsString {
    if name.contains('/') {
        base.join(name).into_os_string()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> CargoLine {
        CargoLine::parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn runners_are_found_under_the_triple_and_under_cfg() {
        let host = Compiler { toolchain: None }.host().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = root.to_string_lossy().into_owned();
        std::fs::create_dir_all(root.join(".cargo")).unwrap();
        let config = root.join(".cargo/config.toml");

        std::fs::write(
            &config,
            "[target.'cfg(windows)']\nrunner='no'\n[target.'cfg(unix)']\nrunner='./r a b'\n",
        )
        .unwrap();
        let read = |words: &[&str]| {
            let mut all = vec!["-C", at.as_str()];
            all.extend(words);
            UserConfig::read(&line(&all)).unwrap()
        };
        let found = read(&["run"]);
        assert_eq!(
            found.runner,
            [root.join("./r").into_os_string(), "a".into(), "b".into()]
        );
        assert!(!found.runner_is_string && found.wrapper.is_none());

        std::fs::write(
            &config,
            format!("[build]\nrustc-wrapper='w/x'\n[target.'cfg(unix)']\nrunner='c'\n[target.{host}]\nrunner='t 1'\n"),
        )
        .unwrap();
        let found = read(&["run"]);
        assert_eq!(
            (found.runner_is_string, found.runner),
            (true, vec!["t".into(), "1".into()])
        );
        assert_eq!(found.wrapper, Some(root.join("w/x").into_os_string()));
        let other = format!("target.{host}.runner=['x y','z']");
        assert_eq!(read(&["run", "--config", &other]).runner, ["x y", "z"]);
        assert_eq!(
            read(&["run", "--target", "wasm32-wasip1"]).runner,
            Vec::<OsString>::new()
        );
    }
}
