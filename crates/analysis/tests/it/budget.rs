//! Replays runs recorded in full through the overhead budget with many seeds: the estimates must
//! agree with the known values.

use std::path::Path;

use workspan_analysis::{Options, Report, report};
use workspan_dag::note_keys::RECORDED_TASK;
use workspan_reader::OpenOptions;
use workspan_reader::open::Grain;
use workspan_recorder::budget::{Budget, Choice, JoinTicket, Settings, TASK_CLASS};
use workspan_test_kit::{TraceFile, put_record};
use workspan_trace::entry::{Note, SitePosition};
use workspan_trace::wire::Kind;

const SETTINGS: Settings = Settings {
    per_million: 50_000,
    hold: 0,
    join_ticks: 60,
    millisecond: 400_000,
    seed: 0,
};

/// How a task splits its work.
#[derive(Clone, Copy)]
enum Shape {
    /// n into n − 1 and n − 2.
    Fibonacci,
    /// Anywhere.
    Random,
    /// In the middle, and merges the results: spans grow like the work.
    Merge,
}

/// How a task runs the two that it splits into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It joins them.
    Joins,
    /// It creates them and waits for them.
    Tasks,
    /// Like `Tasks`, and tasks that run unrecorded are counted.
    Counted,
}

/// How a run is recorded.
#[derive(Clone, Copy)]
enum Way {
    Full,
    /// Within a budget, with that seed, at no cost.
    Within(u64),
    /// Like `Within`, but each record costs time, more than the trace says.
    AtCost(u64),
    /// Like `Within`, but each record costs two and a half times that, and skipping a join or a
    /// task costs something as well.
    Dear(u64),
    /// In full. Each record costs two and a half times what the trace says. The trace has the
    /// measured cost of three strands if the flag is set.
    Measured(bool),
    /// Like `Dear`, but the trace has a wrong measurement.
    Misled(u64),
}

/// The trace's value of a strand's share of the cost of a record.
const STATED: u64 = 6;
/// The cost of a record when it is two and a half times that.
const DEAR: u64 = 30;

/// The costs added to a program's time.
#[derive(Clone, Copy, Default)]
struct Costs {
    /// Cost of each record.
    record: u64,
    /// Cost of each skipped join or task.
    left_out: u64,
}

/// A run on one thread, recorded in full or within a budget.
struct Run {
    shape: Shape,
    form: Form,
    bytes: Vec<u8>,
    last: u64,
    now: u64,
    /// Generates the strands: the same ones with and without a budget.
    strands: u64,
    budget: Option<Budget>,
    whole: bool,
    /// Number of joins, or of creates.
    joins: u64,
    skipped: u64,
    /// Number of tasks inside the skipped subtree.
    inside: u64,
    costs: Costs,
}

fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

impl Run {
    fn record(&mut self, kind: Kind, operands: &[u64]) {
        put_record(&mut self.bytes, kind, self.now - self.last, operands);
        self.last = self.now;
        // An end has the time of the record after it, and a count has no time.
        if !matches!(kind, Kind::End | Kind::SkippedTasks) {
            self.now += self.costs.record;
        }
    }

    /// A strand of 20 to 60 ticks, now and then of up to 2000.
    fn strand(&mut self) {
        let random = next(&mut self.strands);
        let odd = random.is_multiple_of(1000);
        self.now += if odd {
            random >> 20 & 2047
        } else {
            20 + (random >> 20) % 41
        };
    }

    fn split(&mut self, size: u64) -> (u64, u64) {
        match self.shape {
            Shape::Fibonacci => (size - 1, size - 2),
            Shape::Random => {
                let a = next(&mut self.strands) % (size - 1) + 1;
                (a.min(size - 1), size - a.min(size - 1))
            }
            Shape::Merge => (size / 2, size - size / 2),
        }
    }

