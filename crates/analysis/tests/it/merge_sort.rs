//! A merge sort: with a serial merge the report must find the strand with the last merge; with a
//! parallel merge there is nothing to find.

use workspan_analysis::{Options, Report, report};
use workspan_dag::{Dag, EndKind, StartKind};

/// Elements to sort, and ticks to merge one.
const N: u64 = 1 << 12;

/// Writes the run of a perfectly scheduled merge sort.
struct Writer {
    lines: Vec<String>,
    tasks: u64,
    scopes: u64,
    parallel_merge: bool,
}

impl Writer {
    fn line(&mut self, ev: &str, t: u64, w: u64, task: u64, more: &str) {
        self.lines.push(format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{task}{more}}}"
        ));
    }

    /// `task`, whose strand is open on `w` since `t` at the latest, sorts `n` elements on `p`
    /// threads from `w` on; returns the time then, with a strand open.
    fn sort(&mut self, task: u64, n: u64, w: u64, p: u64, t: u64) -> u64 {
        if p == 1 {
            return t + n * n.ilog2() as u64;
        }
        let half = |b: &mut Writer, child, w, t| b.sort(child, n / 2, w, p / 2, t);
        let t = self.join(task, w, p / 2, t, "sort.rs:37", half);
        if self.parallel_merge {
            self.merge(task, n, w, p, t)
        } else {
            t + n
        }
    }

    fn merge(&mut self, task: u64, n: u64, w: u64, p: u64, t: u64) -> u64 {
        if p == 1 {
            return t + n;
        }
        let half = |b: &mut Writer, child, w, t| b.merge(child, n / 2, w, p / 2, t);
        self.join(task, w, p / 2, t, "sort.rs:60", half)
    }

    /// Rayon's join: a group scope with a deferred child on `w + p` and an inline one on `w`.
    fn join(
        &mut self,
        task: u64,
        w: u64,
        p: u64,
        t: u64,
        site: &str,
        half: impl Fn(&mut Writer, u64, u64, u64) -> u64,
    ) -> u64 {
        let scope = self.scopes;
        self.scopes += 1;
        let (b, a) = (self.tasks, self.tasks + 1);
        self.tasks += 2;
        self.lines.push(format!(
            "{{\"ev\":\"scope\",\"task\":{task},\"scope\":{scope},\"kind\":\"group\"}}"
        ));
        let create = |child: u64, how: &str| {
            format!(
                ",\"child\":{child},\"site\":\"{site}\",\"at\":\"{site}\",\"scope\":{scope}{how}"
            )
        };
        self.line("create", t, w, task, &create(b, ""));
        self.line("resume", t, w, task, "");
        self.line("create", t, w, task, &create(a, ",\"inline\":true"));
        self.line("resume", t, w, task, "");
        self.line(
            "wait",
            t,
            w,
            task,
            &format!(",\"scope\":{scope},\"at\":\"{site}\""),
        );
        let mut done = t;
        for (child, on) in [(a, w), (b, w + p)] {
            self.line("begin", t, on, child, "");
            let end = half(self, child, on, t);
            self.line("end", end, on, child, "");
            done = done.max(end);
        }
        self.line("resume", done, w, task, "");
        done
    }
}

fn run(workers: u64, parallel_merge: bool) -> (Dag, Report, u64) {
    let header = format!(
        "{{\"workspan_trace\":1,\"workers\":{workers},\"time_unit\":\"ns\",\"steals\":\"child\"}}"
    );
    let mut writer = Writer {
        lines: vec![header],
        tasks: 1,
        scopes: 0,
        parallel_merge,
    };
    writer.line("begin", 0, 0, 0, "");
    let end = writer.sort(0, N, 0, workers, 0);
    writer.line("end", end, 0, 0, "");
    let dag = workspan_reader::text::read(writer.lines.join("\n").as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    (dag, report, end)
}

#[test]
fn the_serial_merge_is_found() {
    for workers in [2, 4, 8] {
        let (dag, report, end) = run(workers, false);
        let low = &report.low_parallelism[0];
        assert_eq!(low.end, end, "{workers} workers");
        let strand = &low.strands[0];
        assert_eq!((strand.ticks, strand.alone), (N, N), "{workers} workers");
        // From the join to the end of the root.
        let s = strand.strand as usize;
        assert_eq!((strand.task, dag.strands.end[s]), (0, end));
        assert_eq!(
            (dag.strands.start_kind[s], dag.strands.end_kind[s]),
            (StartKind::AfterWait, EndKind::End)
        );
        assert_eq!(
            dag.places[dag.starts_at(s as u32) as usize].label,
            "sort.rs:37"
        );

        let alone = &report.solo_blocks[0];
        assert_eq!(
            (alone.count, alone.ticks, alone.longest),
            (1, N, (strand.strand, N))
        );
        assert_eq!(
            (alone.block.from_kind, alone.block.to_kind),
            (StartKind::AfterWait, EndKind::End)
        );
        assert_eq!(alone.lost, u128::from((workers - 1) * N));
        // The whole loss is merges on less than all threads: Σ over levels of (W − 2^level) · N /
        // 2^level.
        let levels = workers.ilog2();
        let lost: u64 = (0..levels).map(|l| (workers - (1 << l)) * (N >> l)).sum();
        assert_eq!(report.breakdown.lost(), u128::from(lost));
        let share = 100.0 * ((workers - 1) * N) as f64 / lost as f64;
        assert!((alone.lost_percent - share).abs() < 1e-9);
    }
}

#[test]
fn a_parallel_merge_leaves_nothing_alone() {
    for workers in [2, 4, 8] {
        let (_, report, _) = run(workers, true);
        assert_eq!(report.breakdown.lost(), 0, "{workers} workers");
        assert!(report.low_parallelism.is_empty(), "{workers} workers");
        assert!(report.solo_blocks.is_empty(), "{workers} workers");
    }
}
