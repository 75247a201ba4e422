//! Text traces, version 1 (TEXT_TRACE.md): JSON Lines in and out.
//!
//! [`read`] checks everything that the format requires, and its errors name line, task and what was
//! expected. [`write()`] writes a trace that reads back to the same [`Dag`]. To preserve all data
//! of a recorded trace, the exporter uses additional keys, which other readers ignore:
//!
//! * header: `cpus`, `recorded`, `facts` (a list of `{"key":…,"value":…}`), `warnings` (a list of
//!   texts), and `places` if labels alone do not distinguish positions: a list of `{"label":…}`
//!   with `file`, `line`, `function`, `primitive`, `source`, `reporter` where known, the root's
//!   first. Places are then named by index if their label is ambiguous: `site_place` beside `site`,
//!   `at_place` beside `at`.
//! * `"scope":null` in a `create`: in no scope, though the task has one open. `"victim":null` and
//!   `"task":null` in a `steal`: unknown.
//! * `"keep":true` in a `resume` after a create: a strand of no length that is not merged into the
//!   one before (as it results from a repaired trace).
//! * a `folded` line (MODEL.md §7) is inside an open strand and says that this strand stands for a
//!   whole subtree: `t`, `w`, `task`; `work`, `span`, `ready_integral` in ticks; `envelope`, a list
//!   of `[path weight, burdened edges on it]`; `tasks`, `spawns`, `syncs`, `strands`, `levels`;
//!   `probes` and `between` in ticks, each 0 if left out; `sites`, a list of
//!   `{"site":…,"count":…,"work":…,"span":…, "critical_work":…,"lengths":[…]}`; `blocks`, a list of
//!   `[from, to, work]`, each position a label, an index into the header's `places` (0 is always
//!   the root), or null if unknown.

mod events;
mod finish;
mod folded;
mod header;
mod line;
mod places;
mod value;
mod write;

pub use write::write;

use crate::open::OpenOptions;
use workspan_dag::Dag;
use workspan_dag::Error;

/// The mark that some editors put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Checks that the bytes can be the beginning of a text trace: the first line, once it is complete,
/// must be a header.
///
/// # Errors
/// The errors of [`read`] for the header.
pub(crate) fn begin(bytes: &[u8]) -> Result<(), Error> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match bytes.iter().position(|&b| b == b'\n') {
        Some(end) => events::Events::new(&bytes[..end]).map(drop),
        None => Ok(()),
    }
}

/// Reads a text trace.
///
/// # Errors
/// Everything TEXT_TRACE.md lists, as [`Error::Text`].
pub fn read(bytes: &[u8]) -> Result<Dag, Error> {
    read_with(bytes, &OpenOptions::default())
}

/// [`read`] for a `&str`.
///
/// # Errors
/// The same as for [`read`].
pub fn read_str(text: &str) -> Result<Dag, Error> {
    read(text.as_bytes())
}

/// Like [`read`]. With [`OpenOptions::allow_truncated`], the lines before the first bad one are
/// read, open items are closed, and a warning says so.
///
/// # Errors
/// The same as for [`read`]; with `allow_truncated` only a bad header or a trace without any task.
pub fn read_with(bytes: &[u8], options: &OpenOptions) -> Result<Dag, Error> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut lines = bytes.split(|&b| b == b'\n').zip(1..);
    let (first, _) = lines.next().unwrap_or((&[], 1));
    let mut events = events::Events::new(first)?;
    let mut damage = None;
    for (bytes, number) in lines {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        if let Err(error) = line::Line::parse(bytes, number).and_then(|line| events.take(line)) {
            if !options.allow_truncated {
                return Err(error);
            }
            damage = Some(format!(
                "The trace is damaged ({error}); what stands before is shown."
            ));
            break;
        }
    }
    finish::finish(events, options.allow_truncated, damage)
}
