//! Chooses the answers in a report: first those that every view needs, then what can be selected
//! first, then the timeline (coarse tiles before fine ones), then exact windows around the findings
//! and the critical path, then details of everything else.

mod details;
mod notes;
mod tiles;
mod what_if;

use std::collections::{BTreeSet, BinaryHeap};

use serde_json::Value;
use workspan_dag::StrandId;

use super::pack::{Group, Pack};
use crate::answer::{Reply, answer};
use crate::answers::source::Files;
use crate::api_error::ApiError;
use crate::dag_view::WithinId;
use crate::run::{Run, RunModel};
use crate::session::{Mode, Session};

/// Share of the room left by the tables that source lines may take.
const SOURCES_SHARE: f64 = 0.10;
/// Share of the room that may be used once the DAG is in.
const DAG_SHARE: f64 = 0.25;

/// Maximum number of items of DAG nodes in a report.
const MAX_NODES: usize = 20_000;
/// Maximum number of sites with sums in a report: the most critical ones.
const MAX_SITES: usize = 24;
/// Number of lines of a source file kept before and after a hot line or a position.
const CONTEXT_LINES: u32 = 6;

pub(super) struct Chosen {
    pub(super) pack: Pack,
    pub(super) notes: Vec<String>,
}

pub(super) fn choose(
    session: &mut Session,
    room: u64,
    whole_sources: bool,
) -> Result<Chosen, ApiError> {
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
    // Tiles finer than this level may be there for a part of the run.
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
        notes: notes::notes(session, finest, &sources, nodes, all_details),
    })
}

struct Choice<'a> {
    session: &'a Session,
    pack: Pack,
    /// Tiles of boxes and arcs that are not cut: (run, kind, level, index). They contain everything
    /// in their time.
    complete: BTreeSet<(String, &'static str, u32, u64)>,
}

impl Choice<'_> {
    /// The answer to a request; `None` if it fails.
    fn ask(&self, key: String) -> Option<(String, Reply)> {
        let reply = answer(self.session, &key).ok()?;
        Some((key, reply))
    }

    fn group(&self, keys: impl IntoIterator<Item = String>) -> Group {
        let mut asked = BTreeSet::new();
        let wanted = keys.into_iter().filter(|key| !self.pack.has(key));
        let wanted = wanted.filter(|key| asked.insert(key.clone()));
        wanted.filter_map(|key| self.ask(key)).collect()
    }

    /// Adds the answers that every view needs.
    fn tables(&mut self) -> Result<(), ApiError> {
        let mut keys = vec!["api/v1/scalability".to_owned()];
        let ids: Vec<&str> = self.session.runs.iter().map(|r| r.id.as_str()).collect();
        for a in &ids {
            for name in ["report", "summary", "sites", "critical", "regions"] {
                keys.push(format!("api/v1/{name}?run={a}"));
            }
            let sites = self.session.run(a).and_then(Run::model);
            let sites = sites.map_or(0, |model| model.sites.places.len());
            keys.extend(
                (0..sites.min(MAX_SITES)).map(|i| format!("api/v1/tasks?run={a}&site={i}")),
            );
            for of in ["all", "critical", "free"] {
                keys.push(format!("api/v1/flame?run={a}&of={of}&recursion=1"));
            }
            // If there are many runs, the others are compared with the first one only.
            for b in ids.iter().filter(|b| *b != a) {
                if ids.len() <= 4 || *a == ids[0] || **b == *ids[0] {
                    keys.push(format!("api/v1/compare?a={a}&b={b}"));
                }
            }
        }
        let group = self.group(keys);
        self.pack.must(group);
        // This answer contains the finest level of the tiles, so it is added last.
        self.pack.reserve(&answer(self.session, "api/v1/meta")?);
        Ok(())
    }

    /// Adds source files; returns the number of files and of lines.
    fn sources(&mut self, whole: bool) -> Result<(usize, usize), ApiError> {
        let (mut files, mut lines) = (0, 0);
        let share = self.pack.with(SOURCES_SHARE);
        for run in &self.session.runs {
            let model = run.model()?;
            for (file, known) in Files::of(model, run.analyses()?).all {
                if self.pack.is_full(share) {
                    break;
                }
                let mut source = known.source(self.session, model, file);
                if !whole {
                    let hot = source.lines.iter().filter(|l| l.samples > 0);
                    let near: BTreeSet<u32> = hot
                        .map(|l| l.line)
                        .chain(known.places)
                        .flat_map(|l| {
                            l.saturating_sub(CONTEXT_LINES)..=l.saturating_add(CONTEXT_LINES)
                        })
                        .collect();
                    source.lines.retain(|l| near.contains(&l.line));
                }
                if source.lines.is_empty() {
                    continue;
                }
                let key = format!("api/v1/source?run={}&file={}", run.id, escape(file));
                let count = source.lines.len();
                let reply = Reply::json(&source)?;
                if self.pack.may(vec![(key, reply)], share) {
                    (files, lines) = (files + 1, lines + count);
                }
            }
        }
        Ok((files, lines))
    }

    /// Adds one tile of each whole run: without it there is no timeline at all.
    fn overview(&mut self) {
        for run in &self.session.runs {
            let top = run.model().map_or(0, RunModel::top_level);
            let group = self.group(self.tile_keys(run, top, 0));
            self.pack.must(group);
        }
    }

    /// Adds the contents of DAG nodes from the root down: half of them along the critical path,
    /// down to single strands, then those with most work.
    fn dag(&mut self) -> Nodes {
        let mut nodes = Nodes::default();
        for run in &self.session.runs {
            let mut wanted = NodeQueue::default();
            wanted.others.push((u64::MAX, "r".to_owned()));
            while let Some(id) = wanted.next(nodes.items) {
                let key = format!("api/v1/dag?run={}&ids={}", run.id, escape(&id));
                let Some((key, reply)) = self.ask(key) else {
                    continue;
                };
                let (items, is_inside) = wanted.see(reply.bytes(), &id);
                let mut group = vec![(key, reply)];
                // The details of tasks in the run's DAG are added elsewhere.
                let within = WithinId::parse(&id);
                if within.is_some() {
                    let details = format!("api/v1/inside_task?run={}&id={}", run.id, escape(&id));
                    group.extend(self.ask(details));
                }
                if nodes.items + items > MAX_NODES || !self.pack.may(group, DAG_SHARE) {
                    return nodes;
                }
                nodes.items += items;
                nodes.folded += usize::from(is_inside && within.is_none_or(|id| id.is_whole()));
            }
        }
        nodes
    }
}

