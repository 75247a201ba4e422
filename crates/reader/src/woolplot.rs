//! Reads WoolPlot's log, the text that Wool's instrumented runtime prints.
//!
//! A log has no tasks, only the events of each worker: spawns, syncs, steals. The events of all
//! workers in time order show which spawn each steal took (`deques`): a worker pushes a task at its
//! end of its deque and pops the youngest one, and thieves take the oldest one. The stolen tasks
//! are therefore known, from the steal to their end, and become tasks. The begin and end of a task
//! that was not stolen are not logged. Such a task ran inside of its spawner's strand, which is
//! folded and counts it (MODEL.md §7).
//!
//! Without events, only the main task is known to have run; steals and spawns are marks and counts.

mod deques;
mod log;
mod strands;

use workspan_dag::build::{Mode, build};
use workspan_dag::meta::{Meta, TimeUnit};
use workspan_dag::raw::RawTrace;
use workspan_dag::{Dag, Error, Place, Steal, ThreadEvent};

use self::log::Log;
use crate::formats::{Format, Reading};
use crate::open::OpenOptions;

/// The format's entry in the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "WoolPlot's log",
    begins: log::begins,
    reading: Reading::Trace(read),
    cannot_tell: &[
        "where tasks that nobody stole begin and end: they count as part of their spawner, so that the parallelism is a lower bound",
        "what ran on a CPU, but for the load of each CPU where it was logged",
        "source lines, regions and samples of the code",
    ],
};

/// The largest number of rows of Wool's own table that become facts.
const MAX_TABLE_ROWS: usize = 64;

/// Reads a log.
///
/// # Errors
/// [`Error::Text`] with the line of an invalid number, worker or kind of event. With
/// [`OpenOptions::allow_truncated`], the lines before it are read.
pub fn read(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let mut log = Log::parse(bytes, options.allow_truncated)?;
    log.align();
    let mut raw = RawTrace {
        meta: Meta {
            workers: log.workers,
            threads: log.workers,
            time_unit: TimeUnit::Ns,
            ticks_per_second: 1_000_000_000,
            runtime: Some("Wool".into()),
            ..Meta::default()
        },
        places: vec![Place {
            label: "root".into(),
            ..Place::default()
        }],
        ..RawTrace::default()
    };
    raw.meta.warnings.extend(log.damage.take());
    facts(&log, &mut raw);
    for &(t, worker, load) in &log.loads {
        raw.thread_events.push((t, worker, ThreadEvent::Cpu(load)));
    }
    if log.events.is_empty() {
        raw.meta.warnings.push(
            "The log has no EVENT lines, so it is not known who worked when. Work and span are only the main task's time; \
            steals and spawns are counts."
                .into(),
        );
        let marks = [(&log.steals, false), (&log.leaps, true)];
        for (list, leap) in marks {
            raw.steals.extend(list.iter().map(|s| Steal {
                t: s.t,
                thief: s.thief,
                victim: s.victim,
                task: workspan_dag::NONE,
                leap,
            }));
        }
    }
    let roles = deques::match_steals(&log, &mut raw);
    strands::strands(&log, &roles, &mut raw);
    build(raw, Mode::Repair)
}

/// Adds Wool's own table of events as facts.
fn facts(log: &Log, raw: &mut RawTrace) {
    for row in log.table.iter().take(MAX_TABLE_ROWS) {
        let cells = log::COLUMNS.iter().zip(&row.counts);
        let cells: Vec<String> = cells.map(|(name, n)| format!("{name} {n}")).collect();
        let who = match row.worker {
            Some(worker) => format!("Wool's worker {worker}"),
            None => "Wool's sums".into(),
        };
        raw.meta.facts.push((who, cells.join(", ")));
    }
}
