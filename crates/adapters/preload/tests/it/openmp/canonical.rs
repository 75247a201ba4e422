//! A recorded DAG as a text that does not depend on the schedule.
//!
//! A task is written as its actions in program order, each child at its create, with the name of
//! its spawn site:
//!
//! * `task a { … }` is a deferred child, `inline a { … }` an inline one, `included a { … }` one
//!   that is waited for at once, and `detached a { … }` a detached one. Consecutive equal ones are
//!   written once with their number: `3 * task a { }`.
//! * `after 1,2` behind the name: the task depends on those children of the same parent, counted in
//!   the order of their creation.
//! * `wait` waits for all children, `await 1,2` for those; `tree ( … )` and `group ( … )` extend
//!   from the opening of a scope to its wait; `signal` sets a signal, and `await-signal` waits for
//!   one.
//! * `parallel p x4 { … }` is a region of four implicit tasks. They are written as one, because the
//!   schedule decides which of them does what: first `loop l 8 * { … }`, the chunks of a loop that
//!   the team shared, then `2 * { … }` for tasks that did the same. ` / ` is a barrier; phases
//!   without any action are left out.
//!
//! Chunks of a loop whose name begins with `some-` are written as `some`, whatever their number.
//!
//! A child that is not in the innermost open scope of its parent has `!scope`. Yields, times,
//! threads and the number of strands are left out. Further roots and everything below them follow
//! as `root { … }`.

use std::collections::BTreeMap;
use std::fmt::Write;

use workspan_dag::{Dag, EndKind, NONE, ScopeKind, TaskKind};

/// One action of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Create(u32),
    Open(u32),
    Close(u32),
    Wait,
    Await(Vec<u32>),
    AwaitSignal(usize),
    Signal,
}

/// The largest depth of nested tasks in a test's program.
const DEEPEST: usize = 100;

struct Canonical<'a> {
    dag: &'a Dag,
    /// Names by line of the program.
    names: BTreeMap<u32, String>,
    items: Vec<Vec<Item>>,
    /// Each task's position among its parent's children, from 1.
    ordinal: Vec<usize>,
}

/// The text of a run. Names are the words behind an `@` in the program's lines. A construct is at
/// its pragma's line, or where its own code begins, at most three lines below: that is where a
/// function made from it begins if it needs no frame.
pub fn canonical(dag: &Dag, source: &str) -> String {
    let names = (1..)
        .zip(source.lines())
        .filter_map(|(line, text)| {
            let name = text.split_once('@')?.1;
            Some((line, name.split_whitespace().next()?.to_owned()))
        })
        .collect();
    let mut canonical = Canonical {
        dag,
        names,
        items: items(dag),
        ordinal: vec![0; dag.tasks.len()],
    };
    for items in &canonical.items {
        let children = items.iter().filter_map(|item| match item {
            Item::Create(task) => Some(*task),
            _ => None,
        });
        for (n, task) in (1..).zip(children) {
            canonical.ordinal[task as usize] = n;
        }
    }
    let mut roots = (0..dag.tasks.len() as u32).filter(|&t| dag.tasks.parent[t as usize] == NONE);
    let main = roots.next().map(|t| canonical.body(t, 0));
    let mut text = main.unwrap_or_default();
    for root in roots {
        let body = canonical.body(root, 0);
        if !body.is_empty() {
            let _ = write!(text, " root {{ {body} }}");
        }
    }
    text
}

