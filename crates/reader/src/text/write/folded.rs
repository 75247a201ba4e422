//! A `folded` line.

use super::Writer;
use workspan_dag::folded::Folded;
use workspan_dag::{NONE, PlaceId, StrandId};

impl Writer<'_> {
    pub(super) fn folded(&mut self, s: StrandId, fold: &Folded) {
        self.event("folded", self.dag.strands.start[s as usize], s);
        let sums = [
            ("work", fold.work),
            ("span", fold.span),
            ("ready_integral", fold.ready_integral),
        ];
        let counts = [
            ("tasks", fold.tasks),
            ("spawns", fold.spawns),
            ("syncs", fold.syncs),
            ("strands", fold.strands),
        ];
        for (key, n) in sums.into_iter().chain(counts) {
            self.number(key, n);
        }
        self.number("levels", fold.levels);
        let optional = [
            ("probes", fold.probes),
            ("between", fold.between),
            ("off_cpu", fold.off_cpu),
            ("folding_off_cpu", fold.folding_off_cpu),
        ];
        for (key, n) in optional.into_iter().filter(|&(_, n)| n > 0) {
            self.number(key, n);
        }
        let points: Vec<String> = fold
            .envelope
            .iter()
            .map(|(w, edges)| format!("[{w},{edges}]"))
            .collect();
        self.number("envelope", format!("[{}]", points.join(",")));
        self.put(",\"sites\":[");
        for (i, site) in fold.sites.iter().enumerate() {
            self.put(if i > 0 { ",{\"count\":" } else { "{\"count\":" });
            self.put(&site.count.to_string());
            self.place("site", site.site);
            for (key, n) in [
                ("work", site.work),
                ("span", site.span),
                ("critical_work", site.critical_work),
            ] {
                self.number(key, n);
            }
            self.numbers("lengths", &site.lengths);
            self.put("}");
        }
        self.put("],\"blocks\":[");
        for (i, &(from, to, work)) in fold.blocks.iter().enumerate() {
            self.put(if i > 0 { ",[" } else { "[" });
            for place in [from, to] {
                self.position(place);
                self.put(",");
            }
            self.put(&format!("{work}]"));
        }
        self.put("]");
        self.close();
    }

    pub(super) fn position(&mut self, place: PlaceId) {
        if place == NONE {
            return self.put("null");
        }
        let label = &self.dag.places[place as usize].label;
        if self.by_label.get(label.as_str()) == Some(&place) {
            self.quoted(label);
        } else {
            self.put(&place.to_string());
        }
    }
}
