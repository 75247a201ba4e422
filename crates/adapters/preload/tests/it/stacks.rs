//! Programs with unusual stacks: fibers with frames of varying size, calls at the very top of a
//! stack, threads with the smallest possible stack. Also children that are created without a
//! handler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::native::{builds, compiler, library, run, skipped};
use workspan_dag::TaskKind;

/// Compiles a text; `None` if that is not possible here.
fn compile(
    folder: &Path,
    compiler: &str,
    language: &str,
    text: &str,
    flags: &[&str],
) -> Option<PathBuf> {
    if !builds(compiler, language, text, flags) {
        skipped(flags[0], &format!("{compiler} does not build it"));
        return None;
    }
    let (source, program) = (folder.join("source"), folder.join("program"));
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-g", "-x", language]).arg(&source);
    command.args(["-x", "none", "-o"]).arg(&program).args(flags);
    assert!(command.status().unwrap().success());
    Some(program)
}

/// Stacks of 64 KiB with a guard page below each and nothing above the last, taken in turn; frames
/// of 2,500 bytes and of 64 by one function; and one that is aligned.
const FIBERS: &str = r#"
#include <oneapi/tbb.h>
#include <ucontext.h>
#include <sys/mman.h>
#include <alloca.h>
#include <atomic>
#include <cstdio>
static ucontext_t mainc, co;
static std::atomic<long> sum{0};
static size_t pad;
__attribute__((noinline)) void leaf() {
    tbb::task_group g;
    for (int i = 0; i < 3; i++)
        g.run([] { sum++; }); // LEAF
    g.wait();
    asm volatile("");
}
__attribute__((noinline)) void aligned() {
    alignas(64) volatile char block[64];
    block[0] = 1;
    leaf();
    asm volatile("" ::"r"(block));
}
__attribute__((noinline)) void varying(size_t n) {
    volatile char *p = (char *)alloca(n);
    p[0] = 1;
    aligned();
    asm volatile("" ::"r"(p));
}
static void entry() {
    varying(pad);
    swapcontext(&co, &mainc);
}
int main() {
    const size_t size = 64 << 10, page = 4096;
    tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    char *stacks[4];
    char *all = (char *)mmap(0, 4 * (size + page) + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++) {
        stacks[i] = all + page + i * (size + page);
        mprotect(stacks[i], size, PROT_READ | PROT_WRITE);
    }
    for (int i = 0; i < 64; i++) {
        pad = i % 3 == 0 ? 2500 : 64;
        getcontext(&co);
        co.uc_stack.ss_sp = stacks[i % 4];
        co.uc_stack.ss_size = size;
        co.uc_link = &mainc;
        makecontext(&co, entry, 0);
        swapcontext(&mainc, &co);
    }
    printf("%ld\n", sum.load());
}
"#;

#[test]
fn calls_of_onetbb_on_fibers_are_found_whatever_their_frames() {
    for flags in [["-O0", "-ltbb"], ["-O2", "-ltbb"]] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = compile(folder.path(), "c++", "c++", FIBERS, &flags) else {
            return;
        };
        let run = run(&program, &[], &[]);
        run.assert_same("fibers");
        let dag = &run.dag;
        // All belong to the one call in `leaf`, and so to one site.
        let spawned = |task: &usize| dag.tasks.kind[*task] == TaskKind::Deferred;
        let sites: Vec<u32> = (0..dag.tasks.len())
            .filter(spawned)
            .map(|t| dag.tasks.site[t])
            .collect();
        assert_eq!(sites.len(), 192, "{flags:?}");
        assert!(
            sites.iter().all(|&site| site == sites[0]),
            "{flags:?}: {sites:?}"
        );
    }
}

const TOP: &str = r#"
#define _GNU_SOURCE
#include <ucontext.h>
#include <sys/mman.h>
#include <stdio.h>
static ucontext_t m, co;
static long sum;
static void entry(void) {
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        sum++;
    }
}
int main(void) {
    const size_t size = 64 << 10;
    for (int i = 0; i < 20; i++) {
        char *b = mmap(0, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        b += 4096;
        mprotect(b, size, PROT_READ | PROT_WRITE);
        getcontext(&co);
        co.uc_stack.ss_sp = b;
        co.uc_stack.ss_size = size;
        co.uc_link = &m;
        makecontext(&co, entry, 0);
        swapcontext(&m, &co);
        munmap(b - 4096, size + 8192);
    }
    printf("%ld\n", sum);
    return 0;
}
"#;

#[test]
fn calls_of_libgomp_at_the_top_of_a_stack_read_nothing_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compile(folder.path(), "gcc", "c", TOP, &["-O2", "-fopenmp"]) else {
        return;
    };
    run(&program, &[], &[]).assert_same("the top of a stack");
}

/// Loops whose calls have arguments on the stack, all of which must be passed on: nine of
/// `GOMP_loop_ull_start`, eight of `GOMP_parallel_loop_dynamic`, and eight loops of a doacross
/// nest.
const ARGUMENTS: &str = r#"
#include <stdio.h>
int main(void) {
    long sum = 0, turns = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum) num_threads(2)
    for (long i = 5; i < 500; i += 7)
        sum += i;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(guided, 2) reduction(task, + : sum)
        for (unsigned long long i = 3; i < 400; i += 3)
            sum += i;
