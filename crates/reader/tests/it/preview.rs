//! The preview of a recorded trace agrees with the sums over its DAG's strands.

use std::collections::BTreeMap;

use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_reader::recorded::preview::{Preview, preview};
use workspan_trace::wire::Kind;

use crate::dice::Dice;
use crate::writer::{File, Lane, dag, installed, lane};

fn previewed(file: &File) -> Preview {
    preview(&file.bytes(), &OpenOptions::default()).unwrap()
}

/// Sums over the strands of a DAG: (thread, bin) → busy ticks, and ticks by site.
type Sums = BTreeMap<(u32, u64), (u64, BTreeMap<u32, u64>)>;

fn sums(dag: &Dag, begin: u64, level: u32) -> Sums {
    let mut sums = Sums::new();
    let s = &dag.strands;
    for i in 0..s.len() {
        let (mut from, to) = (s.start[i] - begin, s.end[i] - begin);
        while from < to {
            let bin = from >> level;
            let next = to.min((bin + 1) << level);
            let sum = sums.entry((s.thread[i], bin)).or_default();
            sum.0 += next - from;
            let site = dag.tasks.site[s.task[i] as usize];
            *sum.1.entry(site).or_default() += next - from;
            from = next;
        }
    }
    sums
}

fn compare(file: &File) {
    let (dag, preview) = (dag(file), previewed(file));
    let begin = dag.strands.start.iter().copied().min().unwrap();
    let end = dag.strands.end.iter().copied().max().unwrap();
    assert_eq!((preview.begin, preview.end), (begin, end));
    assert_eq!(preview.meta.workers, dag.meta.workers);
    assert_eq!(preview.meta.threads, dag.meta.threads);
    assert_eq!(preview.meta.ticks_per_second, dag.meta.ticks_per_second);
    assert_eq!(preview.places, dag.places);
    assert_eq!(preview.tasks, dag.tasks.len() as u64);
    let mut expected = sums(&dag, begin, preview.level);
    for (thread, bins) in (0..).zip(&preview.threads) {
        for (at, bin) in (0..).zip(bins) {
            let (busy, sites) = expected.remove(&(thread, at)).unwrap_or_default();
            assert_eq!(bin.busy, busy, "thread {thread}, bin {at}");
            let most = sites.iter().max_by_key(|s| (s.1, std::cmp::Reverse(s.0)));
            if let Some((&site, _)) = most {
                assert_eq!(bin.place, site, "thread {thread}, bin {at}");
            }
        }
    }
    assert!(expected.is_empty(), "{expected:?}");
}

/// A worker that joins, and a thief that takes some tasks that the worker could have run itself.
struct Run {
    dice: Dice,
    now: u64,
    tasks: u64,
    owner: Lane,
    thief: Lane,
    thief_tasks: u64,
}

impl Run {
    fn pass(&mut self) -> u64 {
        self.now += 1 + self.dice.roll(60);
        self.now
    }

    fn body(&mut self, depth: u32) {
        let joins = if depth == 0 { 0 } else { self.dice.roll(3) };
        for _ in 0..joins {
            let (t, first) = (self.pass(), self.tasks);
            self.tasks += 2;
            self.owner.at(t, Kind::Join, &[1 + self.dice.roll(2)]);
            self.body(depth - 1);
            let end = self.pass();
            self.owner.at(end, Kind::End, &[]);
            if self.dice.roll(4) == 0 {
                let begin = self.pass();
                self.thief.at(begin, Kind::Begin, &[0, first]);
                if self.dice.roll(2) == 0 {
                    let join = self.pass();
                    self.thief.at(join, Kind::Join, &[2]);
                    self.thief_tasks += 2;
                    let end = self.pass();
                    self.thief.at(end, Kind::End, &[]);
                    self.thief.at(end, Kind::Next, &[]);
                    let end = self.pass();
                    self.thief.at(end, Kind::EndResume, &[]);
                }
                let end = self.pass();
                self.thief.at(end, Kind::End, &[]);
                let resume = self.pass();
                self.owner.at(resume, Kind::Resume, &[]);
            } else {
                self.owner.at(end, Kind::Next, &[]);
                self.body(depth - 1);
                let end = self.pass();
                self.owner.at(end, Kind::EndResume, &[]);
            }
        }
        self.pass();
    }
}

