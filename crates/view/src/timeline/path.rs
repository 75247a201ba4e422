//! A path over the rows, in pieces of the resolution that a tile can show.

use serde_json::{Value, json};
use workspan_dag::{NONE, StrandId};

use super::Tile;
use crate::planes::Planes;
use crate::run::RunModel;

/// A piece of the path: some time on one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    row: u16,
    start: u64,
    end: u64,
    /// The strand that runs longest in the piece, its ticks, and the ticks of the path on this row.
    strand: StrandId,
    longest: u64,
    ticks: u64,
}

/// A path at all resolutions.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The path's strands that take time, in the order of the path.
    strands: Vec<StrandId>,
    /// Joined pieces by level, ascending. Each level has at most half as many as the one before,
    /// and holds from its level on.
    coarse: Vec<(u32, Vec<Piece>)>,
}

impl Pieces {
    /// Builds the pieces of a path from its strands in order. O(n).
    pub(super) fn new(model: &RunModel, mut strands: Vec<StrandId>) -> Pieces {
        let s = &model.dag.strands;
        strands.retain(|&i| s.start[i as usize] < s.end[i as usize]);
        strands.shrink_to_fit();
        let mut pieces = Pieces {
            strands,
            coarse: Vec::new(),
        };
        let count = pieces.strands.len() as u64;
        if count < 1024 {
            return pieces;
        }
        // Bins that contain eight of the path's strands on average.
        let first = (model.elapsed() / count).saturating_mul(8).max(1).ilog2();
        let fine = pieces.strands.iter().map(|&s| piece(model, s));
        let mut last = joined(model, first, fine);
        let mut kept = count as usize;
        for level in first..=model.top_level() {
            if level > first {
                last = joined(model, level, last.into_iter());
            }
            if last.len() <= kept / 2 {
                kept = last.len();
                pieces.coarse.push((level, last.clone()));
            }
        }
        pieces
    }

    /// The pieces of a tile, and the pieces before and after it.
    fn of_tile(&self, model: &RunModel, tile: Tile) -> TilePieces {
        let begin = tile.begin(model);
        let end = begin.saturating_add(tile.ticks());
        let usable = self.coarse.partition_point(|c| c.0 <= tile.level);
        match usable.checked_sub(1).map(|i| &self.coarse[i].1) {
            Some(coarse) => {
                let first = coarse.partition_point(|p| p.end <= begin);
                let after = coarse.partition_point(|p| p.start < end).max(first);
                TilePieces {
                    before: first.checked_sub(1).map(|i| coarse[i]),
                    pieces: joined(model, tile.level, coarse[first..after].iter().copied()),
                    after: coarse.get(after).copied(),
                }
            }
            None => {
                let s = &model.dag.strands;
                let all = &self.strands;
                let first = all.partition_point(|&i| s.end[i as usize] <= begin);
                let after = all.partition_point(|&i| s.start[i as usize] < end);
                let after = after.max(first);
                let fine = all[first..after].iter().map(|&s| piece(model, s));
                TilePieces {
                    before: first.checked_sub(1).map(|i| piece(model, all[i])),
                    pieces: joined(model, tile.level, fine),
                    after: all.get(after).map(|&s| piece(model, s)),
                }
            }
        }
    }

    pub(super) fn tile(&self, model: &RunModel, tile: Tile) -> Planes {
        let begin = tile.begin(model);
        let end = begin.saturating_add(tile.ticks());
        let found = self.of_tile(model, tile);
        let pieces = &found.pieces;
        let since = |t: u64| t.saturating_sub(model.begin) as f64;
        let neighbour = |piece: Option<Piece>| {
            piece.map_or(Value::Null, |p| {
                json!([p.row, since(p.start), since(p.end), p.strand])
            })
        };
        let mut planes = Planes::new();
        planes.fact("before", neighbour(found.before));
        planes.fact("after", neighbour(found.after));
        planes.plane("row", pieces.iter().map(|p| p.row));
        planes.plane("start", pieces.iter().map(|p| since(p.start.max(begin))));
        planes.plane("end", pieces.iter().map(|p| since(p.end.min(end))));
        planes.plane("strand", pieces.iter().map(|p| p.strand));
        let mut last = found.before;
        let gaps = pieces.iter().map(|&piece| {
            let last = last.replace(piece);
            u8::from(last.is_some_and(|l| l.row != piece.row || l.end < piece.start))
        });
        planes.plane("gap", gaps);
        planes
    }
}

/// The part of a path that falls into a tile. A tile in which the path only waits has no pieces;
/// the pieces before and after it say where the wait is drawn.
struct TilePieces {
    before: Option<Piece>,
    /// The pieces, not clipped to the tile.
    pieces: Vec<Piece>,
    after: Option<Piece>,
}

fn piece(model: &RunModel, s: StrandId) -> Piece {
    let strands = &model.dag.strands;
    let (start, end) = (strands.start[s as usize], strands.end[s as usize]);
    Piece {
        row: model.rows.of(strands.thread[s as usize]),
        start,
        end,
        strand: s,
        longest: end - start,
        ticks: end - start,
    }
}

/// Joins pieces on one row with less than a bin of 2^level ticks between them, and pieces on
/// several rows inside one bin. A joined piece is drawn on the row on which the path ran longest.
/// At most two pieces per bin are left.
fn joined(model: &RunModel, level: u32, pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let bin = |t: u64| t.saturating_sub(model.begin) >> level;
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        let Some(last) = out.last_mut() else {
            out.push(piece);
            continue;
        };
        let near = piece.start.saturating_sub(last.end) >> level == 0;
        if piece.row == last.row && near {
            if piece.longest > last.longest {
                (last.strand, last.longest) = (piece.strand, piece.longest);
            }
            last.end = last.end.max(piece.end);
            last.ticks += piece.ticks;
        } else if bin(last.start) == bin(piece.end.saturating_sub(1)) {
            let (start, end) = (last.start, last.end.max(piece.end));
            if piece.ticks > last.ticks {
                *last = piece;
            }
            (last.start, last.end) = (start, end);
        } else {
            out.push(piece);
        }
    }
    debug_assert!(out.iter().all(|p| p.strand != NONE));
    out
}
