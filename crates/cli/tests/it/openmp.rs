//! `workspan record` on C programs that were built without knowing of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::native::{compile, openmp_compilers, skipped, try_compile};
use crate::project::{WORKSPAN, bare, printed, read, said, trace_of};
use workspan_dag::Dag;

fn record(folder: &Path, flags: &[&str], command: &[&str]) -> Output {
    bare(WORKSPAN)
        .current_dir(folder)
        .args(["record", "--no-report"])
        .args(flags)
        .arg("--")
        .args(command)
        .output()
        .unwrap()
}

/// The messages of `workspan record`, on one line.
fn words(output: &Output) -> String {
    said(output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// How many tasks were created on these lines of a fixture, by a piece of their text.
fn tasks_at(dag: &Dag, source: &str, mark: &str) -> usize {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/native");
    let text = fs::read_to_string(here.join(source)).unwrap();
    let line = text.lines().position(|l| l.contains(mark)).unwrap() as u32 + 1;
    (0..dag.tasks.len())
        .map(|task| &dag.places[dag.tasks.site[task] as usize])
        .filter(|place| {
            place.line == Some(line) && place.file.as_ref().is_some_and(|f| f.ends_with(source))
        })
        .count()
}

fn runtime(compiler: &str) -> &'static str {
    if compiler == "gcc" {
        "GNU OpenMP"
    } else {
        "LLVM OpenMP"
    }
}

#[test]
fn what_a_steal_costs_is_measured_with_the_programs_own_library() {
    let test = "what_a_steal_costs_is_measured_with_the_programs_own_library";
    for compiler in openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        compile(&compiler, "ends.c", folder.path(), &["-fopenmp"]);
        let output = record(folder.path(), &[], &["./ends", "return"]);
        let dag = read(&trace_of(&output, folder.path()));
        let mut facts = dag.meta.facts.iter();
        let source = facts.find(|(key, _)| key == workspan_dag::note_keys::BURDEN_SOURCE);
        if dag.meta.burden == 0 {
            assert_eq!(source, None, "{compiler}");
            skipped(test, "too few CPUs, or too busy, for a steal");
            continue;
        }
        let (_, source) = source.unwrap();
        assert!(source.starts_with(runtime(&compiler)), "{source}");
        let named = match runtime(&compiler) {
            "GNU OpenMP" => source.contains("(libgomp"),
            _ => source.contains("(libomp") || source.contains("(libiomp"),
        };
        assert!(named && source.contains("forced"), "{source}");
        let ns = dag.meta.burden as f64 * 1e9 / dag.meta.ticks_per_second as f64;
        assert!(ns > 1.0 && ns < 1e6, "{ns}");
    }
}

#[test]
fn a_program_that_ends_inside_a_region_leaves_a_trace() {
    for compiler in openmp_compilers("a_program_that_ends_inside_a_region_leaves_a_trace") {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        compile(&compiler, "ends.c", here, &["-fopenmp"]);
        for (how, code, signal) in [
            ("return", Some(5), None),
            ("exit", Some(3), None),
            ("_exit", Some(4), None),
            ("abort", None, Some(6)),
            ("kill", None, Some(9)),
            ("exec", Some(0), None),
        ] {
            let output = record(here, &[], &["./ends", how]);
            let case = format!("{compiler}, {how}: {}", said(&output));
            assert_eq!(
                (output.status.code(), output.status.signal()),
                (code, signal),
                "{case}"
            );
            assert!(printed(&output).starts_with("before\n"), "{case}");
            assert!(words(&output).contains(runtime(&compiler)), "{case}");
            let dag = read(&trace_of(&output, here));
            assert_eq!(tasks_at(&dag, "ends.c", "omp task"), 20, "{case}");
            // The two members, and after the region its end.
            let members = tasks_at(&dag, "ends.c", "omp parallel");
            assert!((1..=4).contains(&members), "{members} members: {case}");
            assert!(
                dag.meta
                    .runtime
                    .as_ref()
                    .unwrap()
                    .starts_with(runtime(&compiler))
            );
            let killed = dag
                .meta
                .warnings
                .iter()
                .any(|w| w.contains("was killed or ended by _exit or exec"));
            assert_eq!(killed, !["return", "exit"].contains(&how), "{case}");
        }
    }
}

