//! A cargo command line, as far as recording needs to understand it.

use std::ffi::{OsStr, OsString};

/// The arguments after `cargo`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CargoLine {
    /// `+nightly` and the like.
    pub toolchain: Option<OsString>,
    /// Cargo's own arguments: global flags, the subcommand, its flags.
    pub own: Vec<OsString>,
    /// Position of the subcommand in `own`.
    pub subcommand: Option<usize>,
    /// The rest, as it was: from `--` on, or from the first argument of the program that `cargo run` starts.
    pub rest: Vec<OsString>,
}

/// Options that take the next argument when they have no `=`; the first ones are our own.
const VALUED: [&str; 40] = [
    "-o",
    "--output",
    "--sample",
    "--counters",
    "--delay",
    "--duration",
    "--ring",
    "--max-overhead",
    "--fold",
    "--max-size",
    "--max-memory",
    "--keep",
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

/// The subcommands after whose first own argument everything is the program's.
const RUNS: [&str; 2] = ["run", "r"];

impl CargoLine {
    /// Takes the arguments apart.
    pub fn parse(args: &[OsString]) -> Self {
        let mut line = Self::default();
        let mut args = args.iter().peekable();
        line.toolchain = args
            .next_if(|arg| arg.as_encoded_bytes().starts_with(b"+"))
            .cloned();
        while let Some(arg) = args.peek() {
            let text = arg.to_string_lossy();
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
            let valued = is_flag && VALUED.contains(&&*text);
            line.own.extend(args.next().cloned());
            // `--bin` and its kin may stand alone, to list what there is.
            if valued
                && !args
                    .peek()
                    .is_none_or(|next| next.as_encoded_bytes().starts_with(b"-"))
            {
                line.own.extend(args.next().cloned());
            }
        }
        line.rest = args.cloned().collect();
        line
    }

    /// The subcommand.
    pub fn subcommand_name(&self) -> Option<&str> {
        self.own.get(self.subcommand?)?.to_str()
    }

    /// Whether a flag is there.
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

    /// Takes an option with its value out, and returns the last value.
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

    /// Takes a flag out; whether it was there.
    pub fn take_flag(&mut self, flag: &str) -> bool {
        let Some(at) = self.own.iter().position(|arg| arg == flag) else {
            return false;
        };
        self.own.remove(at);
        if let Some(subcommand) = self.subcommand.as_mut()
            && *subcommand > at
        {
            *subcommand -= 1;
        }
        true
    }

    /// Adds `--config VALUE` so that it counts beside and after the user's own: cargo takes those after the subcommand
    /// instead of those before it, and a later one over an earlier one. Where the user has none it goes before the
    /// subcommand, which may be an alias that hands on what follows it.
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

    /// The whole line again.
    pub fn arguments(&self) -> impl Iterator<Item = &OsString> {
        self.toolchain.iter().chain(&self.own).chain(&self.rest)
    }
}

/// `--option=value`, for short options also `-Ovalue`.
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
        assert_eq!(line("run -o x --release y").rest, ["y"]);
        let mut run = line("--config a=1 run -o x --config=b=2 --keep-profile --bin y -- -o z");
        assert_eq!(run.values("--config"), ["a=1", "b=2"]);
        assert_eq!(run.take("-o").as_deref(), Some(OsStr::new("x")));
        assert!(run.take_flag("--keep-profile") && !run.take_flag("--keep-profile"));
        assert_eq!(text(&run), "--config a=1 run --config=b=2 --bin y -- -o z");
        assert_eq!(run.subcommand_name(), Some("run"));
        assert_eq!(line("run -ox").take("-o").as_deref(), Some(OsStr::new("x")));
        assert_eq!(line("run").take("-o"), None);
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
