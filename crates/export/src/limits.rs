//! What a bound of the speedup says nothing about, in words and as JSON.

use serde_json::{Value as Json, json};
use workspan_analysis::{Limits, RegionShares};
use workspan_dag::Dag;

use crate::page::{Page, Piece, Tone, plain};
use crate::position::{label, place};
use crate::quantity::{share, thousands};
use crate::what_if::json::whole;

/// What a bound assumes, to stand before it: `if nothing blocked, ` or nothing. The bound is then said with `would allow`.
pub(crate) fn assumed(limits: &Limits) -> String {
    let divided = limits
        .shares
        .map(|s| format!("as it was divided among {}", threads(&s)));
    match (limits.blocked, divided) {
        (None, None) => String::new(),
        (None, Some(divided)) => format!("{divided}, "),
        (Some(_), None) => "if nothing blocked, ".into(),
        (Some(_), Some(divided)) => format!("if nothing blocked, and {divided}, "),
    }
}

/// `allows` or, of a program that did something else, `would allow`.
pub(crate) fn allows(limits: &Limits) -> &'static str {
    match limits.blocked {
        Some(_) => "would allow",
        None => "allows",
    }
}

fn threads(shares: &RegionShares) -> String {
    match shares.threads {
        1 => "one thread".into(),
        n => format!("{} threads", thousands(n.into())),
    }
}

/// A sentence or two for each limit; `region` is the label of the region that was divided.
pub(crate) fn sentences(limits: &Limits, region: &str) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    if let Some(shares) = &limits.shares {
        let (each, beyond) = match shares.threads {
            1 => ("all of it for one".to_owned(), "one".to_owned()),
            n => {
                let n = thousands(n.into());
                (format!("one share for each of {n}"), n)
            }
        };
        all.push(vec![
            plain("The region at "),
            (Tone::Path, region.to_owned()),
            plain(format!(
                " was divided by the number of threads, {each}. How it would be divided on more was not recorded: beyond {beyond} this is \
                 no limit of the program. Record it with more threads or, if it is a loop, with schedule(dynamic)."
            )),
        ]);
    }
    if let Some(blocked) = &limits.blocked {
        all.push(vec![plain(format!(
            "Strands were blocked (I/O, locks, channels) for {} of their time. What they waited for was not recorded, so blocking is in \
             no bound.",
            share(blocked.percent())
        ))]);
    }
    all
}

/// The sentences as paragraphs.
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

/// `{"divided_by_threads": …, "blocked": …}`, each null where nothing is limited so.
pub(crate) fn limits_json(dag: &Dag, limits: &Limits) -> Json {
    let divided = limits.shares.map(|s| {
        let at = place(dag, s.region);
        json!({
            "region": label(dag, s.region), "file": at.and_then(|p| p.file.as_deref()), "line": at.and_then(|p| p.line),
            "threads": s.threads, "critical_work": whole(s.critical), "divided_span": whole(s.divided_span),
        })
    });
    json!({ "divided_by_threads": divided, "blocked": blocked(limits) })
}

/// The same without the run: the region is `region`.
pub(crate) fn limits_json_of(limits: &Limits, region: &str) -> Json {
    let divided = limits.shares.map(|s| {
        json!({
            "region": region, "threads": s.threads, "critical_work": whole(s.critical), "divided_span": whole(s.divided_span),
        })
    });
    json!({ "divided_by_threads": divided, "blocked": blocked(limits) })
}

fn blocked(limits: &Limits) -> Option<Json> {
    let percent = |v: f64| crate::compare::ratio_json(v);
    limits
        .blocked
        .map(|b| json!({ "ticks": whole(b.ticks), "percent": percent(b.percent()) }))
}
