//! Walks the tree of nodes, without recursion, and adds tasks, strands and scopes to the trace.

use std::collections::VecDeque;

use workspan_dag::folded::Folded;
use workspan_dag::meta::Steals;
use workspan_dag::raw::{RawEnd, RawScope, RawStrand, RawTask, RawTrace};
use workspan_dag::{Error, NONE, ROOT_PLACE, ScopeKind, TaskKind};

use super::layout::{File, Node, NodeKind};
use super::places::Places;

/// A task or section whose children are being visited.
struct OpenNode {
    node: usize,
    next: usize,
    end: usize,
    /// The section's scope; `None` for a task.
    scope: Option<u32>,
}

/// A created task that is visited later.
struct CreatedTask {
    node: usize,
    task: u32,
    /// The thread that created it.
    by: u32,
}

struct Walk<'a> {
    file: &'a File<'a>,
    raw: &'a mut RawTrace,
    places: Places,
    /// The nodes that were visited.
    seen: Vec<bool>,
    created: VecDeque<CreatedTask>,
    /// The thread of the create that ended the last strand of the current task.
    after_create: Option<u32>,
    /// The number of children, and of continuations, that another worker ran.
    moved_children: u64,
    moved_continuations: u64,
    /// The number of folded nodes that several workers ran.
    shared_folds: u64,
}

/// Fills `raw` from the tree.
///
/// # Errors
/// A node is in a wrong place, or is the child of two nodes.
pub(super) fn walk(file: &File, raw: &mut RawTrace) -> Result<(), Error> {
    let mut walk = Walk {
        file,
        raw,
        places: Places::new(),
        seen: vec![false; file.len()],
        created: VecDeque::new(),
        after_create: None,
        moved_children: 0,
        moved_continuations: 0,
        shared_folds: 0,
    };
    walk.raw.tasks.push(RawTask {
        number: 0,
        parent: NONE,
        kind: TaskKind::Root,
        site: ROOT_PLACE,
        scope: NONE,
    });
    let root = file.node(0)?;
    walk.created.push_back(CreatedTask {
        node: 0,
        task: 0,
        by: root.first_worker,
    });
    while let Some(next) = walk.created.pop_front() {
        walk.task(&next)?;
    }
    walk.finish()
}

