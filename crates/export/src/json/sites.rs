//! Spawn sites with their code blocks, and the positions of blocks.

use serde::Serialize;
use workspan_analysis::{CodeBlock, SiteRow};
use workspan_dag::{Dag, NONE, PlaceId, Reporter};

use super::Ratio;
use crate::position::{label, place};

/// A spawn site.
#[derive(Serialize)]
pub(super) struct SiteJson<'a> {
    id: PlaceId,
    site: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    function: Option<&'a str>,
    count: u64,
    work: u128,
    span: u128,
    parallelism: Option<Ratio>,
    critical_work: u128,
    critical_percent: Ratio,
    source: Option<&'a str>,
    told_by: Option<&'static str>,
    blocks: Vec<BlockJson<'a>>,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    from: PositionJson<'a>,
    to: PositionJson<'a>,
    count: u64,
    work: u128,
    critical_work: u128,
}

/// A position of a strand: the kind of start or end, and the place if known.
#[derive(Serialize)]
pub(super) struct PositionJson<'a> {
    kind: &'static str,
    at: Option<&'a str>,
    primitive: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    function: Option<&'a str>,
}

pub(super) fn site<'a>(dag: &'a Dag, row: &SiteRow, blocks: usize) -> SiteJson<'a> {
    let at = place(dag, row.site);
    SiteJson {
        id: row.site,
        site: label(dag, row.site),
        file: at.and_then(|p| p.file.as_deref()),
        line: at.and_then(|p| p.line),
        function: at.and_then(|p| p.function.as_deref()),
        count: row.count,
        work: row.work,
        span: row.span,
        parallelism: (row.span > 0).then(|| Ratio(row.parallelism())),
        critical_work: row.critical_work,
        critical_percent: Ratio(row.critical_percent),
        source: at.and_then(|p| p.source.as_deref()),
        told_by: at.and_then(|p| p.reporter).map(Reporter::name),
        blocks: row
            .blocks
            .iter()
            .take(blocks)
            .map(|b| BlockJson {
                from: start(dag, &b.block),
                to: end(dag, &b.block),
                count: b.count,
                work: b.work,
                critical_work: b.critical_work,
            })
            .collect(),
    }
}

pub(super) fn start<'a>(dag: &'a Dag, block: &CodeBlock) -> PositionJson<'a> {
    position(dag, block.from, block.from_kind.name())
}

pub(super) fn end<'a>(dag: &'a Dag, block: &CodeBlock) -> PositionJson<'a> {
    position(dag, block.to, block.to_kind.name())
}

fn position<'a>(dag: &'a Dag, id: PlaceId, kind: &'static str) -> PositionJson<'a> {
    let at = place(dag, id);
    PositionJson {
        kind,
        at: (id != NONE).then(|| label(dag, id)),
        primitive: at.and_then(|p| p.primitive.as_deref()),
        file: at.and_then(|p| p.file.as_deref()),
        line: at.and_then(|p| p.line),
        function: at.and_then(|p| p.function.as_deref()),
    }
}
