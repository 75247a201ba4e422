//! Counts instructions by emulation if the CPU has no usable counters: the program runs under
//! valgrind with a counting tool, which is compiled here for the installed valgrind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use workspan_recorder::{CounterEvent, EMULATED};

use crate::embedded;
use crate::launch::preflight;

const SOURCE: &str = include_str!("instructions/tool.c");
const NAME: &str = "instructions-amd64-linux";
const CORE: &str = "libcoregrind-amd64-linux.a";
const PRELOAD: &str = "vgpreload_core-amd64-linux.so";

/// Folders in which distributions and valgrind itself put headers, libraries, and preloaded files.
const HEADERS: [&str; 2] = ["/usr/include/valgrind", "/usr/local/include/valgrind"];
const LIBRARIES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu/valgrind",
    "/usr/lib64/valgrind",
    "/usr/lib/valgrind",
    "/usr/libexec/valgrind",
    "/usr/local/lib/valgrind",
    "/usr/local/libexec/valgrind",
];

/// The values of `--count`.
pub const COUNTED: [&str; 1] = ["instructions"];

/// The trace's warning about such a run.
pub const TIMES_ARE_NOT: &str = "Instructions were counted by an emulator, which runs one thread at a time, 10 to 100 times slower. Times, \
delays and steals therefore differ from an ordinary run. Use --metric instructions, which does not depend on \
them.";

/// The event, as the preloaded library expects it.
pub fn event() -> CounterEvent {
    CounterEvent {
        name: "instructions".into(),
        kind: EMULATED,
        config: 0,
        kernel: false,
    }
}

/// The folder with the tool, which is compiled the first time.
///
/// # Errors
/// What is missing, and how to get it.
pub fn prepare() -> anyhow::Result<PathBuf> {
    build().map_err(|why| anyhow::anyhow!("--count instructions: {why:#}"))
}

fn build() -> anyhow::Result<PathBuf> {
    const INSTALL: &str = "sudo apt-get install valgrind gcc libc6-dev";
    if !cfg!(target_arch = "x86_64") {
        bail!("it works only on x86-64; --counters instructions uses the CPU's own counter");
    }
    let valgrind = preflight::find("valgrind".as_ref())
        .map_err(|_| anyhow::anyhow!("it needs valgrind, which is not here; {INSTALL}"))?;
    let with = |folders: &[&str], file: &str| -> anyhow::Result<PathBuf> {
        let found = folders
            .iter()
            .map(Path::new)
            .find(|f| f.join(file).exists());
        found.map(Path::to_path_buf).with_context(|| {
            format!("valgrind is here without its {file}, which a package for development has; {INSTALL}")
        })
    };
    let headers = with(&HEADERS, "pub_tool_basics.h")?;
    let libraries = with(&LIBRARIES, CORE)?;
    let preloaded = with(&LIBRARIES, PRELOAD)?;
    let changed = libraries.join(CORE).metadata()?.modified()?;
    let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
    let cache = embedded::unpack(None)?.folder;
    let folder = cache.join(format!("valgrind-{}", changed.as_secs()));
    if folder.join(NAME).exists() {
        return Ok(folder);
    }
    let making = cache.join(format!("valgrind-new-{}", std::process::id()));
    std::fs::create_dir_all(&making).with_context(|| making.display().to_string())?;
    let made = compile(&making, &headers, &libraries)
        .and_then(|()| link_files(&preloaded, &making))
        .and_then(|()| Ok(std::fs::rename(&making, &folder)?));
    if made.is_err() {
        // If another process has created it meanwhile, that copy is used.
        let _ = std::fs::remove_dir_all(&making);
        if !folder.join(NAME).exists() {
            made.with_context(|| format!("the tool for {} could not be made", valgrind.display()))?;
        }
    }
    Ok(folder)
}

fn compile(folder: &Path, headers: &Path, libraries: &Path) -> anyhow::Result<()> {
    let source = folder.join("tool.c");
    std::fs::write(&source, SOURCE)?;
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-m64", "-static", "-nodefaultlibs", "-nostartfiles"])
        .args([
            "-fno-pie",
            "-no-pie",
            "-fno-builtin",
            "-fno-stack-protector",
        ])
        .args(["-DVGA_amd64=1", "-DVGO_linux=1", "-DVGP_amd64_linux=1"])
        .args(["-DVGPV_amd64_linux_vanilla=1", "-u", "_start"])
        // The address of valgrind's own tools, which is out of the way of the programs they run.
        .args(["-Wl,-Ttext-segment=0x58000000", "-Wl,--build-id=none"])
        .arg("-I")
        .arg(headers)
        .arg(&source)
        .arg("-o")
        .arg(folder.join(NAME))
        .arg(libraries.join(CORE))
        .arg(libraries.join("libvex-amd64-linux.a"))
        .arg("-lgcc");
    // Newer compilers have some functions in an additional library.
    let more = libraries.join("libgcc-sup-amd64-linux.a");
    if more.exists() {
        compiler.arg(more);
    }
    let output = compiler
        .output()
        .context("there is no C compiler `cc`; sudo apt-get install gcc libc6-dev")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.contains("error"));
        bail!("cc says {}", error.unwrap_or(said.trim()));
    }
    Ok(())
}

/// Links the other files that valgrind needs beside a tool.
fn link_files(from: &Path, folder: &Path) -> anyhow::Result<()> {
    for file in std::fs::read_dir(from)? {
        let file = file?;
        std::os::unix::fs::symlink(file.path(), folder.join(file.file_name()))?;
    }
    Ok(())
}

/// The words before the program on the command line.
pub fn words(folder: &Path) -> [OsString; 3] {
    let tool = folder.join(NAME).into_os_string();
    [tool, "-q".into(), "--tool=instructions".into()]
}

/// Sets the tool's environment: the folder of its files, and the launcher that valgrind expects.
pub fn tell(command: &mut Command, folder: &Path) {
    command.env("VALGRIND_LIB", folder);
    command.env("VALGRIND_LAUNCHER", "/usr/bin/valgrind");
}
