//! Expands folded strands. A subtree that was read as one strand is read again from the trace,
//! strand by strand, if the timeline is zoomed in far enough to tell the strands apart, or for the
//! details of one of them.

mod codes;
mod detail;
mod tile;
pub(crate) mod tree;

use workspan_reader::recorded::expand::Expander;

use crate::api_error::ApiError;
use crate::run::Run;
use crate::session::Session;

pub(crate) use detail::{detail, task};
pub(crate) use tile::strands;

/// The expander of the run's trace; `None` if no strand was folded while it was read, or if the
/// file was removed or changed.
fn records<'a>(session: &Session, run: &'a Run) -> Result<Option<&'a Expander>, ApiError> {
    let model = run.model()?;
    let open = || {
        let opened = Expander::open(&run.path, &model.dag, &session.settings.opening);
        opened.ok().flatten()
    };
    Ok(run.records.get_or_init(open).as_ref())
}
