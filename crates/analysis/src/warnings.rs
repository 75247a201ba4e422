//! Doubts about numbers, and which numbers they concern.

use workspan_dag::Dag;

use crate::breakdown::Breakdown;
use crate::checks::{Check, between_strands, contradictions};
use crate::idle::IdleTime;
use crate::options::{Metric, Options};
use crate::weight::AmbiguousFolds;
use crate::work_span::WorkSpan;

/// The numbers that a warning concerns, which decides where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningTopic {
    /// All numbers: something is missing, or was repaired.
    Everything,
    /// Every time is 0; a report says that first.
    NoTime,
    /// The division of the worker time: delay, no work, time off the CPU.
    Breakdown,
    /// Work, span and everything computed from them.
    Span,
    /// The names of the program's positions.
    Sites,
}

/// A doubt about numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The numbers concerned.
    pub about: WarningTopic,
    /// The warning, as full sentences.
    pub text: String,
}

/// Minimum share of all worker-ticks, in percent, that is worth a sentence.
const NOTABLE_PERCENT: f64 = 5.0;
/// Minimum share of oversubscribed time, in percent. It is lower, because any oversubscription
/// makes other measures wrong.
const OVERSUBSCRIBED_PERCENT: f64 = 1.0;
/// Minimum length of an average strand, in probes, at which probes do not distort it.
const PROBES_PER_STRAND: u128 = 10;

/// Contradictions first, then the trace's own warnings, then those that follow from the numbers.
/// `probes` is the time taken out of the work for probes; `bounded` is the number of instances
/// whose site span is only an upper bound.
pub(crate) fn warnings(
    dag: &Dag,
    options: &Options,
    work_span: &WorkSpan,
    (breakdown, probes): (&Breakdown, u128),
    bounded: u64,
    checks: &[Check],
    idle: Option<&IdleTime>,
) -> Vec<Warning> {
    let contradictions = contradictions(dag, checks).into_iter().map(|text| Warning {
        about: WarningTopic::Everything,
        text,
    });
    let recorded = dag.meta.warnings.iter().map(|text| Warning {
        about: topic_of_recorded(text),
        text: text.clone(),
    });
    let mut warnings: Vec<Warning> = contradictions.chain(recorded).collect();
    let mut warn = |about: WarningTopic, text: Option<String>| {
        warnings.extend(text.map(|text| Warning { about, text }));
    };
    warn(WarningTopic::Span, estimated(work_span));
    warn(WarningTopic::NoTime, no_time(breakdown));
    warn(WarningTopic::Breakdown, too_few_cpus(dag, breakdown));
    warn(WarningTopic::Breakdown, oversubscribed(breakdown));
    warn(WarningTopic::Breakdown, descheduled(breakdown));
    warn(WarningTopic::Breakdown, unseen_off(dag, breakdown));
    warn(WarningTopic::Span, between_strands(dag, idle));
    if options.metric == Metric::Time {
        warn(
            WarningTopic::Span,
            short_strands(dag, options, work_span, (breakdown, probes)),
        );
        warn(WarningTopic::Breakdown, blocked(work_span, options));
        warn(WarningTopic::Span, no_burden(dag, options, work_span));
    }
    if bounded > 0 {
        let too_many = Some(format!(
            "The span of {bounded} task instances is an upper bound: waits or dependences enter them from outside, and too \
            many are nested in one another to compute each."
        ));
        warn(WarningTopic::Sites, too_many);
    }
    warnings
}

/// The warning that folded strands were off the CPU. It names the one with most of that time.
pub(crate) fn of_folds(dag: &Dag, folds: &AmbiguousFolds, work_span: &WorkSpan) -> Warning {
    let s = folds.strand as usize;
    let inside = dag.folded.record(folds.strand);
    let most = inside.and_then(|fold| fold.sites.into_iter().max_by_key(|site| site.count));
    let task = dag.strands.task[s];
    let place = most.map_or(dag.tasks.site[task as usize], |site| site.site);
    let place = dag.places.get(place as usize);
    let name = place.map_or_else(|| "?".to_owned(), |place| place.label.clone());
    let share = percent(folds.ticks, work_span.work);
    Warning {
        about: WarningTopic::Span,
        text: format!(
            "Threads lost the CPU inside folded subtrees, most of it in tasks created at {name}. Whether tasks or the \
            folding were interrupted is not known, so work and span can be off by {share:.0} %. Record with --fold off, or \
            on a quiet machine."
        ),
    }
}

/// The subject of a warning that a trace contains. The file has only the sentence, so its words
/// decide; a sentence that is not recognised is about everything.
fn topic_of_recorded(text: &str) -> WarningTopic {
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if text.starts_with("off-cpu times") {
        WarningTopic::Breakdown
    } else if has(&[
        "truncated",
        "damage",
        "dropped",
        "lost",
        "repaired",
        "not complete",
        "incomplete",
    ]) {
        WarningTopic::Everything
    } else if has(&["line table", "debug info", "symbol", "stripped"]) {
        WarningTopic::Sites
    } else if has(&[
        "descheduled",
        "preempted",
        "off the cpu",
        "off-cpu",
        "blocked",
        "oversubscribed",
        "ran at once",
        "shared",
    ]) {
        WarningTopic::Breakdown
    } else if has(&["span", "parallelism", "burden", "steal"]) {
        WarningTopic::Span
    } else {
        WarningTopic::Everything
    }
}

