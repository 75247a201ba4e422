//! The kernels of `workspan bench runtimes` have the same task graph on every runtime, including
//! Rayon, and so have the composed constructs of tp.h: two runtimes only differ in the scheduler.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use workspan_toolchains::{Family, Language, openmp, skipped};

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

const KERNELS: [(&str, &[&str]); 14] = [
    ("fib", &["18", "5"]),
    ("fib", &["12", "5", "10"]),
    ("nqueens", &["8", "3"]),
    ("msort", &["50001", "1000"]),
    ("msort", &["50001", "1000", "--merge", "parallel"]),
    ("matmul", &["65", "16"]),
    ("sparselu", &["6", "8"]),
    ("treesum", &["10", "3"]),
    ("align", &["20", "2", "50"]),
    ("fft", &["10", "64"]),
    ("holder", &["200", "20"]),
    ("queue", &["200", "20", "100"]),
    ("deep", &["4", "20", "100"]),
    ("late", &["10", "200"]),
];

/// A program whose tasks and joins follow from its text.
const CONSTRUCTS: &str = "
static void calls(long depth) {
    TP_TASKS(t);
    TP_CREATE(t, [depth] { if (depth > 0) calls(depth - 1); });
    TP_CREATE_AND_WAIT(t, [depth] { if (depth > 0) calls(depth - 1); });
}
static void loop() { TP_PFOR(0, 10, 3, [](long, long) {}); }
static void reduce() {
    long all = 0;
    const auto leaf = [](long first, long last) { return last - first; };
    TP_PFOR_REDUCE(all, 0, 10, 3, leaf, [](long a, long b) { return a + b; });
    if (all != 10)
        std::abort();
}
static void all() {
    TP_CALL([] { calls(3); });
    loop();
    reduce();
}
int main(int, char **) {
    TP_RUN(2, [] { all(); });
    return 0;
}
";

/// OpenMP's wait is one for all children of a task, those of the functions that called this one in
/// the same task included: there a join is of more tasks, and the barrier at the end joins all.
fn without_joins(shape: &Shape) -> Shape {
    let tasks = shape.iter().filter(|((what, _), _)| what == "tasks");
    tasks.map(|(key, number)| (key.clone(), *number)).collect()
}

/// What is to be compared of a runtime's graph.
fn compared(runtime: &str, shape: Shape) -> Shape {
    if runtime.ends_with("OpenMP") {
        without_joins(&shape)
    } else {
        shape
    }
}

/// The number of tasks at each depth of the task tree, and the number of joins by how many tasks
/// they join. Tasks that every runtime calls in place are left out (the first side of a join), and
/// the implicit tasks of OpenMP's threads.
const SHAPE: &str = "
with recursive
  own(task, parent, counts) as (
    select t.task, t.parent,
      t.parent is not null and s.file is not null and (s.file like '%/tp/%' or s.file like '%bench/src/%')
        and coalesce(s.primitive, '') not in ('parallel', 'parallel region')
        and not (t.kind = 'inline' and coalesce(s.primitive, '') = 'join')
    from tasks t left join sites s on s.site = t.site),
  depths(task, depth, counts) as (
    select task, counts, counts from own where parent is null
    union all
    select own.task, depths.depth + own.counts, own.counts from own
      join depths on own.parent = depths.task)
select 'tasks' what, depth size, count(*) number from depths where counts group by depth
union all
select 'joins', joined, count(*) from (
  select e.target, count(*) joined from edges e
    join strands st on st.strand = e.source join own on own.task = st.task
    where e.kind = 'end' and own.counts group by e.target)
  group by joined
order by 1, 2";

type Shape = BTreeMap<(String, u64), u64>;

