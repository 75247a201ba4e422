//! Which answers a report carries: what every view needs first, then what can be selected first, then the timeline, coarse tiles
//! before fine ones, then exact windows around the findings and the critical path, then details of everything else.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use workspan_dag::StrandId;

use super::pack::{Group, Pack};
use crate::answer::{Reply, answer};
use crate::answers::source::names;
use crate::answers::summary::show;
use crate::failure::Failure;
use crate::run::{Picture, Run};
use crate::session::{Mode, Session};
use crate::timeline::TILE_BINS;

/// Shares of the room that may be used once the parts are in, one after the other.
const SOURCES: f64 = 0.10;
const WHAT_IF: f64 = 0.15;
const DAG: f64 = 0.25;
const FIRST_DETAILS: f64 = 0.40;
const TILES: f64 = 0.80;
const WINDOWS: f64 = 0.92;

/// Codes, and spawn sites, whose what-if is carried: those that weigh most on the critical path.
const MOST_WHAT_IF: usize = 6;
/// In longer runs fewer, since each takes as long as measuring the run some ten times.
const LONG_RUN: usize = 1_000_000;
/// What the page asks for (`FACTORS` of ui/src/whatif/choice.ts), all together and, for the path, each alone.
const FACTORS: [u32; 8] = [2, 4, 8, 16, 50, 100, 200, 400];
/// Items of the DAG's insides that are carried at most.
const MOST_NODES: usize = 5000;
/// Strands of the critical path whose details come first, longest first.
const MOST_CRITICAL: usize = 300;
/// Longest instances of each site whose details come first.
const MOST_INSTANCES: usize = 8;
/// A single level of more tiles is no overview.
const MOST_TILES: u64 = 512;
/// Further details are carried one group at a time.
const GROUP: usize = 64;
/// Lines of a source file around what is hot or a position.
const AROUND: u32 = 6;

pub(super) struct Chosen {
    pub(super) pack: Pack,
    pub(super) notes: Vec<String>,
}

pub(super) fn choose(
    session: &mut Session,
    room: u64,
    whole_sources: bool,
) -> Result<Chosen, Failure> {
    let mut choice = Choice {
        session,
        pack: Pack::new(room),
        complete: BTreeSet::new(),
    };
    choice.tables()?;
    let sources = choice.sources(whole_sources)?;
    choice.overview();
    choice.what_if();
    let nodes = choice.dag();
    choice.first_details();
    let finest = choice.levels();
    choice.windows();
    let all_details = choice.details();
    let Choice { pack, .. } = choice;
    // What is finer than the whole run's tiles is told by the tiles themselves.
    session.mode = Mode::Report {
        finest_level: finest,
    };
    let mut pack = pack;
    pack.must(vec![(
        "api/v1/meta".into(),
        answer(session, "api/v1/meta")?,
    )]);
    session.mode = Mode::Server;
    Ok(Chosen {
        pack,
        notes: notes(session, finest, &sources, nodes, all_details),
    })
}

struct Choice<'a> {
    session: &'a Session,
    pack: Pack,
    /// Tiles of boxes and arcs that hold all there is in their time: (run, kind, level, index).
    complete: BTreeSet<(String, &'static str, u32, u64)>,
}

