//! The policy of folding a run (MODEL.md §7): whether to fold, and the grain that keeps the file
//! small.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use crate::lock::Lock;
use crate::process::Recording;
use workspan_fold::{FoldOptions, StealKind};
use workspan_trace::entry::SitePosition;
use workspan_trace::note_keys;

/// When subtrees are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldWhen {
    /// Never fold.
    Off,
    /// Fold where tasks are short, and everything once the file has an eighth of the allowed bytes.
    /// The grain grows with the file.
    Auto,
    /// Always fold subtrees shorter than this many nanoseconds.
    Below(u64),
}

/// The number of strands that a file should have. The grain grows with their number. Strands that
/// cannot be folded count too, so a program with more steals has more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxStrands {
    /// No limit: the grain stays constant.
    Unlimited,
    /// This many for each thread that folds.
    PerThread(u64),
    /// This many in all.
    InAll(u64),
}

/// The options of folding a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folding {
    /// When subtrees are folded.
    pub when: FoldWhen,
    /// The number of strands that the file should not exceed.
    pub max_strands: MaxStrands,
    /// The number of bytes that the file should not exceed. With [`FoldWhen::Auto`] the grain is
    /// chosen accordingly.
    pub most_bytes: u64,
    /// The largest number of tasks in a folded subtree.
    pub max_tasks: u64,
    /// Memory per thread for records that may still be folded, in bytes.
    pub memory: usize,
    /// Sites whose tasks are not folded: `FILE:LINE` of a source position, or a site's text.
    pub keep: Vec<String>,
}

/// The initial grain with [`FoldWhen::Auto`], in ns.
pub const GRAIN: u64 = 10_000;
/// The largest grain with [`FoldWhen::Auto`], in ns.
const MAX_GRAIN: u64 = 1_000_000;
/// The grain doubles with each of this many equal parts of [`MaxStrands`]. Once the file has all of
/// them, subtrees of any length are folded.
const STRAND_STEPS: u64 = 16;
/// With [`FoldWhen::Auto`], a thread starts to fold at the first chunk whose tasks take less than
/// this many ns on average.
const SHORT_TASK_NS: u64 = 1_000;

static FOLDING: OnceLock<Folding> = OnceLock::new();

/// Sets the folding of the next recording. Without it nothing is folded.
pub fn fold(folding: Folding) {
    let _ = FOLDING.set(folding);
}

/// The state of a recording's folding.
#[derive(Debug)]
pub(crate) struct Grain {
    folding: Folding,
    /// Sites that are never folded, in ascending order, and their number.
    unfolded: Lock<Vec<u32>>,
    kept_count: AtomicU64,
    /// The largest grain used, in ns.
    largest: AtomicU64,
    /// Strands written so far by threads that fold, if they are counted.
    strands: AtomicU64,
    /// The number of threads that fold.
    threads: AtomicU64,
}

impl Grain {
    /// The requested folding; `None` if nothing is folded.
    pub(crate) fn new() -> Option<Grain> {
        let folding = FOLDING.get().filter(|f| f.when != FoldWhen::Off)?;
        Some(Grain {
            folding: folding.clone(),
            unfolded: Lock::new(Vec::new()),
            kept_count: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            strands: AtomicU64::new(0),
            threads: AtomicU64::new(0),
        })
    }

    /// The grain in ns, given the bytes and the counted strands in the file. With
    /// [`FoldWhen::Auto`] it doubles seven times until the file has half of the allowed bytes.
    fn grain(&self, bytes: u64) -> u64 {
        let grain = match self.folding.when {
            FoldWhen::Off => 0,
            FoldWhen::Below(ns) => ns,
            FoldWhen::Auto => {
                let steps = bytes.saturating_mul(14) / self.folding.most_bytes.max(1);
                (GRAIN << steps.min(7)).min(MAX_GRAIN)
            }
        };
        let threads = || self.threads.load(Ordering::Relaxed).max(1);
        let most = match self.folding.max_strands {
            MaxStrands::Unlimited => return grain,
            MaxStrands::PerThread(strands) => strands.saturating_mul(threads()),
            MaxStrands::InAll(strands) => strands,
        };
        let strands = self.strands.load(Ordering::Relaxed);
        match strands.saturating_mul(STRAND_STEPS) / most.max(1) {
            steps @ 0..STRAND_STEPS => grain.saturating_mul(1 << steps),
            _ => u64::MAX,
        }
    }

