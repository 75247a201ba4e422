//! `inside`: exact boxes inside the folded strands of a tile.

use std::cmp::Reverse;

use workspan_dag::{NONE, StrandId};
use workspan_reader::recorded::expand::ExpandedStrand;

use super::codes::CodeOf;
use super::records;
use crate::api_error::ApiError;
use crate::planes::Planes;
use crate::run::{Run, RunModel};
use crate::session::Session;
use crate::timeline::{FOLDED, SUMS_ALONE, Tile, narrow};

/// Minimum width of a folded strand that is expanded, in bins. In narrower ones, the strands inside
/// would be too narrow to see.
const MIN_EXPANDED_BINS: u64 = 48;

/// Maximum number of boxes in an answer.
const MAX_BOXES: usize = 8192;

/// Maximum number of strands read for a tile. If there are more, none are read; closer up there are
/// fewer.
const MAX_STRANDS_READ: u64 = 300_000;

/// A strand inside a folded one.
struct InnerStrand {
    of: StrandId,
    site: u32,
    level: u32,
    strand: ExpandedStrand,
}

/// The strands inside the folded strands of a tile that are at least as long as a bin.
///
/// # Errors
/// The run is loading.
pub(crate) fn strands(session: &Session, run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    let dag = &*model.dag;
    let (begin, after) = (
        tile.begin(model),
        tile.begin(model).saturating_add(tile.ticks()),
    );
    let wide = MIN_EXPANDED_BINS.saturating_mul(tile.bin());
    let mut folded: Vec<StrandId> = Vec::new();
    for &thread in &model.rows.threads {
        let all = index.source.strands_of(thread);
        let first = all.partition_point(|&s| dag.strands.end[s as usize] <= begin);
        let last = all.partition_point(|&s| dag.strands.start[s as usize] < after);
        let looked_into = all[first..last.max(first)].iter().copied().filter(|&s| {
            let long = dag.strands.end[s as usize] - dag.strands.start[s as usize];
            long >= wide && dag.folded.has(s)
        });
        folded.extend(looked_into);
    }
    let inside = |&s: &StrandId| dag.fold_of(s).map_or(0, |fold| fold.strands);
    let all: u64 = folded.iter().map(inside).fold(0, u64::saturating_add);
    let mut found: Vec<InnerStrand> = Vec::new();
    let mut cut = all > MAX_STRANDS_READ;
    if let Some(records) = records(session, run)?.filter(|_| !cut) {
        for &s in &folded {
            let read = records.expand(dag, s, (begin, after), MAX_STRANDS_READ as usize);
            cut |= read.cut;
            let own = dag.strands.task[s as usize] as usize;
            for strand in read.strands {
                // The first task is the folded strand's own; its site is in the run's DAG.
                let task = read.tasks.get(strand.task as usize);
                let (Some(task), true) = (task, strand.end - strand.start >= tile.bin()) else {
                    continue;
                };
                let site = if strand.task == 0 {
                    dag.tasks.site[own]
                } else {
                    task.site
                };
                found.push(InnerStrand {
                    of: s,
                    site,
                    level: dag.tasks.level[own].saturating_add(task.level),
                    strand,
                });
            }
        }
    }
    if found.len() > MAX_BOXES {
        cut = true;
        let length = |f: &InnerStrand| Reverse(f.strand.end - f.strand.start);
        found.select_nth_unstable_by_key(MAX_BOXES, length);
        found.truncate(MAX_BOXES);
        found.sort_unstable_by_key(|f| (f.strand.start, f.of));
    }
    Ok(planes(model, &found, cut))
}

/// The columns of `strands`; each strand has the number of the folded one that contains it.
fn planes(model: &RunModel, found: &[InnerStrand], cut: bool) -> Planes {
    let dag = &*model.dag;
    let codes = CodeOf::new(model);
    let since = |t: u64| t.saturating_sub(model.begin) as f64;
    let mut planes = Planes::new();
    planes.fact("total", found.len());
    planes.fact("truncated", cut);
    planes.plane("id", found.iter().map(|f| f.of));
    let row = |f: &InnerStrand| model.rows.of(dag.strands.thread[f.of as usize]);
    planes.plane("row", found.iter().map(row));
    planes.plane("start", found.iter().map(|f| since(f.strand.start)));
    planes.plane("end", found.iter().map(|f| since(f.strand.end)));
    let task = |f: &InnerStrand| dag.strands.task[f.of as usize];
    planes.plane("task", found.iter().map(task));
    let code = |f: &InnerStrand| codes.of(f.site, f.strand.from, f.strand.to, model.codes.of(f.of));
    planes.plane("code", found.iter().map(code));
    planes.plane("site", found.iter().map(|f| model.sites.of(f.site)));
    planes.plane("level", found.iter().map(|f| narrow(f.level)));
    planes.plane("end_kind", found.iter().map(|f| f.strand.end_kind as u8));
    let flags = |f: &InnerStrand| {
        if f.strand.fold == NONE {
            0
        } else {
            FOLDED | SUMS_ALONE
        }
    };
    planes.plane("flags", found.iter().map(flags));
    planes
}
