//! The result of a check, for people, programs and GitHub Actions.

use serde_json::json;

use super::{GrownSite, QuantityCheck};
use crate::history::series::time;

/// One line per quantity, followed by the sites to look at if the quantity is worse.
pub(crate) fn lines(all: &[QuantityCheck]) -> String {
    let mut text = String::new();
    for checked in all {
        let of = |value: f64| checked.quantity.shown(value);
        text.push_str(&format!(
            "{:<6}  {:<24}  {:>11}   usually {} ± {} in {} runs, {} {}\n",
            if checked.is_worse { "WORSE" } else { "usual" },
            checked.quantity.title(),
            of(checked.measured),
            of(checked.usual.mean),
            of(checked.usual.deviation),
            checked.usual.runs,
            if checked.limit < checked.usual.mean {
                "at least"
            } else {
                "at most"
            },
            of(checked.limit),
        ));
        for site in &checked.sites {
            text.push_str(&format!("        look at {}\n", grown(site)));
        }
    }
    text
}

fn grown(site: &GrownSite) -> String {
    let what = if site.is_of_work {
        "work"
    } else {
        "time on the critical path"
    };
    let now = time(site.measured);
    if site.usual.runs == 0 {
        return format!("{}: {now} of {what}; the site is new", site.site.label);
    }
    format!(
        "{}: {now} of {what}, usually {} ± {}",
        site.site.label,
        time(site.usual.mean),
        time(site.usual.deviation)
    )
}

/// One object with stable keys.
pub(crate) fn json(all: &[QuantityCheck]) -> String {
    let checked = all.iter().map(|checked| {
        let sites = checked.sites.iter().map(|site| {
            json!({
                "label": site.site.label, "file": site.site.file, "line": site.site.line, "measured": site.measured,
                "usual": site.usual.mean, "deviation": site.usual.deviation, "runs": site.usual.runs,
            })
        });
        json!({
            "quantity": checked.quantity.key(), "measured": checked.measured, "usual": checked.usual.mean,
            "deviation": checked.usual.deviation, "runs": checked.usual.runs, "set_aside": checked.usual.set_aside,
            "limit": checked.limit, "worse": checked.is_worse, "sites": sites.collect::<Vec<_>>(),
        })
    });
    format!("{:#}\n", json!({"checked": checked.collect::<Vec<_>>()}))
}

/// One annotation per quantity that is worse, at the line that grew most.
pub(crate) fn annotations(all: &[QuantityCheck]) -> String {
    let mut text = String::new();
    for checked in all.iter().filter(|checked| checked.is_worse) {
        let of = |value: f64| checked.quantity.shown(value);
        let first = checked.sites.first();
        let file = first.and_then(|site| site.site.file.as_deref());
        let place = file.map_or(String::new(), |file| {
            let line = first.and_then(|site| site.site.line).unwrap_or(1);
            format!(" file={},line={line}", escaped(file).replace(',', "%2C"))
        });
        let mut message = format!(
            "{} is {}, usually {} ± {} in {} runs",
            checked.quantity.title(),
            of(checked.measured),
            of(checked.usual.mean),
            of(checked.usual.deviation),
            checked.usual.runs
        );
        for site in &checked.sites {
            message.push_str(&format!("; {}", grown(site)));
        }
        text.push_str(&format!("::error{place}::{}\n", escaped(&message)));
    }
    text
}

/// Escapes the characters that may not occur in a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