#[test]
fn runtimes_of_libraries_that_are_loaded_later_are_recorded() {
    let test = "runtimes_of_libraries_that_are_loaded_later_are_recorded";
    for compiler in openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        compile(
            &compiler,
            "library.c",
            here,
            &["-fopenmp", "-shared", "-fPIC"],
        );
        compile(&compiler, "loads.c", here, &["-ldl"]);
        let mut commands = vec![vec!["./loads".to_owned(), "./library".to_owned()]];
        fs::write(
            here.join("call.py"),
            "import ctypes\nprint(ctypes.CDLL('./library').parallel_sum(10))\n",
        )
        .unwrap();
        // A real program, not a script that selects one.
        let python = Command::new("python3")
            .args(["-c", "import ctypes, sys; print(sys.executable)"])
            .output();
        match python {
            Ok(output) if output.status.success() => {
                commands.push(vec![printed(&output).trim().to_owned(), "call.py".into()]);
            }
            _ => skipped(test, "no python3 with ctypes"),
        }
        for command in commands {
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let output = record(here, &[], &command);
            assert_eq!(printed(&output), "55\n", "{command:?}: {}", said(&output));
            let dag = read(&trace_of(&output, here));
            assert_eq!(tasks_at(&dag, "library.c", "omp task"), 10, "{command:?}");
            assert!(dag.meta.runtime.unwrap().starts_with(runtime(&compiler)));
        }
    }
}

#[test]
fn children_are_bare_unless_followed() {
    for compiler in openmp_compilers("children_are_bare_unless_followed") {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        compile(&compiler, "starts.c", here, &["-fopenmp"]);
        compile(&compiler, "ends.c", here, &["-fopenmp"]);
        let command = ["./starts", "./ends", "return"];
        let traces = || {
            let mut names: Vec<String> = fs::read_dir(here)
                .unwrap()
                .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
                .filter(|name| name.contains("spa"))
                .collect();
            names.sort();
            names
        };
        let alone = record(here, &[], &command);
        assert_eq!(
            printed(&alone),
            "before\nchild 5, preload none\n",
            "{}",
            said(&alone)
        );
        assert_eq!(traces(), ["starts.wspan"]);
        let own = read(&here.join("starts.wspan"));
        assert_eq!(tasks_at(&own, "starts.c", "omp task"), 10);
        assert_eq!(tasks_at(&own, "ends.c", "omp task"), 0);

        let followed = record(here, &["--follow"], &command);
        assert_eq!(printed(&followed), "before\nchild 5, preload set\n");
        let text = words(&followed);
        assert!(
            text.contains("2 processes were recorded")
                && text.contains("starts forked 1 child that was not recorded"),
            "{text}"
        );
        assert_eq!(traces(), ["ends.wspan", "starts-2.wspan", "starts.wspan"]);
        let child = read(&here.join("ends.wspan"));
        assert_eq!(tasks_at(&child, "ends.c", "omp task"), 20);
        let has_exit = |dag: &Dag| dag.meta.facts.iter().any(|(key, _)| key == "exit status");
        assert!(!has_exit(&child), "whose end nobody saw");
        assert!(has_exit(&read(&here.join("starts-2.wspan"))));
    }
}

