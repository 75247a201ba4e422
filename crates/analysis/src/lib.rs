//! The analyses: pure functions from `&Dag` and [`Options`] to plain structs. None prints; report, viewer and exports
//! only format what is here, so a number can't differ between them. Formulas: MODEL.md, section named at each item.
//!
//! One module a question. The logical measures (§2, §3) are forward passes over the strands, which are stored in
//! topological order; everything about time (§5) hangs on one sweep over the run's events (`sweep`), which several
//! observers share. Nothing recurses over task depth, and no result depends on hash order.

pub mod advise;
mod alone;
mod between;
mod blocked;
mod blocks;
mod breakdown;
pub mod causes;
pub mod checks;
pub mod codes;
mod column;
pub mod compare;
mod estimated;
mod flame;
mod full;
mod heat;
mod heaviest;
mod lanes;
mod limits;
mod low_parallelism;
mod moments;
mod nesting;
mod no_work;
mod options;
mod outside;
mod parts;
mod predecessors;
mod profile;
mod quiet;
mod ready;
mod ready_path;
mod regions;
mod report;
pub mod scale;
mod side_by_side;
pub mod simulate;
mod site_delay;
mod site_span;
mod sites;
pub mod statistics;
mod stood;
mod strand_facts;
pub mod stretch;
mod subtrees;
mod suggestion;
mod sweep;
mod task_tree;
mod timeline;
mod warnings;
mod weight;
mod what_if;
mod work_span;

pub use alone::AloneRow;
pub use between::evenly;
pub use blocked::{BlockedIn, WaitKind, blocked_in};
pub use blocks::{BlockKey, BlockRow, BlockTable, block_name, block_strands};
pub use breakdown::Breakdown;
pub use column::{Column, Marks};
pub use estimated::Estimated;
pub use flame::{FlameOf, FlameOptions, FlameStack, Stretched, flame, stretched};
pub use heat::{
    FunctionHeat, Heat, Hottest, LineHeat, functions, heat, hottest, inside, is_program, line_of,
};
pub use lanes::{Lane, Lanes, MOST_LANES, lanes};
pub use limits::{Blocked, Limits, RegionShares, limits};
pub use low_parallelism::{LowParallelism, LowStrand};
pub use moments::{Changes, Moments, Now};
pub use options::{Error, Metric, Options};
pub use outside::Outside;
pub use parts::PartRow;
pub use profile::Profile;
pub use quiet::Quiet;
pub use ready::{Readied, is_buried, made_ready, stolen_strands};
pub use ready_path::{ReadyPath, ready_path};
pub use regions::RegionRow;
pub use report::{Report, report, report_against};
pub use site_delay::{SiteDelay, site_delays};
pub use sites::SiteRow;
pub use stood::Stood;
pub use strand_facts::{StrandFacts, strand_facts, strand_facts_and_sites};
pub use subtrees::{Subtrees, subtrees};
pub use suggestion::Suggestion;
pub use sweep::Shares;
pub use timeline::{Timeline, timeline};
pub use warnings::{About, Warning};
pub use weight::{OffCpu, UnsureFolds, off_between, path_weight};
pub use what_if::{
    DEFAULT_FACTORS, FasterStrand, Outcome, Target, TargetProfile, Together, WhatIf, lies_at,
    what_if,
};
pub use work_span::{WorkSpan, greedy_speedup, speedup_bounds};
