//! What-if with folded records gives an interval that contains the unfolded answer: random
//! fork-join programs, run on one thread, with random subtrees folded.

use crate::random::dice::Dice;
use workspan_analysis::{Options, Target, what_if};
use workspan_dag::Dag;

const SITES: usize = 4;

/// A task: strands with creates between them; `Wait` joins all children up to there.
struct Task {
    site: usize,
    steps: Vec<Step>,
    folded: bool,
}

enum Step {
    Strand(u64),
    Create(Task),
    Wait,
}

/// A heaviest path: its weight, and how much of it belongs to each site.
#[derive(Clone, Copy, Default)]
struct Path {
    weight: u64,
    sites: [u64; SITES],
}

impl Path {
    fn add(&mut self, site: usize, ticks: u64) {
        self.weight += ticks;
        self.sites[site] += ticks;
    }
}

fn program(dice: &mut Dice, depth: usize, foldable: bool) -> Task {
    let folded = foldable && depth < 4 && dice.percent(40);
    let mut steps = vec![Step::Strand(dice.below(20) as u64)];
    let forks = if depth == 0 { 0 } else { dice.below(3) };
    for _ in 0..forks {
        for _ in 0..1 + dice.below(3) {
            steps.push(Step::Create(program(dice, depth - 1, foldable && !folded)));
            steps.push(Step::Strand(dice.below(6) as u64));
        }
        steps.push(Step::Wait);
        steps.push(Step::Strand(dice.below(20) as u64));
    }
    Task {
        site: dice.below(SITES),
        steps,
        folded,
    }
}

impl Task {
    fn work(&self) -> u64 {
        let step = |s: &Step| match s {
            Step::Strand(ticks) => *ticks,
            Step::Create(child) => child.work(),
            Step::Wait => 0,
        };
        self.steps.iter().map(step).sum()
    }

    fn own_work(&self) -> u64 {
        let step = |s: &Step| match s {
            Step::Strand(ticks) => *ticks,
            Step::Create(_) | Step::Wait => 0,
        };
        self.steps.iter().map(step).sum()
    }

    /// Work of the outermost tasks of a site below this one, with their descendants.
    fn outermost(&self, site: usize) -> u64 {
        let step = |s: &Step| match s {
            Step::Create(child) if child.site == site => child.work(),
            Step::Create(child) => child.outermost(site),
            Step::Strand(_) | Step::Wait => 0,
        };
        self.steps.iter().map(step).sum()
    }

    fn tasks(&self) -> Vec<&Task> {
        let mut all = vec![self];
        for step in &self.steps {
            if let Step::Create(child) = step {
                all.extend(child.tasks());
            }
        }
        all
    }

    fn path(&self) -> Path {
        let (mut now, mut ends) = (Path::default(), Vec::new());
        for step in &self.steps {
            match step {
                Step::Strand(ticks) => now.add(self.site, *ticks),
                Step::Create(child) => {
                    let (mut end, inside) = (now, child.path());
                    end.weight += inside.weight;
                    (0..SITES).for_each(|s| end.sites[s] += inside.sites[s]);
                    ends.push(end);
                }
                Step::Wait => {
                    for end in ends.drain(..) {
                        if end.weight > now.weight {
                            now = end;
                        }
                    }
                }
            }
        }
        now
    }
}

/// Writes a run on one thread, with the children one after the other at the wait.
struct Writer {
    lines: Vec<String>,
    tasks: usize,
    fold: bool,
}

impl Writer {
    fn line(&mut self, ev: &str, t: u64, task: usize, more: &str) {
        self.lines.push(format!(
            "{{\"ev\":\"{ev}\",\"t\":{t},\"w\":0,\"task\":{task}{more}}}"
        ));
    }

    fn folded(&mut self, task: &Task, number: usize, t: u64) -> u64 {
        let (work, path) = (task.work(), task.path());
        let below = &task.tasks()[1..];
        let mut inside = path.sites;
        let own: u64 = task_own_on_path(task);
        inside[task.site] -= own;
        let sites: Vec<String> = (0..SITES)
            .filter(|&s| below.iter().any(|t| t.site == s))
            .map(|s| {
                let count = below.iter().filter(|t| t.site == s).count();
                format!(
                    "{{\"site\":\"s.rs:{s}\",\"count\":{count},\"work\":{},\"span\":0,\"critical_work\":{},\"lengths\":[]}}",
                    task.outermost(s),
                    inside[s]
                )
            })
            .collect();
        let blocks: Vec<String> = below
            .iter()
            .map(|t| format!("[\"s.rs:{}\",null,{}]", t.site, t.own_work()))
            .collect();
        let more = format!(
            ",\"work\":{work},\"span\":{0},\"ready_integral\":0,\"tasks\":{1},\"spawns\":{1},\"syncs\":0,\"strands\":{2},\
             \"levels\":1,\"envelope\":[[{0},0]],\"sites\":[{3}],\"blocks\":[{4}]",
            path.weight,
            below.len(),
            task.steps.len(),
            sites.join(","),
            blocks.join(",")
        );
        self.line("folded", t, number, &more);
        t + work
    }