#[test]
fn scripts_and_launchers_are_followed() {
    let test = "scripts_and_launchers_are_followed";
    let compilers = openmp_compilers(test);
    let Some(compiler) = compilers.first() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    compile(compiler, "ends.c", here, &["-fopenmp"]);
    let script = here.join("run.sh");
    fs::write(
        &script,
        "#!/bin/sh\n./ends return\nx=$(/bin/echo hi)\nexit 7\n",
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = record(here, &[], &["./run.sh"]);
    assert!(
        said(&refused).contains("starts with --follow"),
        "{}",
        said(&refused)
    );
    assert_eq!(
        (refused.status.code(), printed(&refused).as_str()),
        (Some(1), "")
    );

    let followed = record(here, &["--follow", "-o", "main.wspan"], &["./run.sh"]);
    let text = words(&followed);
    assert_eq!(
        (followed.status.code(), printed(&followed).as_str()),
        (Some(7), "before\n")
    );
    assert!(
        text.contains("ran nothing parallel") && text.contains("not kept"),
        "{text}"
    );
    let dag = read(&here.join("main.wspan"));
    assert_eq!(tasks_at(&dag, "ends.c", "omp task"), 20);
    // The script's child is watched like the script, if anything is watched.
    let script = dag.meta.facts.iter().any(|(key, _)| key == "off-CPU times");
    let cpu = dag.meta.cpu.as_ref();
    assert!(
        !script || cpu.is_some_and(|cpu| cpu.switches > 0 && !cpu.threads.is_empty()),
        "{cpu:?}"
    );
    let launched = record(here, &[], &["env", "A=1", "./ends", "return"]);
    assert!(
        said(&launched).contains("record them with --follow"),
        "{}",
        said(&launched)
    );
    let launched = record(here, &["--follow"], &["env", "A=1", "./ends", "return"]);
    let dag = read(&trace_of(&launched, here));
    assert_eq!(tasks_at(&dag, "ends.c", "omp task"), 20);
}

#[test]
fn a_runtime_that_said_nothing_is_named_with_the_reason() {
    let test = "a_runtime_that_said_nothing_is_named_with_the_reason";
    for compiler in openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        compile(&compiler, "ends.c", here, &["-fopenmp"]);
        let unused = words(&record(here, &[], &["./ends", "nothing"]));
        let name = runtime(&compiler);
        assert!(
            unused.contains(name) && unused.contains("no parallel region"),
            "{compiler}: {unused}"
        );
        if compiler != "gcc" {
            let mut command = bare(WORKSPAN);
            command
                .current_dir(here)
                .args(["record", "--", "./ends", "return"]);
            let output = command.env("OMP_TOOL", "disabled").output().unwrap();
            assert_eq!(output.status.code(), Some(5));
            let text = words(&output);
            assert!(
                text.contains("OMP_TOOL=disabled is set") && text.contains("unset it"),
                "{text}"
            );
        }
    }
    let library = Command::new("gcc")
        .arg("-print-file-name=libgomp.a")
        .output();
    let Some(library) = library
        .ok()
        .map(|o| printed(&o).trim().to_owned())
        .filter(|p| p.contains('/'))
    else {
        skipped(test, "no libgomp.a");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let object = compile("gcc", "ends.c", folder.path(), &["-fopenmp", "-c"]);
    let inside = folder.path().join("inside");
    let linked = Command::new("gcc")
        .arg(&object)
        .arg("-o")
        .arg(&inside)
        .arg(library)
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(linked.unwrap().success());
    let text = words(&record(folder.path(), &[], &["./inside", "return"]));
    assert!(text.contains("GNU OpenMP linked into itself"), "{text}");
}

#[test]
fn a_gcc_program_on_llvms_runtime_by_request_only() {
    let test = "a_gcc_program_on_llvms_runtime_by_request_only";
    let compilers = openmp_compilers(test);
    if compilers.len() < 2 {
        skipped(test, "needs both runtimes");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    compile("gcc", "ends.c", here, &["-fopenmp"]);
    let swapped = record(here, &["--swap-runtime"], &["./ends", "return"]);
    if said(&swapped).contains("no libomp.so.5 in") {
        skipped(test, "libomp is not where the system's libraries are");
        return;
    }
    assert_eq!(swapped.status.code(), Some(5), "{}", said(&swapped));
    let dag = read(&trace_of(&swapped, here));
    let runtime = dag.meta.runtime.clone().unwrap();
    assert!(
        runtime.starts_with("LLVM OpenMP") && !runtime.contains("GNU"),
        "{runtime}"
    );
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.contains("--swap-runtime") && w.contains("schedule"))
    );
    // By the call's return address, for which GCC has the line of something near.
    let of_task = |task: &usize| {
        dag.places[dag.tasks.site[*task] as usize]
            .primitive
            .as_deref()
            == Some("task")
    };
    assert_eq!((0..dag.tasks.len()).filter(of_task).count(), 20);

    compile(&compilers[1], "ends.c", here, &["-fopenmp"]);
    let needless = record(here, &["--swap-runtime"], &["./ends", "return"]);
    assert!(
        said(&needless).contains("runs on LLVM's OpenMP already"),
        "{}",
        said(&needless)
    );
    assert_eq!(printed(&needless), "");
}