impl Choice<'_> {
    /// The answer to a request, when there is one.
    fn ask(&self, key: String) -> Option<(String, Reply)> {
        let reply = answer(self.session, &key).ok()?;
        Some((key, reply))
    }

    fn group(&self, keys: impl IntoIterator<Item = String>) -> Group {
        let wanted = keys.into_iter().filter(|key| !self.pack.has(key));
        wanted.filter_map(|key| self.ask(key)).collect()
    }

    /// What every view needs.
    fn tables(&mut self) -> Result<(), Failure> {
        let mut keys = vec!["api/v1/scalability".to_owned()];
        let ids: Vec<&str> = self.session.runs.iter().map(|r| r.id.as_str()).collect();
        for a in &ids {
            for name in ["report", "summary", "sites", "critical", "regions"] {
                keys.push(format!("api/v1/{name}?run={a}"));
            }
            // Of many runs, the first is what others are compared with.
            for b in ids.iter().filter(|b| *b != a) {
                if ids.len() <= 4 || *a == ids[0] || **b == *ids[0] {
                    keys.push(format!("api/v1/compare?a={a}&b={b}"));
                }
            }
        }
        let group = self.group(keys);
        self.pack.must(group);
        // It tells how far the tiles go, so it is taken last.
        self.pack.reserve(&answer(self.session, "api/v1/meta")?);
        Ok(())
    }

    /// Source files; how many, and of how many lines.
    fn sources(&mut self, whole: bool) -> Result<(usize, usize), Failure> {
        let (mut files, mut lines) = (0, 0);
        for run in &self.session.runs {
            let picture = run.picture()?;
            for (file, places) in names(&picture.dag) {
                let Ok(mut source) = crate::answers::source::source(self.session, run, file) else {
                    continue;
                };
                if !whole {
                    let hot = source.lines.iter().filter(|l| l.samples > 0);
                    let near: BTreeSet<u32> = hot
                        .map(|l| l.line)
                        .chain(places)
                        .flat_map(|l| l.saturating_sub(AROUND)..=l.saturating_add(AROUND))
                        .collect();
                    source.lines.retain(|l| near.contains(&l.line));
                }
                if source.lines.is_empty() {
                    continue;
                }
                let key = format!("api/v1/source?run={}&file={}", run.id, escape(file));
                let count = source.lines.len();
                let reply = Reply::json(&source)?;
                if self.pack.may(vec![(key, reply)], SOURCES) {
                    (files, lines) = (files + 1, lines + count);
                }
            }
        }
        Ok((files, lines))
    }

    /// The whole run in one tile: without it there is no timeline at all.
    fn overview(&mut self) {
        for run in &self.session.runs {
            let top = run.picture().map_or(0, Picture::top_level);
            let group = self.group(self.tile_keys(run, top, 0));
            self.pack.must(group);
        }
    }

    /// What is asked first in What-if: the code and the spawn sites of the critical path, each alone.
    fn what_if(&mut self) {
        for run in &self.session.runs {
            let (Ok(picture), Ok(rest)) = (run.picture(), run.rest()) else {
                continue;
            };
            let most = if picture.dag.strands.len() > LONG_RUN {
                1
            } else {
                MOST_WHAT_IF
            };
            let mut critical = vec![0u128; picture.codes.all.len()];
            for &s in &rest.report.work_span.critical_path {
                critical[usize::from(picture.codes.of(s))] += u128::from(picture.facts.weight(s));
            }
            let mut codes: Vec<usize> = (0..critical.len()).filter(|&c| critical[c] > 0).collect();
            codes.sort_by_key(|&c| (std::cmp::Reverse(critical[c]), c));
            let codes = codes.into_iter().map(|code| format!("code:{code}"));
            let sites = rest.report.sites.iter().filter(|row| row.critical_work > 0);
            let sites = sites.map(|row| format!("site:{}", row.site));
            let all = FACTORS.map(|factor| factor.to_string());
            for what in codes.take(most).chain(sites.take(most)) {
                let alone = all.iter().skip(1).cloned();
                let keys = std::iter::once(all.join(",")).chain(alone).map(|factors| {
                    let (what, factors) = (escape(&what), escape(&factors));
                    format!("api/v1/whatif?run={}&what={what}&factors={factors}", run.id)
                });
                let group = self.group(keys);
                if !self.pack.may(group, WHAT_IF) {
                    break;
                }
            }
        }
    }

    /// Insides of the DAG's nodes, from the root down, heaviest first within a node; how many items.
    fn dag(&mut self) -> usize {
        let mut items = 0;
        for run in &self.session.runs {
            let mut wanted = VecDeque::from(["r".to_owned()]);
            while let Some(id) = wanted.pop_front() {
                let key = format!("api/v1/dag?run={}&ids={}", run.id, escape(&id));
                let Some((key, reply)) = self.ask(key) else {
                    continue;
                };
                let (count, inside) = insides(reply.bytes(), &id);
                items += count;
                if items > MOST_NODES || !self.pack.may(vec![(key, reply)], DAG) {
                    return items.min(MOST_NODES);
                }
                wanted.extend(inside);
            }
        }
        items
    }

    /// What can be selected at once: findings, the critical path, the longest instances of the sites.
    fn first_details(&mut self) {
        for run in &self.session.runs {
            let (Ok(picture), Ok(rest)) = (run.picture(), run.rest()) else {
                continue;
            };
            let found = rest.report.causes.findings().iter();
            let mut strands: Vec<StrandId> =
                found.filter_map(|f| show(picture, f).strand).collect();
            let mut path = rest.report.work_span.critical_path.clone();
            path.sort_by_key(|&s| (std::cmp::Reverse(picture.facts.weight(s)), s));
            strands.extend(path.into_iter().take(MOST_CRITICAL));
            let low = rest.report.low_parallelism.iter();
            strands.extend(low.flat_map(|i| i.strands.iter().map(|s| s.strand)));
            let mut tasks: Vec<u32> = strands
                .iter()
                .map(|&s| picture.dag.strands.task[s as usize])
                .collect();
            tasks.extend(self.instances(run));
            let mut keys: Vec<String> = strands.iter().map(|&s| strand_key(run, s)).collect();
            keys.extend(tasks.iter().flat_map(|&t| task_keys(run, t)));
            self.details_of(keys, FIRST_DETAILS);
        }
    }

    fn instances(&self, run: &Run) -> Vec<u32> {
        let Some((_, reply)) = self.ask(format!("api/v1/sites?run={}", run.id)) else {
            return Vec::new();
        };
        let sites: Vec<Value> = serde_json::from_slice(reply.bytes()).unwrap_or_default();
        let tasks = sites.iter().flat_map(|site| {
            let longest = site["longest"].as_array().map_or(&[][..], Vec::as_slice);
            longest.iter().take(MOST_INSTANCES)
        });
        tasks
            .filter_map(|i| i["task"].as_u64().map(|t| t as u32))
            .collect()
    }

    /// Takes answers group by group until `share` is used; true when all are in.
    fn details_of(&mut self, keys: Vec<String>, share: f64) -> bool {
        for keys in keys.chunks(GROUP) {
            let group = self.group(keys.iter().cloned());
            if self.pack.is_full(share) || !self.pack.may(group, share) {
                return false;
            }
        }
        true
    }

    /// Tiles of all runs, level by level from the whole run down; the finest level that is there for all of it.
    fn levels(&mut self) -> u32 {
        let tops: Vec<u32> = self
            .session
            .runs
            .iter()
            .map(|run| run.picture().map_or(0, Picture::top_level))
            .collect();
        let mut finest = tops.iter().copied().max().unwrap_or(0);
        for depth in 0..64 {
            let mut any = false;
            for (run, &top) in self.session.runs.iter().zip(&tops) {
                let Some(level) = top.checked_sub(depth) else {
                    continue;
                };
                let Ok(picture) = run.picture() else { continue };
                let last = (picture.elapsed() / TILE_BINS) >> level;
                if last >= MOST_TILES {
                    continue;
                }
                any = true;
                let keys = (0..=last).flat_map(|i| self.tile_keys(run, level, i));
                let keys: Vec<String> = keys.collect();
                if !self.tiles(run, keys, TILES) {
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

    /// The requests a tile's place in time has, without those that a coarser tile already answers whole.
    fn tile_keys(&self, run: &Run, level: u32, index: u64) -> Vec<String> {
        let id = &run.id;
        let mut keys = vec![
            format!("api/v1/profile?run={id}&level={level}&index={index}"),
            format!("api/v1/rows?run={id}&level={level}&index={index}"),
            format!("api/v1/path?run={id}&kind=critical&level={level}&index={index}"),
            format!("api/v1/path?run={id}&kind=ready&level={level}&index={index}"),
        ];
        for kind in ["strands", "arcs"] {
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

    fn tiles(&mut self, run: &Run, keys: Vec<String>, share: f64) -> bool {
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

    /// Finer tiles where the findings are, and around the longest strands of the critical path.
    fn windows(&mut self) {
        for run in &self.session.runs {
            let (Ok(picture), Ok(rest)) = (run.picture(), run.rest()) else {
                continue;
            };
            let found = rest.report.causes.findings().iter();
            let mut windows: Vec<(u64, u64)> = found
                .map(|f| {
                    let show = show(picture, f);
                    (show.t0, show.t1)
                })
                .collect();
            let mut path = rest.report.work_span.critical_path.clone();
            path.sort_by_key(|&s| (std::cmp::Reverse(picture.facts.weight(s)), s));
            for s in path.into_iter().take(16) {
                let i = s as usize;
                let start = picture.dag.strands.start[i] - picture.begin;
                windows.push((start, picture.dag.strands.end[i] - picture.begin));
            }
            for (t0, t1) in windows {
                if !self.window(run, picture, (t0, t1)) {
                    return;
                }
            }
        }
    }

    /// A window at the level at which it is about a tile wide, and at those above that its surroundings are seen at.
    fn window(&mut self, run: &Run, picture: &Picture, (t0, t1): (u64, u64)) -> bool {
        let bins = (t1 - t0) / TILE_BINS + 1;
        let own = bins.next_power_of_two().trailing_zeros();
        let finest = own.saturating_sub(1);
        for level in (finest..=(own + 2).min(picture.top_level())).rev() {
            let last = (picture.elapsed() / TILE_BINS) >> level;
            let of = |t: u64| ((t / TILE_BINS) >> level).min(last);
            let keys = (of(t0)..=of(t1)).flat_map(|i| self.tile_keys(run, level, i));
            let keys: Vec<String> = keys.collect();
            if !self.tiles(run, keys, WINDOWS) {
                return false;
            }
        }
        true
    }

    /// Details of everything else, longest strands first; true when all are in.
    fn details(&mut self) -> bool {
        let mut all = true;
        for run in &self.session.runs {
            let Ok(picture) = run.picture() else { continue };
            let strands = &picture.dag.strands;
            let mut order: Vec<StrandId> = (0..strands.len() as StrandId).collect();
            let length = |s: StrandId| strands.end[s as usize] - strands.start[s as usize];
            order.sort_by_key(|&s| (std::cmp::Reverse(length(s)), s));
            for some in order.chunks(GROUP) {
                let keys = some.iter().flat_map(|&s| {
                    let task = strands.task[s as usize];
                    std::iter::once(strand_key(run, s)).chain(task_keys(run, task))
                });
                if !self.details_of(keys.collect(), 1.0) {
                    all = false;
                    break;
                }
            }
        }
        all
    }
}

fn strand_key(run: &Run, strand: StrandId) -> String {
    format!("api/v1/strand?run={}&id={strand}", run.id)
}

fn task_keys(run: &Run, task: u32) -> [String; 2] {
    [
        format!("api/v1/task?run={}&id={task}", run.id),
        format!("api/v1/ancestors?run={}&task={task}", run.id),
    ]
}

/// Kind, level and index of a request for boxes or arcs.
fn boxes(key: &str) -> Option<(&'static str, u32, u64)> {
    let (name, query) = key.strip_prefix("api/v1/")?.split_once('?')?;
    let kind = ["strands", "arcs"].into_iter().find(|k| *k == name)?;
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

/// Whether planes hold all there is in their time.
fn is_whole(planes: &[u8]) -> bool {
    let header = planes.get(4..8).and_then(|length| {
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        serde_json::from_slice::<Value>(planes.get(8..8 + length)?).ok()
    });
    header.is_some_and(|header| header["truncated"] == Value::Bool(false))
}

/// The number of items inside a node, and the nodes among them that can be opened, critical and heavy ones first.
fn insides(answer: &[u8], id: &str) -> (usize, Vec<String>) {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let items = answer["nodes"][id]["items"].as_array();
    let items = items.map_or(&[][..], Vec::as_slice);
    let mut inside: Vec<(bool, u64, String)> = items
        .iter()
        .filter(|item| item["expandable"] == Value::Bool(true))
        .filter_map(|item| {
            let id = item["id"].as_str()?.to_owned();
            let critical = item["critical"] == Value::Bool(true);
            Some((critical, item["work"].as_u64().unwrap_or(0), id))
        })
        .collect();
    inside.sort_by(|a, b| (b.0, b.1, &a.2).cmp(&(a.0, a.1, &b.2)));
    (items.len(), inside.into_iter().map(|i| i.2).collect())
}

/// As JavaScript's `encodeURIComponent` writes it, since the request's text is the key.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn notes(
    session: &Session,
    finest: u32,
    &(files, lines): &(usize, usize),
    nodes: usize,
    all_details: bool,
) -> Vec<String> {
    let first = session.runs.first().and_then(|run| run.picture().ok());
    let ns = first.map_or(0.0, |picture| {
        let rate = picture.dag.meta.ticks_per_second.max(1) as f64;
        2f64.powi(finest as i32) / rate * 1e9
    });
    let mut notes = vec![format!(
        "Detail: the whole run in steps of {}, finer around the findings and the critical path; {nodes} items of the DAG.",
        length(ns)
    )];
    notes.push(match (files, all_details) {
        (0, _) => "No source lines are inside.".to_owned(),
        (1, _) => format!("{lines} source lines of 1 file are inside: mind whom you send it to."),
        _ => format!("{lines} source lines of {files} files are inside: mind whom you send it to."),
    });
    if !all_details {
        notes.push("Not every task's details are inside; --budget carries more.".to_owned());
    }
    notes
}

fn length(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are what the page's `encodeURIComponent` makes.
    #[test]
    fn names_are_escaped_as_the_page_does() {
        assert_eq!(escape("src/a b.rs"), "src%2Fa%20b.rs");
        assert_eq!(escape("é&=?#%~'()*!"), "%C3%A9%26%3D%3F%23%25~'()*!");
        assert_eq!(escape("g5.0.100"), "g5.0.100");
    }

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