#[test]
fn random_joins_add_up() {
    let mut levels = BTreeMap::<u32, u32>::new();
    for seed in 0..60 {
        let mut run = Run {
            dice: Dice(seed),
            now: 0,
            tasks: 1,
            owner: lane(&[(0, Kind::Worker, &[0, 0]), (0, Kind::Root, &[])]),
            thief: lane(&[(0, Kind::Worker, &[0, 1])]),
            thief_tasks: 0,
        };
        for _ in 0..1 + seed / 4 {
            run.body(7);
        }
        let end = run.pass();
        run.owner.at(end, Kind::End, &[]);
        let mut file = File::new([run.owner, run.thief], Some(end));
        file.pieces = 1 + seed as usize % 3;
        compare(&file);
        *levels.entry(previewed(&file).level).or_default() += 1;
    }
    // Short runs have a bin per tick, long ones bins with several strands.
    assert!(levels.contains_key(&0), "{levels:?}");
    assert!(levels.keys().any(|&level| level > 2), "{levels:?}");
}

#[test]
fn a_killed_program_and_one_without_pools_add_up() {
    let open = lane(&[
        (3, Kind::Root, &[]),
        (10, Kind::Create, &[1, 1]),
        (12, Kind::Begin, &[0, 1]),
        (20, Kind::End, &[]),
        (25, Kind::Wait, &[0, 0]),
        (40, Kind::Resume, &[]),
        (50, Kind::Create, &[1, 2]),
    ]);
    let other = lane(&[(8, Kind::Root, &[]), (45, Kind::End, &[])]);
    for end in [None, Some(70)] {
        compare(&File::new([open.clone(), other.clone()], end));
    }
}

/// The preview does not know the site of a task that stopped on another thread, but counts it as
/// running.
#[test]
fn what_goes_on_elsewhere_is_busy() {
    let file = File::new(installed(), Some(100));
    let (dag, preview) = (dag(&file), previewed(&file));
    for thread in 0..dag.meta.threads {
        let all = 0..dag.strands.len();
        let strands = all.filter(|&i| dag.strands.thread[i] == thread);
        let busy: u64 = strands
            .map(|i| dag.strands.end[i] - dag.strands.start[i])
            .sum();
        let previewed: u64 = preview.threads[thread as usize]
            .iter()
            .map(|b| b.busy)
            .sum();
        assert_eq!(previewed, busy, "thread {thread}");
    }
}

#[test]
fn a_damaged_file_is_no_worse_than_for_the_reader() {
    let bytes = File::new(installed(), Some(100)).bytes();
    for at in 0..bytes.len() {
        for allow_truncated in [false, true] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x5a;
            // Neither may panic or take long; their results may differ.
            let _ = preview(
                &damaged,
                &OpenOptions {
                    allow_truncated,
                    ..OpenOptions::default()
                },
            );
        }
    }
}

#[test]
fn tasks_behind_a_folded_part_keep_their_sites() {
    // Two tasks of one site are folded. A third one of another site begins by its name, which
    // counts the folded ones.
    let mut main = lane(&[(0, Kind::Root, &[]), (10, Kind::Create, &[1, 1])]);
    main.at(20, Kind::Wait, &[0, 0]);
    main.at(20, Kind::Skip, &[2, 1]);
    main.at(30, Kind::Begin, &[0, 1]).at(40, Kind::End, &[]);
    main.at(40, Kind::Resume, &[]).at(50, Kind::Create, &[1, 2]);
    main.at(60, Kind::Wait, &[0, 0]);
    main.at(70, Kind::Begin, &[0, 4]).at(90, Kind::End, &[]);
    main.at(90, Kind::Resume, &[]).at(100, Kind::End, &[]);
    let preview = previewed(&File::new([main], Some(100)));
    assert_eq!(preview.tasks, 3);
    let at = |t: u64| {
        let bin = &preview.threads[0][(t >> preview.level) as usize];
        preview.places[bin.place as usize].label.as_str()
    };
    assert_eq!((at(35), at(80)), ("a.rs:1", "a.rs:2"));
}
