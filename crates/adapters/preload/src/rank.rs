//! The number that a launcher gave the process among those that it started, by the variables of the
//! environment that launchers set.

/// A process of several that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Launched {
    /// Its number.
    pub(crate) rank: u32,
    /// How many there are.
    pub(crate) ranks: Option<u32>,
    /// Which launch it is of: the launcher's family, and its name for the run where it has one.
    pub(crate) launch: String,
}

/// Variables of the rank, the number of ranks, and the run's name, and what to call the family. The
/// launcher that starts a process is the innermost, so batch systems come last.
const LAUNCHERS: [(&str, &str, &str, &str); 5] = [
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "PMIX_NAMESPACE",
        "mpi",
    ),
    ("PMI_RANK", "PMI_SIZE", "PMI_JOBID", "mpi"),
    ("PMIX_RANK", "", "PMIX_NAMESPACE", "mpi"),
    ("RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "torch"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "slurm"),
];

/// That of the calling process; `None` where no launcher numbered it.
pub(crate) fn of_process() -> Option<Launched> {
    of(|name| std::env::var(name).ok())
}

fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    LAUNCHERS.iter().find_map(|(rank, ranks, name, family)| {
        let rank = variable(rank)?.parse().ok()?;
        let ranks: Option<u32> = variable(ranks).and_then(|n| n.parse().ok());
        // A variable called RANK may be anybody's.
        if *family == "torch" && ranks.is_none() {
            return None;
        }
        let name = variable(name).unwrap_or_default();
        Some(Launched {
            rank,
            ranks,
            launch: format!("{family} {name}").trim_end().to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<Launched> {
        of(|name| {
            let known = variables.iter().find(|(known, _)| *known == name)?;
            Some(known.1.to_owned())
        })
    }

    #[test]
    fn the_innermost_launcher_counts() {
        let told = launched(&[
            ("SLURM_PROCID", "0"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "8"),
            ("PMIX_NAMESPACE", "17"),
        ]);
        let expected = Launched {
            rank: 3,
            ranks: Some(8),
            launch: "mpi 17".into(),
        };
        assert_eq!(told, Some(expected));
        assert_eq!(launched(&[("RANK", "3")]), None);
        assert_eq!(launched(&[("PMI_RANK", "x")]), None);
        let torch = launched(&[("RANK", "1"), ("WORLD_SIZE", "2")]);
        assert_eq!(torch.map(|t| (t.rank, t.launch)), Some((1, "torch".into())));
    }
}
