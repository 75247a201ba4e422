//! Formats checked limits: a line for each, and for a broken one the place to look at.

use serde_json::json;
use workspan_analysis::compare::{Amount, Limit, LimitKind, LimitResult, Noise, Reason, Where};
use workspan_dag::ROOT_PLACE;

use super::change::{noise_key, signed_time};
use super::json::{ns_json, place_json, position_json, ratio_json};
use super::names::{names, ns};
use crate::CompareOptions;
use crate::json::document;
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::position::{end_words, owner_words, short_function, start_words};
use crate::quantity::{NBSP, ratio, share};

/// The limits as text, broken ones first. `section` is the section that was measured, for instance
/// `region:solve`; `None` for whole runs.
pub fn check_text(
    checked: &[LimitResult],
    section: Option<&str>,
    options: &CompareOptions,
) -> String {
    let mut page = Page::new(options.width, options.color, options.charset);
    let broken = checked.iter().filter(|c| c.broken).count();
    let sentence = match (broken, checked.len()) {
        (0, 1) => "The limit is kept.".to_string(),
        (0, n) => format!("All {n} limits are kept."),
        (_, 1) => "The limit is broken.".to_string(),
        (1, n) => format!("1 of {n} limits is broken."),
        (b, n) => format!("{b} of {n} limits are broken."),
    };
    let prefix = section.map(|section| plain(format!("Of {section} alone: ")));
    let words: Vec<Piece> = prefix.into_iter().chain([strong(sentence)]).collect();
    page.prose("", 0, &words);
    for one in checked
        .iter()
        .filter(|c| c.broken)
        .chain(checked.iter().filter(|c| !c.broken))
    {
        line(&mut page, one);
    }
    page.finish()
}

fn line(page: &mut Page, one: &LimitResult) {
    let (word, tone) = if one.broken {
        ("  broken ", Tone::Bad)
    } else {
        ("  kept   ", Tone::Strong)
    };
    let words = [(tone, name(one.limit)), plain(bound_words(one))];
    page.prose(word, 9, &words);
    if let Some(place) = &one.place {
        page.prose("         > ", 11, &place_words(place));
    }
}

/// ` 1.44 (limit: at least 8.00)`, and whether it is within the noise.
pub(super) fn bound_words(one: &LimitResult) -> String {
    let verb = match one.limit.kind() {
        LimitKind::AtLeast => "at least",
        LimitKind::AtMost | LimitKind::Growth(_) => "at most",
    };
    let noise = match one.noise {
        Some(Noise::Within) => {
            "; beyond the limit, but within the noise of the runs, so it counts as kept"
        }
        Some(Noise::Unknown) => "; with one run per side, it is unknown whether that is noise",
        _ => "",
    };
    format!(
        " {} (limit: {verb} {}){noise}",
        amount(one.limit, one.measured),
        amount(one.limit, one.limit.bound())
    )
}

pub(super) fn name(limit: Limit) -> String {
    match limit {
        Limit::MinParallelism(_) => "parallelism".into(),
        Limit::MinBurdenedParallelism(_) => "burdened parallelism".into(),
        Limit::MinSpeedupBound(Some(n), _) => format!("speedup bound on {n} workers"),
        Limit::MinSpeedupBound(None, _) => "speedup bound".into(),
        Limit::MaxElapsed(_) => "elapsed".into(),
        Limit::MaxDelay(_) => "delay".into(),
        Limit::MaxNoWork(_) => "no work".into(),
        Limit::MaxRegression(_) => "elapsed against the baseline".into(),
        Limit::MaxWorkGrowth(_) => "work against the baseline".into(),
        Limit::MaxSpanGrowth(_) => "span against the baseline".into(),
    }
}

