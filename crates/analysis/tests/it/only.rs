//! A run in which only a region, a part, or the tasks of a site takes time: the work is that of the
//! pieces, and edges from one piece to the next remain.

use workspan_analysis::{Options, Report, SectionTarget, only, report};
use workspan_dag::{Dag, TaskSizes};

/// The root: 10, then a tree region over two forks of 20 each with their concurrent strands, 10,
/// then a plain region of 5 inside a strand, 5. Both children are created at one site; the second
/// has a child of another one.
const RUN: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":10,"w":0,"task":0,"region":"forks","tree":true}
{"ev":"create","t":12,"w":0,"task":0,"child":1,"site":"a.rs:3"}
{"ev":"resume","t":12,"w":0,"task":0}
{"ev":"begin","t":13,"w":1,"task":1}
{"ev":"wait","t":15,"w":0,"task":0}
{"ev":"end","t":33,"w":1,"task":1}
{"ev":"resume","t":33,"w":0,"task":0}
{"ev":"create","t":34,"w":0,"task":0,"child":2,"site":"a.rs:3"}
{"ev":"resume","t":34,"w":0,"task":0}
{"ev":"begin","t":35,"w":1,"task":2}
{"ev":"create","t":40,"w":1,"task":2,"child":3,"site":"b.rs:9"}
{"ev":"resume","t":40,"w":1,"task":2}
{"ev":"wait","t":36,"w":0,"task":0}
{"ev":"begin","t":41,"w":0,"task":3}
{"ev":"end","t":44,"w":0,"task":3}
{"ev":"wait","t":50,"w":1,"task":2}
{"ev":"resume","t":50,"w":1,"task":2}
{"ev":"end","t":55,"w":1,"task":2}
{"ev":"resume","t":55,"w":0,"task":0}
{"ev":"region_end","t":58,"w":0,"task":0,"region":"forks"}
{"ev":"region_begin","t":68,"w":0,"task":0,"region":"short"}
{"ev":"region_end","t":73,"w":0,"task":0,"region":"short"}
{"ev":"region_begin","t":75,"w":0,"task":0,"region":"short"}
{"ev":"region_end","t":76,"w":0,"task":0,"region":"short"}
{"ev":"end","t":80,"w":0,"task":0}
"#;

fn run() -> Dag {
    workspan_reader::text::read(RUN.as_bytes()).unwrap()
}

fn measured(dag: &Dag) -> Report {
    report(dag, &Options::default()).unwrap()
}

fn alone(what: SectionTarget) -> (Dag, u64) {
    only(&run(), &what, &Options::default()).unwrap()
}

fn label(name: &str) -> u32 {
    let labels = run().labels;
    labels.iter().position(|l| l == name).unwrap() as u32
}

#[test]
fn work_is_that_of_the_region_and_the_order_stays() {
    let whole = measured(&run());
    for name in ["forks", "short"] {
        let (dag, _) = alone(SectionTarget::Region(label(name)));
        let of = |r: &&workspan_analysis::RegionRow| r.label == label(name);
        let row = whole.regions.iter().find(of).unwrap();
        let part = measured(&dag);
        assert_eq!(part.work_span.work, row.work, "{name}");
        // The elapsed time and the ends of the run stay the same.
        assert_eq!(part.breakdown.elapsed(), whole.breakdown.elapsed());
    }
    let (dag, tasks) = alone(SectionTarget::Region(label("forks")));
    let part = measured(&dag);
    // 2 before the first fork, its child 20, 1 between, the second child's 5, 10 and 5, 3 at the
    // end: the pieces of the root are one after the other.
    assert_eq!(part.work_span.span, 2 + 20 + 1 + 20 + 3);
    assert_eq!((tasks, dag.tasks.len()), (4, 4));
}

#[test]
fn a_strand_is_divided_where_regions_begin_and_end() {
    let (dag, tasks) = alone(SectionTarget::Region(label("short")));
    let long = |s: &usize| dag.strands.end[*s] > dag.strands.start[*s];
    let pieces: Vec<_> = (0..dag.strands.len())
        .filter(long)
        .map(|s| (dag.strands.start[s], dag.strands.end[s]))
        .collect();
    assert_eq!(pieces, [(68, 73), (75, 76)]);
    // The other tasks have nothing inside.
    assert_eq!((tasks, dag.tasks.len()), (1, 1));
    assert_eq!(measured(&dag).work_span.span, 6);
}

/// A strand with a counter that measures it is inside where it begins. The size of its task says
/// the same of each of its pieces.
#[test]
fn a_strand_that_tells_its_tasks_size_is_divided() {
    let inside = |counter: &str| {
        let end = "\"t\":80,\"w\":0,\"task\":0";
        let run = RUN.replace(end, &format!("{end},\"counters\":{{\"{counter}\":7}}"));
        let run = workspan_reader::text::read(run.as_bytes()).unwrap();
        let what = SectionTarget::Region(label("short"));
        let (dag, _) = only(&run, &what, &Options::default()).unwrap();
        (measured(&dag).work_span.work, TaskSizes::new(&dag).of(0))
    };
    assert_eq!(inside("instructions"), (0, None));
    assert_eq!(inside("size"), (6, Some(7)));
}

#[test]
fn tasks_of_a_site_come_with_all_below_them() {
    let place = |name: &str| {
        let places = run().places;
        places.iter().position(|p| p.label == name).unwrap() as u32
    };
    let whole = measured(&run());
    for (name, tasks, kept) in [("a.rs:3", 3, 4), ("b.rs:9", 1, 3)] {
        let (dag, inside) = alone(SectionTarget::Site(vec![place(name)]));
        let of = |row: &&workspan_analysis::SiteRow| row.site == place(name);
        let row = whole.sites.iter().find(of).unwrap();
        let part = measured(&dag);
        assert_eq!(part.work_span.work, row.work, "{name}");
        assert_eq!((inside, dag.tasks.len()), (tasks, kept), "{name}");
    }
    // The second one is created after the first was waited for.
    let part = measured(&alone(SectionTarget::Site(vec![place("a.rs:3")])).0);
    assert_eq!(part.work_span.span, 20 + 20);
}
