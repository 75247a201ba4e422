//! Redacts a run, so that it can be sent to other people: all numbers stay, names do not.
//!
//! Every name that is not known to be harmless is replaced, everywhere in the same way: files,
//! functions, positions, regions, parts, the program, the host. The command line, source lines,
//! warnings, and facts with paths or process numbers are left out. docs/export.md lists what stays.

use std::collections::BTreeMap;

use workspan_analysis::{WaitKind, wait_kinds};
use workspan_dag::samples::{WaitCause, WaitedFor};
use workspan_dag::{Dag, NONE, ROOT_PLACE, Samples, Topology};
use workspan_trace::entry::RECORDING;
use workspan_trace::note_keys as key;

/// Keys of facts that stay: they contain numbers and workspan's own words.
const KEPT_FACTS: [&str; 24] = [
    key::RECORDED,
    key::CPU_TIME,
    key::CPU_TIME_OF_OTHERS,
    key::FOLDED_BELOW,
    key::SAMPLE_HZ,
    key::SAMPLES_IN_KERNEL,
    key::PROCESS_CPU_NS,
    key::PROBE_COST,
    key::BARE_JOIN,
    key::BURDEN,
    key::STEALS,
    key::TASKS_IN_WAITS,
    key::TASK_QUEUE,
    key::ENDS,
    key::CPUS,
    key::PART_OF_RUN,
    "ended",
    "clock",
    "threads recorded",
    "events",
    "size",
    "bytes a task",
    "subtrees not recorded",
    "recorder",
];

/// Counters that stay: those of the processor and the kernel. Others have names of the program.
const KEPT_COUNTERS: [&str; 22] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
    "L1-dcache-loads",
    "L1-dcache-load-misses",
    "LLC-loads",
    "LLC-load-misses",
    "dTLB-load-misses",
    "node-load-misses",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
];

/// Names of waited-for objects that stay.
const KEPT_WAITS: [&str; 10] = [
    "lock",
    "mutex",
    "rwlock",
    "channel",
    "condition",
    "semaphore",
    "io",
    "I/O",
    "sleep",
    "rank",
];

/// The name of an unknown function.
const UNKNOWN: &str = "?";

/// Replaces or removes every name of the program, its files, its machine and its user.
pub fn redact(dag: &mut Dag) {
    keep_wait_kinds(dag);
    let mut names = Names::default();
    redact_places(dag, &mut names);
    redact_samples(&mut dag.samples, &mut names);
    for label in &mut dag.labels {
        *label = names.of("region", label);
    }
    for off in &mut dag.offs {
        let on = off.on.as_deref();
        off.on = on.map(|on| match KEPT_WAITS.contains(&on) {
            true => on.to_owned(),
            false => names.of("object", on),
        });
    }
    for counter in &mut dag.counters {
        if !KEPT_COUNTERS.contains(&counter.name.as_str()) {
            counter.name = names.of("counter", &counter.name);
        }
    }
    for pool in &mut dag.pools.list {
        pool.built = pool.built.as_deref().map(|label| names.label(label));
    }
    redact_meta(dag, &mut names);
}

/// Keeps the kinds of waits, which would otherwise be lost with the names of functions.
fn keep_wait_kinds(dag: &mut Dag) {
    let kinds = wait_kinds(dag);
    for (stop, kind) in dag.samples.stops.iter_mut().zip(kinds) {
        let kind = match kind {
            WaitKind::Sleep => WaitedFor::Sleep,
            WaitKind::Lock | WaitKind::Bridge => WaitedFor::Mutex,
            WaitKind::Channel | WaitKind::Condition => WaitedFor::Condition,
            WaitKind::Barrier => WaitedFor::Barrier,
            WaitKind::Io => WaitedFor::Io,
            WaitKind::Rank => WaitedFor::Rank,
            WaitKind::Other => continue,
        };
        let unknown = WaitCause {
            kind,
            object: 0,
            by: NONE,
            released_at: NONE,
            held: stop.ticks,
        };
        stop.wait.get_or_insert(unknown).kind = kind;
    }
}