    fn task(&mut self, size: u64, level: u32, recorded: bool) {
        self.strand();
        if size < 2 {
            return;
        }
        let (a, b) = self.split(size);
        match self.form {
            Form::Joins => self.within_budget(level, recorded, |run, recorded| {
                run.join(a, b, level, recorded);
            }),
            Form::Tasks | Form::Counted => self.create(a, b, level, recorded),
        }
        self.strand();
        if matches!(self.shape, Shape::Merge) {
            self.now += 3 * size;
        }
    }

    fn join(&mut self, a: u64, b: u64, level: u32, recorded: bool) {
        if recorded {
            self.joins += 1;
            self.record(Kind::Join, &[1]);
        } else {
            self.now += self.costs.left_out;
        }
        self.task(a, level + 1, recorded);
        if recorded {
            self.record(Kind::End, &[]);
            self.record(Kind::Next, &[]);
        }
        self.task(b, level + 1, recorded);
        if recorded {
            self.record(Kind::EndResume, &[]);
        }
    }

    fn create(&mut self, a: u64, b: u64, level: u32, recorded: bool) {
        // The root is the thread's first task.
        let first = self.joins + 1;
        if recorded {
            self.joins += 2;
            self.record(Kind::Create, &[1, 1]);
            self.record(Kind::Create, &[1, 1]);
            self.record(Kind::Wait, &[0, 0]);
        }
        for (number, size) in [(first, a), (first + 1, b)] {
            if recorded {
                self.record(Kind::Begin, &[0, number]);
            } else {
                self.now += self.costs.left_out;
                self.inside += 1;
            }
            self.within_budget(level + 1, recorded, |run, recorded| {
                run.task(size, level + 1, recorded);
            });
            if recorded {
                self.record(Kind::End, &[]);
            }
        }
        if recorded {
            self.record(Kind::Resume, &[]);
        }
    }

    /// Runs code that the budget may skip.
    fn within_budget(&mut self, level: u32, recorded: bool, run: impl FnOnce(&mut Run, bool)) {
        let mut begun: Option<(Choice, JoinTicket)> = None;
        if recorded && !self.whole {
            let now = self.now;
            begun = self
                .budget
                .as_mut()
                .map(|budget| budget.begin(1, level, now));
        }
        let choice = begun.map_or(Choice::Enter, |b| b.0);
        let of_tasks = match self.form {
            Form::Joins => 0,
            Form::Tasks | Form::Counted => TASK_CLASS,
        };
        let class = [1, of_tasks + u64::from(level)];
        let before = self.joins;
        if let Some((Choice::Sample | Choice::Learn, begun)) = begun {
            self.whole = true;
            self.record(Kind::SampleBegin, &[1, of_tasks + begun.recorded_level()]);
        }
        if choice == Choice::Skip {
            self.skipped += 1;
            self.record(Kind::SkipBegin, &class);
            self.inside = 0;
        }
        run(self, recorded && choice != Choice::Skip);
        if choice == Choice::Skip {
            if self.form == Form::Counted {
                self.record(Kind::SkippedTasks, &[self.inside]);
            }
            self.record(Kind::SkipEnd, &[]);
        }
        self.whole &= !matches!(choice, Choice::Sample | Choice::Learn);
        if let (Some((_, begun)), Some(budget)) = (begun, self.budget.as_mut()) {
            budget.end(begun, self.now, self.joins - before);
        }
    }

