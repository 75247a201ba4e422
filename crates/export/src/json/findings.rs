//! The causes of lost worker time, as JSON: `verdict`, `findings`, `causes`, `alone`.

use serde::Serialize;
use workspan_analysis::causes::{Cause, Evidence, Finding, Headline, headline};
use workspan_analysis::{BlockingPlace, CodeBlock, Holder, Report, blocked_in, hot_function_of};
use workspan_dag::{Dag, NONE, StartKind, StrandId};

use super::Ratio;
use super::code::CodePlaceJson;
use super::sites::{PositionJson, end, start};
use crate::position::{label, place};

#[derive(Serialize)]
pub(super) struct VerdictJson {
    state: &'static str,
    enough_for: Option<u32>,
}

pub(super) fn verdict(report: &Report) -> VerdictJson {
    let (state, enough_for) = match headline(report) {
        Headline::NoTime => ("no_time", None),
        Headline::OneTask => ("one_task", None),
        Headline::Nothing { enough_for } => ("nothing", Some(enough_for)),
        Headline::Lost => ("lost", None),
    };
    VerdictJson { state, enough_for }
}

#[derive(Serialize)]
pub(super) struct FindingJson<'a> {
    id: &'static str,
    place: PlaceJson<'a>,
    lost: u128,
    lost_percent: Ratio,
    /// Its place in the report, from 1.
    rank: usize,
    /// Its estimated percentage of the worker time on a quiet machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    undisturbed_percent: Option<Ratio>,
    evidence: EvidenceJson<'a>,
    /// The function and line with most of the samples there.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<super::code::InsideJson>,
    /// Where most of the blocked time was.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_in: Option<BlockedInJson<'a>>,
}

#[derive(Serialize)]
struct BlockedInJson<'a> {
    function: String,
    file: Option<String>,
    line: Option<u32>,
    waits_in: Option<String>,
    ticks: u64,
    of: u64,
    stops: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<HolderJson>,
    /// The join in which the holder of the lock waited meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    join: Option<&'a str>,
    /// The rank that others waited for most.
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<LateJson>,
}

/// A process that others waited for, with the ticks of the waits for it and for all.
#[derive(Serialize)]
struct LateJson {
    process: usize,
    rank: Option<u32>,
    ticks: u64,
    of: u64,
}

/// The threads that ended the waits.
#[derive(Serialize)]
struct HolderJson {
    released_at: Option<CodePlaceJson>,
    ticks: u64,
    of: u64,
    threads: u32,
    ran: Option<HolderCodeJson>,
}

#[derive(Serialize)]
struct HolderCodeJson {
    at: CodePlaceJson,
    called_at: Option<CodePlaceJson>,
    samples: u64,
    of: u64,
}

/// The code that limits the program if other programs used the CPUs.
#[derive(Serialize)]
pub(super) struct QuietJson<'a> {
    place: PlaceJson<'a>,
    strands: u64,
    critical_work: u128,
    critical_percent: Ratio,
}

pub(super) fn quiet<'a>(dag: &'a Dag, report: &Report) -> Option<QuietJson<'a>> {
    let quiet = report.on_a_quiet_machine()?;
    Some(QuietJson {
        place: block_json(dag, &quiet.block, quiet.strand, true),
        strands: quiet.strands,
        critical_work: quiet.critical,
        critical_percent: Ratio(quiet.percent()),
    })
}

/// CPU time that no other number includes.
#[derive(Serialize)]
pub(super) struct OutsideJson {
    cpu_ticks: u128,
    outside_ticks: u128,
    outside_percent: Ratio,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<super::code::InsideJson>,
}

pub(super) fn outside(report: &Report) -> Option<OutsideJson> {
    let outside = report.other_threads.as_ref()?;
    Some(OutsideJson {
        cpu_ticks: outside.cpu,
        outside_ticks: outside.others,
        outside_percent: Ratio(outside.percent()),
        inside: outside.hottest.clone().map(super::code::inside),
    })
}

fn blocked(dag: &Dag, at: BlockingPlace) -> BlockedInJson<'_> {
    BlockedInJson {
        function: at.function,
        file: at.file,
        line: at.line,
        waits_in: at.waits_in,
        ticks: at.ticks,
        of: at.of,
        stops: at.stops,
        holder: at.holder.map(holder),
        join: at.join.map(|place| label(dag, place)),
        late: at.late.map(|late| LateJson {
            process: late.process,
            rank: dag
                .meta
                .processes
                .list
                .get(late.process)
                .and_then(|of| of.rank),
            ticks: late.ticks,
            of: late.of,
        }),
    }
}

fn holder(at: Holder) -> HolderJson {
    let place = CodePlaceJson::from;
    HolderJson {
        released_at: at.released_at.map(place),
        ticks: at.ticks,
        of: at.of,
        threads: at.threads,
        ran: at.ran.map(|ran| HolderCodeJson {
            at: place(ran.at),
            called_at: ran.called_at.map(place),
            samples: ran.samples,
            of: ran.of,
        }),
    }
}

