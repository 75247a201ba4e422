//! Events that OMPT reports wrongly, or leaves to its tools, one program each. They are recorded
//! correctly.

use std::path::Path;
use std::process::Command;

use super::canonical::{canonical, squeezed};
use super::run::{Program, Runtime, build, compiler, dag, skipped};
use workspan_dag::{Dag, EndKind, TaskKind};

/// The program, built by clang; `None`, with a line with the reason, if there is no clang.
fn built(file: &str) -> Option<Program> {
    build(Runtime::Llvm, file)
        .map_err(|why| skipped(&format!("ompt {file}"), &why))
        .ok()
}

/// Runs it with and without recording, with the same output. Returns the DAG, which satisfies the
/// invariants.
fn recorded(program: &Program, threads: usize) -> Dag {
    let bare = program.bare(threads, &[]);
    let (output, traces) = program.recorded(threads, &[]);
    assert_eq!(output, bare, "not as it is unrecorded");
    assert!(bare.status.success(), "{bare:?}");
    let dag = dag(&traces[0]);
    super::invariants::hold(&traces[0], &dag, &format!("{threads} threads"));
    dag
}

fn says(dag: &Dag, what: &str) -> bool {
    dag.meta.warnings.iter().any(|w| w.contains(what))
}

/// Tasks whose site is in the line with this name.
fn named(dag: &Dag, program: &Program, name: &str) -> Vec<u32> {
    let mark = format!("@{name} ");
    let line = program.source.lines().position(|l| l.contains(&mark));
    let line = line.unwrap() as u32 + 1;
    (0..dag.tasks.len() as u32)
        .filter(|&t| {
            let site = dag.tasks.site[t as usize];
            dag.places[site as usize].line == Some(line)
        })
        .collect()
}

#[test]
fn the_dag_of_recursive_tasks_is_the_same_on_any_number_of_threads() {
    let Some(program) = built("fib.c") else {
        return;
    };
    let canonical_of = |threads| canonical(&recorded(&program, threads), &program.source);
    let strip = |text: String| text.split_once('{').unwrap().1.to_owned();
    let one = strip(canonical_of(1));
    assert!(one.contains("task a"), "{one}");
    assert_eq!(strip(canonical_of(2)), one);
    assert_eq!(strip(canonical_of(3)), one);
}

#[test]
fn a_region_whose_call_is_a_tail_call_is_known_by_its_function() {
    let Some(program) = built("tail_call.c") else {
        return;
    };
    let text = canonical(&recorded(&program, 2), &program.source);
    let expected = "parallel outer x2 { 2 * { parallel inner x2 { } } }";
    assert_eq!(squeezed(&text), squeezed(expected));
}

#[test]
fn a_taskwait_after_a_loop_is_for_the_tasks_of_its_chunks() {
    let Some(program) = built("stray.c") else {
        return;
    };
    for threads in [1, 2] {
        let dag = recorded(&program, threads);
        let tasks = named(&dag, &program, "task");
        assert_eq!(tasks.len(), 8);
        // The task created after the taskwait, by the thread that made the chunk.
        for after in named(&dag, &program, "after") {
            let member = dag.tasks.parent[after as usize];
            let of_member = |&&task: &&u32| {
                let chunk = dag.tasks.parent[task as usize];
                dag.tasks.parent[chunk as usize] == member
            };
            let begin = dag.tasks.first[after as usize];
            for task in tasks.iter().filter(of_member) {
                let end = dag.tasks.last[*task as usize];
                assert!(reaches(&dag, end, begin), "{threads} threads");
            }
        }
    }
}

/// Whether a path of edges leads from one strand to the other.
fn reaches(dag: &Dag, from: u32, to: u32) -> bool {
    let mut reached = vec![false; dag.strands.len()];
    reached[from as usize] = true;
    for strand in from + 1..=to {
        dag.for_each_predecessor(strand, |p, _| {
            reached[strand as usize] |= reached[p as usize];
        });
    }
    reached[to as usize]
}

#[test]
fn every_task_of_a_big_taskloop_has_its_site_whatever_thread_created_it() {
    let Some(program) = built("many_chunks.c") else {
        return;
    };
    for threads in [1, 4] {
        let dag = recorded(&program, threads);
        let count = |kind| dag.tasks.kind.iter().filter(|&&k| k == kind).count();
        let (one, other) = (named(&dag, &program, "one"), named(&dag, &program, "other"));
        assert!(one.len() >= 200, "{} on {threads}", one.len());
        assert_eq!(one.len(), other.len(), "on {threads}");
        assert_eq!(count(TaskKind::Deferred), one.len() + other.len());
        // The tasks that the second creates come after all of the first's.
        let last = one.iter().map(|&t| dag.tasks.last[t as usize]);
        let begin = dag.tasks.first[other[0] as usize];
        for end in last {
            assert!(reaches(&dag, end, begin), "on {threads}");
        }
    }
}

#[test]
fn a_thread_of_the_programs_own_has_a_root_and_may_end_a_detached_task() {
    let Some(program) = built("foreign.c") else {
        return;
    };
    let dag = recorded(&program, 2);
    let thread = dag
        .places
        .iter()
        .position(|place| place.is_thread())
        .unwrap() as u32;
    let thread = dag
        .tasks
        .site
        .iter()
        .position(|&site| site == thread)
        .unwrap() as u32;
    let region = named(&dag, &program, "theirs");
    assert_eq!(region.len(), 2 + 2, "two phases of two threads");
    let root = dag.tasks.parent[region[0] as usize];
    assert_eq!(root, thread);
    let signals = (0..dag.strands.len()).filter(|&s| dag.strands.end_kind[s] == EndKind::Signal);
    let by: Vec<u32> = signals.map(|s| dag.strands.task[s]).collect();
    assert_eq!(by, [root]);
    let workers = dag.meta.workers;
    assert!(
        workers == 3 || workers == 4,
        "two masters, with a worker each or one after the other: {workers}"
    );
}

