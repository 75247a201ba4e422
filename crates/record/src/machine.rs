//! The CPUs that a recorded program may use: how many cores, kinds of cores and NUMA nodes they
//! are, and what a control group leaves of them. Where that is nothing special, nothing is noted.

use std::collections::BTreeSet;
use std::path::Path;

use workspan_trace::entry::Note;
use workspan_trace::note_keys::{CPU_CORES, CPU_KINDS, CPU_QUOTA, NUMA_NODES};

/// Notes about the CPUs that this process, and so the program, may use.
pub fn notes() -> Vec<Note> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    let cpus: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    notes_of(&cpus, &own, Path::new("/sys"))
}

fn notes_of(cpus: &[usize], own_group: &str, sys: &Path) -> Vec<Note> {
    let of_cpu = |cpu: usize, file: &str| {
        let path = sys.join(format!("devices/system/cpu/cpu{cpu}/{file}"));
        std::fs::read_to_string(path)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    let mut notes = Vec::new();
    let siblings = |&cpu: &usize| of_cpu(cpu, "topology/thread_siblings_list");
    let cores: Option<BTreeSet<String>> = cpus.iter().map(siblings).collect();
    if let Some(cores) = cores.filter(|cores| cores.len() < cpus.len()) {
        notes.push(Note::new(CPU_CORES, cores.len().to_string()));
    }
    // Kinds differ by their capacity (ARM), or by the lists of Intel's two kinds.
    let capacities: BTreeSet<String> = cpus
        .iter()
        .filter_map(|&cpu| of_cpu(cpu, "cpu_capacity"))
        .collect();
    let lists = ["cpu_core", "cpu_atom"].map(|kind| {
        let list = std::fs::read_to_string(sys.join(format!("devices/{kind}/cpus")));
        let list = cpu_list(&list.unwrap_or_default());
        cpus.iter().filter(|cpu| list.contains(cpu)).count()
    });
    let kinds = match lists {
        [fast, slow] if fast > 0 && slow > 0 => 2,
        _ => capacities.len(),
    };
    if kinds > 1 {
        notes.push(Note::new(CPU_KINDS, kinds.to_string()));
    }
    let nodes = std::fs::read_dir(sys.join("devices/system/node"));
    let nodes = nodes.into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        let is_node = name.to_str().and_then(|name| name.strip_prefix("node"));
        let list = std::fs::read_to_string(entry.path().join("cpulist"));
        let list = cpu_list(&list.unwrap_or_default());
        is_node.is_some_and(|number| number.parse::<u32>().is_ok())
            && cpus.iter().any(|cpu| list.contains(cpu))
    });
    let nodes = nodes.count();
    if nodes > 1 {
        notes.push(Note::new(NUMA_NODES, nodes.to_string()));
    }
    if let Some(quota) = quota(own_group, sys).filter(|&quota| quota < cpus.len() as f64) {
        notes.push(Note::new(CPU_QUOTA, format!("{quota:.2}")));
    }
    notes
}

/// The least CPUs that the process's control group, or one above it, allows (version 2).
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

/// `0-3,8` as numbers.
fn cpu_list(text: &str) -> BTreeSet<usize> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        (last < rustix::thread::CpuSet::MAX_CPU).then_some(first..=last)
    });
    ranges.flatten().collect()
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

    fn told(notes: &[Note]) -> Vec<(&str, &str)> {
        notes
            .iter()
            .map(|note| (note.key.as_str(), note.value.as_str()))
            .collect()
    }

    #[test]
    fn hyperthreads_nodes_and_quotas_are_noted() {
        let cpu = |cpu: usize| format!("devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let names: Vec<String> = (0..4).map(cpu).collect();
        let sys = machine(&[
            (&names[0], "0,2\n"),
            (&names[1], "1,3\n"),
            (&names[2], "0,2\n"),
            (&names[3], "1,3\n"),
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
            (CPU_QUOTA, "1.50"),
        ];
        assert_eq!(told(&notes), expected);
        // One of each core, on one node.
        assert_eq!(told(&notes_of(&[0], "0::/\n", sys.path())), []);
        assert_eq!(told(&notes_of(&[0, 1], "", &sys.path().join("none"))), []);
    }
}
