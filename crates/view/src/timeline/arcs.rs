//! Steals: arcs from the row that made a strand ready to the row that ran it.

use std::collections::BTreeMap;

use serde_json::json;
use workspan_analysis::statistics::leapfrogs;
use workspan_analysis::{ready_event, stolen_strands};
use workspan_dag::{StrandId, ThreadId};

use super::Tile;
use crate::planes::Planes;
use crate::run::RunModel;

/// Maximum number of arcs drawn one by one. If there are more, the answer has counts per pair of
/// rows.
const MAX_ARCS: usize = 2000;

/// The steals of a run.
#[derive(Debug)]
pub(crate) struct Arcs {
    /// Stolen strands, ascending, and the thread that made each ready.
    stolen: Vec<(StrandId, ThreadId)>,
    /// The stolen strands that were taken while their thief waited, ascending.
    leaps: Vec<StrandId>,
}

impl Arcs {
    pub(super) fn new(model: &RunModel) -> Arcs {
        let stolen = stolen_strands(&model.dag);
        let strands: Vec<StrandId> = stolen.iter().map(|s| s.0).collect();
        Arcs {
            leaps: leapfrogs(&model.dag, &strands),
            stolen,
        }
    }

    /// Number of steals that are leapfrogs.
    pub(crate) fn leaps(&self) -> u64 {
        self.leaps.len() as u64
    }

    /// Stolen strands, ascending, and the thread that made each ready.
    pub(crate) fn stolen(&self) -> &[(StrandId, ThreadId)] {
        &self.stolen
    }

    /// The thread that strand `s` was stolen from.
    pub(crate) fn victim(&self, s: StrandId) -> Option<ThreadId> {
        let at = self
            .stolen
            .binary_search_by_key(&s, |stolen| stolen.0)
            .ok()?;
        Some(self.stolen[at].1)
    }

    /// Whether strand `s` was taken while a task of its thief was in a wait.
    pub(crate) fn is_leap(&self, s: StrandId) -> bool {
        self.leaps.binary_search(&s).is_ok()
    }

    pub(super) fn tile(&self, model: &RunModel, tile: Tile) -> Planes {
        let dag = &*model.dag;
        let begin = tile.begin(model);
        let end = begin.checked_add(tile.ticks());
        let before = |t: u64| {
            let starts = &dag.strands.start;
            self.stolen.partition_point(|s| starts[s.0 as usize] < t)
        };
        let last = end.map_or(self.stolen.len(), before);
        let stolen = &self.stolen[before(begin)..last];
        let row = |thread: ThreadId| model.rows.of(thread);
        let thief = |s: StrandId| row(dag.strands.thread[s as usize]);
        let mut pairs: BTreeMap<(u16, u16), u64> = BTreeMap::new();
        for &(s, victim) in stolen {
            *pairs.entry((thief(s), row(victim))).or_default() += 1;
        }
        let pairs: Vec<_> = pairs
            .iter()
            .map(|((thief, victim), n)| json!([thief, victim, n]))
            .collect();
        let mut planes = Planes::new();
        let truncated = stolen.len() > MAX_ARCS;
        planes.fact("total", stolen.len());
        planes.fact("truncated", truncated);
        planes.fact("pairs", pairs);
        let shown = if truncated { &[][..] } else { stolen };
        let since = |t: u64| t.saturating_sub(model.begin) as f64;
        let start = |s: StrandId| dag.strands.start[s as usize];
        let ready = |s: StrandId| ready_event(dag, s).map_or(start(s), |r| r.at);
        planes.plane("from_row", shown.iter().map(|&(_, victim)| row(victim)));
        planes.plane("from_t", shown.iter().map(|&(s, _)| since(ready(s))));
        planes.plane("to_row", shown.iter().map(|&(s, _)| thief(s)));
        planes.plane("to_t", shown.iter().map(|&(s, _)| since(start(s))));
        planes.plane("strand", shown.iter().map(|&(s, _)| s));
        let leap = |s: StrandId| u8::from(self.is_leap(s));
        planes.plane("leap", shown.iter().map(|&(s, _)| leap(s)));
        planes
    }
}
