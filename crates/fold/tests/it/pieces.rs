//! The output of folding does not depend on the pieces in which records are fed. Small tasks are
//! taken as a whole if all of their records are in one piece, and like any others if not.

use workspan_fold::{Constraint, Fold, FoldOptions, StealKind};
use workspan_test_kit::put_record;
use workspan_trace::event::Events;
use workspan_trace::wire::{Kind, create, wait};

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

struct Program {
    bytes: Vec<u8>,
    dice: Dice,
    /// Strands are shorter than this, in ticks.
    step: u64,
    /// The number of sites.
    sites: u64,
    tasks: u64,
    scopes: u64,
    left: u64,
}

impl Program {
    fn put(&mut self, kind: Kind, delta: u64, operands: &[u64]) {
        put_record(&mut self.bytes, kind, delta, operands);
    }

    fn strand(&mut self) -> u64 {
        let long = self.dice.below(200) == 0;
        self.dice.below(self.step) * if long { 40 } else { 1 }
    }

    /// Writes what a task does up to its end. Returns the ticks of its last strand.
    fn task(&mut self, level: u64) -> u64 {
        while self.left > 0 && self.dice.below(10) < 7_u64.saturating_sub(level / 3) {
            self.left -= 1;
            let strand = self.strand();
            if self.dice.below(60) == 0 {
                // A task that is waited for, in the same place.
                self.put(Kind::Create, strand, &[1, self.sites]);
                let seq = self.tasks;
                self.tasks += 1;
                let strand = self.strand();
                self.put(Kind::Wait, strand, &[0, 0]);
                self.put(Kind::Begin, 0, &[0, seq]);
                let last = self.task(level + 1);
                self.put(Kind::EndResume, last, &[]);
                continue;
            }
            if self.dice.below(3) == 0 {
                self.siblings(level);
                continue;
            }
            // Site numbers beyond 127 take two bytes.
            let site = self.dice.below(self.sites) * 100;
            self.put(Kind::Join, strand, &[site]);
            self.tasks += 2;
            let last = self.task(level + 1);
            self.put(Kind::End, last, &[]);
            self.put(Kind::Next, 0, &[]);
            let last = self.task(level + 1);
            self.put(Kind::EndResume, last, &[]);
            if self.dice.below(300) == 0 {
                self.put(Kind::Sleep, 1, &[]);
            }
        }
        self.strand()
    }

    /// Tasks that are all created before the first of them begins, as in OpenMP and oneTBB. Their
    /// parent waits for them, with or without a scope. Now and then one runs elsewhere.
    fn siblings(&mut self, level: u64) {
        let scope = (self.dice.below(2) == 0).then_some(self.scopes);
        if scope.is_some() {
            self.put(Kind::Scope, 0, &[0]);
            self.scopes += 1;
        }
        let first = self.tasks;
        for _ in 0..=self.dice.below(3) {
            let (strand, site) = (self.strand(), self.dice.below(self.sites));
            match scope {
                Some(count) => self.put(
                    Kind::Create,
                    strand,
                    &[create::DEFERRED | create::SCOPED, site, 0, count],
                ),
                None => self.put(Kind::Create, strand, &[create::DEFERRED, site]),
            }
            self.tasks += 1;
        }
        let mut begin: Vec<u64> = (first..self.tasks).collect();
        if self.dice.below(2) == 0 {
            begin.reverse();
        }
        let strand = self.strand();
        match scope {
            Some(count) => self.put(Kind::Wait, strand, &[0, wait::SCOPE, 0, count]),
            None => self.put(Kind::Wait, strand, &[0, wait::CHILDREN]),
        }
        for seq in begin {
            if self.dice.below(100) > 0 {
                let gap = self.dice.below(3);
                self.put(Kind::Begin, gap, &[0, seq]);
                let last = self.task(level + 1);
                self.put(Kind::End, last, &[]);
            }
        }
        self.put(Kind::Resume, 1, &[]);
    }
}

/// Folds the program, fed in pieces that end after the records where `ends` returns true.
fn folded(
    bytes: &[u8],
    options: &FoldOptions,
    cut: Option<u64>,
    mut ends: impl FnMut() -> bool,
) -> (Vec<u8>, u64) {
    let mut fold = Fold::new(0, (0, 0), options.clone());
    fold.take_out_probes(2);
    // This is a reader, which also folds small subtrees beside waiting tasks.
    if cut.is_some() {
        fold.save_tasks();
        fold.say_sources();
    }
    let off = cut.map(|t| [(t, Constraint::Leave), (t + 40, Constraint::Return)]);
    fold.plan(off.into_iter().flatten().collect());
    let (mut from, mut base, mut at) = (0, 0, 0);
    let mut walk = Events::new(bytes, 0);
    while let Some((t, _)) = walk.next() {
        at = walk.offset();
        if ends() {
            fold.feed(&bytes[from..at], base);
            (from, base) = (at, t);
        }
    }
    fold.feed(&bytes[from..at], base);
    fold.finish();
    (fold.firm().0.to_vec(), fold.folded())
}

#[test]
fn what_comes_out_does_not_depend_on_the_pieces() {
    let (mut folds, mut shorter) = (0, 0);
    for case in 0..300 {
        let mut dice = Dice(case);
        let mut program = Program {
            bytes: Vec::new(),
            step: [1, 2, 60, 2000][dice.below(4) as usize],
            sites: 1 + dice.below(4),
            tasks: 1,
            scopes: 0,
            left: 300,
            dice,
        };
        program.put(Kind::Root, 0, &[]);
        while program.left > 0 {
            let last = program.task(0);
            program.left = program.left.saturating_sub(1);
            program.put(Kind::Signal, last, &[0, 1]);
        }
        program.put(Kind::End, 5, &[]);
        let (bytes, mut dice) = (program.bytes, program.dice);
        let options = FoldOptions {
            grain: [1, 300, 5_000, 1 << 40][dice.below(4) as usize],
            max_tasks: u64::MAX,
            thieves: [StealKind::TakeChildren, StealKind::TakeContinuations]
                [dice.below(2) as usize],
            unfolded_sites: if dice.below(5) == 0 {
                vec![100]
            } else {
                vec![]
            },
            memory: 1 << 30,
        };
        let cut = (dice.below(3) == 0).then(|| dice.below(20_000));
        let one_by_one = folded(&bytes, &options, cut, || true);
        let whole = folded(&bytes, &options, cut, || false);
        let pieces = folded(&bytes, &options, cut, || dice.below(30) == 0);
        assert!(
            one_by_one == whole && whole == pieces,
            "case {case}, {options:?}"
        );
        folds += whole.1;
        shorter += usize::from(whole.0.len() < bytes.len() / 2);
    }
    assert!(folds > 500 && shorter > 50, "{folds} {shorter}");
}