#pragma omp for schedule(dynamic, 1) ordered(8)
        for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) for (int c = 0; c < 2; c++)
        for (int d = 0; d < 2; d++) for (int e = 0; e < 2; e++) for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++) for (int h = 0; h < 2; h++) {
#pragma omp ordered depend(sink : a, b, c, d, e, f, g, h - 1) depend(sink : a - 1, b, c, d, e, f, g, h)
#pragma omp atomic
            turns++;
#pragma omp ordered depend(source)
        }
    }
    printf("%ld %ld\n", sum, turns);
    return 0;
}
"#;

#[test]
fn arguments_on_the_stack_come_through() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compile(folder.path(), "gcc", "c", ARGUMENTS, &["-O2", "-fopenmp"]) else {
        return;
    };
    run(&program, &[], &[]).assert_same("arguments on the stack");
}

const TEAM: &str = r#"
#include <stdio.h>
int main(void) {
    long sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp task
        ;
#pragma omp taskwait
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 40; i++)
            sum += i;
    }
    printf("%ld\n", sum);
    return 0;
}
"#;

#[test]
fn threads_with_the_least_stack_there_may_be_are_made_as_bare() {
    for name in ["gcc", "clang"] {
        let Some(compiler) = compiler(name) else {
            skipped(name, "not there");
            continue;
        };
        let compiler = compiler.as_str();
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = compile(folder.path(), compiler, "c", TEAM, &["-O2", "-fopenmp"])
        else {
            continue;
        };
        run(&program, &[], &[("OMP_STACKSIZE", "16K")]).assert_same(compiler);
    }
}

#[test]
fn little_is_taken_from_every_threads_stack() {
    let bytes = std::fs::read(library()).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
    let (headers, size, count) = (word(32), half(54), half(56));
    let tls: Vec<usize> = (0..count)
        .map(|i| headers + i * size)
        .filter(|&at| bytes[at..at + 4] == 7u32.to_le_bytes())
        .map(|at| word(at + 40))
        .collect();
    assert!(tls.len() == 1 && tls[0] < 512, "{tls:?}");
}

/// `fork`, `_Fork` and the direct system call, depending on the first argument; the child runs many
/// tasks.
const CHILDREN: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#pragma weak _Fork
pid_t _Fork(void);
static long fib(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
static long par(int n) {
    long r = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    r = fib(n);
    return r;
}
static pid_t divide(int how) {
    if (how == 1 && _Fork)
        return _Fork();
    return how == 0 ? fork() : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
int main(int count, char **words) {
    int how = atoi(words[1]), status = -1;
    pid_t child = 1;
    par(3);
#pragma omp parallel num_threads(1)
#pragma omp task
    child = divide(how); /* inside of a task, too: its end is the child's as well */
    if (child == 0) {
        for (int i = 0; i < 20; i++)
            par(14);
        _exit(count - 2);
    }
    usleep(20000);
    for (int i = 0; i < 5; i++)
        par(11);
    waitpid(child, &status, 0);
    printf("%d\n", status);
    return 0;
}
"#;

#[test]
fn children_that_nobody_tells_of_do_not_write_into_the_parents_trace() {
    for name in ["gcc", "clang"] {
        let Some(compiler) = compiler(name) else {
            skipped(name, "not there");
            continue;
        };
        let compiler = compiler.as_str();
        let folder = tempfile::tempdir().unwrap();
        let flags = ["-O1", "-fopenmp"];
        let Some(program) = compile(folder.path(), compiler, "c", CHILDREN, &flags) else {
            continue;
        };
        let counts = ["0", "1", "2"].map(|how| {
            let run = run(&program, &[how], &[]);
            run.assert_same(compiler);
            (run.dag.tasks.len(), run.dag.meta.warnings.len())
        });
        assert!(counts[0].0 > 1_400, "{counts:?}");
        assert_eq!(counts, [counts[0]; 3], "{compiler}");
    }
}

/// A filter that kills the process at each of the calls that recording once made unnecessarily. It
/// is installed before the second region.
const SANDBOX: &str = r#"
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define KILL(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
static int sum;
static void tasks(void) {
#pragma omp parallel num_threads(1)
    for (int i = 0; i < 100; i++) {
#pragma omp task
        sum++;
    }
}
int main(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(fstat), KILL(newfstatat), KILL(getpid), KILL(prlimit64), KILL(clock_gettime), KILL(fallocate),
        KILL(openat), KILL(mmap), KILL(munmap), KILL(madvise), KILL(prctl), KILL(gettid), KILL(pwrite64),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    tasks();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 2;
    tasks();
    return sum == 200 ? 0 : 1;
}
"#;

#[test]
fn a_sandbox_does_not_end_what_records_little_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compile(folder.path(), "gcc", "c", SANDBOX, &["-O1", "-fopenmp"]) else {
        return;
    };
    let run = run(&program, &[], &[]);
    if run.bare.status.code() == Some(2) {
        return skipped("a sandbox", "the kernel takes no filters");
    }
    run.assert_same("a sandbox");
    assert!(run.dag.tasks.len() > 200);
}
