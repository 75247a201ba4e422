//! The standstill at the end of a run: who waited for what.

use workspan_analysis::{Standstill, WaitKind, WaitingThread};
use workspan_dag::Dag;

use super::View;
use super::code::at_line;
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::position::{label, owner_words};
use crate::quantity::thousands;

/// Maximum number of threads listed.
const MAX_THREADS: usize = 4;

/// The paragraphs about the standstill, if there was one; `bullet` precedes the first.
pub(super) fn show(view: &View, page: &mut Page, bullet: &str) {
    let Some(standstill) = &view.report.standstill else {
        return;
    };
    let count = standstill.threads.len();
    let mut words = vec![
        strong(format!(
            "The program stood still for its last {}:",
            view.time(standstill.ticks as f64)
        )),
        plain(match count {
            1 => " no thread used a CPU, and one waited in a task.".to_owned(),
            n => format!(
                " no thread used a CPU, and {} waited in tasks.",
                thousands(n as u128)
            ),
        }),
    ];
    for &(site, tasks) in standstill.never_began.iter().take(1) {
        let count = match tasks {
            1 => " One task created at ".to_owned(),
            n => format!(" {} tasks created at ", thousands(n.into())),
        };
        words.push(plain(count));
        words.push((Tone::Path, label(view.dag, site).to_owned()));
        words.push(plain(" had not begun."));
    }
    page.prose(bullet, 4, &words);
    for waiting in standstill.threads.iter().take(MAX_THREADS) {
        page.prose("    ", 6, &thread(view.dag, waiting));
    }
    if count > MAX_THREADS {
        page.prose(
            "    ",
            6,
            &[plain(format!("{} more threads wait.", count - MAX_THREADS))],
        );
    }
    let mut words = vec![strong("Remedy: ")];
    words.extend(remedy(view.dag, standstill));
    page.prose("    ", 4, &words);
}

/// `Thread 0 (hang): the task created at src/main.rs:27 waits for a lock in `count` …`
fn thread(dag: &Dag, waiting: &WaitingThread) -> Vec<Piece> {
    let name = dag.meta.thread_names.get(waiting.thread as usize);
    let mut words = vec![plain(match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("Thread {} ({name}): ", waiting.thread),
        None => format!("Thread {}: ", waiting.thread),
    })];
    words.extend(task(dag, waiting.task));
    words.push(plain(match waiting.kind {
        WaitKind::Lock | WaitKind::Bridge => " waits for a lock",
        WaitKind::Channel => " waits for a channel",
        WaitKind::Condition => " waits for another thread's signal",
        WaitKind::Barrier => " waits at a barrier",
        WaitKind::Io => " waits for I/O",
        WaitKind::Sleep => " sleeps",
        WaitKind::Rank => " waits for another rank",
        WaitKind::Other => " waits",
    }));
    if let Some(at) = &waiting.at {
        words.push(plain(" in "));
        words.extend(at_line(&at.function, at.file.as_deref(), at.line));
    }
    words.push(plain("."));
    if let Some(&(below, place)) = waiting.below.first() {
        words.push(plain(" Below it on this thread, "));
        words.extend(task(dag, below));
        words.push(plain(" is in the join at "));
        words.push((Tone::Path, label(dag, place).to_owned()));
        words.push(plain(", and cannot go on before this wait ends."));
    }
    words
}

fn task(dag: &Dag, task: u32) -> Vec<Piece> {
    let site = dag.tasks.site.get(task as usize).copied();
    owner_words(dag, site.unwrap_or(workspan_dag::ROOT_PLACE), false)
}

fn remedy(dag: &Dag, standstill: &Standstill) -> Vec<Piece> {
    if let Some(waiting) = standstill.lock_above_join()
        && let Some(&(_, place)) = waiting.below.first()
    {
        return vec![
            plain("If the lock was taken before the join at "),
            (Tone::Path, label(dag, place).to_owned()),
            plain(
                ", release it before: a join runs other tasks on its thread, and one that takes the same lock waits for itself.",
            ),
        ];
    }
    if !standstill.never_began.is_empty() {
        return vec![plain(
            "Wait for tasks by a join or scope, not by a channel or condition: while every worker waits, nobody runs the tasks behind them in the queue.",
        )];
    }
    let locks = standstill.threads.iter();
    let locks = locks.filter(|waiting| matches!(waiting.kind, WaitKind::Lock | WaitKind::Bridge));
    if locks.count() > 1 {
        return vec![plain(
            "Take locks in the same order everywhere: each thread that holds one of these locks waits for another one.",
        )];
    }
    vec![plain(
        "Look at the code that should have ended these waits.",
    )]
}