fn redact_meta(dag: &mut Dag, names: &mut Names) {
    let meta = &mut dag.meta;
    meta.name = meta.name.is_some().then(|| "program".to_owned());
    meta.command = meta.command.is_some().then(|| "program".to_owned());
    meta.thread_names.clear();
    meta.topology = Topology::default();
    meta.host = meta.host.is_some().then(|| "host".to_owned());
    meta.facts
        .retain(|(key, _)| KEPT_FACTS.contains(&key.as_str()));
    meta.run.source_folder = None;
    meta.run.burden_source = None;
    meta.run.threads_set_by = None;
    for process in &mut meta.processes.list {
        process.name = "program".to_owned();
        process.host = process.host.is_some().then(|| "host".to_owned());
        process.pid = 0;
    }
    for clock in &mut meta.processes.clocks {
        clock.host = "host".to_owned();
    }
    if let Some(cpu) = &mut meta.cpu {
        let function = cpu.outside_in.as_deref();
        cpu.outside_in = function.map(|function| names.function(function));
    }
    let count = meta.warnings.len();
    meta.warnings.clear();
    if count > 0 {
        meta.warnings.push(format!(
            "Names were replaced in this run, and its {count} warnings left out, as they may hold names."
        ));
    }
}

fn redact_places(dag: &mut Dag, names: &mut Names) {
    for (place, number) in dag.places.iter_mut().zip(0u32..) {
        let lines = place.lines().map(str::to_owned);
        let file = place.file.as_deref().map(|file| names.file(file));
        let label = match (&file, lines) {
            _ if number == ROOT_PLACE && place.label == "root" => "root".to_owned(),
            (Some(file), Some(lines)) => format!("{file}:{lines}"),
            _ if place.label == UNKNOWN => UNKNOWN.to_owned(),
            _ if place.function.as_ref() == Some(&place.label) => names.function(&place.label),
            _ => names.of("site", &place.label),
        };
        names.labels.insert(place.label.clone(), label.clone());
        place.label = label;
        place.file = file;
        place.function = place.function.as_deref().map(|f| names.function(f));
        place.source = None;
    }
}

fn redact_samples(samples: &mut Samples, names: &mut Names) {
    for frame in &mut samples.frames {
        frame.file = frame.file.as_deref().map(|file| names.file(file));
        frame.function = names.function(&frame.function);
    }
}

/// The replacements, by kind and name.
#[derive(Debug, Default)]
struct Names {
    replaced: BTreeMap<(&'static str, String), String>,
    counts: BTreeMap<&'static str, u32>,
    /// Labels of places.
    labels: BTreeMap<String, String>,
}

impl Names {
    fn of(&mut self, kind: &'static str, name: &str) -> String {
        let known = self.replaced.get(&(kind, name.to_owned()));
        if let Some(known) = known {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let new = format!("{kind}{count}");
        self.replaced.insert((kind, name.to_owned()), new.clone());
        new
    }

    fn function(&mut self, name: &str) -> String {
        match name {
            RECORDING | UNKNOWN => name.to_owned(),
            name => self.of("function", name),
        }
    }

    /// The replacement of a place's label that another part of the run repeats.
    fn label(&mut self, label: &str) -> String {
        match self.labels.get(label) {
            Some(known) => known.clone(),
            None => self.of("site", label),
        }
    }

    /// A file keeps its ending, and whether it belongs to the program, a library or the system,
    /// because samples are attributed to the program's own code first. Files of Rust's standard
    /// library keep their names.
    fn file(&mut self, name: &str) -> String {
        const STANDARD: [&str; 2] = ["/rustc/", "/rustlib/src/rust/"];
        for root in STANDARD {
            if let Some((_, inside)) = name.split_once(root)
                && let Some(at) = inside.find("library/")
                && is_plain(&inside[at..])
            {
                return inside[at..].to_owned();
            }
        }
        let ending = name.rsplit('/').next().and_then(|n| n.rsplit_once('.'));
        let ending = ending.map(|(_, ending)| ending);
        let ending = ending.filter(|e| ENDINGS.contains(e)).unwrap_or("txt");
        let folder = if name.starts_with("library/") {
            "library/"
        } else if name.contains("/registry/src/") || is_package(name) {
            "/registry/src/"
        } else if name.starts_with("/usr/") {
            "/usr/"
        } else {
            ""
        };
        format!("{folder}{}.{ending}", self.of("file", name))
    }
}

/// Endings that reveal no more than the language.
const ENDINGS: [&str; 16] = [
    "rs", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inl", "tcc", "cu", "f", "f90", "inc",
    "py",
];

/// Whether a path has only characters that occur in the standard library's paths.
fn is_plain(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_.-".contains(c);
    path.chars().all(plain) && !path.contains("..")
}

/// Whether a name has the form `name-1.2.3/src/lib.rs`: a package of the registry.
fn is_package(name: &str) -> bool {
    let first = name.split('/').next().and_then(|n| n.rsplit_once('-'));
    first.is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
}