    /// From `t` on; returns the task's end.
    fn run(&mut self, task: &Task, number: usize, mut t: u64) -> u64 {
        self.line("begin", t, number, "");
        if self.fold && task.folded {
            t = self.folded(task, number, t);
            self.line("end", t, number, "");
            return t;
        }
        let mut created = Vec::new();
        for step in &task.steps {
            match step {
                Step::Strand(ticks) => t += ticks,
                Step::Create(child) => {
                    let id = self.tasks;
                    self.tasks += 1;
                    let more = format!(",\"child\":{id},\"site\":\"s.rs:{}\"", child.site);
                    self.line("create", t, number, &more);
                    self.line("resume", t, number, "");
                    created.push((child, id));
                }
                Step::Wait => {
                    self.line("wait", t, number, "");
                    for (child, id) in created.drain(..) {
                        t = self.run(child, id, t);
                    }
                    self.line("resume", t, number, "");
                }
            }
        }
        self.line("end", t, number, "");
        t
    }
}

/// The task's own part of its heaviest path: the rest after every child's part is taken out.
fn task_own_on_path(task: &Task) -> u64 {
    // Marked by a site of its own.
    fn own(task: &Task) -> (u64, u64) {
        let (mut now, mut ends) = ((0, 0), Vec::new());
        for step in &task.steps {
            match step {
                Step::Strand(ticks) => now = (now.0 + ticks, now.1 + ticks),
                Step::Create(child) => ends.push((now.0 + child.path().weight, now.1)),
                Step::Wait => {
                    for end in ends.drain(..) {
                        if end.0 > now.0 {
                            now = end;
                        }
                    }
                }
            }
        }
        now
    }
    own(task).1
}

fn read(task: &Task, fold: bool) -> Dag {
    let mut writer = Writer {
        lines: vec![
            "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}".into(),
        ],
        tasks: 1,
        fold,
    };
    writer.run(task, 0, 0);
    workspan_reader::text::read(writer.lines.join("\n").as_bytes()).unwrap()
}

fn site(dag: &Dag, site: usize, subtree: bool) -> Target {
    let label = format!("s.rs:{site}");
    let has = |i: &u32| dag.places[*i as usize].label == label;
    Target::Site {
        places: (0..dag.places.len() as u32).filter(has).collect(),
        subtree,
    }
}

#[test]
fn the_unfolded_answer_lies_inside() {
    let (mut folds, mut wide, mut narrow) = (0, 0, 0);
    for seed in 0..3000 {
        let mut dice = Dice::new(seed);
        let mut root = program(&mut dice, 5, true);
        root.folded = false;
        let (plain, short) = (read(&root, false), read(&root, true));
        folds += short.folded.len();
        let subtree = dice.percent(30);
        let mut chosen = vec![dice.below(SITES)];
        if dice.percent(40) {
            chosen.push(dice.below(SITES));
        }
        let factors = [0.5, 1.0, 1.5, 2.0, 3.0, 100.0];
        let ask = |dag: &Dag| {
            let targets: Vec<Target> = chosen.iter().map(|&s| site(dag, s, subtree)).collect();
            what_if(dag, &Options::default(), &targets, &factors).unwrap()
        };
        let (exact, bounds) = (ask(&plain), ask(&short));
        assert_eq!(exact.now.span, bounds.now.span, "case {seed}");
        for (e, b) in exact.targets.iter().zip(&bounds.targets) {
            assert_eq!(e.work, b.work, "case {seed}, {chosen:?}, {subtree}");
        }
        for (e, b) in exact.all.iter().zip(&bounds.all) {
            assert_eq!(e.span, e.least_span);
            let fits = b.least_span <= e.span + 1e-6 && e.span <= b.span + 1e-6;
            assert!(fits, "case {seed}, {chosen:?}: {e:?} is not in {b:?}");
            if b.uncertainty() > 0.1 {
                wide += 1;
            } else {
                narrow += 1;
            }
        }
        for profile in &bounds.targets {
            let uncertain = profile.outcomes.iter().any(|o| o.uncertainty() > 0.1);
            if !uncertain {
                assert_eq!(profile.keep, None);
            } else if profile.outcomes.iter().all(|o| o.factor >= 1.0) {
                assert!(profile.keep.is_some());
            }
        }
    }
    assert!(
        folds > 1000 && wide > 100 && narrow > 100,
        "{folds} {wide} {narrow}"
    );
}