/// `part` in percent of `whole`; 0 if `whole` is 0.
pub fn percent(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

fn no_time(breakdown: &Breakdown) -> Option<String> {
    let none = breakdown.elapsed() == 0;
    none.then(|| "No time passed in the run: every measure of time is 0.".to_owned())
}

fn estimated(work_span: &WorkSpan) -> Option<String> {
    let estimated = work_span.estimated?;
    let share = percent(estimated.work, work_span.work);
    let (fewest, most) = estimated.tasks;
    let times = |span: u128| span as f64 / work_span.span.max(1) as f64;
    let (low, high) = estimated.span;
    let skipped = format!(
        "{share:.0} % of the work was skipped, to stay within the overhead budget (--max-overhead)"
    );
    let (low, high) = (times(low), times(high));
    let span = format!("The span is between {low:.2} and {high:.2} times what is shown.");
    Some(if fewest == most {
        format!("{skipped}: its time is measured and its tasks are counted. {span}")
    } else {
        format!(
            "{skipped}: its time is measured. The number of tasks is estimated from subtrees that were \
             sampled: {} ± {:.0} %. {span}",
            work_span.tasks,
            50.0 * (most - fewest) as f64 / work_span.tasks.max(1) as f64,
        )
    })
}

fn too_few_cpus(dag: &Dag, breakdown: &Breakdown) -> Option<String> {
    let cpus = dag.meta.cpus.filter(|&c| c < dag.meta.workers)?;
    let workers = dag.meta.workers;
    let s = if cpus == 1 { "" } else { "s" };
    let beyond = percent(breakdown.beyond_cpus.into(), breakdown.elapsed().into());
    if beyond < OVERSUBSCRIBED_PERCENT {
        return Some(format!(
            "There were {workers} workers for {cpus} CPU{s}, but hardly ever did more of them run than there are CPUs, as \
            when several pools take turns. The others count as idle, so delay and no-work are too high."
        ));
    }
    Some(format!(
        "{workers} workers shared {cpus} CPU{s}: delay and no-work include waiting for a CPU; run with at most {cpus} \
         worker{s} to trust them."
    ))
}

fn oversubscribed(breakdown: &Breakdown) -> Option<String> {
    let share = percent(breakdown.oversubscribed, breakdown.total());
    (share > OVERSUBSCRIBED_PERCENT).then(|| {
        format!(
            "More strands than the {} workers ran at once for {share:.0} % of the worker time: threads outside the pool \
            also ran code of the program.",
            breakdown.workers
        )
    })
}

fn descheduled(breakdown: &Breakdown) -> Option<String> {
    let share = percent(breakdown.descheduled, breakdown.total());
    (share > NOTABLE_PERCENT).then(|| {
        format!(
            "Workers were preempted inside strands for {share:.0} % of the worker time: other threads, of this program or of \
            others, used the CPUs. This affects elapsed time, delay and no-work."
        )
    })
}

/// A sentence about the time in which threads did not run by their CPU clocks although no context
/// switch shows it.
fn unseen_off(dag: &Dag, breakdown: &Breakdown) -> Option<String> {
    let ns = dag.meta.run.unseen_off_ns?;
    let rate = u128::from(dag.meta.ticks_per_second);
    let ticks = u128::from(ns) * rate / 1_000_000_000;
    (percent(ticks, breakdown.work) > OVERSUBSCRIBED_PERCENT).then(|| {
        format!(
            "According to their CPU clocks, threads did not run for {:.1} ms while they held a CPU: the host of this virtual \
            machine used it, or context switches were not recorded. That time counts as descheduled, and is assigned to \
            strands to within about a millisecond.",
            ns as f64 / 1e6
        )
    })
}

fn short_strands(
    dag: &Dag,
    options: &Options,
    work_span: &WorkSpan,
    (breakdown, probes): (&Breakdown, u128),
) -> Option<String> {
    let probe_cost = u128::from(dag.meta.probe_cost);
    let inside = dag.folded.sums().map(|f| u128::from(f.1.strands));
    let strands = (dag.strands.len() - dag.folded.len()) as u128 + inside.sum::<u128>();
    let short = work_span.work
        < strands
            .saturating_mul(probe_cost)
            .saturating_mul(PROBES_PER_STRAND);
    if probe_cost == 0 || !short {
        return None;
    }
    let average = work_span.work / strands.max(1);
    let fate = if options.raw {
        "they are left in".to_owned()
    } else {
        let on_cpu = breakdown.work + breakdown.recording;
        let share = percent(probes, on_cpu);
        format!("{share:.0} % of the time on the CPU was subtracted for them")
    };
    Some(format!(
        "Strands are so short that probes matter ({average} ticks on average; a probe costs {probe_cost}): {fate}, and \
        work and span are uncertain by as much."
    ))
}

fn blocked(work_span: &WorkSpan, options: &Options) -> Option<String> {
    let more = work_span.span_with_blocked.saturating_sub(work_span.span);
    if options.count_blocked || more == 0 {
        return None;
    }
    let share = percent(more, work_span.span);
    let longer = match work_span.span {
        0 => "with it, the span would be nothing else".to_owned(),
        _ => format!("counting it makes the span {share:.0} % longer"),
    };
    (work_span.span == 0 || share > NOTABLE_PERCENT).then(|| {
        format!("Blocked time (I/O, locks, channels) is not counted as work (--count-blocked); {longer}.")
    })
}

fn no_burden(dag: &Dag, options: &Options, work_span: &WorkSpan) -> Option<String> {
    let unknown = dag.meta.recorded && dag.meta.burden == 0 && options.burden.is_none();
    (unknown && work_span.spawns > 0).then(|| {
        "The cost of a steal was not measured for this run, so the burdened numbers include no burden; set it with --burden N."
            .to_owned()
    })
}
