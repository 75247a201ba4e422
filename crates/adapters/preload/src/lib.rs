//! The preloaded library. It starts recording when the process is loaded, ends it when the process
//! ends, and provides the table of functions to every front end in the process.
//!
//! For `rustc` it is a program of its own: the CLI's build script compiles this file and the crates
//! below it without cargo. It exports [`workspan_table_v1`] and the entry points of the runtimes
//! that it interposes.
//!
//! It reads these variables, and removes them before the program runs, except with
//! `WORKSPAN_FOLLOW`:
//!
//! | variable | meaning |
//! |---|---|
//! | `WORKSPAN_SPOOL_DIR` | folder for the spool file; unset or empty: do nothing |
//! | `WORKSPAN_USER_LD_PRELOAD` | the user's `LD_PRELOAD`; unset: there was none |
//! | `WORKSPAN_PROGRAM` | path of the program to record; unset or empty: any |
//! | `WORKSPAN_FOLLOW` | not empty: record children too; the id of the process `record` started |
//! | `WORKSPAN_WATCH_SCOPE` | kernel and namespaces that `record` watches; unset: ours |
//! | `WORKSPAN_MAX_OVERHEAD` | limit in millionths (0: none), `:`, tasks a thread records first |
//! | `WORKSPAN_SCHEDSTAT` | not empty: read the threads' scheduling statistics |
//! | `WORKSPAN_COUNTERS` | counters, separated by commas: `name:type:config:kernel` |
//! | `WORKSPAN_PARTS` | windows to keep, in the format of [`workspan_recorder::Parts`] |
//! | `WORKSPAN_FOLD` | what to fold: `auto`, `off`, `steals`, or nanoseconds |
//! | `WORKSPAN_FOLD_STRANDS` | strands the trace should stay near: `thread N`, `all N`, `off` |
//! | `WORKSPAN_FOLD_TASKS` | the largest number of tasks in a subtree that is folded |
//! | `WORKSPAN_MAX_SIZE` | maximum size of the file, in bytes |
//! | `WORKSPAN_MAX_MEMORY` | maximum memory of a thread for folding, in bytes |
//! | `WORKSPAN_KEEP` | sites whose tasks are not folded, separated by 0x1f |
//! | any other `WORKSPAN_…` | for other programs; removed as well |
//!
//! In a program that is not the one of `WORKSPAN_PROGRAM`, for example a user's own cargo runner,
//! nothing is touched.

#[cfg(target_arch = "x86_64")]
mod call_instruction;
#[cfg(target_arch = "x86_64")]
mod entry_point;
mod fork;
mod free_list;
mod gomp;
mod libc_symbol;
mod loaded_files;
#[cfg(target_arch = "x86_64")]
mod mpi;
mod ompt;
mod overhead_budget;
mod rank;
mod runtimes;
mod sandbox;
mod site_cache;
mod skipped_subtree;
mod tbb;
mod threads;
#[cfg(target_arch = "x86_64")]
mod waits;
mod watch_request;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use workspan_recorder::abi::Table;
use workspan_recorder::{CounterEvent, FoldWhen, Folding, MaxStrands, OffCpuTimes};
use workspan_trace::note_keys;

/// Running out of memory must not end the program.
#[global_allocator]
static ALLOCATOR: workspan_recorder::Reserved = workspan_recorder::Reserved;