    /// The trace of a run, and the number of skipped subtrees.
    fn trace(shape: Shape, form: Form, size: u64, way: Way) -> (Vec<u8>, u64) {
        let costs = |record, left_out| Costs { record, left_out };
        let (budget, costs) = match way {
            Way::Full => (None, Costs::default()),
            Way::Within(seed) => (Some(seed), Costs::default()),
            Way::AtCost(seed) => (Some(seed), costs(15, 0)),
            Way::Dear(seed) | Way::Misled(seed) => (Some(seed), costs(DEAR, 10)),
            Way::Measured(_) => (None, costs(DEAR, 0)),
        };
        let measured = match way {
            Way::Measured(true) => 3 * DEAR,
            Way::Misled(_) => 24 * STATED,
            _ => 0,
        };
        let settings = |seed| Settings { seed, ..SETTINGS };
        let mut run = Run {
            shape,
            form,
            bytes: Vec::new(),
            last: 0,
            now: 0,
            strands: 0x2545_f491_4f6c_dd1d,
            budget: budget.map(|seed| match (form, Budget::new(settings(seed), 0, 0)) {
                (Form::Joins, budget) => budget,
                (Form::Tasks | Form::Counted, budget) => budget.of_tasks(),
            }),
            whole: false,
            joins: 0,
            skipped: 0,
            inside: 0,
            costs,
        };
        run.record(Kind::Root, &[]);
        run.task(size, 0, true);
        run.record(Kind::End, &[]);
        let now = (run.now, run.now);
        let stated = if costs.record > 0 { STATED } else { 0 };
        let notes = [
            ("probe_cost_ticks", stated),
            ("left_out_join_ticks", costs.left_out),
            ("left_out_task_ticks", costs.left_out),
            (RECORDED_TASK, measured),
        ];
        let notes = notes
            .into_iter()
            .filter(|note| note.0 != RECORDED_TASK || measured > 0);
        let sites = ["?", "join"].map(|text| (1, SitePosition::Label(text.into())));
        let file = TraceFile {
            threads: vec![vec![(0, run.bytes)]],
            sites: sites.into(),
            notes: notes
                .map(|(key, ticks)| Note::new(key, ticks.to_string()))
                .collect(),
            pairs: vec![(0, 0), now],
            end: Some(now),
            ..TraceFile::default()
        };
        (file.bytes(), run.skipped)
    }

    fn of(shape: Shape, form: Form, size: u64, way: Way) -> (Report, u64) {
        let (bytes, skipped) = Run::trace(shape, form, size, way);
        (read(&bytes, Grain::None).0, skipped)
    }
}

/// The report, and the number of strands.
fn read(bytes: &[u8], grain: Grain) -> (Report, usize) {
    let options = OpenOptions {
        grain,
        ..OpenOptions::default()
    };
    let dag = workspan_reader::open::read(Path::new("t"), bytes, &options).unwrap();
    assert_eq!(dag.meta.warnings, [""; 0]);
    let report = report(&dag, &Options::default()).unwrap();
    (report, dag.strands.len())
}

/// Of 100 replays, 95 must have the true span in their interval, and 95 a span of half to twice the
/// true one; so must 95 have the true number of tasks in theirs. The work of all
/// is the true one within `off` per cent.
fn replays(shape: Shape, form: Form, size: u64, way: fn(u64) -> Way, off: f64) {
    let (exact, _) = Run::of(shape, form, size, Way::Full);
    let exact = exact.work_span;
    assert_eq!(exact.estimated, None);
    let (mut spans, mut tasks, mut near) = (0, 0, 0);
    for seed in 1..=100 {
        let (found, skipped) = Run::of(shape, form, size, way(seed * 0x9e37_79b9));
        let found = found.work_span;
        assert!(skipped > 20, "{skipped}");
        let work = found.work as f64 / exact.work as f64;
        assert!((work - 1.0).abs() * 100.0 <= off, "work {work}");
        let estimated = found.estimated.unwrap();
        let (low, high) = estimated.span;
        assert!(low <= found.span && found.span <= high);
        spans += u32::from((low..=high).contains(&exact.span));
        let (low, high) = estimated.tasks;
        assert!(form != Form::Counted || low == high, "{low} to {high}");
        tasks += u32::from((low..=high).contains(&exact.tasks));
        near += u32::from(found.span <= 2 * exact.span && exact.span <= 2 * found.span);
    }
    println!("spans {spans}, tasks {tasks}, within twice {near}");
    assert!(
        spans >= 95 && tasks >= 95 && near >= 95,
        "spans {spans}, tasks {tasks}, within twice {near}"
    );
}

#[test]
fn fibonacci_numbers() {
    replays(Shape::Fibonacci, Form::Joins, 23, Way::Within, 0.0);
}