/// Root may do what other users may not.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|facts| {
        use std::os::unix::fs::MetadataExt;
        facts.uid() == 0
    })
}

#[test]
fn programs_with_rights_of_their_own_are_refused() {
    let test = "programs_with_rights_of_their_own_are_refused";
    if !is_root() {
        skipped(test, "the tests do not run as root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::set_permissions(here, fs::Permissions::from_mode(0o755)).unwrap();
    let Some(program) = try_compile("gcc", "loads.c", here, &["-ldl"]) else {
        skipped(test, "no gcc");
        return;
    };
    let tool = here.join("workspan");
    fs::copy(WORKSPAN, &tool).unwrap();
    let home = here.join("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(65534), Some(65534)).unwrap();
    let refused = |program: &PathBuf| {
        let mut command = bare("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(&tool).args(["record", "--"]).arg(program);
        let output = command
            .current_dir(&home)
            .env("XDG_CACHE_HOME", &home)
            .output()
            .unwrap();
        (output.status.code(), said(&output))
    };
    let caps = Command::new("setcap")
        .arg("cap_net_raw+ep")
        .arg(&program)
        .status();
    if caps.is_ok_and(|status| status.success()) {
        let (code, text) = refused(&program);
        assert!(
            code == Some(1) && text.contains("given capabilities by its file"),
            "{text}"
        );
    } else {
        skipped(test, "no setcap, for the case of capabilities");
    }
    for (mode, what) in [(0o4755, "is set-user-id"), (0o2755, "is set-group-id")] {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        let (code, text) = refused(&program);
        assert!(
            code == Some(1) && text.contains(what) && text.contains("record a copy"),
            "{text}"
        );
    }
}

/// LLVM OpenMP's thread that waits in a tied task runs no other task's tasks by default.
#[test]
fn tasks_that_a_waiting_thread_may_not_take_are_told_from_late_thieves() {
    let test = "tasks_that_a_waiting_thread_may_not_take_are_told_from_late_thieves";
    let compiler = match workspan_toolchains::openmp(
        workspan_toolchains::Family::Llvm,
        workspan_toolchains::Language::C,
    ) {
        Ok(compiler) => compiler.command.clone(),
        Err(why) => return skipped(test, &why),
    };
    let folder = tempfile::tempdir().unwrap();
    compile(&compiler, "restrained.c", folder.path(), &["-fopenmp"]);
    // While other programs use the CPUs, threads are seldom free for a task long enough.
    let runs = ["0", "1", "1", "1", "1", "1"];
    let mut found = None;
    for constraint in runs {
        let output = bare(WORKSPAN)
            .current_dir(folder.path())
            .env("KMP_TASK_STEALING_CONSTRAINT", constraint)
            .args(["record", "--no-report", "--", "./restrained"])
            .output()
            .unwrap();
        let trace = trace_of(&output, folder.path());
        let mut report = bare(WORKSPAN);
        let json = printed(
            &report
                .args(["report", "--json"])
                .arg(&trace)
                .output()
                .unwrap(),
        );
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let causes = json["causes"].as_array().unwrap();
        let kept = causes.iter().find(|c| c["id"] == "restrained-stealing");
        let lost = kept.map_or(0, |c| c["lost"].as_u64().unwrap());
        if constraint == "0" {
            assert_eq!(lost, 0, "{causes:?}");
        } else if lost > 0 {
            return;
        } else {
            found = Some(json);
        }
    }
    panic!("never found: {found:?}");
}
