//! Tries a release in fresh roots of distributions: installs each package, records a program with
//! it, makes the report and the page, and removes the package.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::debian_root::DebianRoot;
use crate::packages::is_root;
use crate::workspace::{output, root};

use super::deb::debian_architecture;
use super::{arch, archive_name};

/// The reason why the trial was not completed.
pub enum Unfinished {
    /// There is no root to use.
    Skipped(String),
    /// A package does not work.
    Failed(anyhow::Error),
}

/// Distributions, oldest first, with the packages to compile a user's program and to unpack
/// archives.
const ROOTS: [(&str, &[&str]); 2] = [
    ("bullseye", &["gcc", "libc6-dev"]),
    (
        "bookworm",
        &["gcc", "libc6-dev", "rpm", "pacman-package-manager"],
    ),
];

/// The steps with an installed tool, in a folder of their own, with `treesum.c` in `$EXAMPLES`.
/// They end with the tool's version.
const USE: &str = r#"
mkdir -p /tmp/trial && cd /tmp/trial && rm -f *
gcc -g -O2 -fopenmp "$EXAMPLES/treesum.c" -o treesum
workspan record -o run.wspan -- ./treesum 12 >printed 2>report
./treesum 12 | cmp - printed
workspan report run.wspan | grep -q treesum.c
workspan html run.wspan -o run.html >/dev/null
grep -qi '<!doctype html>' run.html
test "$(wc -c <run.html)" -gt 100000
cargo-workspan workspan --help >/dev/null
cd / && rm -r /tmp/trial
workspan --version
"#;

/// Files that a package has besides the binaries.
const FILES: &str = r#"
gzip -dc /usr/share/man/man1/workspan.1.gz | grep -q workspan
bash -n /usr/share/bash-completion/completions/workspan
test -s /usr/share/zsh/*/_workspan
test -s /usr/share/fish/vendor_completions.d/workspan.fish
test -s /usr/include/workspan.h
test -s /usr/share/doc/workspan/LICENSE-MIT
"#;

/// Tries the packages in `dist`.
///
/// # Errors
/// See [`Unfinished`].
pub fn run(dist: &Path, version: &str) -> Result<(), Unfinished> {
    if !is_root() {
        return Err(Unfinished::Skipped("roots are made by root alone".into()));
    }
    for (release, packages) in ROOTS {
        let fresh = DebianRoot::prepare(release, packages)
            .map_err(|error| Unfinished::Skipped(format!("{release}: {error:#}")))?;
        for (kind, install, remove) in steps(dist, version, release) {
            let said = try_one(&fresh, dist, &install, &remove, kind)
                .with_context(|| format!("the {kind} in a root of Debian {release}"))
                .map_err(Unfinished::Failed)?;
            let last = said.lines().last().unwrap_or_default();
            println!("   {kind} in a root of Debian {release}: {last}");
        }
    }
    Ok(())
}

/// The steps for each existing package: its kind, and shell lines that install and remove it.
fn steps(dist: &Path, version: &str, release: &str) -> Vec<(&'static str, String, String)> {
    let architecture = std::env::consts::ARCH;
    let archive = archive_name(version);
    let deb = dist.join(format!("workspan_{version}_{}.deb", debian_architecture()));
    let rpm = dist.join(format!("workspan-{version}-1.{architecture}.rpm"));
    let mut steps = vec![(
        "archive",
        format!(
            "tar -xzf {}/{archive}.tar.gz -C /opt\nPATH=/opt/{archive}/bin:$PATH",
            dist.display()
        ),
        format!("rm -r /opt/{archive}"),
    )];
    if deb.is_file() {
        steps.push((
            ".deb",
            format!("dpkg -i {} >/dev/null", deb.display()),
            "dpkg -P workspan >/dev/null".into(),
        ));
    }
    if rpm.is_file() && release == "bookworm" {
        steps.push((
            ".rpm",
            // Debian's libraries are not RPMs, and its rpm suggests alien instead.
            format!("rpm --force-debian -i --nodeps {}", rpm.display()),
            "rpm --force-debian -e --nodeps workspan".into(),
        ));
    }
    let package = dist.join(arch::package_name(version));
    if package.is_file() && release == "bookworm" {
        steps.push((
            "package for Arch",
            // They are not Arch packages either. Space is not checked, as `/` is not a mount point
            // in a chroot.
            format!(
                "grep -v '^ *CheckSpace' /etc/pacman.conf >/tmp/pacman.conf\n\
                 pacman --config /tmp/pacman.conf -U -dd --noconfirm --noprogressbar {} >/dev/null\n\
                 test -s /usr/share/zsh/site-functions/_workspan",
                package.display()
            ),
            "pacman -R -dd --noconfirm workspan-bin >/dev/null".into(),
        ));
    }
    steps
}

/// Installs, uses and removes a package. Returns the tool's last output.
fn try_one(
    fresh: &DebianRoot,
    dist: &Path,
    install: &str,
    remove: &str,
    kind: &str,
) -> Result<String> {
    let examples = root().join("examples");
    let files = match kind {
        "archive" => "",
        _ => FILES,
    };
    let line = format!(
        "set -e\nEXAMPLES={}\n{install}\n{files}{USE}{remove}\n! test -e /usr/bin/workspan\n",
        examples.display()
    );
    let said = output(&mut fresh.shell(&line, &[dist, &examples]))?;
    if !said.contains("workspan") {
        bail!("`workspan --version` said: {said}");
    }
    Ok(said)
}