/// The shape of a recorded run of the program.
fn shape(program: &Path, arguments: &[&str], folder: &Path) -> Shape {
    let trace = folder.join("shape.wspan");
    let record = Command::new(WORKSPAN)
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(program)
        .args(arguments)
        .env("WORKSPAN_NO_PERF", "1")
        .env("RAYON_NUM_THREADS", "2")
        .env("OMP_NUM_THREADS", "2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&record.stderr);
    assert!(record.status.success(), "{program:?} {arguments:?}: {said}");
    let rows = Command::new(WORKSPAN)
        .arg("sql")
        .arg(&trace)
        .args([SHAPE, "--format", "csv"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&rows.stderr);
    assert!(rows.status.success(), "{said}");
    let rows = String::from_utf8(rows.stdout).unwrap();
    let mut shape = Shape::new();
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        shape.insert((cells[0].to_owned(), number(1)), number(2));
    }
    shape
}

/// All kernels as one program, whose first argument is the kernel's name: compiled once.
fn all_kernels(folder: &Path) -> PathBuf {
    let mut text = String::from("#include <algorithm>\n#include <atomic>\n#include <cmath>\n");
    text += "#include <memory>\n#include <utility>\n#include \"kernel.h\"\n";
    let mut names: Vec<&str> = KERNELS.iter().map(|kernel| kernel.0).collect();
    names.dedup();
    text += "#define main run\n";
    for name in &names {
        let _ = writeln!(text, "namespace k_{name} {{\n#include \"{name}.cpp\"\n}}");
    }
    let constructs = folder.join("tp");
    std::fs::create_dir_all(&constructs).unwrap();
    std::fs::write(constructs.join("constructs.cpp"), CONSTRUCTS).unwrap();
    text += "namespace k_constructs {\n#include \"tp/constructs.cpp\"\n}\n#undef main\n";
    text += "int main(int count, char **words) {\n    const std::string name = words[1];\n";
    for name in names.iter().chain(&["constructs"]) {
        let run = format!("k_{name}::run(count - 1, words + 1)");
        let _ = writeln!(text, "    if (name == \"{name}\")\n        return {run};");
    }
    text += "    return 2;\n}\n";
    let source = folder.join("all.cpp");
    std::fs::write(&source, text).unwrap();
    source
}

fn compile(compiler: &str, source: &Path, flags: &[&str]) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = source.with_extension(flags[0].trim_start_matches('-'));
    let output = Command::new(compiler)
        .args(["-std=c++11", "-O0", "-g", "-I"])
        .arg(root.join("include"))
        .arg("-I")
        .arg(root.join("bench/tp"))
        .arg("-I")
        .arg(source.parent().unwrap())
        .arg(source)
        .args(flags)
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(program)
    } else {
        Err(said)
    }
}

/// The Rayon kernels with recording compiled in, by name.
fn rayon_kernels() -> BTreeMap<String, PathBuf> {
    let mut build = Command::new(WORKSPAN);
    build
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(["record", "--no-report", "--", "cargo", "build", "--release"])
        .args(["--message-format", "json", "--package", "workspan-bench"]);
    for (name, _) in KERNELS {
        build.args(["--bin", name]);
    }
    let output = build.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs = messages.filter_map(|message| {
        let path = PathBuf::from(message["executable"].as_str()?);
        Some((message["target"]["name"].as_str()?.to_owned(), path))
    });
    programs.collect()
}

#[test]
fn kernels_have_the_same_task_graph_on_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let source = all_kernels(folder.path());
    let gnu = openmp(Family::Gnu, Language::Cxx);
    let llvm = openmp(Family::Llvm, Language::Cxx);
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/native");
    let stand_ins = format!("-I{}", native.join("stand_in").display());
    let mut here = Vec::new();
    for (runtime, compiler, flags) in [
        ("workspan.h", &gnu, &["-DTP_WORKSPAN"][..]),
        ("GNU OpenMP", &gnu, &["-DTP_OPENMP", "-fopenmp"]),
        ("LLVM OpenMP", &llvm, &["-DTP_OPENMP", "-fopenmp"]),
        ("oneTBB", &gnu, &["-DTP_TBB", "-ltbb"]),
        // Over stand-ins of their interfaces.
        ("MassiveThreads", &gnu, &["-DTP_MYTH", &stand_ins]),
        ("Qthreads", &gnu, &["-DTP_QTHREADS", &stand_ins]),
    ] {
        match compiler {
            Ok(compiler) => match compile(&compiler.command, &source, flags) {
                Ok(program) => {
                    let renamed = folder.path().join(runtime);
                    std::fs::rename(program, &renamed).unwrap();
                    here.push((runtime, renamed));
                }
                Err(why) => {
                    // A missing library is one thing, a kernel that does not compile another.
                    let missing = ["cannot find -l", "No such file", "not found"];
                    assert!(missing.iter().any(|m| why.contains(m)), "{runtime}: {why}");
                    skipped(&format!("task graphs on {runtime}"), why.trim());
                }
            },
            Err(why) => skipped(&format!("task graphs on {runtime}"), why),
        }
    }
    for (runtime, program) in &here {
        // 15 calls make a task each, at depths 1 to 4; each loop makes 3, at depths 1 and 2; each
        // task is waited for separately.
        let found = shape(program, &["constructs"], folder.path());
        let tasks = [(1, 8), (2, 8), (3, 4), (4, 1)].map(|(d, n)| (("tasks".to_owned(), d), n));
        let mut expected: Shape = tasks.into();
        expected.insert(("joins".to_owned(), 1), 21);
        let expected = compared(runtime, expected);
        assert_eq!(compared(runtime, found), expected, "{runtime}");
    }
    let rayon = rayon_kernels();
    for (kernel, arguments) in KERNELS {
        let expected = shape(&rayon[kernel], arguments, folder.path());
        let tasks: u64 = expected
            .iter()
            .filter(|((what, _), _)| what == "tasks")
            .map(|(_, number)| number)
            .sum();
        assert!(tasks >= 8, "{kernel}: {expected:?}");
        for (runtime, program) in &here {
            let words = [&[kernel], arguments].concat();
            let found = shape(program, &words, folder.path());
            let expected = compared(runtime, expected.clone());
            let found = compared(runtime, found);
            assert_eq!(found, expected, "{runtime}: {kernel} {arguments:?}");
        }
    }
}
