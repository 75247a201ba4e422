//! Parses a rustc command line as far as the wrapper needs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// rustc's arguments, without the program.
#[derive(Debug, Clone)]
pub struct Invocation {
    arguments: Vec<OsString>,
}

/// Options whose value may be the next argument; includes all that cargo passes.
const WITH_VALUE: [&str; 18] = [
    "--crate-name",
    "--crate-type",
    "--edition",
    "--emit",
    "--out-dir",
    "--extern",
    "--cfg",
    "--check-cfg",
    "--target",
    "--cap-lints",
    "--error-format",
    "--json",
    "--sysroot",
    "--codegen",
    "--print",
    "--color",
    "--diagnostic-width",
    "--remap-path-prefix",
];

impl Invocation {
    /// Created from rustc's arguments.
    #[must_use]
    pub fn new(arguments: Vec<OsString>) -> Self {
        Self { arguments }
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The last value of a long option (`--crate-name`), given as one argument or two.
    #[must_use]
    pub fn option<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.values(name).last()
    }

    /// All values of a long option, in order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        (0..self.arguments.len()).filter_map(move |i| {
            let argument = self.arguments[i].to_str()?;
            let rest = argument.strip_prefix(name)?;
            if let Some(value) = rest.strip_prefix('=') {
                return Some(value);
            }
            rest.is_empty()
                .then(|| self.arguments.get(i + 1)?.to_str())
                .flatten()
        })
    }

    /// The last value of a codegen option (`-C metadata=…`, `-Cmetadata=…`, `--codegen …`).
    #[must_use]
    pub fn codegen(&self, name: &str) -> Option<&str> {
        let mut found = None;
        for (i, argument) in self.arguments.iter().enumerate() {
            let Some(option) = codegen_text(argument, self.arguments.get(i.wrapping_sub(1))) else {
                continue;
            };
            if let Some(value) = value_of(option, name) {
                found = Some(value);
            }
        }
        found
    }

    /// Whether `-g` is among the arguments.
    #[must_use]
    pub fn has_flag(&self, flag: &str) -> bool {
        self.arguments.iter().any(|argument| argument == flag)
    }

    /// The source file: the only argument that is neither an option nor an option's value.
    #[must_use]
    pub fn source(&self) -> Option<&Path> {
        self.source_index().map(|i| Path::new(&self.arguments[i]))
    }

    fn source_index(&self) -> Option<usize> {
        let mut i = 0;
        while let Some(argument) = self.arguments.get(i) {
            let bytes = argument.as_encoded_bytes();
            if !bytes.starts_with(b"-") && !bytes.starts_with(b"@") {
                return Some(i);
            }
            let text = argument.to_str().unwrap_or_default();
            let two = WITH_VALUE.contains(&text)
                || (bytes.len() == 2 && b"CLloAWDFZf".contains(&bytes[1]));
            i += if two { 2 } else { 1 };
        }
        None
    }

    /// The call with another source file.
    #[must_use]
    pub fn with_source(mut self, source: &Path) -> Self {
        if let Some(i) = self.source_index() {
            self.arguments[i] = source.as_os_str().to_owned();
        }
        self
    }

    /// The call with every value of a long option changed.
    #[must_use]
    pub fn with_option(mut self, name: &str, change: impl Fn(&str) -> String) -> Self {
        for i in 0..self.arguments.len() {
            let Some(rest) = self.arguments[i]
                .to_str()
                .and_then(|text| text.strip_prefix(name))
            else {
                continue;
            };
            if let Some(value) = rest.strip_prefix('=') {
                self.arguments[i] = format!("{name}={}", change(value)).into();
            } else if rest.is_empty()
                && let Some(next) = self.arguments.get_mut(i + 1)
                && let Some(value) = next.to_str()
            {
                *next = change(value).into();
            }
        }
        self
    }

    /// The call with every value of a codegen option changed.
    #[must_use]
    pub fn with_codegen(mut self, name: &str, change: impl Fn(&str) -> String) -> Self {
        for i in 0..self.arguments.len() {
            let before = self.arguments.get(i.wrapping_sub(1));
            let Some(option) = codegen_text(&self.arguments[i], before) else {
                continue;
            };
            let Some(value) = value_of(option, name) else {
                continue;
            };
            let text = self.arguments[i].to_str().unwrap_or_default();
            let start = &text[..text.len() - option.len()];
            self.arguments[i] = format!("{start}{name}={}", change(value)).into();
        }
        self
    }

    /// The call with further arguments.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = OsString>) -> Self {
        self.arguments.extend(more);
        self
    }

    /// The output folder (`--out-dir`), or the working directory.
    #[must_use]
    pub fn out_dir(&self) -> PathBuf {
        let mut found = None;
        for (i, argument) in self.arguments.iter().enumerate() {
            if argument == "--out-dir" {
                found = self.arguments.get(i + 1).map(PathBuf::from);
            } else if let Some(value) = argument
                .to_str()
                .and_then(|text| text.strip_prefix("--out-dir="))
            {
                found = Some(PathBuf::from(value));
            }
        }
        found.unwrap_or_default()
    }
}

/// The text after `-C`, if `argument` is a codegen option or `before` announces one.
fn codegen_text<'a>(argument: &'a OsStr, before: Option<&OsString>) -> Option<&'a str> {
    let text = argument.to_str()?;
    if before.is_some_and(|before| before == "-C" || before == "--codegen") {
        return Some(text);
    }
    text.strip_prefix("--codegen=")
        .or_else(|| text.strip_prefix("-C").filter(|rest| !rest.is_empty()))
}

/// The value in `name=value`. In names, rustc does not distinguish `-` from `_`.
fn value_of<'a>(option: &'a str, name: &str) -> Option<&'a str> {
    let (given, value) = option.split_once('=')?;
    (given.replace('_', "-") == name).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(words: &[&str]) -> Invocation {
        Invocation::new(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn the_source_is_what_is_no_option_and_no_value() {
        let call = invocation(&[
            "--crate-name",
            "a",
            "-C",
            "opt-level=3",
            "--edition=2021",
            "-L",
            "dependency=/x y",
            "/s p/lib.rs",
            "--cfg",
            "q",
        ]);
        assert_eq!(call.source(), Some(Path::new("/s p/lib.rs")));
        let call = call.with_source(Path::new("/other/lib.rs"));
        assert_eq!(call.source(), Some(Path::new("/other/lib.rs")));
    }

    #[test]
    fn codegen_options_are_found_in_every_spelling() {
        for words in [
            &["-C", "metadata=7"][..],
            &["-Cmetadata=7"],
            &["--codegen", "metadata=7"],
            &["--codegen=metadata=7"],
        ] {
            assert_eq!(
                invocation(words).codegen("metadata"),
                Some("7"),
                "{words:?}"
            );
            let changed = invocation(words).with_codegen("metadata", |value| format!("{value}x"));
            assert_eq!(changed.codegen("metadata"), Some("7x"), "{words:?}");
        }
        assert_eq!(
            invocation(&["-C", "extra_filename=-1"]).codegen("extra-filename"),
            Some("-1")
        );
    }

    #[test]
    fn options_are_changed_where_they_stand() {
        let call = invocation(&["--crate-name", "a", "--emit=link,metadata"]);
        let call = call
            .with_option("--crate-name", |name| format!("{name}_real"))
            .with_option("--emit", |kinds| kinds.replace("link,", ""));
        assert_eq!(
            call.arguments(),
            ["--crate-name", "a_real", "--emit=metadata"]
        );
    }
}
