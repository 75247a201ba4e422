//! The ids of nodes inside a folded strand.

use std::fmt;
use std::ops::Range;

use workspan_dag::StrandId;

use crate::inside::tree::Index;

/// The id of a node inside a folded strand; task 0 without a range is the strand itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithinId {
    pub strand: StrandId,
    pub task: Index,
    pub range: Option<Range<usize>>,
}

impl fmt::Display for WithinId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.strand)?;
        if self.task > 0 || self.range.is_some() {
            write!(f, ".{}", self.task)?;
        }
        match &self.range {
            Some(range) => write!(f, ".{}.{}", range.start, range.end),
            None => Ok(()),
        }
    }
}

impl WithinId {
    /// The id of the folded strand itself.
    pub(crate) fn whole(strand: StrandId) -> WithinId {
        WithinId {
            strand,
            task: 0,
            range: None,
        }
    }

    /// Whether the id is the folded strand's own.
    pub(crate) fn is_whole(&self) -> bool {
        self.task == 0 && self.range.is_none()
    }

    /// Parses an id; `None` if the text is not one.
    pub(crate) fn parse(id: &str) -> Option<WithinId> {
        fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        }
        let mut parts = id.strip_prefix('s')?.split('.');
        let strand = number(parts.next()?)?;
        let task = parts.next().map_or(Some(0), number)?;
        let range = match (parts.next(), parts.next()) {
            (None, _) => None,
            (Some(_), None) => return None,
            (Some(from), Some(to)) => Some(number(from)?..number(to)?),
        };
        let empty = range.as_ref().is_some_and(|r: &Range<usize>| r.is_empty());
        (parts.next().is_none() && !empty).then_some(WithinId {
            strand,
            task,
            range,
        })
    }
}
