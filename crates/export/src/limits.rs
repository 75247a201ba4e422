//! Says what a speedup bound does not account for, as text and as JSON.

use serde_json::{Value as Json, json};
use workspan_analysis::{Limits, ThreadShares};
use workspan_dag::Dag;

use crate::page::{Page, Piece, Tone, plain};
use crate::position::{label, place};
use crate::quantity::{share, thousands};
use crate::what_if::json::whole;

/// The assumption behind a bound, as a prefix: `if nothing blocked, `, or an empty string.
pub(crate) fn assumed(limits: &Limits) -> String {
    let divided = limits
        .shares
        .map(|s| format!("divided among {} as it was", threads(&s)));
    let blocked = match limits.lock {
        // The bound includes the lock.
        Some(_) => "if its threads waited for nothing but the lock",
        None => "if nothing blocked",
    };
    match (limits.blocked, divided) {
        (None, None) => String::new(),
        (None, Some(divided)) => format!("{divided}, "),
        (Some(_), None) => format!("{blocked}, "),
        (Some(_), Some(divided)) => format!("{blocked}, and {divided}, "),
    }
}

fn threads(shares: &ThreadShares) -> String {
    match shares.threads {
        1 => "one thread".into(),
        n => format!("{} threads", thousands(n.into())),
    }
}

/// One paragraph for each limit. `region` is the label of the divided region.
pub(crate) fn sentences(limits: &Limits, region: &str) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    if let Some(shares) = &limits.shares {
        let (each, beyond) = match shares.threads {
            1 => (
                "all of it for one thread".to_owned(),
                "one thread".to_owned(),
            ),
            n => {
                let n = thousands(n.into());
                (format!("one share for each of {n}"), format!("{n} threads"))
            }
        };
        let (what, record) = match shares.are_started {
            true => ("The work of the threads started at ", "more threads"),
            false => (
                "The region at ",
                "more threads or, if it is a loop, with schedule(dynamic)",
            ),
        };
        all.push(vec![
            plain(what),
            (Tone::Path, region.to_owned()),
            plain(format!(
                " was divided by the number of threads, {each}. How it would be divided among more threads is not known, so it \
                limits the program only up to {beyond}. To know more, record it with {record}."
            )),
        ]);
    }
    if let Some(blocked) = &limits.blocked {
        all.push(vec![plain(format!(
            "Strands were blocked (I/O, locks, channels) for {} of their time. {}",
            share(blocked.percent()),
            match limits.lock {
                Some(_) if blocked.connected > 0 => "The bounds follow a wait for a signal to the thread that gave it, and include the time for which the most \
                contended lock was held while others waited for it. They include no other blocked time.",
                None if blocked.connected > 0 => "The bounds follow a wait for a signal to the thread that gave it. They include no other blocked time.",
                Some(_) => "The bounds include the time for which the most contended lock was held while others waited for it, and no other \
                blocked time.",
                None if blocked.is_explained => "No bound includes blocked time.",
                None => "What they waited for was not recorded, so no bound includes blocked time.",
            }
        ))]);
    }
    all
}

/// Writes the paragraphs of [`sentences`] as warnings.
pub(crate) fn show(page: &mut Page, limits: &Limits, region: &str) {
    for words in sentences(limits, region) {
        let words: Vec<Piece> = words
            .into_iter()
            .map(|(tone, text)| match tone {
                Tone::Path => (tone, text),
                _ => (Tone::Bad, text),
            })
            .collect();
        page.prose("  ! ", 4, &words);
    }
}

/// The label of the region that was divided by the number of threads.
pub(crate) fn region<'a>(dag: &'a Dag, limits: &Limits) -> &'a str {
    limits.shares.map_or("?", |s| label(dag, s.region))
}

/// What was divided, in JSON.
fn whole_name(shares: &ThreadShares) -> &'static str {
    match shares.are_started {
        true => "threads",
        false => "region",
    }
}

/// `{"divided_by_threads": …, "blocked": …}`. Each is null if it does not limit the bound.
pub(crate) fn limits_json(dag: &Dag, limits: &Limits) -> Json {
    let divided = limits.shares.map(|s| {
        let at = place(dag, s.region);
        json!({
            "of": whole_name(&s), "region": label(dag, s.region), "file": at.and_then(|p| p.file.as_deref()), "line": at.and_then(|p| p.line),
            "threads": s.threads, "critical_work": whole(s.critical), "divided_span": whole(s.divided_span),
        })
    });
    with_order(
        json!({ "divided_by_threads": divided, "blocked": blocked(limits), "lock_held": lock_held(limits) }),
        limits,
    )
}

/// Adds the span without the order in which locks were taken, if it differs.
fn with_order(mut object: Json, limits: &Limits) -> Json {
    if let Some(span) = limits.span_without_lock_order {
        object["span_without_lock_order"] = whole(span);
    }
    object
}

/// Like [`limits_json`], but with the label of the region as an argument.
pub(crate) fn limits_json_of(limits: &Limits, region: &str) -> Json {
    let divided = limits.shares.map(|s| {
        json!({
            "of": whole_name(&s), "region": region, "threads": s.threads, "critical_work": whole(s.critical), "divided_span": whole(s.divided_span),
        })
    });
    with_order(
        json!({ "divided_by_threads": divided, "blocked": blocked(limits), "lock_held": lock_held(limits) }),
        limits,
    )
}

fn lock_held(limits: &Limits) -> Option<Json> {
    limits.lock.map(|lock| json!({ "ticks": whole(lock.held) }))
}

fn blocked(limits: &Limits) -> Option<Json> {
    let percent = |v: f64| crate::compare::ratio_json(v);
    limits
        .blocked
        .map(|b| json!({ "ticks": whole(b.ticks), "percent": percent(b.percent()) }))
}
