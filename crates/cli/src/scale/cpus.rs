//! The CPUs that this process may use, in the order in which workers get one each.

use anyhow::Context;
use rustix::thread::{CpuSet, sched_setaffinity};
use workspan_record::machine::{core_of, usable_cpus};

/// One CPU of each core first, core after core and package after package, then the cores' second
/// CPUs: few workers should not share a core while others are free.
///
/// # Errors
/// The kernel does not list the CPUs.
pub fn in_order() -> anyhow::Result<Vec<usize>> {
    let usable = usable_cpus().context("which CPUs may be used")?;
    let cores: Vec<(u64, u64)> = usable.iter().map(|&cpu| core_of(cpu)).collect();
    Ok(spread(&usable, &cores))
}

/// `usable` ordered by rank within its core, then core.
fn spread(usable: &[usize], cores: &[(u64, u64)]) -> Vec<usize> {
    let mut keyed: Vec<(usize, (u64, u64), usize)> = Vec::new();
    for (i, (&cpu, &core)) in usable.iter().zip(cores).enumerate() {
        let rank = cores[..i].iter().filter(|&&other| other == core).count();
        keyed.push((rank, core, cpu));
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|k| k.2).collect()
}

/// Restricts this thread, and everything that it starts from now on, to `cpus`.
///
/// # Errors
/// The kernel refuses.
pub fn keep_on(cpus: &[usize]) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).with_context(|| format!("keep the program on CPUs {cpus:?}"))
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn cores_come_before_their_second_cpus() {
        // Two packages of two cores, siblings numbered 4 apart.
        let cpus = [0, 1, 2, 3, 4, 5, 6, 7];
        let cores = [
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 1),
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 1),
        ];
        assert_eq!(spread(&cpus, &cores), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Siblings have adjacent numbers.
        let cores = [
            (0, 0),
            (0, 0),
            (0, 1),
            (0, 1),
            (1, 0),
            (1, 0),
            (1, 1),
            (1, 1),
        ];
        assert_eq!(spread(&cpus, &cores), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(spread(&[3], &[(0, 9)]), [3]);
        assert!(spread(&[], &[]).is_empty());
    }
}