    /// Whether a thread starts to fold that began `tasks` tasks in `ticks` ticks and has not folded
    /// yet.
    pub(crate) fn may_fold(&self, recording: &Recording, tasks: u64, ticks: u64) -> bool {
        match self.folding.when {
            FoldWhen::Off => false,
            FoldWhen::Below(_) => true,
            FoldWhen::Auto => {
                ticks < recording.ticks_of(SHORT_TASK_NS).saturating_mul(tasks)
                    || recording.spool.bytes() > self.folding.most_bytes / 8
            }
        }
    }

    /// The grain now, in ticks.
    pub(crate) fn ticks(&self, recording: &Recording) -> u64 {
        let ns = self.grain(recording.spool.bytes());
        self.largest.fetch_max(ns, Ordering::Relaxed);
        recording.ticks_of(ns)
    }

    /// The options for a thread that starts to fold.
    pub(crate) fn options(&self, recording: &Recording) -> FoldOptions {
        self.threads.fetch_add(1, Ordering::Relaxed);
        FoldOptions {
            grain: self.ticks(recording),
            max_tasks: self.folding.max_tasks,
            // In all runtimes with a front end, thieves take children.
            thieves: StealKind::TakeChildren,
            unfolded_sites: self.unfolded_sites(),
            memory: self.folding.memory,
        }
    }

    /// Whether written strands are counted.
    pub(crate) fn counts_strands(&self) -> bool {
        self.folding.max_strands != MaxStrands::Unlimited
    }

    /// Adds to the number of strands in the file.
    pub(crate) fn put_out(&self, strands: u64) {
        self.strands.fetch_add(strands, Ordering::Relaxed);
    }

    /// The number of sites that are never folded. It grows with the list.
    pub(crate) fn unfolded_site_count(&self) -> u64 {
        self.kept_count.load(Ordering::Acquire)
    }

    /// The sites that are never folded, in ascending order.
    pub(crate) fn unfolded_sites(&self) -> Vec<u32> {
        self.unfolded
            .lock()
            .map_or_else(|_| Vec::new(), |k| k.clone())
    }

    /// Checks a new site against the list of sites that are never folded.
    pub(crate) fn site(&self, id: u32, position: &SitePosition) {
        let is = |keep: &String| match position {
            SitePosition::Location { file, line, .. } => is_position(keep, file, *line),
            SitePosition::Label(text) => keep == text,
            _ => false,
        };
        if self.folding.keep.iter().any(is)
            && let Ok(mut sites) = self.unfolded.lock()
            && let Err(at) = sites.binary_search(&id)
        {
            sites.insert(at, id);
            self.kept_count.fetch_add(1, Ordering::Release);
        }
    }

    /// The notes about folding at the end of the trace.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        let mut notes = Vec::new();
        if self.threads.load(Ordering::Relaxed) > 0 {
            let ns = self.largest.load(Ordering::Relaxed);
            let below = match ns {
                u64::MAX => note_keys::FOLDED_ANY_LENGTH.to_owned(),
                ns => format!("{} µs", ns as f64 / 1e3),
            };
            notes.push((note_keys::FOLDED_BELOW.into(), below));
        }
        if !self.folding.keep.is_empty() && self.unfolded_site_count() == 0 {
            let what = format!(
                "--keep {}: no spawn site of that position was known while recording, so none was kept (Rayon's, the \
                 API's and named sites are; those known by their code's address are not).",
                self.folding.keep.join(", ")
            );
            notes.push((note_keys::WARNING.into(), what));
        }
        notes
    }
}

/// Whether `keep` is `FILE:LINE`, where FILE is the end of the path.
fn is_position(keep: &str, file: &str, line: u32) -> bool {
    let Some((name, number)) = keep.rsplit_once(':') else {
        return false;
    };
    number.parse() == Ok(line)
        && file.strip_suffix(name).is_some_and(|folder| {
            folder.is_empty() || folder.ends_with('/') || name.starts_with('/')
        })
}
