//! Finds the programs that a cargo command would start, without starting them: cargo builds, and
//! our runner writes down its arguments.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::command_line::CargoLine;
use crate::cargo::runner_config;
use crate::cargo::user_config::UserConfig;
use crate::embedded;
use crate::launch::environment::{self, LIST};

/// A program that cargo would have started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DryRunCommand {
    /// The program, preceded by the user's own runner if there is one, and its arguments.
    pub words: Vec<OsString>,
    /// The working directory.
    pub folder: PathBuf,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Builds what the cargo command line needs and returns the programs it would start.
///
/// # Errors
/// cargo cannot be started or fails; its own messages are on stderr.
pub fn listed(cargo: &OsStr, args: &[OsString]) -> anyhow::Result<Vec<DryRunCommand>> {
    let mut line = CargoLine::parse(args);
    // Here, `cargo workspan run` means the same as `cargo run`.
    if line.subcommand_name() == Some("workspan") {
        line.own.remove(line.subcommand.unwrap_or_default());
        line = CargoLine::parse(&line.arguments().cloned().collect::<Vec<_>>());
    }
    let tools = embedded::unpack(None)?;
    let user = UserConfig::read(&line)?;
    line.add_config(runner_config(&user, &tools.runner)?);
    let list = tools.folder.join(format!("list-{}", std::process::id()));
    let read = |command: &mut Command| -> anyhow::Result<Vec<DryRunCommand>> {
        let status = command
            .status()
            .with_context(|| cargo.to_string_lossy().into_owned())?;
        if !status.success() {
            bail!("cargo ended with {status}");
        }
        match std::fs::read(&list) {
            Ok(bytes) => Ok(parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| list.display().to_string()),
        }
    };
    let mut command = Command::new(cargo);
    command.args(line.arguments()).env(LIST, &list);
    if user.runner.is_empty() {
        command.env_remove(environment::USER_RUNNER);
    } else {
        command.env(environment::USER_RUNNER, environment::join(&user.runner));
    }
    let started = read(&mut command);
    // The list does not exist if cargo started nothing.
    let _ = std::fs::remove_file(&list);
    started
}

/// For the runner: adds the program that `command` would start, with its environment and working
/// directory, to the list.
///
/// # Errors
/// The file system's errors.
pub fn add(list: &Path, command: &Command) -> io::Result<()> {
    let mut environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        environment.retain(|known| known.0 != name);
        environment.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    environment.retain(|known| known.0 != LIST);
    let started = DryRunCommand {
        words: [command.get_program()]
            .into_iter()
            .chain(command.get_args())
            .map(OsStr::to_owned)
            .collect(),
        folder: std::env::current_dir()?,
        environment,
    };
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)?;
    file.write_all(&text(&started))
}

/// Working directory, number of words, words, number of variables, names and values. Each ends with
/// a zero byte, which none of them contains.
fn text(started: &DryRunCommand) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |part: &[u8]| {
        out.extend_from_slice(part);
        out.push(0);
    };
    put(started.folder.as_os_str().as_bytes());
    put(started.words.len().to_string().as_bytes());
    for word in &started.words {
        put(word.as_bytes());
    }
    put(started.environment.len().to_string().as_bytes());
    for (name, value) in &started.environment {
        put(name.as_bytes());
        put(value.as_bytes());
    }
    out
}

fn parse(bytes: &[u8]) -> Vec<DryRunCommand> {
    let mut parts = bytes.split(|&byte| byte == 0);
    let owned = |part: &[u8]| OsString::from_vec(part.to_vec());
    let mut one = || -> Option<DryRunCommand> {
        let folder = parts.next().filter(|folder| !folder.is_empty())?;
        let number = |parts: &mut dyn Iterator<Item = &[u8]>| -> Option<usize> {
            std::str::from_utf8(parts.next()?).ok()?.parse().ok()
        };
        let mut started = DryRunCommand {
            folder: PathBuf::from(owned(folder)),
            ..DryRunCommand::default()
        };
        for _ in 0..number(&mut parts)? {
            started.words.push(owned(parts.next()?));
        }
        for _ in 0..number(&mut parts)? {
            let (name, value) = (parts.next()?, parts.next()?);
            started.environment.push((owned(name), owned(value)));
        }
        Some(started)
    };
    std::iter::from_fn(&mut one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_as_they_were_written() {
        let started = |word: &[u8]| DryRunCommand {
            words: vec!["/a b".into(), OsString::from_vec(word.to_vec())],
            folder: "/work\nspace".into(),
            environment: vec![("A".into(), "".into()), ("B".into(), "=\u{1f}".into())],
        };
        let (one, two) = (started(b""), started(b"\xff"));
        let bytes = [text(&one), text(&two)].concat();
        assert_eq!(parse(&bytes), [one.clone(), two]);
        // A truncated list gives its complete entries.
        assert_eq!(parse(&bytes[..bytes.len() - 4]), [one]);
        assert!(parse(b"").is_empty());
        assert!(parse(b"/\x0099999999999\0a\0").is_empty());
    }
}
