//! Lines about strands inside a task: regions, parts, folds.

use super::Events;
use crate::text::folded;
use crate::text::line::Line;
use crate::text::value::Quoted;
use workspan_dag::Error;
use workspan_dag::NONE;
use workspan_dag::raw::RawRegion;

impl Events {
    pub(super) fn label(&mut self, text: &str) -> u32 {
        if let Some(&label) = self.labels.get(text) {
            return label;
        }
        let label = self.raw.labels.len() as u32;
        self.raw.labels.push(text.to_owned());
        self.labels.insert(text.to_owned(), label);
        label
    }

    pub(super) fn region_begin(&mut self, line: &mut Line<'_>, part: bool) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let label = self.label(line.text(if part { "part" } else { "region" })?);
        let tree = part || line.flag("tree")?;
        let list = if part {
            &mut self.raw.parts
        } else {
            &mut self.raw.regions
        };
        self.open_regions
            .entry((task, label, part))
            .or_default()
            .push(list.len() as u32);
        list.push(RawRegion {
            label,
            task,
            tree,
            begin: (strand, t),
            end: (NONE, 0),
        });
        self.task_states[task as usize].t = t;
        Ok(())
    }

    pub(super) fn region_end(&mut self, line: &mut Line<'_>, part: bool) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        let key = if part { "part" } else { "region" };
        let name = line.text(key)?;
        let open = self
            .labels
            .get(name)
            .and_then(|&label| self.open_regions.get_mut(&(task, label, part))?.pop());
        let Some(open) = open else {
            return line.fail(format!("`{key}_end` of {}, which this task has not open; expected a `{key}_begin` of it before", Quoted(name)));
        };
        let list = if part {
            &mut self.raw.parts
        } else {
            &mut self.raw.regions
        };
        list[open as usize].end = (strand, t);
        self.task_states[task as usize].t = t;
        Ok(())
    }

    pub(super) fn folded(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let (task, strand, t) = self.inside(line)?;
        if self.task_states[task as usize].folded == strand {
            return line.fail("a second `folded` line in one strand; expected at most one");
        }
        let fold = folded::read(line, &mut self.places)?;
        self.raw.folded.push(strand, &fold);
        self.raw.strands.keep(strand as usize);
        let state = &mut self.task_states[task as usize];
        state.folded = strand;
        state.t = t;
        Ok(())
    }
}
