//! Finds which spawn each steal took, by replaying the deques of all workers in time order.

use std::collections::BTreeMap;

use workspan_dag::raw::{RawTask, RawTrace};
use workspan_dag::{NONE, Place, ROOT_PLACE, Steal, TaskKind, ThreadEvent};

use super::log::{Kind, Log};

/// The effect of an event on the known tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// No effect.
    None,
    /// Spawns a task that was not stolen.
    Inlined,
    /// Spawns this task, which was stolen.
    Creates(u32),
    /// Begins this task, which was stolen.
    Begins(u32),
    /// Ends the task that was stolen last.
    Ends,
    /// Syncs with a task that ran inside of the strand.
    Syncs,
    /// Waits for this task.
    WaitsFor(u32),
    /// The task waits from here on, as the sync before says.
    Stops,
    /// Goes on after a wait.
    Resumes,
}

/// A spawned task in a deque.
struct Entry {
    /// Index of the spawn's event.
    event: usize,
    /// The task, once it was stolen.
    task: Option<u32>,
    /// Whether a task waits for it already.
    waited: bool,
}

/// A worker's deque: the youngest last.
#[derive(Default)]
struct Deque {
    entries: Vec<Entry>,
    /// The number of entries at the front that were stolen.
    stolen: usize,
    /// The time and victim of the last attempt.
    victim: Option<(u64, u32)>,
    /// Tasks that were stolen and have not ended.
    running: Vec<u32>,
    /// Waits that are not over.
    waiting: u32,
    /// Whether the last event was a sync with a stolen task.
    joins: bool,
}

/// The role of each event of the log. Adds the root, the stolen tasks, and steals and attempts to
/// the trace.
pub(super) fn match_steals(log: &Log, raw: &mut RawTrace) -> Vec<Role> {
    raw.tasks.push(RawTask {
        number: 0,
        parent: NONE,
        kind: TaskKind::Root,
        site: ROOT_PLACE,
        scope: NONE,
    });
    let mut order: Vec<usize> = (0..log.events.len()).collect();
    order.sort_by_key(|&i| log.events[i].t);
    let names = names(log, raw);
    let mut roles = vec![Role::None; log.events.len()];
    let mut deques: BTreeMap<u32, Deque> = BTreeMap::new();
    let (mut unmatched, mut outside) = (0u64, 0u64);
    for i in order {
        let event = log.events[i];
        let deque = deques.entry(event.worker).or_default();
        // The main task runs on worker 0; other workers run nothing before a steal.
        let runs = event.worker == 0 || !deque.running.is_empty();
        let joins = std::mem::take(&mut deque.joins);
        roles[i] = match event.kind {
            Kind::Attempt(victim) => {
                if let Some((t, victim)) = deque.victim.replace((event.t, victim)) {
                    let failed = ThreadEvent::StealFailed(victim);
                    raw.thread_events.push((t, event.worker, failed));
                }
                Role::None
            }
            Kind::Stolen => {
                let victim = deque.victim.take().map(|v| v.1);
                let leap = deque.waiting > 0;
                let from = victim.and_then(|v| deques.get_mut(&v));
                let taken = from.and_then(|from| {
                    let entry = from.entries.get_mut(from.stolen)?;
                    from.stolen += 1;
                    let task = raw.tasks.len() as u32;
                    entry.task = Some(task);
                    Some((task, entry.event))
                });
                let Some((task, spawn)) = taken else {
                    unmatched += 1;
                    continue;
                };
                let spawner = log.events[spawn].worker;
                roles[spawn] = Role::Creates(task);
                raw.tasks.push(RawTask {
                    number: spawn as u64 + 1,
                    // Set when the spawner is added.
                    parent: 0,
                    kind: TaskKind::Deferred,
                    site: names.get(&spawn).copied().unwrap_or(1),
                    scope: NONE,
                });
                raw.steals.push(Steal {
                    t: event.t,
                    thief: event.worker,
                    victim: spawner,
                    task,
                    leap,
                });
                deques.entry(event.worker).or_default().running.push(task);
                Role::Begins(task)
            }
            _ if !runs => {
                outside += 1;
                Role::None
            }
            Kind::Done => match deque.running.pop() {
                Some(_) => Role::Ends,
                None => {
                    outside += 1;
                    Role::None
                }
            },
            Kind::Spawn => {
                deque.entries.push(Entry {
                    event: i,
                    task: None,
                    waited: false,
                });
                Role::Inlined
            }
            Kind::Sync => match deque.entries.pop() {
                Some(entry) => {
                    deque.stolen = deque.stolen.min(deque.entries.len());
                    match entry.task {
                        Some(_) if entry.waited => Role::None,
                        Some(task) => {
                            deque.joins = true;
                            Role::WaitsFor(task)
                        }
                        None => Role::Syncs,
                    }
                }
                None => {
                    outside += 1;
                    Role::None
                }
            },
            Kind::Wait => {
                deque.waiting += 1;
                // If it is logged before its sync, it is the wait itself.
                let youngest = deque.entries.last_mut().filter(|entry| !entry.waited);
                match youngest {
                    _ if joins => Role::Stops,
                    Some(Entry {
                        task: Some(task),
                        waited,
                        ..
                    }) => {
                        *waited = true;
                        Role::WaitsFor(*task)
                    }
                    _ => Role::None,
                }
            }
            Kind::Joined => {
                deque.waiting = deque.waiting.saturating_sub(1);
                Role::Resumes
            }
        };
    }
    for (&worker, deque) in &deques {
        if let Some((t, victim)) = deque.victim {
            let failed = ThreadEvent::StealFailed(victim);
            raw.thread_events.push((t, worker, failed));
        }
    }
    if unmatched > 0 {
        raw.meta.warnings.push(format!(
            "Steals of which the log has no spawn that was there to be stolen, left out: {unmatched}. Are the workers' clocks in step?"
        ));
    }
    if outside > 0 {
        raw.meta.warnings.push(format!(
            "Events of workers that had no task, or no spawn left, left out: {outside}."
        ));
    }
    roles
}

/// The places of spawns, by event. The names of a worker's spawns are in the order of its spawn
/// events; place 1 is for spawns without a name.
fn names(log: &Log, raw: &mut RawTrace) -> BTreeMap<usize, u32> {
    raw.places.push(Place {
        label: "?".into(),
        ..Place::default()
    });
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    let mut places_of_worker: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for spawn in &log.spawns {
        let place = *places.entry(&spawn.name).or_insert_with(|| {
            raw.places.push(Place {
                label: spawn.name.clone(),
                function: Some(spawn.name.clone()),
                ..Place::default()
            });
            raw.places.len() as u32 - 1
        });
        places_of_worker
            .entry(spawn.worker)
            .or_default()
            .push(place);
    }
    let mut next: BTreeMap<u32, usize> = BTreeMap::new();
    let mut by_event = BTreeMap::new();
    for (i, event) in log.events.iter().enumerate() {
        if event.kind != Kind::Spawn {
            continue;
        }
        let next = next.entry(event.worker).or_default();
        if let Some(&place) = places_of_worker
            .get(&event.worker)
            .and_then(|places| places.get(*next))
        {
            by_event.insert(i, place);
        }
        *next += 1;
    }
    by_event
}
