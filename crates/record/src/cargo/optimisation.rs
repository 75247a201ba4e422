//! Detects programs that were built without optimisation, which distorts every time in the trace.
//! rustc does not store its optimisation level in programs, so cargo's profile is used.

use std::ffi::OsString;
use std::path::Path;

use toml::Table;

use crate::cargo::command_line::CargoLine;

/// The profile with which a cargo command builds its programs.
pub fn profile(line: &CargoLine) -> String {
    if let Some(name) = line.values("--profile").pop() {
        return name.to_string_lossy().into_owned();
    }
    let release = line.has("--release") || line.has("-r");
    match line.subcommand_name() {
        Some("bench") => "bench",
        _ if release => "release",
        Some("test" | "t") => "test",
        _ => "dev",
    }
    .to_owned()
}

/// The profile of an existing program, from the folder below cargo's target directory in which it
/// is.
pub fn profile_of(program: &Path) -> Option<String> {
    let program = program.canonicalize().ok()?;
    let folders = program.ancestors().skip(1);
    let names = folders.filter_map(|folder| folder.file_name()?.to_str());
    let mut names = names.skip_while(|&name| name == "deps" || name == "examples");
    Some(match names.next()? {
        "debug" => "dev".to_owned(),
        name => name.to_owned(),
    })
}

/// A warning if `profile` of the workspace at `root` does not optimise. `given` are cargo's
/// `--config` values.
pub fn warning(profile: &str, root: &Path, given: &[OsString]) -> Option<String> {
    let read = |file: &str| std::fs::read_to_string(root.join(file)).ok()?.parse().ok();
    let given = given
        .iter()
        .rev()
        .filter_map(|text| text.to_str()?.parse().ok());
    let mut sources: Vec<Table> = given.collect();
    sources.extend(
        [".cargo/config.toml", "Cargo.toml"]
            .iter()
            .filter_map(|f| read(f)),
    );
    let variable = |name: &str| std::env::var(name).ok();
    (level(profile, &sources, variable)? == "0").then(|| {
        format!(
            "The program was built without optimisation (profile {profile}, opt-level 0), so its times differ from those of \
            a release build."
        )
    })
}

/// The optimisation level of a profile: from the environment, from the first source that has one,
/// or from the profile it inherits from. `None` for an undefined profile.
fn level(
    profile: &str,
    sources: &[Table],
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut name = profile.to_owned();
    // Longer chains are cycles.
    for _ in 0..16 {
        let upper = name.to_uppercase().replace('-', "_");
        let key = |key: &str| {
            let profiles = sources.iter().filter_map(|s| s.get("profile")?.get(&name));
            profiles.filter_map(|p| p.get(key)).next()
        };
        if let Some(level) = variable(&format!("CARGO_PROFILE_{upper}_OPT_LEVEL")) {
            return Some(level);
        }
        if let Some(level) = key("opt-level") {
            let text = level.as_str().map(str::to_owned);
            return text.or_else(|| Some(level.as_integer()?.to_string()));
        }
        name = match name.as_str() {
            "dev" => return Some("0".into()),
            "release" => return Some("3".into()),
            "test" => "dev".into(),
            "bench" => "release".into(),
            _ => key("inherits")?.as_str()?.to_owned(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        profile(&CargoLine::parse(&words))
    }

    #[test]
    fn profiles_of_commands() {
        for (text, expected) in [
            ("run", "dev"),
            ("t --lib", "test"),
            ("bench", "bench"),
            ("run -r -- x", "release"),
            ("run -- --release", "dev"),
            ("test --profile=fast", "fast"),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn levels_come_from_where_cargo_takes_them() {
        let manifest: Table = "[profile.dev]\nopt-level = 1\n[profile.small]\ninherits = \"release\"\nopt-level = \"s\"\n\
                               [profile.slow]\ninherits = \"test\"\n[profile.round]\ninherits = \"round\""
            .parse()
            .unwrap_or_default();
        let config: Table = "profile.dev.opt-level = 0".parse().unwrap_or_default();
        let none = |_: &str| None;
        let of = |name: &str, sources: &[Table]| level(name, sources, none);
        let manifest_only = std::slice::from_ref(&manifest);
        assert_eq!(of("dev", &[]).as_deref(), Some("0"));
        assert_eq!(of("bench", manifest_only).as_deref(), Some("3"));
        assert_eq!(of("small", manifest_only).as_deref(), Some("s"));
        assert_eq!(of("slow", manifest_only).as_deref(), Some("1"));
        assert_eq!(
            of("slow", &[config, manifest.clone()]).as_deref(),
            Some("0")
        );
        assert_eq!(of("round", manifest_only), None);
        assert_eq!(of("unknown", manifest_only), None);
        let set = |name: &str| (name == "CARGO_PROFILE_DEV_OPT_LEVEL").then(|| "2".to_owned());
        assert_eq!(level("test", manifest_only, set).as_deref(), Some("2"));
    }
}
