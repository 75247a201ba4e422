//! Writes a run as Chrome's trace events (JSON), which chrome://tracing, Perfetto, speedscope and
//! others read.
//!
//! The tracks are the same as for Perfetto; times are microseconds with three decimals.

use std::io::{self, Write};

use serde_json::{Value, json};
use workspan_analysis::{Error, Options};
use workspan_dag::{Dag, StrandId};

use crate::tracks::Tracks;

/// Prepares a run for writing.
///
/// # Errors
/// The run can't be measured with these options.
pub fn chrome<'a>(dag: &'a Dag, options: &Options) -> Result<Chrome<'a>, Error> {
    Tracks::new(dag, options).map(|tracks| Chrome { tracks })
}

/// A run, ready to be written.
pub struct Chrome<'a> {
    tracks: Tracks<'a>,
}

impl Chrome<'_> {
    /// Writes the run, one event per line.
    ///
    /// # Errors
    /// Writing to `out` failed.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut first = true;
        self.each(&mut |event| {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            write!(out, "{comma}\n{event}")
        })?;
        writeln!(out, "\n]}}")
    }

    fn each(&self, put: &mut impl FnMut(Value) -> io::Result<()>) -> io::Result<()> {
        let tracks = &self.tracks;
        let dag = tracks.dag;
        let meta = |name: &str, tid: u64, args: Value| json!({ "ph": "M", "pid": 1, "tid": tid, "name": name, "args": args });
        put(meta(
            "process_name",
            0,
            json!({ "name": tracks.process_name() }),
        ))?;
        for &thread in &tracks.threads {
            let tid = u64::from(thread) + 1;
            let name = tracks.thread_name(thread);
            put(meta("thread_name", tid, json!({ "name": name })))?;
            put(meta("thread_sort_index", tid, json!({ "sort_index": tid })))?;
        }
        let shown = |thread: u32| tracks.threads.binary_search(&thread).is_ok();
        let shown: Vec<bool> = (0..dag.meta.threads).map(shown).collect();
        for s in 0..dag.strands.len() as StrandId {
            if shown[dag.strands.thread[s as usize] as usize] {
                self.strand(s, put)?;
            }
        }
        let mut id = 0;
        for region in tracks.regions.iter().flatten() {
            id += 1;
            let name = tracks.region_name(region);
            for (ph, t) in [("b", region.begin.1), ("e", region.end.1)] {
                put(json!({
                    "ph": ph, "cat": "region", "id": id, "pid": 1, "tid": 0, "name": name, "ts": us(tracks.ns(t)),
                }))?;
            }
        }
        for &(t, running, ready) in &tracks.parallelism {
            put(json!({
                "ph": "C", "pid": 1, "tid": 0, "name": "parallelism", "ts": us(tracks.ns(t)),
                "args": { "running": running, "ready": ready },
            }))?;
        }
        Ok(())
    }

    fn strand(&self, s: StrandId, put: &mut impl FnMut(Value) -> io::Result<()>) -> io::Result<()> {
        let (tracks, i) = (&self.tracks, s as usize);
        let (strands, tasks) = (&tracks.dag.strands, &tracks.dag.tasks);
        let tid = u64::from(strands.thread[i]) + 1;
        let (start, end) = (tracks.ns(strands.start[i]), tracks.ns(strands.end[i]));
        let task = strands.task[i] as usize;
        let place = tracks.dag.places.get(tracks.site(s) as usize);
        put(json!({
            "ph": "X", "pid": 1, "tid": tid, "name": tracks.name(s),
            "cat": place.map_or("?", |p| p.label.as_str()), "ts": us(start), "dur": us(end - start),
            "args": { "task": tasks.number(task as u32), "strand": s, "level": tasks.level[task] },
        }))?;
        let steal = |ph: &str, id: StrandId, ts: u64| {
            let mut event = json!({
                "ph": ph, "cat": "steal", "name": "steal", "id": id, "pid": 1, "tid": tid, "ts": us(ts),
            });
            if ph == "f" {
                event["bp"] = "e".into();
            }
            event
        };
        for &to in tracks.stolen_from.get(&s).into_iter().flatten() {
            put(steal("s", to, start))?;
        }
        if tracks.stolen.binary_search(&s).is_ok() {
            put(steal("f", s, start))?;
        }
        Ok(())
    }
}

/// Nanoseconds in microseconds.
fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}
