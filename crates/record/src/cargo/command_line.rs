//! A cargo command line, as far as recording needs to understand it.

use std::ffi::{OsStr, OsString};

/// The arguments after `cargo`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CargoLine {
    /// The toolchain, such as `+nightly`.
    pub toolchain: Option<OsString>,
    /// Cargo's own arguments: global flags, the subcommand, its flags.
    pub own: Vec<OsString>,
    /// Position of the subcommand in `own`.
    pub subcommand: Option<usize>,
    /// The remaining arguments, unchanged: from `--` on, or from the first argument of the program
    /// that `cargo run` starts.
    pub rest: Vec<OsString>,
}

/// The flags of `cargo workspan` itself, which may stand among cargo's.
#[derive(Debug, Clone, Default)]
pub struct OwnFlags {
    /// Long and short spellings with their dashes, and whether a value follows.
    spellings: Vec<(String, bool)>,
}

impl OwnFlags {
    /// The flags that a command line parser defines.
    pub fn from_clap(command: &clap::Command) -> Self {
        let mut spellings = Vec::new();
        for argument in command.get_arguments() {
            let valued = argument.get_action().takes_values();
            let long = argument.get_long().map(|name| format!("--{name}"));
            let short = argument.get_short().map(|letter| format!("-{letter}"));
            spellings.extend(long.into_iter().chain(short).map(|flag| (flag, valued)));
        }
        OwnFlags { spellings }
    }

    /// The flag at the start of `arguments`, if it is one of these: the flag and its value as
    /// separate words, and the number of arguments used. (`-oFILE` is two words: the parser would
    /// take the letters of `FILE` for flags and pass the word on to cargo.)
    fn first(&self, arguments: &[OsString]) -> Option<(Vec<OsString>, usize)> {
        let first = arguments.first()?;
        self.spellings.iter().find_map(|(flag, valued)| {
            if first == flag.as_str() {
                let length = (1 + usize::from(*valued)).min(arguments.len());
                return Some((arguments[..length].to_vec(), length));
            }
            let value = joined(first, flag).filter(|_| *valued)?;
            Some((vec![flag.into(), value], 1))
        })
    }
}

/// Cargo's options that take the next argument as their value if they have no `=`.
const OPTIONS_WITH_VALUE: [&str; 28] = [
    "--color",
    "--config",
    "-C",
    "-Z",
    "--explain",
    "--manifest-path",
    "--target-dir",
    "--target",
    "--profile",
    "--package",
    "-p",
    "--exclude",
    "--features",
    "-F",
    "--jobs",
    "-j",
    "--message-format",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "--artifact-dir",
    "--out-dir",
    "--lockfile-path",
    "--registry",
    "--index",
    "--root",
    "--build-dir",
];

/// The subcommands after whose first positional argument all arguments belong to the program.
const RUNS: [&str; 2] = ["run", "r"];

impl CargoLine {
    /// Parses the arguments of cargo.
    pub fn parse(args: &[OsString]) -> Self {
        Self::split(args, &OwnFlags::default()).1
    }

    /// Splits the arguments of `cargo workspan` into its own flags, which may be anywhere before
    /// the arguments of the program, and the rest for cargo.
    pub fn split(args: &[OsString], flags: &OwnFlags) -> (Vec<OsString>, Self) {
        let mut line = Self::default();
        let mut own_flags = Vec::new();
        let mut rest = args;
        while let Some(arg) = rest.first() {
            if let Some((words, length)) = flags.first(rest) {
                own_flags.extend(words);
                rest = &rest[length..];
                continue;
            }
            let text = arg.to_string_lossy();
            if text.starts_with('+') && line.toolchain.is_none() && line.own.is_empty() {
                line.toolchain = Some(arg.clone());
                rest = &rest[1..];
                continue;
            }
            let is_flag = text.starts_with('-') && text != "-";
            if text == "--" {
                break;
            }
            if !is_flag {
                match line.subcommand_name() {
                    None => line.subcommand = Some(line.own.len()),
                    Some(name) if RUNS.contains(&name) => break,
                    Some(_) => {}
                }
            }
            // `--bin` and the like may have no value; they then list the targets.
            let valued = is_flag
                && OPTIONS_WITH_VALUE.contains(&&*text)
                && rest
                    .get(1)
                    .is_some_and(|next| !next.as_encoded_bytes().starts_with(b"-"));
            let (taken, after) = rest.split_at(1 + usize::from(valued));
            line.own.extend_from_slice(taken);
            rest = after;
        }
        line.rest = rest.to_vec();
        (own_flags, line)
    }

    /// The subcommand.
    pub fn subcommand_name(&self) -> Option<&str> {
        self.own.get(self.subcommand?)?.to_str()
    }

