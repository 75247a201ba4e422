//! The timeline: coarse tiles before fine ones, then exact windows around the findings and the
//! critical path.

use serde_json::Value;

use super::Choice;
use crate::answers::summary::show;
use crate::run::{Run, RunModel};
use crate::timeline::TILE_BINS;

/// Shares of the room that may be used once the tiles, and then the windows, are added.
const TILES_SHARE: f64 = 0.80;
const WINDOWS_SHARE: f64 = 0.92;
/// Levels with more tiles than this are not added as a whole.
const MAX_TILES: u64 = 512;

impl Choice<'_> {
    /// Adds tiles of all runs, level by level from the whole run down; returns the finest level
    /// that is complete.
    pub(super) fn levels(&mut self) -> u32 {
        let tops: Vec<u32> = self
            .session
            .runs
            .iter()
            .map(|run| run.model().map_or(0, RunModel::top_level))
            .collect();
        let mut finest = tops.iter().copied().max().unwrap_or(0);
        for depth in 0..64 {
            let mut any = false;
            for (run, &top) in self.session.runs.iter().zip(&tops) {
                let Some(level) = top.checked_sub(depth) else {
                    continue;
                };
                let Ok(model) = run.model() else { continue };
                let last = (model.elapsed() / TILE_BINS) >> level;
                if last >= MAX_TILES {
                    continue;
                }
                any = true;
                let keys = (0..=last).flat_map(|i| self.tile_keys(run, level, i));
                let keys: Vec<String> = keys.collect();
                if !self.tiles(run, keys, TILES_SHARE) {
                    return finest;
                }
            }
            if !any {
                break;
            }
            finest = tops
                .iter()
                .map(|top| top.saturating_sub(depth))
                .max()
                .unwrap_or(0);
        }
        finest
    }

    /// The requests for one tile, without those that a coarser, uncut tile already answers.
    pub(super) fn tile_keys(&self, run: &Run, level: u32, index: u64) -> Vec<String> {
        let id = &run.id;
        let mut keys = vec![
            format!("api/v1/profile?run={id}&level={level}&index={index}"),
            format!("api/v1/rows?run={id}&level={level}&index={index}"),
            format!("api/v1/path?run={id}&kind=critical&level={level}&index={index}"),
            format!("api/v1/path?run={id}&kind=ready&level={level}&index={index}"),
        ];
        let waits = run.timeline().is_ok_and(|index| index.waits.told() > 0);
        for kind in ["strands", "arcs", "waits"] {
            if kind == "waits" && !waits {
                continue;
            }
            let above = (level + 1..64).any(|l| {
                self.complete
                    .contains(&(id.clone(), kind, l, index >> (l - level)))
            });
            if !above {
                keys.push(format!(
                    "api/v1/{kind}?run={id}&level={level}&index={index}"
                ));
            }
        }
        keys
    }

    pub(super) fn tiles(&mut self, run: &Run, keys: Vec<String>, share: f64) -> bool {
        let group = self.group(keys);
        let mut whole = Vec::new();
        for (key, reply) in &group {
            if let Some((kind, level, index)) = boxes(key)
                && is_whole(reply.bytes())
            {
                whole.push((run.id.clone(), kind, level, index));
            }
        }
        let taken = !self.pack.is_full(share) && self.pack.may(group, share);
        if taken {
            self.complete.extend(whole);
        }
        taken
    }

    /// Adds finer tiles around the findings and the longest strands of the critical path.
    pub(super) fn windows(&mut self) {
        for run in &self.session.runs {
            let (Ok(model), Ok(rest)) = (run.model(), run.analyses()) else {
                continue;
            };
            let found = rest.report.causes.findings().into_iter();
            let mut windows: Vec<(u64, u64)> = found
                .map(|f| {
                    let show = show(model, f);
                    (show.t0, show.t1)
                })
                .collect();
            let mut path = rest.report.work_span.critical_path.clone();
            path.sort_by_key(|&s| (std::cmp::Reverse(model.weight(s)), s));
            for s in path.into_iter().take(16) {
                let i = s as usize;
                let start = model.dag.strands.start[i] - model.begin;
                windows.push((start, model.dag.strands.end[i] - model.begin));
            }
            for (t0, t1) in windows {
                if !self.window(run, model, (t0, t1)) {
                    return;
                }
            }
        }
    }

    /// Adds a window at the level at which it is about one tile wide, at the next finer one, and at
    /// the coarser ones that show its surroundings.
    pub(super) fn window(&mut self, run: &Run, model: &RunModel, (t0, t1): (u64, u64)) -> bool {
        let bins = (t1 - t0) / TILE_BINS + 1;
        let own = bins.next_power_of_two().trailing_zeros();
        let finest = own.saturating_sub(1);
        for level in (finest..=(own + 2).min(model.top_level())).rev() {
            let last = (model.elapsed() / TILE_BINS) >> level;
            let of = |t: u64| ((t / TILE_BINS) >> level).min(last);
            let keys = (of(t0)..=of(t1)).flat_map(|i| self.tile_keys(run, level, i));
            let keys: Vec<String> = keys.collect();
            if !self.tiles(run, keys, WINDOWS_SHARE) {
                return false;
            }
        }
        true
    }
}

/// The kind, level and index in a request for boxes or arcs.
fn boxes(key: &str) -> Option<(&'static str, u32, u64)> {
    let (name, query) = key.strip_prefix("api/v1/")?.split_once('?')?;
    let kind = ["strands", "arcs", "waits"]
        .into_iter()
        .find(|k| *k == name)?;
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|pair| pair.0 == name).map(|pair| pair.1)
    };
    Some((
        kind,
        value("level")?.parse().ok()?,
        value("index")?.parse().ok()?,
    ))
}

/// Whether the planes are not cut, so that they contain everything in their time.
fn is_whole(planes: &[u8]) -> bool {
    let header = planes.get(4..8).and_then(|length| {
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        serde_json::from_slice::<Value>(planes.get(8..8 + length)?).ok()
    });
    header.is_some_and(|header| header["truncated"] == Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_boxes_and_arcs_are_told_whole() {
        assert_eq!(
            boxes("api/v1/strands?run=a&level=3&index=12"),
            Some(("strands", 3, 12))
        );
        assert_eq!(boxes("api/v1/rows?run=a&level=3&index=12"), None);
        assert!(!is_whole(b"WSPV"));
    }
}
