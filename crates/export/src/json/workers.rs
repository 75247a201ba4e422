//! Facts about workers in the report's JSON: idle time, and tasks that were slower while others
//! ran.

use serde::Serialize;
use workspan_analysis::{ConcurrencySlowdown, IdleTime};
use workspan_dag::Dag;

use super::Ratio;
use crate::position::label;

/// The time of idle workers by use, in ticks.
#[derive(Serialize)]
pub(super) struct IdleJson {
    searching: u64,
    going_to_sleep: u64,
    asleep: u64,
    preempted: u64,
}

pub(super) fn idle(idle: &IdleTime) -> IdleJson {
    IdleJson {
        searching: idle.searching,
        going_to_sleep: idle.going_to_sleep,
        asleep: idle.asleep,
        preempted: idle.preempted,
    }
}

/// Tasks that took longer while others ran than alone: number and median weight of both.
#[derive(Serialize)]
pub(super) struct ConcurrencySlowdownJson<'a> {
    site: &'a str,
    alone: (u64, u64),
    beside: (u64, u64),
    ratio: Ratio,
}

pub(super) fn concurrency_slowdown<'a>(
    dag: &'a Dag,
    slower: &ConcurrencySlowdown,
) -> ConcurrencySlowdownJson<'a> {
    ConcurrencySlowdownJson {
        site: label(dag, slower.site),
        alone: slower.alone,
        beside: slower.concurrent,
        ratio: Ratio(slower.ratio()),
    }
}
