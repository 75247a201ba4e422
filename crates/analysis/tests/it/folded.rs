//! A folded record gives the measures of the subtree that it stands for (MODEL.md §7); here example
//! A on one thread with all of A0 folded.

use workspan_analysis::{Options, Report, report};
use workspan_dag::folded::FoldedSite;
use workspan_dag::{Dag, Folded};

fn read(lines: &[String]) -> Dag {
    workspan_reader::text::read(lines.join("\n").as_bytes()).unwrap()
}

fn line(ev: &str, t: u64, task: u64, more: &str) -> String {
    format!("{{\"ev\":\"{ev}\",\"t\":{t},\"w\":0,\"task\":{task}{more}}}")
}

fn header(burden: u64) -> String {
    format!(
        "{{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\",\"burden\":{burden}}}"
    )
}

fn unfolded(burden: u64) -> Dag {
    let create = |child: u64, site: &str| format!(",\"child\":{child},\"site\":\"{site}\"");
    read(&[
        header(burden),
        line("begin", 0, 0, ""),
        line("create", 80, 0, &create(1, "L25")),
        line("resume", 80, 0, ""),
        line("wait", 80, 0, ""),
        line("begin", 80, 1, ""),
        line("create", 90, 1, &create(2, "L10")),
        line("resume", 90, 1, ""),
        line("create", 95, 1, &create(3, "L13")),
        line("resume", 95, 1, ""),
        line("wait", 95, 1, ""),
        line("begin", 95, 2, ""),
        line("end", 125, 2, ""),
        line("begin", 125, 3, ""),
        line("end", 165, 3, ""),
        line("resume", 165, 1, ""),
        line("end", 170, 1, ""),
        line("resume", 170, 0, ""),
        line("end", 175, 0, ""),
    ])
}

/// Example A with task 1 as one strand that stands for its subtree.
fn folded(burden: u64) -> Dag {
    let mut dag = read(&[
        header(burden),
        line("begin", 0, 0, ""),
        line("create", 80, 0, ",\"child\":1,\"site\":\"L25\""),
        line("resume", 80, 0, ""),
        line("wait", 80, 0, ""),
        line("begin", 80, 1, ""),
        line("end", 170, 1, ""),
        line("resume", 170, 0, ""),
        line("end", 175, 0, ""),
    ]);
    let site = |dag: &mut Dag, label: &str, length: u64, critical_work: u64| {
        let place = workspan_dag::Place {
            label: label.into(),
            ..workspan_dag::Place::default()
        };
        dag.places.push(place);
        FoldedSite {
            site: dag.places.len() as u32 - 1,
            count: 1,
            work: length,
            span: length,
            critical_work,
            lengths: Vec::new(),
        }
    };
    let sites = vec![site(&mut dag, "L10", 30, 0), site(&mut dag, "L13", 40, 40)];
    let fold = Folded {
        work: 90,
        span: 60,
        envelope: vec![(60, 1), (20, 0)],
        tasks: 2,
        spawns: 2,
        syncs: 1,
        strands: 5,
        levels: 1,
        sites,
        ..Folded::default()
    };
    dag.folded.push(dag.tasks.first[1], &fold);
    dag
}

fn rows(dag: &Dag, report: &Report) -> Vec<(String, u64, u128, u128, u128)> {
    let row = |s: &workspan_analysis::SiteRow| {
        let label = dag.places[s.site as usize].label.clone();
        (label, s.count, s.work, s.span, s.critical_work)
    };
    report.sites.iter().map(row).collect()
}

#[test]
fn the_measures_are_the_same_folded_or_not() {
    for burden in [0, 1, 39, 40, 41, 1000] {
        let (plain, short) = (unfolded(burden), folded(burden));
        let a = report(&plain, &Options::default()).unwrap();
        let b = report(&short, &Options::default()).unwrap();
        assert_eq!((b.work_span.work, b.work_span.span), (175, 145));
        assert_eq!(
            a.work_span.burdened_span, b.work_span.burdened_span,
            "burden {burden}"
        );
        assert_eq!(a.work_span.work, b.work_span.work);
        assert_eq!(
            (a.work_span.tasks, a.work_span.spawns, a.work_span.syncs),
            (b.work_span.tasks, b.work_span.spawns, b.work_span.syncs)
        );
        assert_eq!(rows(&plain, &a), rows(&short, &b));
        assert_eq!(a.breakdown.work, b.breakdown.work);
    }
}

#[test]
fn off_cpu_time_is_taken_out_of_a_fold_in_proportion() {
    let mut dag = folded(0);
    dag.offs.push(workspan_dag::OffCpuInterval {
        thread: 0,
        start: 100,
        end: 130,
        why: workspan_dag::OffCpuReason::Preempted,
        on: None,
    });
    let report = report(&dag, &Options::default()).unwrap();
    // A third of the fold's 90 ticks, and so a third of its path's 60.
    assert_eq!((report.work_span.work, report.work_span.span), (145, 125));
    assert_eq!(
        (report.breakdown.work, report.breakdown.descheduled),
        (145, 30)
    );
}

/// The fold of 90 ticks as a recorder makes it. In 40 of them the thread ran the tasks, in 5 the
/// runtime, and for 15 it was off the CPU meanwhile. In the other 30 it folded, off the CPU for 10
/// of them. By its switches it was off the CPU for `off` ticks in total.
fn with_told_off_cpu_time(off: u64) -> Dag {
    let mut dag = folded(0);
    let strand = dag.tasks.first[1];
    let known = dag.folded.get(0);
    let mut sites = known.sites.clone();
    for site in &mut sites {
        (site.work, site.span) = (site.work / 2, site.span / 2);
        site.critical_work /= 2;
    }
    let fold = Folded {
        work: 40,
        span: 30,
        envelope: vec![(30, 0)],
        between: 5,
        off_cpu: 15,
        folding_off_cpu: 10,
        sites,
        ..known
    };
    dag.folded = Default::default();
    dag.folded.push(strand, &fold);
    dag.meta.run.folded_below_us = Some(10.0);
    if off > 0 {
        dag.offs.push(workspan_dag::OffCpuInterval {
            thread: 0,
            start: 81,
            end: 81 + off,
            why: workspan_dag::OffCpuReason::Preempted,
            on: None,
        });
    }
    dag
}

#[test]
fn off_cpu_time_that_a_fold_tells_is_not_taken_out_again() {
    // All ticks of the run are accounted for: 85 outside of the fold.
    let adds_up = |report: &Report| {
        let b = &report.breakdown;
        let delay: u128 = b.delay + b.no_work_sched + b.no_work_app;
        b.work + b.recording + b.descheduled + b.blocked + delay
    };
    for (off, work, uncertain) in [(25, 125, 0), (20, 125, 0), (10, 125, 5), (45, 113, 12)] {
        let report = report(&with_told_off_cpu_time(off), &Options::default()).unwrap();
        assert_eq!(report.work_span.work, work, "{off}: {:?}", report.breakdown);
        assert_eq!(report.breakdown.descheduled, u128::from(off));
        assert_eq!(adds_up(&report), 175, "{off}: {:?}", report.breakdown);
        let unsure = report.unsure_folds.map_or(0, |folds| folds.ticks);
        assert_eq!(unsure, uncertain, "{off}");
    }
}
