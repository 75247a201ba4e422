//! Which runtimes of task-parallel programs there are besides Rayon, and why one that a program has said nothing.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use workspan_symbols::linked;

use crate::after_run::shown;
use crate::trace_file::finalize::Finalized;

/// A runtime that the preloaded library records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runtime {
    /// As people call it.
    pub name: &'static str,
    /// What its library's file name begins with, up to a `.` or `-`.
    libraries: &'static [&'static str],
    /// A function of its that every program with the runtime inside has.
    function: &'static str,
    /// A text that its library has in it, and no program that uses it.
    text: &'static [u8],
}

/// All of them.
pub const KNOWN: [Runtime; 3] = [
    Runtime {
        name: "LLVM OpenMP",
        libraries: &["libomp", "libiomp5"],
        function: "__kmpc_fork_call",
        text: b"OMP: Error #%1$d: %2$s",
    },
    Runtime {
        name: "GNU OpenMP",
        libraries: &["libgomp"],
        function: "GOMP_parallel",
        text: b"libgomp: fatal error: ",
    },
    Runtime {
        name: "oneTBB",
        libraries: &["libtbb"],
        function: "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
        text: b"oneTBB: SPECIFICATION VERSION",
    },
];

impl Runtime {
    /// Whose library a file is: `libgomp.so.1`, or `libgomp-a34b3233.so.1.0.0` as Python packages bring it.
    pub fn of(library: &Path) -> Option<Self> {
        let name = library.file_name()?.to_str()?;
        KNOWN.into_iter().find(|runtime| {
            runtime.libraries.iter().any(|start| {
                name.strip_prefix(start)
                    .is_some_and(|rest| rest.starts_with(['.', '-']) && rest.contains(".so"))
            })
        })
    }

    /// Why its library was there and nothing of it was recorded.
    fn silence(self) -> &'static str {
        match self.name {
            "LLVM OpenMP" if std::env::var("OMP_TOOL").is_ok_and(|v| v.trim() == "disabled") => {
                "OMP_TOOL=disabled is set, which turns off the interface (OMPT) it tells of itself by; unset it"
            }
            "LLVM OpenMP" => {
                "either this run reached no parallel region and no task, or its tools interface (OMPT) is not \
                 there: another tool came first, or libomp was built without it; run on a libomp of LLVM 14 or later"
            }
            "GNU OpenMP" => {
                "either this run reached no parallel region and no task, or the calls don't go through the dynamic linker \
                 (a library loaded with RTLD_DEEPBIND or linked with -Bsymbolic); link it without, or try clang and libomp"
            }
            _ => {
                "either this run reached no parallel algorithm and no task, or the calls don't go through the dynamic linker \
                 (a library loaded with RTLD_DEEPBIND or linked with -Bsymbolic)"
            }
        }
    }
}

/// Why nothing parallel was seen in the program at `path`, given what was recorded of its process, and what to do.
pub fn silence(path: &Path, recorded: &Finalized) -> Option<String> {
    let program = shown(path);
    if let [first, ..] = recorded.runtimes.as_slice() {
        return Some(format!(
            "{program} uses {first}, but created no task and no parallel region in this run, so there is nothing to report. \
             Does this input reach its parallel part?"
        ));
    }
    if let Some((library, runtime)) = recorded
        .libraries
        .iter()
        .find_map(|library| Some((library, Runtime::of(library)?)))
    {
        return Some(format!(
            "{program} has loaded {} ({}), but nothing of it was seen: {}",
            library.display(),
            runtime.name,
            runtime.silence()
        ));
    }
    let inside = linked(path, &KNOWN.map(|runtime| runtime.function)).defined;
    let runtime = KNOWN
        .into_iter()
        .find(|runtime| inside.iter().any(|name| name == runtime.function))
        .or_else(|| in_text(path))?;
    Some(format!(
        "{program} has {} linked into itself, where its calls can't be seen: link it with the shared library (without \
         -static, -static-openmp or a .a file) to record it",
        runtime.name
    ))
}

/// The runtime whose texts are in the program: one without symbols has them still.
fn in_text(path: &Path) -> Option<Runtime> {
    const PIECE: usize = 1 << 20;
    let longest = KNOWN.iter().map(|runtime| runtime.text.len()).max()?;
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::with_capacity(PIECE + longest);
    loop {
        // A text may lie across two pieces.
        bytes.drain(..bytes.len().saturating_sub(longest));
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        if read.ok()? == 0 {
            return None;
        }
        let found = KNOWN
            .into_iter()
            .find(|runtime| contains(&bytes, runtime.text));
        if found.is_some() {
            return found;
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_inside_of_a_program_without_symbols() {
        let folder = std::env::temp_dir().join(format!("workspan-inside-{}", std::process::id()));
        for runtime in KNOWN {
            for before in [0, (1 << 20) - 5, (1 << 20) + 5] {
                let mut bytes = vec![b'x'; before];
                bytes.extend(runtime.text);
                std::fs::write(&folder, &bytes).expect("a file");
                assert_eq!(in_text(&folder), Some(runtime), "{before}");
            }
        }
        std::fs::write(&folder, vec![b'x'; 3 << 20]).expect("a file");
        assert_eq!(in_text(&folder), None);
        std::fs::remove_file(&folder).expect("the file");
    }

    #[test]
    fn libraries_by_name() {
        for (file, name) in [
            ("/usr/lib/x86_64-linux-gnu/libgomp.so.1", Some("GNU OpenMP")),
            (
                "/a/numpy.libs/libgomp-a34b3233.so.1.0.0",
                Some("GNU OpenMP"),
            ),
            ("libomp.so.5", Some("LLVM OpenMP")),
            ("libiomp5.so", Some("LLVM OpenMP")),
            ("/opt/tbb/libtbb.so.12", Some("oneTBB")),
            ("libtbbmalloc.so.2", None),
            ("libompd.so", None),
            ("libc.so.6", None),
            ("libgomp.a", None),
        ] {
            assert_eq!(Runtime::of(Path::new(file)).map(|r| r.name), name, "{file}");
        }
    }
}
