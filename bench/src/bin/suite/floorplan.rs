//! `floorplan CELLS CUTOFF SEED`: places CELLS cells, each in one of several shapes and beside
//! others, so that they cover the least area. Branch and bound: a task for each shape and position,
//! with a copy of the board; from depth CUTOFF on serial. The best area so far is shared, so the
//! number of nodes visited depends on the schedule.

use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome};

/// Rows and columns of the board.
const SIDE: usize = 64;
const MAX_CELLS: usize = 24;

#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
}

struct Cell {
    /// The cells that it is next to; `None` if it is free.
    left: Option<usize>,
    above: Option<usize>,
    shapes: Vec<Shape>,
}

/// Where a cell lies, inclusive.
#[derive(Clone, Copy, Default)]
struct Place {
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
}

/// The cells placed so far: a bit for each place of the board.
#[derive(Clone)]
struct Board {
    rows: [u64; SIDE],
    places: [Place; MAX_CELLS],
    bottom: usize,
    right: usize,
}

impl Board {
    fn put(&mut self, cell: usize, (top, left): (usize, usize), shape: Shape) -> bool {
        let (bottom, right) = (top + shape.rows, left + shape.columns);
        if bottom > SIDE || right > SIDE {
            return false;
        }
        let bits = (u64::MAX >> (SIDE - shape.columns)) << left;
        if self.rows[top..bottom].iter().any(|row| row & bits != 0) {
            return false;
        }
        self.rows[top..bottom]
            .iter_mut()
            .for_each(|row| *row |= bits);
        self.places[cell] = Place {
            top,
            bottom: bottom - 1,
            left,
            right: right - 1,
        };
        self.bottom = self.bottom.max(bottom);
        self.right = self.right.max(right);
        true
    }

    fn area(&self) -> usize {
        self.bottom * self.right
    }

    /// Top left corners at which a shape is next to the cell's neighbours.
    fn corners(&self, cell: &Cell, shape: Shape) -> Vec<(usize, usize)> {
        let place = |cell: usize| &self.places[cell];
        match (cell.left, cell.above) {
            (None, None) => vec![(0, 0)],
            (Some(left), Some(above)) => vec![(place(above).bottom + 1, place(left).right + 1)],
            (Some(left), None) => {
                let left_place = place(left);
                ((left_place.top + 1).saturating_sub(shape.rows)..=left_place.bottom)
                    .map(|top| (top, left_place.right + 1))
                    .collect()
            }
            (None, Some(above)) => {
                let over = place(above);
                ((over.left + 1).saturating_sub(shape.columns)..=over.right)
                    .map(|left| (over.bottom + 1, left))
                    .collect()
            }
        }
    }
}

struct Search {
    cells: Vec<Cell>,
    cutoff: usize,
    best: AtomicUsize,
}

impl Search {
    fn place(&self, board: &Board, cell: usize, corner: (usize, usize), shape: Shape) {
        let mut board = board.clone();
        if !board.put(cell, corner, shape) || board.area() >= self.best.load(Ordering::Relaxed) {
            return;
        }
        if cell + 1 < self.cells.len() {
            return self.place_all(&board, cell + 1, cell + 1 < self.cutoff);
        }
        self.best.fetch_min(board.area(), Ordering::Relaxed);
    }

    fn place_all(&self, board: &Board, cell: usize, tasks: bool) {
        let choices = self.cells[cell].shapes.iter().flat_map(|&shape| {
            let corners = board.corners(&self.cells[cell], shape);
            corners.into_iter().map(move |corner| (corner, shape))
        });
        if !tasks {
            return choices.for_each(|(corner, shape)| self.place(board, cell, corner, shape));
        }
        rayon::scope(|scope| {
            for (corner, shape) in choices {
                scope.spawn(move |_| self.place(board, cell, corner, shape));
            }
        });
    }
}

fn generated(count: usize, seed: u64) -> Vec<Cell> {
    (0..count)
        .map(|i| {
            let bits = mixed(seed * 1000 + i as u64);
            let above_too = i > 4 && i % 3 == 2 && bits.is_multiple_of(2);
            let area = 4 + ((bits >> 8) % 9) as usize;
            Cell {
                left: (i > 0 && i % 3 != 1).then(|| i - 1),
                above: match i {
                    1 => Some(0),
                    _ if i > 2 && i % 3 == 1 || above_too => Some(i - 3),
                    _ => None,
                },
                shapes: (1..=4)
                    .filter(|rows| (1..=8).contains(&(area / rows)))
                    .take(3)
                    .map(|rows| Shape {
                        rows,
                        columns: area.div_ceil(rows),
                    })
                    .collect(),
            }
        })
        .collect()
}

fn least(search: &Search) -> usize {
    let board = Board {
        rows: [0; SIDE],
        places: [Place::default(); MAX_CELLS],
        bottom: 0,
        right: 0,
    };
    search.place_all(&board, 0, search.cutoff > 0);
    search.best.load(Ordering::Relaxed)
}

fn run(arguments: &Arguments) -> Outcome {
    let count = arguments.number(0).clamp(1, MAX_CELLS);
    let search = |cutoff| Search {
        cells: generated(count, arguments.number(2) as u64),
        cutoff,
        best: AtomicUsize::new(SIDE * SIDE + 1),
    };
    let parallel = search(arguments.number(1));
    let area = arguments.timed(|| least(&parallel));
    let correct = !arguments.check() || area == least(&search(0));
    outcome(
        correct,
        format!("placed {count} cells on an area of {area}"),
    )
}

pub const PROGRAM: Program = Program {
    name: "floorplan",
    usage: "[CELLS] [CUTOFF] [SEED]",
    test: [6, 3, 1, 0, 0],
    small: [12, 5, 1, 0, 0],
    large: [15, 7, 1, 0, 0],
    run,
};
