//! The standstill at the end of a run, as JSON.

use serde::Serialize;
use workspan_analysis::{Standstill, WaitingThread};
use workspan_dag::{Dag, PlaceId};

use super::code::CodePlaceJson;
use crate::position::label;

/// Times in ticks.
#[derive(Serialize)]
pub(super) struct StandstillJson<'a> {
    since: u64,
    ticks: u64,
    threads: Vec<ThreadJson<'a>>,
    never_began: Vec<SiteJson<'a>>,
}

#[derive(Serialize)]
struct ThreadJson<'a> {
    thread: u32,
    site: &'a str,
    waits_for: &'static str,
    at: Option<CodePlaceJson>,
    /// Tasks below it that wait for other tasks, the nearest first.
    below: Vec<BelowJson<'a>>,
}

#[derive(Serialize)]
struct BelowJson<'a> {
    site: &'a str,
    at: &'a str,
}

#[derive(Serialize)]
struct SiteJson<'a> {
    site: &'a str,
    tasks: u64,
}

pub(super) fn standstill<'a>(dag: &'a Dag, standstill: &Standstill) -> StandstillJson<'a> {
    StandstillJson {
        since: standstill.since,
        ticks: standstill.ticks,
        threads: standstill.threads.iter().map(|t| thread(dag, t)).collect(),
        never_began: standstill
            .never_began
            .iter()
            .map(|&(site, tasks)| SiteJson {
                site: label(dag, site),
                tasks,
            })
            .collect(),
    }
}

fn thread<'a>(dag: &'a Dag, waiting: &WaitingThread) -> ThreadJson<'a> {
    let below = waiting.below.iter().map(|&(task, place)| BelowJson {
        site: site(dag, task),
        at: label(dag, place),
    });
    ThreadJson {
        thread: waiting.thread,
        site: site(dag, waiting.task),
        waits_for: waiting.kind.name(),
        at: waiting.at.clone().map(CodePlaceJson::from),
        below: below.collect(),
    }
}

fn site(dag: &Dag, task: u32) -> &str {
    let places = &dag.tasks.site;
    let place: Option<PlaceId> = places.get(task as usize).copied();
    place.map_or("?", |place| label(dag, place))
}