/// The functions that front ends record with; null if this process is not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn workspan_table_v1() -> *const Table {
    if workspan_recorder::is_on() {
        &raw const workspan_recorder::TABLE
    } else {
        ptr::null()
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

/// Runs before the program's own constructors, on its main thread.
extern "C" fn loaded() {
    loaded_files::note_start();
    let Some(folder) = std::env::var_os("WORKSPAN_SPOOL_DIR").filter(|f| !f.is_empty()) else {
        return;
    };
    let exe = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    if std::env::var_os("WORKSPAN_PROGRAM")
        .is_some_and(|only| !only.is_empty() && Path::new(&only) != exe)
    {
        return;
    }
    let counters = counters();
    let parts = std::env::var("WORKSPAN_PARTS").ok();
    workspan_recorder::keep(parts.and_then(|text| text.parse().ok()).unwrap_or_default());
    budget();
    if let Some(folding) = folding() {
        workspan_recorder::fold(folding);
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let from_schedstat = is_set("WORKSPAN_SCHEDSTAT");
    let follow = std::env::var("WORKSPAN_FOLLOW").unwrap_or_default();
    // Children run unrecorded, unless the user asked for them.
    if follow.is_empty() {
        restore_environment();
    }
    free_list::give_back_at_thread_ends();
    fork::look();
    #[cfg(target_arch = "x86_64")]
    waits::look();
    threads::look();
    let folder = PathBuf::from(folder);
    let top: Option<u32> = follow.parse().ok();
    let is_elsewhere = std::env::var("WORKSPAN_WATCH_SCOPE")
        .is_ok_and(|scope| !scope.is_empty() && scope != workspan_recorder::watch_scope());
    let is_watched = |top| !is_elsewhere && watch_request::is_watched(&folder, top);
    let off_cpu = match from_schedstat || top.is_some_and(|top| !is_watched(top)) {
        true => OffCpuTimes::FromSchedstat,
        false => OffCpuTimes::Elsewhere,
    };
    let mut facts = facts(&exe);
    if is_elsewhere {
        facts.push((note_keys::OUTSIDE_WATCH.to_owned(), "yes".to_owned()));
    }
    workspan_recorder::start(&folder, &spool_name(&exe), &facts, off_cpu, &counters);
}

/// Reads the overhead limit.
fn budget() {
    /// The number of tasks that a thread records in full before the limit applies, unless the
    /// variable says otherwise.
    const HELD_TASKS: u32 = 1 << 13;
    let value = std::env::var("WORKSPAN_MAX_OVERHEAD").unwrap_or_default();
    let (most, hold) = value.split_once(':').unwrap_or((&value, ""));
    workspan_recorder::use_at_most(
        most.parse().unwrap_or(0),
        hold.parse().unwrap_or(HELD_TASKS),
    );
}

/// Reads the options of folding.
fn folding() -> Option<Folding> {
    let value = std::env::var("WORKSPAN_FOLD").ok()?;
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let keep = std::env::var("WORKSPAN_KEEP").unwrap_or_default();
    Some(Folding {
        when: match value.as_str() {
            "auto" => FoldWhen::Auto,
            "steals" => FoldWhen::Below(u64::MAX),
            threshold => FoldWhen::Below(threshold.parse().ok()?),
        },
        max_strands: max_strands().unwrap_or(MaxStrands::Unlimited),
        most_bytes: number("WORKSPAN_MAX_SIZE").unwrap_or(256_000_000),
        max_tasks: number("WORKSPAN_FOLD_TASKS").unwrap_or(u64::MAX),
        memory: number("WORKSPAN_MAX_MEMORY").unwrap_or(64_000_000) as usize,
        keep: keep
            .split('\x1f')
            .filter(|site| !site.is_empty())
            .map(str::to_owned)
            .collect(),
    })
}

/// Reads the intended number of strands of the file.
fn max_strands() -> Option<MaxStrands> {
    let value = std::env::var("WORKSPAN_FOLD_STRANDS").ok()?;
    let (scope, strands) = value.split_once(' ')?;
    let strands = strands.parse().ok()?;
    match scope {
        "thread" => Some(MaxStrands::PerThread(strands)),
        "all" => Some(MaxStrands::InAll(strands)),
        _ => None,
    }
}

/// Reads the counters; entries that do not parse are ignored.
fn counters() -> Vec<CounterEvent> {
    let value = std::env::var("WORKSPAN_COUNTERS").unwrap_or_default();
    value
        .split(',')
        .filter_map(|event| {
            let mut parts = event.rsplitn(4, ':');
            let (kernel, config) = (parts.next()? == "1", parts.next()?.parse().ok()?);
            let kind = parts.next()?.parse().ok()?;
            Some(CounterEvent {
                name: parts.next()?.to_owned(),
                kind,
                config,
                kernel,
            })
        })
        .collect()
}

extern "C" fn unloaded() {
    #[cfg(target_arch = "x86_64")]
    waits::log_open();
    workspan_recorder::finish();
}

/// Restores the user's environment.
fn restore_environment() {
    let user = std::env::var_os("WORKSPAN_USER_LD_PRELOAD");
    let ours: Vec<OsString> = std::env::vars_os()
        .map(|(key, _)| key)
        .filter(|key| key.as_bytes().starts_with(b"WORKSPAN_"))
        .collect();
    // SAFETY: the process is being loaded, so it has one thread.
    unsafe {
        for key in ours {
            std::env::remove_var(key);
        }
        match user {
            Some(value) => std::env::set_var("LD_PRELOAD", value),
            None => std::env::remove_var("LD_PRELOAD"),
        }
    }
}

/// The program's file name, adapted for the name of a spool file.
fn spool_name(exe: &Path) -> String {
    let name = exe
        .file_name()
        .unwrap_or(OsStr::new("program"))
        .to_string_lossy();
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// Facts about the run that only the process itself knows.
fn facts(exe: &Path) -> Vec<(String, String)> {
    let read = |path: &str| std::fs::read(path).unwrap_or_default();
    let mut facts = Vec::new();
    let mut fact = |key: &str, value: String| {
        if !value.is_empty() {
            facts.push((key.to_string(), value));
        }
    };
    let arguments = read("/proc/self/cmdline");
    let words: Vec<String> = arguments
        .strip_suffix(b"\0")
        .unwrap_or(&arguments)
        .split(|&b| b == 0)
        .map(quoted)
        .collect();
    fact(
        note_keys::NAME,
        exe.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    );
    fact(note_keys::COMMAND, words.join(" "));
    fact("exe", exe.to_string_lossy().into_owned());
    fact(
        note_keys::PARENT_PROCESS,
        std::os::unix::process::parent_id().to_string(),
    );
    fact(
        note_keys::WORKING_FOLDER,
        std::env::current_dir()
            .map(|d| d.to_string_lossy().into_owned())
            .unwrap_or_default(),
    );
    fact(
        note_keys::HOST,
        String::from_utf8_lossy(&read("/proc/sys/kernel/hostname"))
            .trim()
            .to_string(),
    );
    if let Some(launched) = rank::of_process() {
        fact(note_keys::RANK, launched.rank.to_string());
        fact(
            note_keys::RANKS,
            launched.ranks.map_or(String::new(), |n| n.to_string()),
        );
        fact(note_keys::LAUNCH, launched.launch);
    }
    fact(
        note_keys::CPUS,
        std::thread::available_parallelism()
            .map(|n| n.to_string())
            .unwrap_or_default(),
    );
    facts
}

/// A word of a command line, quoted for a shell.
fn quoted(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%^".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