/// What the report contains of the DAG.
#[derive(Debug, Clone, Copy, Default)]
struct Nodes {
    items: usize,
    /// Number of folded strands whose contents are included.
    folded: usize,
}

/// Nodes whose contents can be added but are not yet: their work and ids.
#[derive(Default)]
struct NodeQueue {
    critical: BinaryHeap<(u64, String)>,
    others: BinaryHeap<(u64, String)>,
}

impl NodeQueue {
    /// The next node to add, if there are `items` items already.
    fn next(&mut self, items: usize) -> Option<String> {
        let critical = items < MAX_NODES / 2 || self.critical.peek() > self.others.peek();
        let next = match critical {
            true => self.critical.pop().or_else(|| self.others.pop()),
            false => self.others.pop().or_else(|| self.critical.pop()),
        };
        next.map(|(_, id)| id)
    }

    /// Collects the nodes that can be opened inside a node; returns the node's number of items, and
    /// whether the items are inside a folded strand.
    fn see(&mut self, answer: &[u8], id: &str) -> (usize, bool) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let items = answer["nodes"][id]["items"].as_array();
        let items = items.map_or(&[][..], Vec::as_slice);
        for item in items {
            let list = match item["critical"] {
                Value::Bool(true) => &mut self.critical,
                _ => &mut self.others,
            };
            list.extend(opens(item));
        }
        let is_inside = items.iter().any(|item| item["inner"].is_u64());
        (items.len(), is_inside)
    }
}

/// The work and the id of an item that can be opened: a task, a group, or a folded strand.
fn opens(item: &Value) -> Option<(u64, String)> {
    let (work, id) = if item["kind"] == "strand" {
        let strand = StrandId::try_from(item["id"].as_u64()?).ok()?;
        let work = item["inside"]["work"].as_u64()?;
        (work, WithinId::whole(strand).to_string())
    } else {
        let opens = item["expandable"] == Value::Bool(true);
        let id = item["id"].as_str().filter(|_| opens)?;
        (item["work"].as_u64().unwrap_or(0), id.to_owned())
    };
    Some((work, id))
}

/// Escapes as JavaScript's `encodeURIComponent` does, since the text of the request is the key.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folded strand is a node with an id of its own. A strand that can't be opened is not a
    /// node.
    #[test]
    fn the_critical_path_is_opened_before_the_heaviest() {
        let answer = r#"{"nodes":{"r":{"items":[
            {"kind":"task","id":"t1","expandable":true,"critical":false,"work":900},
            {"kind":"task","id":"t2","expandable":true,"critical":true,"work":10},
            {"kind":"task","id":"t3","expandable":false,"critical":true,"work":999},
            {"kind":"strand","id":7,"critical":true,"inside":{"work":50},"inner":null},
            {"kind":"strand","id":8,"critical":true,"inside":null,"inner":null}]}}}"#;
        let opened = |items: usize| {
            let mut wanted = NodeQueue::default();
            assert_eq!(wanted.see(answer.as_bytes(), "r"), (5, false));
            std::iter::from_fn(move || wanted.next(items)).collect::<Vec<String>>()
        };
        assert_eq!(opened(0), ["s7", "t2", "t1"]);
        assert_eq!(opened(MAX_NODES), ["t1", "s7", "t2"]);
        let inside =
            r#"{"nodes":{"s7":{"items":[{"kind":"strand","id":7,"inside":null,"inner":0}]}}}"#;
        assert_eq!(NodeQueue::default().see(inside.as_bytes(), "s7"), (1, true));
    }

    /// Keys are escaped as by the page's `encodeURIComponent`.
    #[test]
    fn names_are_escaped_as_the_page_does() {
        assert_eq!(escape("src/a b.rs"), "src%2Fa%20b.rs");
        assert_eq!(escape("é&=?#%~'()*!"), "%C3%A9%26%3D%3F%23%25~'()*!");
        assert_eq!(escape("g5.0.100"), "g5.0.100");
    }
}
