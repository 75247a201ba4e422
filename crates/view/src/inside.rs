//! Inside folded strands: a subtree that was read as one strand is read again from the trace,
//! strand by strand, where the timeline is zoomed in far enough to tell them apart, and for the
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

/// The run's trace, to look into; `None` where nothing was folded while it was read, or the file is
/// no longer there as it was.
fn records<'a>(session: &Session, run: &'a Run) -> Result<Option<&'a Expander>, ApiError> {
    let picture = run.picture()?;
    let open = || {
        let opened = Expander::open(&run.path, &picture.dag, &session.settings.opening);
        opened.ok().flatten()
    };
    Ok(run.records.get_or_init(open).as_ref())
}