impl Walk<'_> {
    fn finish(self) -> Result<(), Error> {
        if let Some(lost) = self.seen.iter().position(|seen| !seen) {
            let what = "belongs to no task; expected a tree of all nodes";
            return Err(self.file.fault(lost, what));
        }
        // Thieves take the side that was taken more often.
        if self.moved_continuations > self.moved_children {
            self.raw.meta.steals = Steals::Continuation;
        }
        if self.shared_folds > 0 {
            self.raw.meta.warnings.push(format!(
                "Folded subtrees that ran on several workers: {}. Each is shown on the worker on which it began, so the \
                breakdown by worker is not exact; work and span are.",
                self.shared_folds
            ));
        }
        self.raw.counters.retain(|(_, values)| !values.is_empty());
        self.raw.places = self.places.list;
        Ok(())
    }

    /// Node `i`, which must not have been visited before.
    fn take(&mut self, i: usize) -> Result<Node, Error> {
        let node = self.file.node(i)?;
        if std::mem::replace(&mut self.seen[i], true) {
            let what = "is the child of two nodes; expected a tree";
            return Err(self.file.fault(i, what));
        }
        Ok(node)
    }

    /// The children of a task or section; empty for a folded one.
    fn children(&self, i: usize, node: &Node) -> Result<std::ops::Range<usize>, Error> {
        let (from, to) = node.children;
        if from == to {
            return Ok(0..0);
        }
        let (first, last) = (self.at(i, from)?, self.at(i, to - 1)?);
        if last < first {
            let what = format!("has children {first} to {last}; expected them in order");
            return Err(self.file.fault(i, what));
        }
        Ok(first..last + 1)
    }

    /// The node at this distance behind node `i`.
    fn at(&self, i: usize, distance: i64) -> Result<usize, Error> {
        let found = usize::try_from(distance).ok().filter(|&d| d > 0);
        let found = found.and_then(|d| i.checked_add(d));
        found.filter(|&at| at < self.file.len()).ok_or_else(|| {
            let what = format!("has a child {distance} nodes away; expected one behind it");
            self.file.fault(i, what)
        })
    }

    fn task(&mut self, created: &CreatedTask) -> Result<(), Error> {
        let (i, task) = (created.node, created.task);
        let node = self.take(i)?;
        if node.kind != NodeKind::Task {
            return Err(self.file.fault(i, "is created; expected a task"));
        }
        self.moved_children += u64::from(node.first_worker != created.by);
        self.after_create = None;
        let children = self.children(i, &node)?;
        if children.is_empty() {
            return self.folded(task, i, &node, RawEnd::End, 0);
        }
        let mut open = vec![OpenNode {
            node: i,
            next: children.start,
            end: children.end,
            scope: None,
        }];
        while let Some(top) = open.last_mut() {
            if top.next == top.end {
                open.pop();
                continue;
            }
            let child = top.next;
            top.next += 1;
            let (scope, parent, is_last) = (top.scope, top.node, top.next == top.end);
            let node = self.take(child)?;
            if is_last != (node.kind == last_kind(scope)) {
                let what = "is not closed by its last child; expected a wait at the end of a section, an end at that of a task";
                return Err(self.file.fault(parent, what));
            }
            match (node.kind, scope) {
                (NodeKind::Create, Some(scope)) => self.create(task, child, &node, scope)?,
                (NodeKind::Wait, Some(scope)) => {
                    self.strand(task, child, &node, RawEnd::WaitScope(scope))?;
                }
                (NodeKind::Other, _) => drop(self.strand(task, child, &node, RawEnd::Yield)?),
                (NodeKind::End, None) => drop(self.strand(task, child, &node, RawEnd::End)?),
                (NodeKind::Section, _) => {
                    let opened = self.scope(task, child);
                    let children = self.children(child, &node)?;
                    if children.is_empty() {
                        self.folded(task, child, &node, RawEnd::WaitScope(opened), 1)?;
                    } else {
                        open.push(OpenNode {
                            node: child,
                            next: children.start,
                            end: children.end,
                            scope: Some(opened),
                        });
                    }
                }
                (NodeKind::Create | NodeKind::Wait | NodeKind::End | NodeKind::Task, _) => {
                    let what = "stands where none of its kind can: creates and waits are in sections, ends in tasks, tasks in creates";
                    return Err(self.file.fault(child, what));
                }
            }
        }
        Ok(())
    }

    /// A scope that the next strand opens.
    fn scope(&mut self, task: u32, node: usize) -> u32 {
        let scope = self.raw.scopes.len() as u32;
        self.raw.scopes.push(RawScope {
            number: node as u64,
            kind: ScopeKind::Group,
            opener: task,
            strand: self.raw.strands.len() as u32,
        });
        scope
    }

    fn create(&mut self, task: u32, i: usize, node: &Node, scope: u32) -> Result<(), Error> {
        let child = self.raw.tasks.len() as u32;
        let at = self.at(i, node.children.0)?;
        let site = self.places.of(self.file, i, node.to)?;
        let strand = self.strand(task, i, node, RawEnd::Create(child))?;
        let site = if site == NONE { self.unknown() } else { site };
        self.raw.tasks.push(RawTask {
            number: at as u64,
            parent: task,
            kind: TaskKind::Deferred,
            site,
            scope,
        });
        let by = self.raw.strands.thread[strand as usize];
        self.after_create = Some(by);
        self.created.push_back(CreatedTask {
            node: at,
            task: child,
            by,
        });
        Ok(())
    }

    /// The site of tasks if no names are known.
    fn unknown(&mut self) -> u32 {
        if self.places.list.len() == 1 {
            self.places.list.push(workspan_dag::Place {
                label: "?".into(),
                ..workspan_dag::Place::default()
            });
        }
        1
    }

    fn strand(&mut self, task: u32, i: usize, node: &Node, end: RawEnd) -> Result<u32, Error> {
        let thread = node.worker.unwrap_or(node.first_worker);
        let at = match end {
            RawEnd::End => NONE,
            _ => self.places.of(self.file, i, node.to)?,
        };
        let strand = self.raw.strands.len() as u32;
        let counted = node.counters.iter().any(|&c| c > 0);
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start: node.start,
            end: node.end,
            end_op: end,
            at,
            keep: counted,
        });
        if let Some(by) = self.after_create.take() {
            self.moved_continuations += u64::from(by != thread);
        }
        if counted {
            self.count(strand, &node.counters);
        }
        Ok(strand)
    }

    fn count(&mut self, strand: u32, counters: &[u64; 4]) {
        if self.raw.counters.is_empty() {
            let names = (0..counters.len()).map(|c| (format!("counter-{c}"), Vec::new()));
            self.raw.counters = names.collect();
        }
        for (column, &value) in self.raw.counters.iter_mut().zip(counters) {
            if value > 0 {
                column.1.push((strand, value));
            }
        }
    }

    /// A strand that stands for everything inside of a task or section. `closing` waits are the
    /// strand's own.
    fn folded(
        &mut self,
        task: u32,
        i: usize,
        node: &Node,
        end: RawEnd,
        closing: u64,
    ) -> Result<(), Error> {
        self.shared_folds += u64::from(node.worker.is_none());
        let strand = self.strand(task, i, node, end)?;
        let [creates, waits, others, ends] = node.intervals;
        let site = match self.raw.tasks[task as usize].site {
            ROOT_PLACE => self.places.of(self.file, i, node.from)?,
            site => site,
        };
        let first_wait = node.start.saturating_sub(node.ready);
        let record = Folded {
            work: node.work,
            span: node.span.min(node.work),
            envelope: vec![(node.span.min(node.work), 0)],
            tasks: creates,
            spawns: creates,
            syncs: waits.saturating_sub(closing),
            strands: [waits, others, ends]
                .iter()
                .fold(creates, |sum, &n| sum.saturating_add(n)),
            levels: u32::from(creates > 0),
            ready_integral: node.ready_ticks.saturating_sub(first_wait),
            blocks: vec![(site, self.places.of(self.file, i, node.to)?, node.work)],
            between: (node.end - node.start).saturating_sub(node.work),
            off_cpu: 0,
            folding_off_cpu: 0,
            ..Folded::default()
        };
        self.raw.folded.push(strand, &record);
        self.raw.strands.keep(strand as usize);
        Ok(())
    }
}

/// The kind of a section's or a task's last child.
fn last_kind(scope: Option<u32>) -> NodeKind {
    match scope {
        Some(_) => NodeKind::Wait,
        None => NodeKind::End,
    }
}