/// A text without unnecessary spaces.
pub fn squeezed(text: &str) -> String {
    let mut spaced = String::new();
    for c in text.chars() {
        match c {
            '{' | '}' | '(' | ')' | '*' | '/' => {
                let _ = write!(spaced, " {c} ");
            }
            _ => spaced.push(c),
        }
    }
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn items(dag: &Dag) -> Vec<Vec<Item>> {
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    // The actions at each strand's end, in order: (creates before, kind, item).
    let mut at_end: BTreeMap<u32, Vec<(u32, u8, Item)>> = BTreeMap::new();
    for t in 0..tasks.len() as u32 {
        let creator = tasks.creator[t as usize];
        if creator != NONE {
            let rank = tasks.create_rank[t as usize];
            let list = at_end.entry(creator).or_default();
            list.push((rank, 1, Item::Create(t)));
        }
    }
    for (s, scope) in (0..).zip(&dag.scopes) {
        let list = at_end.entry(scope.strand).or_default();
        list.push((scope.creates_before, 0, Item::Open(s)));
    }
    for w in 0..dag.waits.after.len() {
        let before = strands.prev[dag.waits.after[w] as usize];
        let signals = dag.waits.signals.get(w).len();
        let scope = dag.waits.scope[w];
        let item = if scope != NONE {
            Item::Close(scope)
        } else if dag.waits.plain[w] {
            Item::Wait
        } else if signals > 0 {
            Item::AwaitSignal(signals)
        } else {
            Item::Await(dag.waits.tasks.get(w).to_vec())
        };
        let list = at_end.entry(before).or_default();
        list.push((u32::MAX, 2, item));
    }
    for s in 0..strands.len() as u32 {
        if strands.end_kind[s as usize] == EndKind::Signal {
            let list = at_end.entry(s).or_default();
            list.push((u32::MAX, 2, Item::Signal));
        }
    }
    let mut items = vec![Vec::new(); tasks.len()];
    // Strands are in topological order, so each task's are in program order.
    for s in 0..strands.len() as u32 {
        let mut list = at_end.remove(&s).unwrap_or_default();
        list.sort_by_key(|item| (item.0, item.1));
        let of_task = &mut items[strands.task[s as usize] as usize];
        of_task.extend(list.into_iter().map(|item| item.2));
    }
    items
}

/// The actions of a team's tasks, as far as they can be described for all of them together.
#[derive(Default)]
struct Shared {
    /// The bodies of the chunks of each loop.
    loops: BTreeMap<String, Vec<String>>,
    bodies: Vec<String>,
}

impl Canonical<'_> {
    fn name(&self, task: u32) -> String {
        let place = &self.dag.places[self.dag.tasks.site[task as usize] as usize];
        let near = |line: u32| {
            let before = self.names.range(..=line).next_back();
            before
                .filter(|(at, _)| line - **at <= 3)
                .map(|(_, name)| name)
        };
        match place.line.and_then(near) {
            Some(name) => name.clone(),
            None => place.label.clone(),
        }
    }

    fn is(&self, task: u32, primitive: &[&str]) -> bool {
        let place = &self.dag.places[self.dag.tasks.site[task as usize] as usize];
        let named = place.primitive.as_deref();
        self.dag.tasks.kind[task as usize] == TaskKind::Inline
            && named.is_some_and(|named| primitive.contains(&named))
    }

    fn body(&self, task: u32, depth: usize) -> String {
        let mut alone = Shared::default();
        let body = self.tell(task, depth, &mut alone);
        // Outside of a region a loop belongs to one thread.
        format!("{} {body}", loops(&alone)).trim().to_owned()
    }

    /// The actions of a task; loops shared by its team go to `shared`.
    fn tell(&self, task: u32, depth: usize, shared: &mut Shared) -> String {
        assert!(depth < DEEPEST, "tasks are nested too deep");
        let items = &self.items[task as usize];
        let mut lines: Vec<String> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(item) = items.get(at) {
            at += 1;
            if let Item::Open(scope) = *item
                && let Some((end, members)) = self.team(items, at, scope)
            {
                at = end;
                let (text, after) = self.region(items, at, members, depth);
                at = after;
                lines.push(text);
                continue;
            }
            if let Item::Open(scope) = *item
                && let Some((end, chunks)) = self.members(items, at, scope, ScopeKind::Group)
                && chunks.iter().all(|&c| self.is(c, &["loop", "section"]))
            {
                at = end;
                for chunk in chunks {
                    let body = self.body(chunk, depth + 1);
                    shared.loops.entry(self.name(chunk)).or_default().push(body);
                }
                continue;
            }
            lines.push(match item {
                Item::Open(scope) => {
                    open.push(*scope);
                    let kind = self.dag.scopes[*scope as usize].kind;
                    let kind = if kind.is_tree() { "tree" } else { "group" };
                    format!("{kind} (")
                }
                Item::Close(scope) => {
                    let innermost = open.pop() == Some(*scope);
                    if innermost { ")" } else { ") !crossed" }.to_owned()
                }
                Item::Wait => "wait".to_owned(),
                Item::Await(tasks) => format!("await {}", self.ordinals(tasks)),
                Item::AwaitSignal(1) => "await-signal".to_owned(),
                Item::AwaitSignal(n) => format!("await-signal !{n}"),
                Item::Signal => "signal".to_owned(),
                Item::Create(child) => {
                    let included = items.get(at) == Some(&Item::Await(vec![*child]));
                    at += usize::from(included);
                    self.child(*child, included, open.last().copied(), depth)
                }
            });
        }
        counted(lines, |text| text.ends_with('}'))
    }

    fn child(&self, child: u32, included: bool, scope: Option<u32>, depth: usize) -> String {
        let tasks = &self.dag.tasks;
        let kind = match (tasks.kind[child as usize], included) {
            (TaskKind::Inline, true) => "included",
            (TaskKind::Inline, false) => "inline",
            (TaskKind::Detached, _) => "detached",
            (_, true) => "task !awaited",
            (_, false) => "task",
        };
        let mut text = format!("{kind} {}", self.name(child));
        if tasks.scope[child as usize] != scope.unwrap_or(NONE) {
            text.push_str(" !scope");
        }
        if let Ok(d) = self.dag.dependents.binary_search(&child) {
            let _ = write!(text, " after {}", self.ordinals(self.dag.depends.get(d)));
        }
        let body = self.body(child, depth + 1);
        format!("{text} {{ {body} }}")
    }

    fn ordinals(&self, tasks: &[u32]) -> String {
        let mut numbers: Vec<usize> = tasks.iter().map(|&t| self.ordinal[t as usize]).collect();
        numbers.sort_unstable();
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        if numbers.is_empty() {
            "none".to_owned()
        } else {
            numbers.join(",")
        }
    }

    /// The tasks created into a scope, if nothing else happens until the wait for it, and the
    /// position of that wait.
    fn members(
        &self,
        items: &[Item],
        from: usize,
        scope: u32,
        kind: ScopeKind,
    ) -> Option<(usize, Vec<u32>)> {
        let mut members = Vec::new();
        for (at, item) in (from..).zip(&items[from..]) {
            match *item {
                Item::Create(task) if self.dag.tasks.scope[task as usize] == scope => {
                    members.push(task);
                }
                Item::Close(closed)
                    if closed == scope && self.dag.scopes[scope as usize].kind == kind =>
                {
                    return Some((at + 1, members));
                }
                _ => return None,
            }
        }
        None
    }

    /// Like `members`, for a phase of a region.
    fn team(&self, items: &[Item], from: usize, scope: u32) -> Option<(usize, Vec<u32>)> {
        let found = self.members(items, from, scope, ScopeKind::Team)?;
        let members = &found.1;
        let all = !members.is_empty() && members.iter().all(|&m| self.is(m, &["parallel"]));
        all.then_some(found)
    }

    /// A region whose first phase has these members, and the position of its end.
    fn region(
        &self,
        items: &[Item],
        mut at: usize,
        first: Vec<u32>,
        depth: usize,
    ) -> (String, usize) {
        let tasks = &self.dag.tasks;
        let (name, size) = (self.name(first[0]), first.len());
        let site = tasks.site[first[0] as usize];
        let mut phases = vec![self.phase(&first, depth)];
        // The next phase begins for an instant where the wait for this one ended.
        while let Some(&Item::Open(scope)) = items.get(at)
            && let strand = self.dag.scopes[scope as usize].strand as usize
            && self.dag.strands.start[strand] == self.dag.strands.end[strand]
            && let Some((end, members)) = self.team(items, at + 1, scope)
            && tasks.site[members[0] as usize] == site
        {
            phases.push(self.phase(&members, depth));
            at = end;
        }
        let phases: Vec<String> = phases.into_iter().filter(|p| !p.is_empty()).collect();
        let text = format!("parallel {name} x{size} {{ {} }}", phases.join(" / "));
        (text, at)
    }

    fn phase(&self, members: &[u32], depth: usize) -> String {
        let mut shared = Shared::default();
        for &member in members {
            let body = self.tell(member, depth + 1, &mut shared);
            if !body.is_empty() {
                shared.bodies.push(format!("{{ {body} }}"));
            }
        }
        shared.bodies.sort();
        let bodies = std::mem::take(&mut shared.bodies);
        let mut text = loops(&shared);
        let mut at = 0;
        while at < bodies.len() {
            let same = bodies[at..].iter().take_while(|b| **b == bodies[at]);
            let count = same.count();
            let _ = write!(text, " {count} * {}", bodies[at]);
            at += count;
        }
        text.trim().to_owned()
    }
}

/// The chunks of each loop, with equal ones combined.
fn loops(shared: &Shared) -> String {
    let mut text = String::new();
    for (name, chunks) in &shared.loops {
        let mut chunks = chunks.clone();
        chunks.sort();
        let _ = write!(text, " loop {name}");
        for same in chunks.chunk_by(|a, b| a == b) {
            let count = if name.starts_with("some-") {
                "some".to_owned()
            } else {
                same.len().to_string()
            };
            let _ = write!(text, " {count} * {{ {} }}", same[0]);
        }
    }
    text
}

/// Joins texts. Consecutive equal ones for which `may` holds are written once with their number.
fn counted(lines: Vec<String>, may: impl Fn(&str) -> bool) -> String {
    let mut parts = Vec::new();
    for same in lines.chunk_by(|a, b| a == b) {
        if same.len() > 1 && may(&same[0]) {
            parts.push(format!("{} * {}", same.len(), same[0]));
        } else {
            parts.extend(same.iter().cloned());
        }
    }
    parts.join(" ")
}
