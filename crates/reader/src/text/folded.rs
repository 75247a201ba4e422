//! The `folded` line; its keys are documented in [`crate::text`].

use super::line::Line;
use super::places::Places;
use super::value::Value;
use workspan_dag::Error;
use workspan_dag::NONE;
use workspan_dag::folded::{Folded, FoldedSite};

/// The largest number of points of an envelope.
const MAX_POINTS: usize = 8;
/// The largest number of items of `lengths`: a task takes fewer than 2^64 ticks.
const MAX_LENGTHS: usize = 64;

/// Reads the record of a `folded` line.
pub(super) fn read(line: &Line<'_>, places: &mut Places) -> Result<Folded, Error> {
    let mut fold = Folded {
        work: line.whole("work")?,
        span: line.whole("span")?,
        envelope: Vec::new(),
        tasks: line.whole("tasks")?,
        spawns: line.whole("spawns")?,
        syncs: line.whole("syncs")?,
        strands: line.whole("strands")?,
        levels: line.small("levels")?,
        sites: Vec::new(),
        blocks: Vec::new(),
        ready_integral: line.whole("ready_integral")?,
        probes: line.whole_or("probes", 0)?,
        between: line.whole_or("between", 0)?,
        off_cpu: line.whole_or("off_cpu", 0)?,
        folding_off_cpu: line.whole_or("folding_off_cpu", 0)?,
        source: None,
    };
    for point in line.list("envelope")? {
        match point {
            Value::List(pair) => {
                match pair[..] {
                    [Value::Whole(weight), Value::Whole(edges)] if edges < u64::from(u32::MAX) => {
                        fold.envelope.push((weight, edges as u32));
                    }
                    _ => return line.fail(
                        "`envelope` holds something else; expected pairs [weight, burdened edges]",
                    ),
                }
            }
            other => {
                return line.fail(format!(
                    "`envelope` holds {other}; expected pairs [weight, burdened edges]"
                ));
            }
        }
    }
    if fold.envelope.len() > MAX_POINTS {
        return line.fail(format!(
            "`envelope` has {} points; expected at most {MAX_POINTS}",
            fold.envelope.len()
        ));
    }
    for value in line.list("sites")? {
        let site = line.inner(value, "sites")?;
        let lengths = site.wholes("lengths")?;
        if lengths.len() > MAX_LENGTHS {
            return site.fail(format!(
                "`lengths` has {} items; expected at most {MAX_LENGTHS}",
                lengths.len()
            ));
        }
        fold.sites.push(FoldedSite {
            site: match places.named(&site, "site", "site_place")? {
                Some(place) => place,
                None => places.of("?"),
            },
            count: site.whole("count")?,
            work: site.whole("work")?,
            span: site.whole("span")?,
            critical_work: site.whole("critical_work")?,
            lengths,
        });
    }
    fold.sites.sort_by_key(|s| s.site);
    for value in line.list("blocks")? {
        match value {
            Value::List(block) => match &block[..] {
                [from, to, Value::Whole(work)] => {
                    let (from, to) = (position(line, from, places)?, position(line, to, places)?);
                    fold.blocks.push((from, to, *work));
                }
                _ => {
                    return line
                        .fail("`blocks` holds something else; expected lists [from, to, work]");
                }
            },
            other => {
                return line.fail(format!(
                    "`blocks` holds {other}; expected lists [from, to, work]"
                ));
            }
        }
    }
    fold.blocks.sort_unstable();
    Ok(fold)
}

fn position(line: &Line<'_>, value: &Value<'_>, places: &mut Places) -> Result<u32, Error> {
    match value {
        Value::Null => Ok(NONE),
        Value::Text(label) => Ok(places.of(label)),
        &Value::Whole(index) => places.indexed(line, "blocks", index),
        other => line.fail(format!(
            "`blocks` has the position {other}; expected a label, an index or null"
        )),
    }
}
