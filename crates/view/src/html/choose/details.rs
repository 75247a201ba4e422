//! Details for the drawer: first of what can be selected first, then of everything else.

use serde_json::Value;
use workspan_dag::StrandId;

use super::Choice;
use crate::answers::summary::show;
use crate::run::Run;

/// Share of the room that may be used once the first details are added.
const FIRST_DETAILS_SHARE: f64 = 0.40;
/// Number of strands of the critical path whose details are added first, the longest ones.
const MAX_CRITICAL_STRANDS: usize = 300;
/// Number of longest instances per site whose details are added first.
const MAX_INSTANCES: usize = 8;
/// Number of further details that are added at a time.
const DETAILS_PER_GROUP: usize = 64;

impl Choice<'_> {
    /// Adds details of what can be selected at once: findings, the critical path, the longest
    /// instances of the sites.
    pub(super) fn first_details(&mut self) {
        for run in &self.session.runs {
            let (Ok(model), Ok(rest)) = (run.model(), run.analyses()) else {
                continue;
            };
            let found = rest.report.causes.findings().into_iter();
            let mut strands: Vec<StrandId> = found.filter_map(|f| show(model, f).strand).collect();
            let mut path = rest.report.work_span.critical_path.clone();
            path.sort_by_key(|&s| (std::cmp::Reverse(model.weight(s)), s));
            strands.extend(path.into_iter().take(MAX_CRITICAL_STRANDS));
            let low = rest.report.low_parallelism.iter();
            strands.extend(low.flat_map(|i| i.strands.iter().map(|s| s.strand)));
            let mut tasks: Vec<u32> = strands
                .iter()
                .map(|&s| model.dag.strands.task[s as usize])
                .collect();
            tasks.extend(self.instances(run));
            let mut keys: Vec<String> = strands.iter().map(|&s| strand_key(run, s)).collect();
            keys.extend(tasks.iter().flat_map(|&t| task_keys(run, t)));
            let sums = |t: &u32| format!("api/v1/tasks?run={}&task={t}", run.id);
            keys.extend(tasks.iter().map(sums));
            self.details_of(keys, FIRST_DETAILS_SHARE);
        }
    }

    pub(super) fn instances(&self, run: &Run) -> Vec<u32> {
        let Some((_, reply)) = self.ask(format!("api/v1/sites?run={}", run.id)) else {
            return Vec::new();
        };
        let sites: Vec<Value> = serde_json::from_slice(reply.bytes()).unwrap_or_default();
        let tasks = sites.iter().flat_map(|site| {
            let longest = site["longest"].as_array().map_or(&[][..], Vec::as_slice);
            longest.iter().take(MAX_INSTANCES)
        });
        tasks
            .filter_map(|i| i["task"].as_u64().map(|t| t as u32))
            .collect()
    }

    /// Adds answers group by group until `share` of the room is used; true if all were added.
    pub(super) fn details_of(&mut self, keys: Vec<String>, share: f64) -> bool {
        for keys in keys.chunks(DETAILS_PER_GROUP) {
            let group = self.group(keys.iter().cloned());
            if self.pack.is_full(share) || !self.pack.may(group, share) {
                return false;
            }
        }
        true
    }

    /// Adds details of everything else, longest strands first; true if all were added.
    pub(super) fn details(&mut self) -> bool {
        let mut all = true;
        for run in &self.session.runs {
            let Ok(model) = run.model() else { continue };
            let strands = &model.dag.strands;
            let mut order: Vec<StrandId> = (0..strands.len() as StrandId).collect();
            let length = |s: StrandId| strands.end[s as usize] - strands.start[s as usize];
            order.sort_by_key(|&s| (std::cmp::Reverse(length(s)), s));
            for some in order.chunks(DETAILS_PER_GROUP) {
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
