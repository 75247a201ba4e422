//! CPU time, and the checks of the run's numbers.

use serde::Serialize;
use workspan_analysis::checks::{Check, CpuAccount};
use workspan_dag::CpuTimes;

/// CPU time of the process, in nanoseconds.
#[derive(Serialize)]
pub(super) struct CpuJson<'a> {
    process_ns: Option<u64>,
    threads_ns: Option<u64>,
    outside_ns: u64,
    outside_in: Option<&'a str>,
    missing_switches: u64,
    switches: u64,
    /// The process's CPU time by use, and the difference that is in none of the parts, or in two.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<AccountJson>,
}

#[derive(Serialize)]
struct AccountJson {
    in_tasks_ns: u64,
    between_tasks_ns: u64,
    outside_ns: u64,
    difference_ns: u64,
}

/// A check: two sides in nanoseconds, the allowed difference, and the result.
#[derive(Serialize)]
pub(super) struct CheckJson {
    check: &'static str,
    told_ns: u64,
    against_ns: u64,
    slack_ns: u64,
    holds: bool,
}

pub(super) fn cpu<'a>(cpu: &'a CpuTimes, account: Option<&CpuAccount>) -> CpuJson<'a> {
    CpuJson {
        process_ns: cpu.process,
        threads_ns: (!cpu.threads.is_empty()).then(|| cpu.of_threads()),
        outside_ns: cpu.outside,
        outside_in: cpu.outside_in.as_deref(),
        missing_switches: cpu.missing,
        switches: cpu.switches,
        account: account.map(|account| AccountJson {
            in_tasks_ns: account.strands,
            between_tasks_ns: account.between,
            outside_ns: account.outside,
            difference_ns: account.difference(),
        }),
    }
}

pub(super) fn check(check: &Check) -> CheckJson {
    CheckJson {
        check: check.invariant.name(),
        told_ns: check.reported,
        against_ns: check.against,
        slack_ns: check.slack,
        holds: check.holds,
    }
}