fn amount(limit: Limit, v: f64) -> String {
    match limit {
        Limit::MinParallelism(_)
        | Limit::MinBurdenedParallelism(_)
        | Limit::MinSpeedupBound(..) => ratio(v),
        Limit::MaxElapsed(_) => ns(v),
        Limit::MaxDelay(Amount::Time(_)) | Limit::MaxNoWork(Amount::Time(_)) => ns(v),
        Limit::MaxDelay(Amount::Share(_)) | Limit::MaxNoWork(Amount::Share(_)) => {
            format!("{:.1}{NBSP}%", v * 100.0)
        }
        Limit::MaxRegression(_) | Limit::MaxWorkGrowth(_) | Limit::MaxSpanGrowth(_) => {
            if v.is_finite() {
                format!("{:+.1}{NBSP}%", v * 100.0)
            } else {
                "from zero".into()
            }
        }
    }
}

pub(super) fn place_words(place: &Where) -> Vec<Piece> {
    let dag = names(&place.places);
    let mut words = Vec::new();
    match place.block {
        Some(b) => {
            let many = b.site != ROOT_PLACE;
            words.extend(owner_words(&dag, b.site, many));
            words.push(plain(", from "));
            words.extend(start_words(&dag, &b, many));
            let inside = [b.from, b.to, b.site]
                .into_iter()
                .filter(|&id| id != ROOT_PLACE)
                .find_map(|id| place.places.get(id as usize)?.function.as_deref());
            if let Some(function) = inside {
                words.push(plain(format!(" (`{}`)", short_function(function))));
            }
            words.push(plain(" to "));
            words.extend(end_words(&dag, &b, many));
        }
        None => words.extend(owner_words(&dag, place.site, true)),
    }
    let part = if place.whole > 0.0 {
        share(place.amount * 100.0 / place.whole)
    } else {
        String::new()
    };
    let why = match place.reason {
        Reason::Critical => format!(": {part} of the span"),
        Reason::Alone => format!(" ran alone for {} of the elapsed time", part),
        Reason::Ready => format!(" waited longest while ready, {} in all", ns(place.amount)),
        Reason::CriticalGrowth => {
            format!(": {} on the critical path", signed_time(place.amount))
        }
        Reason::WorkGrowth => format!(": {} of work", signed_time(place.amount)),
    };
    words.push(plain(why));
    words
}

/// The limits as one JSON object, followed by a newline. `unit` says whether `measured` and `bound`
/// are ratios, nanoseconds, or fractions (0.05 is 5 %). `section` is the section that was measured,
/// for instance `region:solve`; `None` for whole runs.
pub fn check_json(checked: &[LimitResult], section: Option<&str>) -> String {
    let limits: Vec<_> = checked
        .iter()
        .map(|one| {
            let unit = match one.limit {
                Limit::MaxElapsed(_)
                | Limit::MaxDelay(Amount::Time(_))
                | Limit::MaxNoWork(Amount::Time(_)) => "ns",
                Limit::MinParallelism(_)
                | Limit::MinBurdenedParallelism(_)
                | Limit::MinSpeedupBound(..) => "ratio",
                _ => "fraction",
            };
            json!({
                "limit": one.limit.name(), "unit": unit, "bound": ratio_json(one.limit.bound()),
                "measured": ratio_json(one.measured), "broken": one.broken, "noise": one.noise.map(noise_key),
                "place": one.place.as_ref().map(place),
            })
        })
        .collect();
    let root = json!({
        "workspan_check": 1, "only": section, "broken": checked.iter().filter(|c| c.broken).count(), "limits": limits,
    });
    document(&root)
}

fn place(place: &Where) -> serde_json::Value {
    let dag = names(&place.places);
    let reason = match place.reason {
        Reason::Critical => "critical",
        Reason::Alone => "alone",
        Reason::Ready => "ready",
        Reason::CriticalGrowth => "critical_growth",
        Reason::WorkGrowth => "work_growth",
    };
    json!({
        "site": place_json(&dag, place.site),
        "block": place.block.map(|b| position_json(&dag, &b)),
        "reason": reason, "amount_ns": ns_json(place.amount), "whole_ns": ns_json(place.whole),
    })
}