    /// Whether a flag is present.
    pub fn has(&self, flag: &str) -> bool {
        self.own.iter().any(|arg| arg == flag)
    }

    /// The values of an option, in order: `--config A` and `--config=A`.
    pub fn values(&self, option: &str) -> Vec<OsString> {
        let mut values = Vec::new();
        for (at, arg) in self.own.iter().enumerate() {
            if arg == option {
                values.extend(self.own.get(at + 1).cloned());
            } else if let Some(value) = joined(arg, option) {
                values.push(value);
            }
        }
        values
    }

    /// Removes an option with its value. Returns its last value.
    pub fn take(&mut self, option: &str) -> Option<OsString> {
        let value = self.values(option).pop();
        let mut at = 0;
        while at < self.own.len() {
            let gone = if self.own[at] == option {
                2.min(self.own.len() - at)
            } else {
                usize::from(joined(&self.own[at], option).is_some())
            };
            self.own.drain(at..at + gone);
            if let Some(subcommand) = self.subcommand.as_mut()
                && *subcommand > at
            {
                *subcommand -= gone;
            }
            at += usize::from(gone == 0);
        }
        value
    }

    /// Adds `--config VALUE` so that it counts in addition to the user's own values and after them:
    /// cargo uses those after the subcommand instead of those before it, and a later one takes
    /// precedence over an earlier one. If the user has none, it goes before the subcommand, which
    /// may be an alias that passes on the arguments after it.
    pub fn add_config(&mut self, value: OsString) {
        let after_last = self.own.iter().enumerate().rev().find_map(|(at, arg)| {
            if arg == "--config" {
                Some((at + 2).min(self.own.len()))
            } else {
                joined(arg, "--config").map(|_| at + 1)
            }
        });
        let at = after_last.unwrap_or(0);
        self.own.splice(at..at, ["--config".into(), value]);
        if let Some(subcommand) = self.subcommand.as_mut()
            && *subcommand >= at
        {
            *subcommand += 2;
        }
    }

    /// The whole command line, put together again.
    pub fn arguments(&self) -> impl Iterator<Item = &OsString> {
        self.toolchain.iter().chain(&self.own).chain(&self.rest)
    }
}

/// The value in `--option=value`, or for short options also in `-Ovalue`.
fn joined(arg: &OsStr, option: &str) -> Option<OsString> {
    let rest = arg.to_str()?.strip_prefix(option)?;
    match rest.strip_prefix('=') {
        Some(value) => Some(value.into()),
        None => (!option.starts_with("--") && !rest.is_empty()).then(|| rest.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CargoLine {
        CargoLine::parse(
            &text
                .split(' ')
                .filter(|w| !w.is_empty())
                .map(OsString::from)
                .collect::<Vec<_>>(),
        )
    }

    fn text(line: &CargoLine) -> String {
        line.arguments()
            .map(|a| a.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn the_programs_arguments_are_left_alone() {
        let run = line("+nightly --config a=1 run --release -p x input --release -o y");
        assert_eq!(run.subcommand_name(), Some("run"));
        assert_eq!(run.toolchain.as_deref(), Some(OsStr::new("+nightly")));
        assert_eq!(run.rest, ["input", "--release", "-o", "y"]);
        let test = line("test name --release -- -o y");
        assert_eq!((test.own.len(), test.rest.len()), (3, 3));
        assert_eq!(text(&test), "test name --release -- -o y");
        assert_eq!(line("run --bin -- x").rest, ["--", "x"]);
        assert_eq!(line("run --bin=a b").rest, ["b"]);
    }

    #[test]
    fn options_are_found_and_taken_in_every_spelling() {
        let mut run = line("--config a=1 run --target-dir x --config=b=2 --bin y -- --config z");
        assert_eq!(run.values("--config"), ["a=1", "b=2"]);
        assert_eq!(run.take("--target-dir").as_deref(), Some(OsStr::new("x")));
        assert_eq!(
            text(&run),
            "--config a=1 run --config=b=2 --bin y -- --config z"
        );
        assert_eq!(run.subcommand_name(), Some("run"));
        assert_eq!(line("run").take("--target-dir"), None);
    }

    #[test]
    fn our_config_counts_beside_the_users() {
        for (given, expected) in [
            ("run x", "--config C run x"),
            ("--config a=1 run x", "--config a=1 --config C run x"),
            (
                "--config a=1 run --config=b=2 --release x",
                "--config a=1 run --config=b=2 --config C --release x",
            ),
            ("run --config b=2", "run --config b=2 --config C"),
        ] {
            let mut parsed = line(given);
            parsed.add_config("C".into());
            assert_eq!(text(&parsed), expected);
            assert_eq!(parsed.subcommand_name(), Some("run"));
        }
    }
}
