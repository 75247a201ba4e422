//! The analyses: pure functions from `&Dag` and [`Options`] to plain structs. They print nothing;
//! report, viewer and exports only format their results, so a number can't differ between them. The
//! formulas are in MODEL.md; each item names its section.
//!
//! Each module answers one question. The logical measures (§2, §3) are forward passes over the
//! strands, which are stored in topological order; everything about time (§5) comes from one sweep
//! over the run's events (`sweep`), which several observers share. Nothing recurses over task
//! depth, and no result depends on hash order.

pub mod advise;
mod async_role;
mod binned_timeline;
mod blocking_places;
mod blocks;
mod breakdown;
mod busy_time;
pub mod causes;
pub mod checks;
pub mod codes;
mod column;
pub mod compare;
mod concurrency_slowdown;
mod contended_lock;
mod critical_block;
mod flame;
mod free_time;
mod heaviest_paths;
mod holder;
mod idle;
mod limits;
mod lock_across_join;
mod low_parallelism;
pub mod named_code;
pub mod named_section;
mod no_work_shares;
mod off_cpu;
mod off_cpu_events;
mod only;
mod options;
mod other_threads_cpu;
mod outermost_sites;
mod parallel;
mod parts;
mod pools;
mod predecessors;
mod processes;
mod profile;
mod random_access_sweep;
mod ready;
mod ready_intervals;
mod ready_path;
mod regions;
mod report;
mod right_size;
mod runtime_gaps;
mod runtime_samples;
mod sample_profile;
mod saturated;
pub mod scale;
mod short_strands;
pub mod simulate;
mod site_delay;
mod site_span;
mod sites;
mod skipped_estimate;
mod solo_blocks;
mod standstill;
pub mod statistics;
mod strand_facts;
mod strand_lengths;
pub mod stretch;
mod subtrees;
mod suggestion;
mod sweep;
mod task_tree;
mod tasks_by_reporter;
mod timeline;
mod wait_kind;
mod warnings;
mod weight;
mod what_if;
mod work_span;

pub use async_role::{AsyncRole, async_roles};
pub use binned_timeline::{BinnedTimeline, MAX_TRACKS, ThreadTrack, binned_timeline};
pub use blocking_places::{BlockingPlace, LateProcess, blocked_in, program_line};
pub use blocks::{BlockRow, BlockTable, CodeBlock, block_name, block_strands};
pub use breakdown::Breakdown;
pub use busy_time::BusyTime;
pub use column::{Column, Marks};
pub use concurrency_slowdown::ConcurrencySlowdown;
pub use contended_lock::ContendedLock;
pub use critical_block::CriticalBlock;
pub use flame::{
    FlameOf, FlameOptions, FlameStack, LogicalFrame, LogicalSamples, Stretched, flame,
    logical_samples, stretched,
};
pub use free_time::FreeTime;
pub use holder::{CodePlace, Holder, HolderCode};
pub use idle::{IdleTime, idle_times};
pub use limits::{Blocked, Limits, ThreadShares, limits};
pub use low_parallelism::{LowParallelism, LowStrand};
pub use off_cpu::{OffCpu, off_between};
pub use only::{SectionTarget, only, section};
pub use options::{Error, Metric, Options};
pub use other_threads_cpu::OtherThreadsCpu;
pub use parts::PartRow;
pub use pools::PoolRow;
pub use processes::ProcessRow;
pub use profile::Profile;
pub use random_access_sweep::{Interval, IntervalObserver, SweepIndex};
pub use ready::{ReadyEvent, is_buried, ready_event, stolen_strands};
pub use ready_intervals::ReadyIntervals;
pub use ready_path::{ReadyPath, ready_path};
pub use regions::RegionRow;
pub use report::{Report, ReportErrors, report, report_against};
pub use right_size::{RightSize, right_size};
pub use runtime_gaps::share_within;
pub use sample_profile::{
    FunctionSamples, HotFunction, LineSamples, SampleProfile, attributed_frame, hot_function_of,
    hot_functions, hottest_function, sample_profile,
};
pub use short_strands::{MIN_STRAND_INSTRUCTIONS, ShortStrands, StrandRule, short_strands};
pub use site_delay::{SiteDelay, site_delays};
pub use sites::SiteRow;
pub use skipped_estimate::SkippedEstimate;
pub use solo_blocks::SoloBlock;
pub use standstill::{Standstill, WaitingThread};
pub use strand_facts::{StrandFacts, strand_facts, strand_facts_and_sites};
pub use subtrees::{Subtrees, subtrees};
pub use suggestion::Suggestion;
pub use sweep::Shares;
pub use tasks_by_reporter::{ReporterTasks, both_reporters, tasks_by_reporter};
pub use timeline::{Timeline, timeline};
pub use wait_kind::wait_kinds;
pub use warnings::{Warning, WarningTopic, percent};
pub use weight::{AmbiguousFolds, path_weight};
pub use what_if::{
    DEFAULT_FACTORS, FasterSite, FasterStrand, Outcome, Target, TargetProfile, TargetSet, WhatIf,
    contains_place, faster_sites, is_same_file, what_if,
};
pub use work_span::{WorkSpan, greedy_speedup, speedup_bounds};
pub use workspan_dag::WaitKind;
