//! How much longer sites and their code took here than in the run on one worker (MODEL.md §6).

use std::collections::BTreeMap;

use workspan_analysis::stretch::{Pair, RowKey, StretchOptions, stretch};
use workspan_analysis::{CodeBlock, Report};
use workspan_dag::{NONE, Place, PlaceId, ROOT_PLACE};

use crate::run::RunModel;

/// Sums of times in the run on one worker and in this one, by the places and codes of this run.
#[derive(Debug, Default)]
pub(super) struct Stretched {
    sites: BTreeMap<PlaceId, Pair>,
    codes: BTreeMap<(PlaceId, u16), Pair>,
}

impl Stretched {
    /// The times of both runs; `None` if the runs can't be compared.
    pub(super) fn new(serial: &RunModel, model: &RunModel, report: &Report) -> Option<Stretched> {
        let options = StretchOptions {
            measured: model.options.clone(),
            ..StretchOptions::default()
        };
        let found = stretch(&serial.dag, &model.dag, report, &options).ok()?;
        // The stretch renumbers the places of both runs. A place is found by its name and its
        // position.
        let mut known: BTreeMap<_, PlaceId> = BTreeMap::new();
        for (id, place) in (0..).zip(&model.dag.places).skip(1) {
            known.entry(name(place)).or_insert(id);
        }
        let own = |place: PlaceId| match found.places.get(place as usize) {
            _ if place == NONE || place == ROOT_PLACE => Some(place),
            Some(at) => known.get(&name(at)).copied(),
            None => None,
        };
        let mut code_of: BTreeMap<CodeBlock, u16> = BTreeMap::new();
        for (number, code) in (0..).zip(&model.codes.all) {
            code_of.extend(code.blocks.iter().map(|&block| (block, number)));
        }
        let mut all = Stretched::default();
        for row in &found.sites {
            if let RowKey::Site(site) = row.key
                && let Some(site) = own(site)
            {
                add(all.sites.entry(site).or_default(), row.time);
            }
        }
        for row in &found.blocks {
            if let RowKey::Block(block) = row.key
                && let Some(block) = block.renumbered(own)
                && let Some(&code) = code_of.get(&block)
            {
                let site = block.site;
                add(all.codes.entry((site, code)).or_default(), row.time);
            }
        }
        Some(all)
    }

    /// The stretch of all own strands of a site's tasks.
    pub(super) fn site(&self, site: PlaceId) -> Option<f64> {
        self.sites.get(&site)?.relative()
    }

    /// The stretch of the site's strands of one code.
    pub(super) fn code(&self, site: PlaceId, code: u16) -> Option<f64> {
        self.codes.get(&(site, code))?.relative()
    }
}

type Name<'a> = (&'a str, Option<u32>, Option<&'a str>);

fn name(place: &Place) -> Name<'_> {
    (&place.label, place.line, place.primitive.as_deref())
}

fn add(sum: &mut Pair, more: Pair) {
    sum.serial += more.serial;
    sum.parallel += more.parallel;
}