#[test]
fn fibonacci_numbers_where_records_cost_more_than_is_known() {
    replays(Shape::Fibonacci, Form::Joins, 23, Way::AtCost, 5.0);
}

#[test]
fn fibonacci_numbers_where_leaving_out_costs_something_too() {
    replays(Shape::Fibonacci, Form::Joins, 23, Way::Dear, 5.0);
}

#[test]
fn fibonacci_numbers_of_tasks_where_leaving_out_costs_something_too() {
    replays(Shape::Fibonacci, Form::Tasks, 23, Way::Dear, 10.0);
}

#[test]
fn fibonacci_numbers_of_counted_tasks() {
    replays(Shape::Fibonacci, Form::Counted, 23, Way::Dear, 5.0);
}

#[test]
fn a_tree_of_counted_tasks_split_anywhere() {
    replays(Shape::Random, Form::Counted, 80_000, Way::Within, 0.0);
}

/// Without a budget, the run itself does not show what records cost.
#[test]
fn tasks_in_full_where_their_cost_was_measured() {
    let of = |way| {
        let report = Run::of(Shape::Fibonacci, Form::Tasks, 20, way).0;
        let recording = report.breakdown.recording;
        (report.work_span.work, report.work_span.span, recording)
    };
    let (exact, span, _) = of(Way::Full);
    let near = |a: u128, b: u128| (a as f64 / b as f64 - 1.0).abs() < 0.01;
    let (unknown, _, little) = of(Way::Measured(false));
    let (work, same_span, recording) = of(Way::Measured(true));
    assert!(unknown * 10 > exact * 13, "{unknown}, really {exact}");
    assert!(near(work, exact), "{work}, really {exact}");
    assert!(near(same_span, span), "{same_span}, really {span}");
    assert_eq!(work + recording, unknown + little);
}

/// Sampled subtrees and skipped ones show the cost in this very run.
#[test]
fn what_the_run_itself_shows_counts_more_than_a_measurement() {
    for seed in 1..=5 {
        let of = |way| Run::of(Shape::Fibonacci, Form::Tasks, 23, way).0;
        assert_eq!(of(Way::Misled(seed)), of(Way::Dear(seed)));
    }
}

/// Few subtrees are sampled here, and no two are similar.
#[test]
fn a_tree_split_anywhere() {
    replays(Shape::Random, Form::Joins, 40_000, Way::Within, 0.0);
}

#[test]
fn merges() {
    replays(Shape::Merge, Form::Joins, 40_000, Way::Within, 0.0);
}

#[test]
fn fibonacci_numbers_of_tasks() {
    replays(Shape::Fibonacci, Form::Tasks, 23, Way::Within, 0.0);
}

#[test]
fn a_tree_of_tasks_split_anywhere() {
    replays(Shape::Random, Form::Tasks, 80_000, Way::Within, 0.0);
}

/// A sampled join can be read as one strand. The grain here is 0, so nothing else is folded.
#[test]
fn drawn_joins_in_short_change_nothing() {
    for (shape, size) in [(Shape::Fibonacci, 23), (Shape::Random, 40_000)] {
        let (bytes, _) = Run::trace(shape, Form::Joins, size, Way::Within(7));
        let (long, strands) = read(&bytes, Grain::None);
        let (short, fewer) = read(&bytes, Grain::Nanoseconds(0));
        assert!(fewer * 2 < strands, "{fewer} of {strands}");
        let measures = |report: &Report| {
            let ws = &report.work_span;
            let counts = (ws.tasks, ws.spawns, ws.syncs, ws.steals);
            (ws.work, ws.span, counts, ws.estimated)
        };
        assert_eq!(measures(&short), measures(&long));
        let sites = |report: &Report| {
            let rows = report.sites.iter().map(|s| (s.count, s.work, s.span));
            rows.collect::<Vec<_>>()
        };
        assert_eq!(sites(&short), sites(&long));
    }
}
