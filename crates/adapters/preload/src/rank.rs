//! The rank that a launcher assigned to the process among those that it started, from the
//! environment variables that launchers set.

/// A process that is one of several started together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RankInfo {
    /// Its rank.
    pub(crate) rank: u32,
    /// The number of processes.
    pub(crate) ranks: Option<u32>,
    /// The launch that it belongs to: the launcher's family, and the family's name for the run if
    /// there is one.
    pub(crate) launch: String,
}

/// The variables of the rank, of the number of ranks, and of the run's name, and the family's name.
/// The innermost launcher starts the process, so batch systems come last.
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
    (
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_JOB_ID",
        "slurm",
    ),
];

/// The data of the calling process; `None` if no launcher numbered it.
pub(crate) fn of_process() -> Option<RankInfo> {
    rank_from(|name| std::env::var(name).ok())
}

fn rank_from(variable: impl Fn(&str) -> Option<String>) -> Option<RankInfo> {
    LAUNCHERS.iter().find_map(|(rank, ranks, name, family)| {
        let rank = variable(rank)?.parse().ok()?;
        let ranks: Option<u32> = variable(ranks).and_then(|n| n.parse().ok());
        let is_rank = match *family {
            // Other programs may use a variable called RANK.
            "torch" => ranks.is_some(),
            // The script of a job has SLURM_PROCID too, and so has all that it starts. Only `srun`
            // counts the tasks of a step, and one task is no rank.
            "slurm" => ranks.is_some_and(|ranks| ranks > 1),
            _ => true,
        };
        if !is_rank {
            return None;
        }
        let name = variable(name).unwrap_or_default();
        Some(RankInfo {
            rank,
            ranks,
            launch: format!("{family} {name}").trim_end().to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<RankInfo> {
        rank_from(|name| {
            let known = variables.iter().find(|(known, _)| *known == name)?;
            Some(known.1.to_owned())
        })
    }

    #[test]
    fn the_innermost_launcher_counts() {
        let rank = launched(&[
            ("SLURM_PROCID", "0"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "8"),
            ("PMIX_NAMESPACE", "17"),
        ]);
        let expected = RankInfo {
            rank: 3,
            ranks: Some(8),
            launch: "mpi 17".into(),
        };
        assert_eq!(rank, Some(expected));
        assert_eq!(launched(&[("RANK", "3")]), None);
        assert_eq!(launched(&[("PMI_RANK", "x")]), None);
        let torch = launched(&[("RANK", "1"), ("WORLD_SIZE", "2")]);
        assert_eq!(torch.map(|t| (t.rank, t.launch)), Some((1, "torch".into())));
    }

    #[test]
    fn the_script_of_a_job_is_no_rank() {
        let script = [("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "26")];
        assert_eq!(launched(&script), None);
        let step = |tasks| [&script[..], &[("SLURM_STEP_NUM_TASKS", tasks)]].concat();
        assert_eq!(launched(&step("1")), None);
        let expected = RankInfo {
            rank: 0,
            ranks: Some(4),
            launch: "slurm 26".into(),
        };
        assert_eq!(launched(&step("4")), Some(expected));
    }
}
