//! `cargo xtask dist`: builds the downloads of a release in `target/dist-packages`.
//!
//! One folder is staged in the form in which it is installed below `/usr`. The archive, the Debian
//! package, the RPM and Arch's package are four packagings of it, and each is tried in a fresh root
//! of a distribution. Nothing is uploaded.

mod arch;
mod deb;
mod rpm;
mod trial;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::debian_root::DebianRoot;
use crate::ui;
use crate::workspace::{cargo, output, root, succeed, target};

/// Maximum size of a released binary, in bytes.
const MAX_BINARY_BYTES: u64 = 25_000_000;

/// Newest glibc whose symbols a released binary may need: Debian 11's and Ubuntu 20.04's.
const MAX_GLIBC: (u32, u32) = (2, 31);

/// The Debian release with that glibc, and the packages that the build needs there.
const OLD_DEBIAN: (&str, &[&str]) = ("bullseye", &["gcc", "libc6-dev"]);

/// The system on which a release is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// In a root of [`OLD_DEBIAN`].
    Old,
    /// This machine: the release runs with its glibc and newer ones.
    Here,
}

/// Builds the release, stages it, checks it, and writes the archive, the packages and their
/// checksums.
pub fn run(system: System) -> Result<()> {
    ui::build()?;
    println!("== release build (some minutes when nothing was built before)");
    let built = match system {
        System::Here => build_here()?,
        System::Old => build_in_old_debian()?,
    };
    let dist = target().join("dist-packages");
    let _ = fs::remove_dir_all(&dist);
    let mut release = Release {
        version: version()?,
        tree: dist.join("tree"),
        dist,
        built,
        glibc: (2, 0),
    };
    release.stage()?;
    release.glibc = release.check_binaries(system)?;
    let mut made = vec![release.archive()?];
    made.extend(deb::package(&release)?);
    made.extend(rpm::package(&release)?);
    made.extend(arch::package(
        &release.dist,
        &release.version,
        release.glibc,
    )?);
    release.checksums(&made)?;
    match trial::run(&release.dist, &release.version) {
        Ok(()) => Ok(()),
        Err(trial::Unfinished::Skipped(why)) => {
            println!("skipped: the packages in fresh roots: {why}");
            Ok(())
        }
        Err(trial::Unfinished::Failed(error)) => Err(error),
    }
}

const BUILD: [&str; 5] = ["build", "--profile", "dist", "--package", "workspan"];

/// Builds on this machine. Returns the folder of the binaries.
fn build_here() -> Result<PathBuf> {
    succeed(cargo().args(BUILD))?;
    Ok(target().join("dist"))
}

/// Builds in a root of an old Debian, with this machine's Rust, without the network.
fn build_in_old_debian() -> Result<PathBuf> {
    let (release, packages) = OLD_DEBIAN;
    let root = DebianRoot::prepare(release, packages).context(
        "no root to build in; `cargo xtask dist --here` builds for this system's glibc and newer",
    )?;
    succeed(cargo().args(["fetch", "--locked"]))?;
    let folder = target().join(format!("dist-{release}"));
    let place = folder.display().to_string();
    let line = format!("cargo {} --offline --locked", BUILD.join(" "));
    let variables = [("CARGO_TARGET_DIR", place.as_str())];
    succeed(&mut root.shell_with_rust(&line, &variables)?)?;
    Ok(folder.join("dist"))
}

struct Release {
    version: String,
    dist: PathBuf,
    /// The folder in which cargo put the binaries.
    built: PathBuf,
    /// The glibc that they need.
    glibc: (u32, u32),
    /// The folder that becomes `/usr`.
    tree: PathBuf,
}

const BINARIES: [&str; 2] = ["workspan", "cargo-workspan"];

/// The completions: the shell, and the path of its file below `/usr`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/workspan"),
    ("zsh", "share/zsh/vendor-completions/_workspan"),
    ("fish", "share/fish/vendor_completions.d/workspan.fish"),
];