/// `site` is the site of the strands or tasks, `file` and `line` are where to look first, `task` to
/// `end` identify the strand that shows it best.
#[derive(Serialize)]
struct PlaceJson<'a> {
    site: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    function: Option<&'a str>,
    from: Option<PositionJson<'a>>,
    to: Option<PositionJson<'a>>,
    strand: Option<StrandJson>,
}

#[derive(Serialize)]
struct StrandJson {
    task: u64,
    worker: u32,
    start: u64,
    end: u64,
}

#[derive(Serialize)]
struct EvidenceJson<'a> {
    strands: u64,
    ticks: u64,
    longest: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    alone: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_ticks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_ticks_error: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steal_ticks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probe_ticks: Option<u64>,
    /// Site of the task that ran on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<&'a str>,
}

pub(super) fn findings<'a>(dag: &'a Dag, report: &Report) -> Vec<FindingJson<'a>> {
    let causes = &report.causes;
    let shown = causes.findings_program_first();
    let rank = |index| 1 + shown.iter().take_while(|(i, _)| *i != index).count();
    let json = |(index, finding): (usize, &Finding)| FindingJson {
        id: finding.cause.id(),
        place: place_json(dag, finding),
        lost: finding.lost,
        lost_percent: Ratio(causes.percent(finding.lost)),
        rank: rank(index),
        undisturbed_percent: causes.undisturbed_percent(finding).map(Ratio),
        evidence: evidence(dag, report, &finding.evidence),
        inside: hot_function_of(dag, finding).map(super::code::inside),
        blocked_in: blocked_in(dag, finding).map(|at| blocked(dag, at)),
    };
    causes
        .findings()
        .into_iter()
        .enumerate()
        .map(json)
        .collect()
}

fn place_json<'a>(dag: &'a Dag, finding: &Finding) -> PlaceJson<'a> {
    // Other places are whole sites, or the code after a position.
    let is_block = matches!(
        finding.cause,
        Cause::SerialStrand
            | Cause::Lock
            | Cause::LockAcrossJoin
            | Cause::Channel
            | Cause::Io
            | Cause::Sleep
            | Cause::LateRank
            | Cause::Blocked
            | Cause::OtherThreads
    );
    block_json(dag, &finding.block, finding.strand, is_block)
}

fn block_json<'a>(dag: &'a Dag, at: &CodeBlock, strand: StrandId, is_block: bool) -> PlaceJson<'a> {
    let telling = place(dag, at.telling_place());
    let i = strand as usize;
    PlaceJson {
        site: (at.site != NONE).then(|| label(dag, at.site)),
        file: telling.and_then(|p| p.file.as_deref()),
        line: telling.and_then(|p| p.line),
        function: telling.and_then(|p| p.function.as_deref()),
        from: (is_block || at.from_kind != StartKind::Begin).then(|| start(dag, at)),
        to: is_block.then(|| end(dag, at)),
        strand: dag.strands.task.get(i).map(|&task| StrandJson {
            task: dag.tasks.number(task),
            worker: dag.strands.thread[i],
            start: dag.strands.start[i],
            end: dag.strands.end[i],
        }),
    }
}

fn evidence<'a>(dag: &'a Dag, report: &Report, e: &Evidence) -> EvidenceJson<'a> {
    let site = |s: u32| {
        let task = dag.strands.task[s as usize];
        label(dag, dag.tasks.site[task as usize])
    };
    EvidenceJson {
        strands: e.strands,
        ticks: e.ticks,
        longest: e.longest,
        alone: e.alone,
        tasks: e.tasks,
        task_ticks: e.task_ticks,
        task_ticks_error: report.task_ticks_error(e),
        steal_ticks: e.steal_ticks,
        probe_ticks: e.probe_ticks,
        above: e.above.map(site),
    }
}

#[derive(Serialize)]
pub(super) struct CauseJson {
    id: &'static str,
    lost: u128,
    lost_percent: Ratio,
}

/// All causes with a loss, in descending order.
pub(super) fn causes(report: &Report) -> Vec<CauseJson> {
    let all = &report.causes;
    let mut lost: Vec<(Cause, u128)> = Cause::ALL.into_iter().zip(all.by_cause).collect();
    lost.retain(|c| c.1 > 0);
    lost.sort_by_key(|c| (std::cmp::Reverse(c.1), c.0));
    let json = |(cause, lost): (Cause, u128)| CauseJson {
        id: cause.id(),
        lost,
        lost_percent: Ratio(all.percent(lost)),
    };
    lost.into_iter().map(json).collect()
}

#[derive(Serialize)]
pub(super) struct AloneJson<'a> {
    site: &'a str,
    from: PositionJson<'a>,
    to: PositionJson<'a>,
    strands: u64,
    ticks: u64,
    lost: u128,
    lost_percent: Ratio,
}

pub(super) fn alone<'a>(dag: &'a Dag, report: &Report) -> Vec<AloneJson<'a>> {
    let json = |row: &workspan_analysis::SoloBlock| AloneJson {
        site: label(dag, row.block.site),
        from: start(dag, &row.block),
        to: end(dag, &row.block),
        strands: row.count,
        ticks: row.ticks,
        lost: row.lost,
        lost_percent: Ratio(row.lost_percent),
    };
    report.solo_blocks.iter().map(json).collect()
}
