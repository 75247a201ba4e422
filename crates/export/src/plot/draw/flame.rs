//! Flame graphs: a row of frames for each level.

use super::super::figure::{Mark, Series};
use super::super::fill::{GREY, Texture, WHITE};
use super::super::flame::FlameFigure;
use super::super::page::Page;
use super::{
    Anchor, Drawing, KeptEnd, MARGIN, SIZE, Sheet, boxed, colored, fitted, legend, on_ground,
};

/// Minimum and maximum height of a row, in units.
const MIN_ROW: f64 = 15.0;
const MAX_ROW: f64 = 24.0;
/// Minimum width of a frame that is drawn, in units.
const MIN_WIDTH: f64 = 0.3;
/// Minimum width of a frame with a name, in units.
const MIN_NAMED_WIDTH: f64 = 18.0;
/// Maximum number of names in the legend.
const MAX_LEGEND: usize = 8;
/// The same for figures that are narrower than this, in units.
const MAX_NARROW_LEGEND: usize = 4;
const NARROW: f64 = 500.0;
/// Minimum share of the time of code that is in the legend.
const MIN_LEGEND_SHARE: f64 = 0.02;

/// Lays the figure out on a page.
pub(in crate::plot) fn draw(figure: &FlameFigure, page: &Page) -> Drawing {
    let mut sheet = Sheet::new(page, &figure.title, &figure.subtitle);
    let (shapes, room) = (&mut sheet.shapes, sheet.width - 2.0 * MARGIN);
    let total = figure.total.max(1) as f64;
    let most = if sheet.width < NARROW {
        MAX_NARROW_LEGEND
    } else {
        MAX_LEGEND
    };
    let named: Vec<Series> = figure
        .code
        .iter()
        .take(most)
        .map(|(name, fill, ns)| (name, *fill, *ns as f64 / total))
        .filter(|&(_, _, share)| share >= MIN_LEGEND_SHARE)
        .map(|(name, fill, share)| Series {
            name: format!("{name} {:.0} %", 100.0 * share),
            fill,
            mark: Mark::Bars,
            points: Vec::new(),
            labels: Vec::new(),
        })
        .collect();
    let named: Vec<&Series> = named.iter().collect();
    let top = sheet.top + legend::draw(&named, room, sheet.top, shapes) + 4.0;
    let space = (sheet.height - top - MARGIN).max(MIN_ROW);
    // A line below the rows says how many are missing.
    let fits = |lines: f64| ((space - lines) / MIN_ROW).floor().max(1.0) as usize;
    let rows = match figure.rows <= fits(0.0) {
        true => figure.rows,
        false => fits(MIN_ROW),
    };
    let row_height = (space / rows.max(1) as f64).clamp(MIN_ROW, MAX_ROW);
    for frame in figure.frames.iter().filter(|frame| frame.row < rows) {
        let wide = room * frame.ns as f64 / total;
        if wide < MIN_WIDTH {
            continue;
        }
        let (x, y) = (
            MARGIN + room * frame.from as f64 / total,
            top + row_height * frame.row as f64,
        );
        let gap = 0.6_f64.min(wide / 2.0);
        boxed(shapes, (x, y, wide - gap, row_height - 1.0), frame.fill);
        let name = match wide >= MIN_NAMED_WIDTH {
            true => fitted(&frame.name, SIZE, wide - 8.0, KeptEnd::Start),
            false => String::new(),
        };
        let at = (x + 4.0, y + row_height / 2.0 + SIZE * 0.33);
        let color = frame.fill.color;
        if name.is_empty() {
            continue;
        }
        match frame.fill.texture {
            Texture::None => colored(shapes, at, &name, Anchor::Start, color.ink()),
            _ => on_ground(shapes, at, &name, Anchor::Start, color),
        }
    }
    if rows < figure.rows {
        let missing = format!("{} deeper levels are not drawn", figure.rows - rows);
        let at = (MARGIN, top + row_height * rows as f64 + SIZE);
        on_ground(shapes, at, &missing, Anchor::Start, WHITE);
    } else if figure.frames.is_empty() {
        let at = (MARGIN, top + SIZE);
        colored(shapes, at, "no samples", Anchor::Start, GREY);
    }
    sheet.drawing(page)
}
