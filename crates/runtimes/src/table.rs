//! The table of runtimes.

use crate::{Budget, Build, Code, Id, Interface, Library, Runtime};

/// All runtimes. A library that also has another one's functions comes before that other one.
pub static ALL: [Runtime; 5] = [
    Runtime {
        id: Id::Rayon,
        name: "Rayon",
        library: None,
        code: Code {
            crates: &["rayon", "rayon_core", "rayon_core_real", "crossbeam_deque"],
            packages: &["rayon", "rayon-core", "crossbeam-deque"],
            // The folder of the stand-in's sources.
            folders: &["/stand-in/"],
            scheduler: &["rayon_core", "crossbeam_deque", "crossbeam_epoch"],
            ..NO_CODE
        },
        thread_count_variable: Some("RAYON_NUM_THREADS"),
        stealing_constraint: None,
        shared_queue: false,
        settings: &[],
        budget: Budget::MeasuredJoins,
        build: None,
    },
    Runtime {
        id: Id::Libomp,
        name: "LLVM OpenMP",
        library: Some(Library {
            soname: Some("libomp.so.5"),
            ..LIBOMP
        }),
        code: Code {
            function_prefixes: &["__kmp", "kmp_"],
            ..NO_CODE
        },
        thread_count_variable: Some("OMP_NUM_THREADS"),
        stealing_constraint: Some("KMP_TASK_STEALING_CONSTRAINT"),
        shared_queue: false,
        settings: &["OMP_", "KMP_", "LIBOMP_"],
        budget: LIBOMP_TASKS,
        build: Some(Build {
            compilers: &[
                "clang++",
                "clang++-21",
                "clang++-20",
                "clang++-19",
                "clang++-18",
                "clang++-17",
                "clang++-16",
                "clang++-15",
                "clang++-14",
            ],
            flags: &["-DTP_OPENMP", "-fopenmp=libomp"],
            header: "omp.h",
            remedy: "install clang and libomp-dev",
        }),
    },
    Runtime {
        id: Id::IntelOpenMp,
        name: "Intel OpenMP",
        library: Some(LIBOMP),
        code: NO_CODE,
        thread_count_variable: Some("OMP_NUM_THREADS"),
        stealing_constraint: Some("KMP_TASK_STEALING_CONSTRAINT"),
        shared_queue: false,
        settings: &["OMP_", "KMP_", "LIBOMP_"],
        budget: LIBOMP_TASKS,
        build: None,
    },
    Runtime {
        id: Id::Libgomp,
        name: "GNU OpenMP",
        library: Some(Library {
            stems: &["libgomp"],
            soname: Some("libgomp.so.1"),
            entry_point: c"GOMP_parallel",
            text: b"libgomp: fatal error: ",
            interface: Interface::Gomp,
            silence: "either this run reached no parallel region and no task, or the calls don't \
                go through the dynamic linker (a library loaded with RTLD_DEEPBIND or linked with \
                -Bsymbolic); link it without, or try clang and libomp",
            silencing_setting: None,
        }),
        code: Code {
            function_prefixes: &["GOMP_", "gomp_"],
            ..NO_CODE
        },
        thread_count_variable: Some("OMP_NUM_THREADS"),
        stealing_constraint: None,
        shared_queue: true,
        settings: &["OMP_", "GOMP_"],
        budget: Budget::Tasks {
            skip_ns: 16.0,
            probes: 2.0,
        },
        build: Some(Build {
            compilers: &["g++"],
            flags: &["-DTP_OPENMP", "-fopenmp"],
            header: "omp.h",
            remedy: "install g++",
        }),
    },
    Runtime {
        id: Id::OneTbb,
        name: "oneTBB",
        library: Some(Library {
            stems: &["libtbb"],
            soname: Some("libtbb.so.12"),
            entry_point: c"_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
            text: b"oneTBB: SPECIFICATION VERSION",
            interface: Interface::OneTbb,
            silence: "either this run reached no parallel algorithm and no task, or the calls \
                don't go through the dynamic linker (a library loaded with RTLD_DEEPBIND or linked \
                with -Bsymbolic)",
            silencing_setting: None,
        }),
        code: Code {
            namespaces: &["tbb", "oneapi"],
            folders: &["/oneapi/tbb/", "/include/tbb/"],
            scheduler: &["tbb::detail::r1::"],
            ..NO_CODE
        },
        // It uses as many threads as the process has CPUs.
        thread_count_variable: None,
        stealing_constraint: None,
        shared_queue: false,
        settings: &["TBB_"],
        budget: Budget::Tasks {
            skip_ns: 17.5,
            probes: 2.3,
        },
        build: Some(Build {
            compilers: &["g++", "clang++", "c++"],
            flags: &["-DTP_TBB", "-ltbb"],
            header: "oneapi/tbb/task_group.h",
            remedy: "install g++ and libtbb-dev (oneTBB 2021 or newer)",
        }),
    },
];

/// Variables that set the number of workers in runtimes that workspan does not record by itself:
/// Cilk and MassiveThreads.
pub const OTHER_THREAD_COUNT_VARIABLES: [&str; 2] = ["CILK_NWORKERS", "MYTH_NUM_WORKERS"];

const NO_CODE: Code = Code {
    crates: &[],
    packages: &[],
    namespaces: &[],
    function_prefixes: &[],
    folders: &[],
    scheduler: &[],
};

const LIBOMP: Library = Library {
    // Names of Debian's file and of packages that rename it; `libompd` and `libomptarget` are other
    // libraries.
    stems: &["libomp", "libomp5", "libiomp5"],
    soname: None,
    entry_point: c"__kmpc_fork_call",
    text: b"OMP: Error #%1$d: %2$s",
    interface: Interface::Gomp,
    silence: "either this run reached no parallel region and no task, or its tools interface \
        (OMPT) is not there: another tool came first, or libomp was built without it; run on a \
        libomp of LLVM 14 or later",
    silencing_setting: Some((
        "OMP_TOOL",
        "disabled",
        "OMP_TOOL=disabled is set, which turns off the interface (OMPT) through which it reports \
         its events; unset it",
    )),
};

const LIBOMP_TASKS: Budget = Budget::Tasks {
    skip_ns: 33.0,
    probes: 3.3,
};
