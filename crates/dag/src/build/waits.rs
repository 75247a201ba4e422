//! Waits before sorting, in the order of the strands they end.

use super::strands::Strands;
use super::tasks::Tasks;
use super::{At, Fault, Repairs};
use crate::dag::{EndKind, NONE, RaggedArray, StrandId};
use crate::raw::RawTrace;

/// The waits.
#[derive(Default)]
pub(super) struct Waits {
    /// The strand that ends in each, ascending.
    pub before: Vec<StrandId>,
    /// The next strand of its task.
    pub after: Vec<StrandId>,
    pub scope: Vec<u32>,
    pub plain: Vec<bool>,
    /// Tasks joined, ascending.
    pub tasks: RaggedArray,
    /// Strands that set the signals waited for, ascending; no lists if there are no such waits.
    pub signals: RaggedArray,
    ends: Ends,
}

/// The set of strands that end in a wait: one bit per strand, and the count before each word. So it
/// also has the number of each strand's wait.
#[derive(Default)]
struct Ends {
    bits: Vec<u64>,
    before: Vec<u32>,
}

impl Ends {
    fn new(kinds: &[EndKind]) -> Ends {
        let mut ends = Ends::default();
        let mut count = 0;
        for word in kinds.chunks(64) {
            let bit = |(i, &kind): (usize, &EndKind)| u64::from(kind == EndKind::Wait) << i;
            let bits = word.iter().enumerate().map(bit).fold(0, |a, b| a | b);
            ends.before.push(count);
            ends.bits.push(bits);
            count += bits.count_ones();
        }
        ends
    }

    fn number(&self, strand: StrandId) -> Option<usize> {
        let (word, bit) = (strand as usize / 64, strand % 64);
        let bits = self.bits[word];
        if bits >> bit & 1 == 0 {
            return None;
        }
        let lower = bits & ((1 << bit) - 1);
        Some((self.before[word] + lower.count_ones()) as usize)
    }
}

impl Waits {
    pub(super) fn push(
        &mut self,
        before: StrandId,
        scope: u32,
        plain: bool,
        tasks: impl IntoIterator<Item = u32>,
        signals: impl IntoIterator<Item = u32>,
    ) {
        self.before.push(before);
        self.scope.push(scope);
        self.plain.push(plain);
        self.tasks.push(tasks);
        let mut signals = signals.into_iter().peekable();
        if signals.peek().is_some() && self.signals.is_empty() {
            let earlier = self.before.len() - 1;
            self.signals.offsets = vec![0; earlier + 1];
        }
        if !self.signals.offsets.is_empty() {
            self.signals.push(signals);
        }
    }

    /// Makes room for `waits` more waits that join `tasks` tasks.
    pub(super) fn reserve(&mut self, waits: usize, tasks: usize) {
        self.before.reserve_exact(waits);
        self.scope.reserve_exact(waits);
        self.plain.reserve_exact(waits);
        self.tasks.offsets.reserve_exact(waits + 1);
        self.tasks.items.reserve_exact(tasks);
    }

    /// The wait at the end of strand `s`.
    pub(super) fn of(&self, s: StrandId) -> Option<usize> {
        self.ends.number(s)
    }

    /// Called when all waits are known: puts them in the order of their strands and finds the
    /// strands that follow. Every strand that ends in a wait has one wait and a strand after it.
    pub(super) fn settle(&mut self, strands: &Strands) {
        if !self.before.is_sorted() {
            self.sort();
        }
        self.ends = Ends::new(&strands.end_kind);
        self.after = vec![NONE; self.before.len()];
        for (s, &prev) in strands.prev.iter().enumerate() {
            if prev != NONE
                && let Some(wait) = self.ends.number(prev)
            {
                self.after[wait] = s as StrandId;
            }
        }
    }

    fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.before.len() as u32).collect();
        order.sort_by_key(|&w| self.before[w as usize]);
        let unsorted = std::mem::take(self);
        for w in order {
            let w = w as usize;
            let (tasks, signals) = (unsorted.tasks.get(w), unsorted.signals.get(w));
            self.push(
                unsorted.before[w],
                unsorted.scope[w],
                unsorted.plain[w],
                tasks.iter().copied(),
                signals.iter().copied(),
            );
        }
    }

    /// Maps signal indices to the strands that set the signals.
    pub(super) fn resolve_signals(
        &mut self,
        raw: &RawTrace,
        strands: &Strands,
        tasks: &Tasks,
        repairs: &mut Repairs,
    ) -> Result<(), Fault> {
        if self.signals.items.is_empty() {
            return Ok(());
        }
        let mut setter = vec![NONE; raw.signals.len()];
        for &(strand, signal) in &strands.sets {
            setter[signal as usize] = strand;
        }
        let mut resolved = RaggedArray::default();
        let mut list = Vec::new();
        for (w, &before) in self.before.iter().enumerate() {
            list.clear();
            for &signal in self.signals.get(w) {
                match setter[signal as usize] {
                    NONE => repairs.or("Waits for signals nobody set, not waited for", || {
                        let number = raw.signals[signal as usize];
                        let what = format!("waits for signal {number}, which nobody sets");
                        Fault::new(
                            At::End(strands.raw_of(before, false)),
                            tasks.number(strands.task[before as usize]),
                            what,
                        )
                    })?,
                    strand => list.push(strand),
                }
            }
            list.sort_unstable();
            list.dedup();
            resolved.push(list.iter().copied());
        }
        self.signals = resolved;
        Ok(())
    }
}