impl Release {
    fn stage(&self) -> Result<()> {
        println!("== staged files");
        let bin = self.tree.join("bin");
        fs::create_dir_all(&bin)?;
        for name in BINARIES {
            let built = self.built.join(name);
            fs::copy(&built, bin.join(name)).with_context(|| built.display().to_string())?;
            // cargo ignores the profile's `strip` for packages with an `opt-level` of their own,
            // and symbols would be a fifth of the file.
            succeed(Command::new("strip").arg(bin.join(name)))?;
        }
        let tool = || Command::new(bin.join("workspan"));
        for (shell, place) in COMPLETIONS {
            let file = self.tree.join(place);
            fs::create_dir_all(file.parent().unwrap_or(&self.tree))?;
            fs::write(&file, output(tool().args(["completions", shell]))?)?;
        }
        let man = self.tree.join("share/man/man1");
        succeed(tool().arg("man").arg("--into").arg(&man))?;
        for entry in fs::read_dir(&man)? {
            // -n leaves out name and time, so that equal pages make equal files.
            succeed(Command::new("gzip").args(["-9", "-n"]).arg(entry?.path()))?;
        }
        let include = self.tree.join("include/workspan");
        fs::create_dir_all(&include)?;
        fs::copy(
            root().join("include/workspan.h"),
            self.tree.join("include/workspan.h"),
        )?;
        for header in fs::read_dir(root().join("include/workspan"))? {
            let header = header?;
            fs::copy(header.path(), include.join(header.file_name()))?;
        }
        let docs = self.tree.join("share/doc/workspan");
        fs::create_dir_all(&docs)?;
        for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(root().join(file), docs.join(file))?;
        }
        Ok(())
    }

    /// Checks that the binaries are small and run on old distributions. Returns the glibc that they
    /// need.
    fn check_binaries(&self, system: System) -> Result<(u32, u32)> {
        let mut newest = (2, 0);
        for name in BINARIES {
            let file = self.tree.join("bin").join(name);
            let bytes = fs::metadata(&file)?.len();
            let symbols = output(Command::new("objdump").arg("-T").arg(&file))?;
            let (major, minor) = newest_glibc(&symbols);
            let size = bytes as f64 / 1e6;
            println!("   {name}: {size:.1} MB, needs glibc {major}.{minor}");
            if bytes > MAX_BINARY_BYTES {
                bail!(
                    "{}: {size:.1} MB; at most {} MB may be released",
                    file.display(),
                    MAX_BINARY_BYTES / 1_000_000
                );
            }
            if system == System::Old && (major, minor) > MAX_GLIBC {
                bail!(
                    "{}: needs glibc {major}.{minor}, newer than {}.{}",
                    file.display(),
                    MAX_GLIBC.0,
                    MAX_GLIBC.1
                );
            }
            newest = newest.max((major, minor));
        }
        Ok(newest)
    }

    /// `workspan-VERSION-x86_64-linux.tar.gz` with one folder of that name.
    fn archive(&self) -> Result<PathBuf> {
        let name = archive_name(&self.version);
        let file = self.dist.join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg("--transform").arg(format!("s,^\\.,{name},"));
        succeed(
            tar.arg("-czf")
                .arg(&file)
                .arg("-C")
                .arg(&self.tree)
                .arg("."),
        )?;
        Ok(file)
    }

    /// Writes `SHA256SUMS` next to the files, in the format of `sha256sum -c`.
    fn checksums(&self, files: &[PathBuf]) -> Result<()> {
        let names = files.iter().filter_map(|file| file.file_name());
        let mut sum = Command::new("sha256sum");
        let sums = output(sum.current_dir(&self.dist).args(names))?;
        fs::write(self.dist.join("SHA256SUMS"), &sums)?;
        print!("{sums}");
        println!("== {}", self.dist.display());
        Ok(())
    }
}

/// The archive's name without `.tar.gz`, which is also the name of the folder in it.
fn archive_name(version: &str) -> String {
    format!("workspan-{version}-{}-linux", std::env::consts::ARCH)
}

const SUMMARY: &str =
    "Where did the speedup of a task-parallel program go, and which line to change";
const DESCRIPTION: &str = "Records unmodified programs that use Rayon, OpenMP or oneTBB and reports what limits their speedup, at which line.";

/// The workspace's version.
pub fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse()?;
    let version = &manifest["workspace"]["package"]["version"];
    version
        .as_str()
        .map(str::to_owned)
        .context("Cargo.toml: workspace.package.version is not a text")
}

fn works(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    version.is_ok_and(|done| done.status.success())
}

/// The newest version in `GLIBC_x.y` of a dynamic symbol table.
fn newest_glibc(symbols: &str) -> (u32, u32) {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
        let mut numbers = rest[..end.unwrap_or(rest.len())].split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.max().unwrap_or((2, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binstall_is_told_the_archives_names() {
        let manifest = fs::read_to_string(root().join("crates/cli/Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let binstall = &manifest["package"]["metadata"]["binstall"];
        let expanded = |key: &str| {
            let template = binstall[key].as_str().unwrap();
            template
                .replace("{ version }", "1.2.3")
                .replace("{ target-arch }", std::env::consts::ARCH)
                .replace("{ bin }", BINARIES[0])
        };
        let name = archive_name("1.2.3");
        assert!(expanded("pkg-url").ends_with(&format!("/v1.2.3/{name}.tar.gz")));
        assert_eq!(expanded("bin-dir"), format!("{name}/bin/workspan"));
    }

    #[test]
    fn the_newest_glibc_is_compared_by_number() {
        let table = "0 DF *UND* 0 (GLIBC_2.9) a\n0 DF *UND* 0 (GLIBC_2.34) b\n0 DF *UND* 0 (GLIBC_2.2.5) c\n";
        assert_eq!(newest_glibc(table), (2, 34));
        assert_eq!(newest_glibc(""), (2, 0));
    }
}
