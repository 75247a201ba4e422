//! The CPUs that a recorded program may use: the number of cores, kinds of cores and NUMA nodes,
//! and the limit of a control group. Ordinary values are not noted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};
use workspan_perf::parse_cpu_list;
use workspan_trace::entry::Note;
use workspan_trace::note_keys::{CPU_CORES, CPU_KINDS, CPU_QUOTA, NUMA_NODE_CPUS, NUMA_NODES};

/// The CPUs that this process, and so the program, may use.
///
/// # Errors
/// The kernel does not list them.
pub fn usable_cpus() -> std::io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(None)?;
    let cpus = 0..CpuSet::MAX_CPU;
    Ok(cpus.filter(|&cpu| allowed.is_set(cpu)).collect())
}

/// The core that a CPU is a hardware thread of, by package and number. If the kernel does not say,
/// each CPU counts as a core.
pub fn core_of(cpu: usize) -> (u64, u64) {
    core_below(cpu, Path::new("/sys"))
}

fn core_below(cpu: usize, sys: &Path) -> (u64, u64) {
    let number = |name: &str| -> Option<u64> {
        let text = of_cpu(cpu, &format!("topology/{name}"), sys)?;
        text.parse().ok()
    };
    let package = number("physical_package_id").unwrap_or(0);
    (package, number("core_id").unwrap_or(cpu as u64))
}

/// The contents of a kernel file about a CPU.
fn of_cpu(cpu: usize, file: &str, sys: &Path) -> Option<String> {
    let path = sys.join(format!("devices/system/cpu/cpu{cpu}/{file}"));
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// Notes about the CPUs that the program may use.
pub(crate) fn notes() -> Vec<Note> {
    let cpus = usable_cpus().unwrap_or_default();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    notes_of(&cpus, &own, Path::new("/sys"))
}

fn notes_of(cpus: &[usize], own_group: &str, sys: &Path) -> Vec<Note> {
    let list = |path: &Path| {
        let list = std::fs::read_to_string(path).unwrap_or_default();
        parse_cpu_list(list.trim())
    };
    let is_in = |cpu: usize, list: &[i32]| list.contains(&(cpu as i32));
    let mut notes = Vec::new();
    let cores: BTreeSet<(u64, u64)> = cpus.iter().map(|&cpu| core_below(cpu, sys)).collect();
    if cores.len() < cpus.len() {
        notes.push(Note::new(CPU_CORES, cores.len().to_string()));
    }
    // Kinds of cores differ in their capacity (ARM), or are in the lists of Intel's two kinds.
    let capacities: BTreeSet<String> = cpus
        .iter()
        .filter_map(|&cpu| of_cpu(cpu, "cpu_capacity", sys))
        .collect();
    let lists = ["cpu_core", "cpu_atom"].map(|kind| {
        let list = list(&sys.join(format!("devices/{kind}/cpus")));
        cpus.iter().filter(|&&cpu| is_in(cpu, &list)).count()
    });
    let kinds = match lists {
        [fast, slow] if fast > 0 && slow > 0 => 2,
        _ => capacities.len(),
    };
    if kinds > 1 {
        notes.push(Note::new(CPU_KINDS, kinds.to_string()));
    }
    let nodes = numa_nodes(cpus, sys);
    if nodes.len() > 1 {
        notes.push(Note::new(NUMA_NODES, nodes.len().to_string()));
        let lists = nodes.iter().map(|(node, cpus)| format!("{node}: {cpus}"));
        let lists: Vec<String> = lists.collect();
        notes.push(Note::new(NUMA_NODE_CPUS, lists.join("; ")));
    }
    if let Some(quota) = quota(own_group, sys).filter(|&quota| quota < cpus.len() as f64) {
        notes.push(Note::new(CPU_QUOTA, format!("{quota:.2}")));
    }
    notes
}

/// The NUMA nodes of these CPUs, and the list of all CPUs of each.
fn numa_nodes(cpus: &[usize], sys: &Path) -> BTreeMap<u32, String> {
    let entries = std::fs::read_dir(sys.join("devices/system/node"));
    let entries = entries.into_iter().flatten().flatten();
    let node = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("node")?.parse().ok()?;
        let list = std::fs::read_to_string(entry.path().join("cpulist")).ok()?;
        let all = parse_cpu_list(list.trim());
        let is_used = cpus.iter().any(|&cpu| all.contains(&(cpu as i32)));
        is_used.then(|| (number, list.trim().to_owned()))
    };
    entries.filter_map(node).collect()
}

/// The smallest number of CPUs that the process's control group, or one above it, allows (version
/// 2).
fn quota(own_group: &str, sys: &Path) -> Option<f64> {
    let own = own_group
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))?;
    let root = sys.join("fs/cgroup");
    let mut group = root.join(own.trim());
    let mut least: Option<f64> = None;
    while group.starts_with(&root) {
        if let Ok(text) = std::fs::read_to_string(group.join("cpu.max")) {
            let mut words = text.split_whitespace().map(|word| word.parse::<f64>().ok());
            // A group without a limit says `max`.
            if let (Some(Some(time)), Some(Some(period))) = (words.next(), words.next()) {
                let quota = time / period.max(1.0);
                least = Some(least.map_or(quota, |least| least.min(quota)));
            }
        }
        if !group.pop() {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn values(notes: &[Note]) -> Vec<(&str, &str)> {
        notes
            .iter()
            .map(|note| (note.key.as_str(), note.value.as_str()))
            .collect()
    }

    #[test]
    fn hyperthreads_nodes_and_quotas_are_noted() {
        let core = |cpu: usize| format!("devices/system/cpu/cpu{cpu}/topology/core_id");
        let names: Vec<String> = (0..4).map(core).collect();
        let sys = machine(&[
            (&names[0], "0\n"),
            (&names[1], "1\n"),
            (&names[2], "0\n"),
            (&names[3], "1\n"),
            ("devices/system/node/node0/cpulist", "0,2\n"),
            ("devices/system/node/node1/cpulist", "1,3\n"),
            ("devices/system/node/node2/cpulist", "4-7\n"),
            ("devices/cpu_core/cpus", "0-1\n"),
            ("devices/cpu_atom/cpus", "2-3\n"),
            ("fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let notes = notes_of(&[0, 1, 2, 3], "0::/a/b\n", sys.path());
        let expected = [
            (CPU_CORES, "2"),
            (CPU_KINDS, "2"),
            (NUMA_NODES, "2"),
            (NUMA_NODE_CPUS, "0: 0,2; 1: 1,3"),
            (CPU_QUOTA, "1.50"),
        ];
        assert_eq!(values(&notes), expected);
        // One CPU per core, on one node.
        assert_eq!(values(&notes_of(&[0], "0::/\n", sys.path())), []);
        assert_eq!(values(&notes_of(&[0, 1], "", &sys.path().join("none"))), []);
    }
}