#[test]
fn a_task_group_moves_with_an_untied_task() {
    let Some(program) = built("untied_group.c") else {
        return;
    };
    let expected = "20 * task untied { tree ( task inside { } ) task behind { } }";
    for threads in [1, 4] {
        let text = canonical(&recorded(&program, threads), &program.source);
        let expected = format!("parallel region x{threads} {{ 1 * {{ {expected} }} }}");
        assert_eq!(squeezed(&text), squeezed(&expected));
    }
}

/// The program delays libomp after it has queued the next part of an untied task. So the last part
/// ends without an event, and the task completes on another thread.
#[test]
fn untied_tasks_end_where_their_last_part_ran() {
    let Some(program) = built("untied_late.c") else {
        return;
    };
    let expected = "task one { } task more { task inside { } wait } ".repeat(20);
    for threads in [1, 2, 4] {
        let text = canonical(&recorded(&program, threads), &program.source);
        let expected = format!("parallel region x{threads} {{ 1 * {{ {expected} }} }}");
        assert_eq!(squeezed(&text), squeezed(&expected));
    }
}

#[test]
fn a_league_is_harmless() {
    let Some(program) = built("teams.c") else {
        return;
    };
    let dag = recorded(&program, 2);
    let tasks = named(&dag, &program, "task");
    assert_eq!(tasks.len(), 1);
    assert_eq!(named(&dag, &program, "after").len(), 2 + 2);
    let member = dag.tasks.parent[tasks[0] as usize];
    assert_eq!(
        dag.tasks.parent[member as usize], 0,
        "the main root's region"
    );
}

/// The program with clang's libomp before its own libgomp.
#[test]
fn a_program_of_gcc_on_libomp_is_told_once() {
    let (Ok(program), Some(libomp)) = (build(Runtime::Gnu, "fib.c"), workspan_toolchains::libomp())
    else {
        return skipped("ompt gcc on libomp", "no gcc, or no libomp");
    };
    let mut preload = super::run::library().into_os_string();
    preload.push(":");
    preload.push(&libomp);
    for order in [preload, reversed(&libomp)] {
        let (output, traces) = program.recorded_with(2, &[], |command| {
            command.env("LD_PRELOAD", &order);
        });
        assert_eq!(String::from_utf8_lossy(&output.stdout), "2584\n");
        let dag = dag(&traces[0]);
        super::invariants::hold(&traces[0], &dag, "gcc on libomp");
        let deferred = dag.tasks.kind.iter().filter(|&&k| k == TaskKind::Deferred);
        assert_eq!(deferred.count(), 8360);
        let runtime = dag.meta.runtime.unwrap();
        assert!(runtime.contains("LLVM OpenMP"), "{runtime}");
        assert!(!runtime.contains("GNU"), "{runtime}");
    }
}

/// libomp before our library.
fn reversed(libomp: &Path) -> std::ffi::OsString {
    let mut preload = libomp.as_os_str().to_owned();
    preload.push(":");
    preload.push(super::run::library());
    preload
}

#[test]
fn a_tool_that_the_user_asked_for_keeps_its_place() {
    let Some(program) = built("fib.c") else {
        return;
    };
    let (output, traces) = program.recorded_with(2, &[], |command| {
        command.env("OMP_TOOL_LIBRARIES", "/nowhere/tool.so");
    });
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2584\n");
    let dag = dag(&traces[0]);
    assert_eq!(dag.tasks.len(), 1, "nothing of OpenMP");
    assert!(says(&dag, "OMP_TOOL_LIBRARIES"), "{:?}", dag.meta.warnings);
}

#[test]
fn a_runtime_that_only_a_plugin_sees_works_as_ever() {
    let (Some(any), Ok(clang)) = (built("fib.c"), compiler(Runtime::Llvm, "c")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openmp/programs");
    let compile = |arguments: &[&str], file: &str| {
        let to = folder.path().join(file);
        let compiled = Command::new(&clang.command)
            .args(["-O1", "-g"])
            .arg("-o")
            .arg(&to)
            .arg(sources.join(file))
            .args(arguments)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{compiled:?}");
        to
    };
    let host = compile(&["-ldl"], "plugin_host.c");
    let plugin = compile(&["-fopenmp", "-shared", "-fPIC"], "plugin.c");
    let source = std::fs::read_to_string(sources.join("plugin.c")).unwrap();
    for threads in [1, 2] {
        let (output, traces) = any.recorded_with(threads, &[], |command| {
            // Another program in the same environment.
            let mut other = Command::new(&host);
            other.arg(&plugin);
            for (key, value) in command.get_envs() {
                match value {
                    Some(value) => other.env(key, value),
                    None => other.env_remove(key),
                };
            }
            *command = other;
        });
        assert_eq!(String::from_utf8_lossy(&output.stdout), "101\n");
        assert!(output.status.success(), "{output:?}");
        let dag = dag(&traces[0]);
        super::invariants::hold(&traces[0], &dag, "plugin");
        let body = "tree ( 4 * task loop { } ) included at-once { }";
        let expected = format!("parallel region x{threads} {{ 1 * {{ {body} }} }}");
        assert_eq!(squeezed(&canonical(&dag, &source)), squeezed(&expected));
    }
}
